/* Every fitted number of the models, each with its unit, source and sensitivity.
 *
 * Not here: counts (code, geometry); measurements (device records); coefficients of equations in
 * papers (model/papers); facts of hardware (device.h, keys with an assumed value); thresholds by
 * which policies and `trapeze tune` compare measurements (policy/adaptive.c, policy/exhaustive.c,
 * predict/tune.c).
 *
 * Each comment ends with two notes:
 *   From: the data that the number was fitted to or taken from. "Times" are measured times of the
 *         plans of docs/log/prediction-gpu.md (12 stencils, two precisions, three sizes, one H200);
 *         "counters" are hardware counters of 176 of them (Nsight Compute).
 *   +10 %: the median change of predicted times if the number is a tenth larger and, in brackets,
 *         the largest one: of 272 predictions of 8 stencils, two thirds of them estimates
 *         (`trapeze predict STENCIL --device h200 --csv`).
 *
 * Numbers of a kernel family carry its name: constants_families.h. Those of a CPU:
 * constants_cpu.h. */
#ifndef TZ_MODEL_CONSTANTS_H
#define TZ_MODEL_CONSTANTS_H

#include "model/constants_cpu.h"
#include "model/constants_families.h"

/* ---- GPU: soft maxima, (a^n + b^n)^(1/n) --------------------------------------------------- */

/* Between the units of a scheduler, in loops without a simulated schedule.
 * From: times. +10 %: 0 [0] */
#define TZ_FIT_SOFT_UNITS 5.0
/* The same outside loops, where instructions of one class are close together.
 * From: times. +10 %: 0 [-0.1 %] */
#define TZ_FIT_SOFT_SHORT 3.0
/* Between throughput and a warp's own latencies.
 * From: times. +10 %: -0.3 % [-1.6 %] */
#define TZ_FIT_SOFT_LATENCY 3.0
/* Between memory and second-level cache.
 * From: times. +10 %: -0.1 % [-0.9 %] */
#define TZ_FIT_SOFT_MEMORY 6.0
/* Between computing and memory.
 * From: times of 188 plans of four stencils on 16384 x 16384 cells. +10 %: 0 [-0.6 %] */
#define TZ_FIT_SOFT_BUSY 10.0
/* The same for loads ahead of steps in which the warps of a block meet at barriers: all of them
 * wait for the last one's loads, so that computing and memory hide each other less.
 * From: times of 264 plans of 28 problems in 3-D, H100; mean of the errors 6.8 %, 7.2 % with 6, and
 * 7.9 % with 8. +10 %: not determined. */
#define TZ_FIT_SOFT_BUSY_MEETING 5.0
/* The same for threads that march along the last axis with a cell each step, or a few: a warp
 * computes little while it waits for loads, even if these are a step or two ahead.
 * From: times of 167 plans of the families "direct" and "block", 28 problems in 3-D, H100; mean of
 * the errors 5.2 %, 9.5 % with the number above; 5.0 % with 2, 5.8 % with 2.5. */
#define TZ_FIT_SOFT_BUSY_MARCHING 2.25

/* ---- GPU: memory ----------------------------------------------------------------------------- */

/* Share of copy_bandwidth that warps reach when each goes through memory independently.
 * From: times. +10 %: -2.9 % [-8.4 %] */
#define TZ_FIT_MEMORY_SHARE 0.95
/* The same share of strips and tiles that move rows ahead of their use, through shared memory.
 * From: times of 282 plans of 14 problems, H100: mean error of those near the fastest 7.8 %, 9.1 %
 * with 0.95. Of the 2-D stencils with one or two fields, stages of heights 2 to 6 are within 8
 * %. */
#define TZ_FIT_MEMORY_SHARE_STRIPS 0.88
/* A grid whose arrays take at most ALL of the second level stays there from stage to stage. From
 * NONE on each stage finds nothing of the one before; in proportion between.
 * From: times of 40 problems of 18 MB and more, H100 (52 MB); mean of the errors of stages of
 * height 1 9.6 %, 12.9 % with 0.85 and 1.1. Between 0.5 and 0.65, and 0.85 and 0.9, it is 8.8 to
 * 10.1 %. */
#define TZ_FIT_KEPT_ALL 0.6
#define TZ_FIT_KEPT_NONE 0.85
/* Extra cost, in bytes, of a byte of two stores that the second level receives apart instead of
 * joined. From: times. +10 %: 0 [+1.6 %] */
#define TZ_FIT_PARTED 0.6
/* Number of passes through shared memory by other warps of a scheduler, between two instructions of
 * a warp, at which half of its pairs of stores are no longer joined. The joined share is
 * 1 / (1 + (passes / number)^power).
 * From: counters of 43 plans: 4 % of adjacent pairs are apart with 2 warps, two thirds with 7.
 * +10 %: 0 [-0.8 %]; power: 0 [-0.4 %] */
#define TZ_FIT_CROWDED 2.3
#define TZ_FIT_CROWDED_POWER 2.0
/* Time of a stage that stores of spilt registers add, as a multiple of the second level's time for
 * them.
 * From: times. +10 %: 0 [+5.1 %] */
#define TZ_FIT_SPILLS 1.5
/* Share of the time of stores that is added to a step's wait for its loads.
 * From: times. +10 %: +0.02 % [+0.2 %] */
#define TZ_FIT_STORES_WAIT 0.5
/* Share of the transfers of all blocks that a step's wait for its loads contains, where the warps
 * of a block meet at barriers. Other blocks wait at other times, and move their cells meanwhile.
 * From: the same times as TZ_FIT_SOFT_BUSY_MEETING. Between 0 and 0.3 the errors are the same
 * within 0.4 %. */
#define TZ_FIT_OWN_TRANSFER 0.2
/* Time in which two blocks exchange a word, as a multiple of l2_latency; for a record without
 * neighbour_sync. From: the way there and back. +10 %: 0, an H200's record has it. */
#define TZ_FIT_NEIGHBOUR_L2 2.0

/* ---- GPU: waits and code --------------------------------------------------------------------- */

/* Wait at a barrier of a block as a share of a lone warp's step, in loops without a simulated
 * schedule.
 * From: times. +10 %: 0 [0] */
#define TZ_FIT_BARRIER_WAIT 0.6
/* Latency of a dependent load as a multiple of shuffle_latency, in loops without a simulated
 * schedule.
 * From: times. +10 %: 0 [0] */
#define TZ_FIT_CHAIN_READ 1.5
/* Latency of a load of a spilt register as a multiple of shared_latency: the load also looks up the
 * first-level cache's tags.
 * From: counters. +10 %: not determined */
#define TZ_FIT_LOCAL_LATENCY 1.5
/* Clocks of a scheduler for each instruction beyond one: warps at different places of the code
 * compete for register ports and lines of code. From: counters: no loop issues in more than
 * 0.87 of the slots with 0.07 of its instructions in the queue; stalls of dispatch are 0.05 to 0.08
 * of the time. +10 %: not determined */
#define TZ_FIT_DISPATCH_CLOCKS 0.07
/* Clocks until a warp goes on after the branch to the slow way of a division.
 * From: counters of five kernels, H200: stalls while branches resolve. +10 %: not determined */
#define TZ_FIT_DIVISION_CLOCKS 12
/* Warps at different places of a loop begin to miss the first instruction cache when the loop is
 * longer than this share of near_text. From (1 + SOFT) times that length on, an instruction takes
 * CLOCKS more; in proportion between.
 * From: times of 291 plans of 28 problems in 2-D, H100, whose loops have 5 to 60 KB; chosen plans
 * have 97.3 % of the best speed on average, 96.3 % with a beginning at 16 KB and SOFT 0.7. Counters
 * of box stencils, H200: 3 % of the time of a loop of 17 KB, 17 % of 25 KB, 33 % of 33 KB. +10 %:
 * not determined. */
#define TZ_FIT_NEAR_TEXT_SHARE 0.64
#define TZ_FIT_NEAR_TEXT_SOFT 0.3
#define TZ_FIT_NEAR_TEXT_CLOCKS 0.45
/* The same for all warps, when the loop is longer than SHARE of text_cache, which also holds code
 * outside of the loop and constants.
 * From: times of 27 plans of an automaton, whose loops have 46 to 85 KB, H100: 10 % of the time of
 * a loop of 46 KB, 20 % of 58 KB, 45 % of 70 KB. +10 %: not determined. */
#define TZ_FIT_FAR_TEXT_SHARE 0.55
#define TZ_FIT_FAR_TEXT_SOFT 1.0
#define TZ_FIT_FAR_TEXT_CLOCKS 1.2
/* A warp with code of its own fetches all of it in each step if its loop and the inner loop are
 * together longer than (1 + 1 / this) times near_text, and a part in proportion from near_text on.
 * From: times of box stencils. +10 %: 0 [+6.9 %] */
#define TZ_FIT_TEXT_OVER 8.0
/* Such warps wait at most this many clocks: launches of 0.1 ms wait from beginning to end, launches
 * of 2 ms no longer than this. We do not know why. From: times. +10 %: 0 [0] */
#define TZ_FIT_TEXT_APART 3e5

/* ---- GPU: power ------------------------------------------------------------------------------ */

/* Power beyond power_active grows with the clock to this power, for a record without
 * power_exponent. From: assumed: power is clock times voltage squared, voltage in proportion to the
 * clock. +10 %: 0, an H200's record has it. */
#define TZ_FIT_POWER_EXPONENT 3.0
/* Energies in a stencil's kernel, as shares of what `trapeze calibrate` measures: an instruction of
 * floating-point arithmetic; a byte of memory; a pass through shared memory or a spilt word. The
 * benchmarks change all bits; neighbouring cells have many in common. +10 %: of time_s 0.
 * From: clocks and times in long runs of 161 plans on an H200 (docs/log/terms-gpu.md). */
#define TZ_FIT_POWER_ARITHMETIC 0.9
#define TZ_FIT_POWER_MEMORY 0.92
#define TZ_FIT_POWER_SHARED 2.6
/* Exponent of the soft maximum of computing and memory when the clock falls. From: the same. */
#define TZ_FIT_POWER_SOFT 16.0
/* Lowest predicted clock of a card, as a share of the full clock. From: assumed. +10 %: 0. */
#define TZ_FIT_POWER_CLOCK_LEAST 0.2

/* ---- Choosing among predictions -------------------------------------------------------------- */

/* Among a CPU's plans within this ratio of the fastest, the highest is preferred.
 * From: the plans of docs/log/prediction-cpu.md: the median share of the best speed rises from 93.1
 * to 96.4 %. +10 %: of times 0; it changes which plan is chosen. */
#define TZ_FIT_ALIKE 1.02
/* Seconds that a device idles when the host waits for it between stages.
 * From: an H200: 30 stages of 66 us in six timed groups took 0.4 ms longer. +10 %: of times 0. */
#define TZ_FIT_HOST_WAIT_S 50e-6
/* Slices that it costs to compute the ends of a slab first, as multiples of those that are read
 * around a chunk: two more chunks warm up. From: streams' geometry. +10 %: best depths about 3
 * %. */
#define TZ_FIT_EXCHANGE_ENDS 3.0

/* ---- Jumps: model/jump.c --------------------------------------------------------------------- */

/* GPU: the share of copy_bandwidth that the sweeps of a jump reach on the average.
 * From: 7 jumps on an H200 (docs/log/jump.md), which it gives within 10 %. +10 %: -9 % of a jump's
 * time. */
#define TZ_FIT_JUMP_SHARE 0.72
/* GPU: the longest line that a multiprocessor transforms in one sweep, in complex numbers, and by
 * how much a length with a prime factor above 127 is slower. From: the length assumed, the factor
 * from one jump on an H200 with lines of 2 x 17 x 241. +10 %: of the length 0, of the factor 7 % of
 * such a jump. */
#define TZ_FIT_JUMP_LENGTH 8192.0
#define TZ_FIT_JUMP_FACTOR 9.0
/* CPU: operations of a transform that a core does in a clock, and clocks that a frequency takes.
 * From: assumed, until jumps are measured on an idle machine. +10 %: not determined. */
#define TZ_FIT_JUMP_OPERATIONS 1.5
#define TZ_FIT_JUMP_CLOCKS 100.0

#endif
