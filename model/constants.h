/* Every fitted number of the models, each with its unit, source and sensitivity.
 *
 * What is counted (code, geometry) and what is measured (device records) is not here. Nor are the
 * coefficients of equations in papers (meng.h, meng2011.h), what a device's hardware is (device.h:
 * keys with an assumed value), and thresholds by which policies and `trapeze tune` compare
 * measurements (policy/adaptive.c, policy/exhaustive.c, predict/tune.c).
 *
 * Each comment ends with two notes:
 *   From: what the number was fitted on or taken from. "Times" are measured times of the plans of
 *         docs/prediction-gpu.md (12 stencils, two precisions, three sizes, one H200); "counters" are
 *         hardware counters of 176 of them (Nsight Compute).
 *   +10 %: the median change of predicted times if the number is a tenth larger and, in brackets,
 *         the largest one: of 272 predictions of 8 stencils, two thirds of
 *         them estimates (`trapeze predict STENCIL --device h200 --csv`).
 *
 * Numbers of a kernel family carry its name and stand at the end. */
#ifndef TZ_MODEL_CONSTANTS_H
#define TZ_MODEL_CONSTANTS_H

/* ---- GPU: soft maxima, (a^n + b^n)^(1/n) --------------------------------------------------- */

/* Between the units that a scheduler feeds, in loops that no schedule was run for.
 * From: times. +10 %: 0 [0] */
#define TZ_FIT_SOFT_UNITS 5.0
/* The same outside loops, where instructions of one class come close together.
 * From: times. +10 %: 0 [-0.1 %] */
#define TZ_FIT_SOFT_SHORT 3.0
/* Between throughput and a warp's own latencies.
 * From: times. +10 %: -0.3 % [-1.6 %] */
#define TZ_FIT_SOFT_LATENCY 3.0
/* Between computing and memory, and between memory and second-level cache.
 * From: times. +10 %: -0.6 % [-1.6 %] */
#define TZ_FIT_SOFT_MEMORY 6.0

/* ---- GPU: memory ----------------------------------------------------------------------------- */

/* Share of copy_bandwidth that warps reach that go through memory each on its own way.
 * From: times. +10 %: -2.9 % [-8.4 %] */
#define TZ_FIT_MEMORY_SHARE 0.95
/* Bytes that a byte costs more that is written in a part of a burst of 64 bytes: memory with error
 * correction reads, changes and writes the burst. From: times. +10 %: 0 [+1.1 %] */
#define TZ_FIT_TORN 0.3
/* The same of a byte of a pair of stores that reach the second level apart.
 * From: times. +10 %: 0 [+1.6 %] */
#define TZ_FIT_PARTED 0.6
/* Passes through shared memory by other warps of a scheduler, between two instructions of a warp,
 * that part half of its pairs of stores; and the power of the ratio to them in
 * 1 / (1 + ratio^power). From: counters of 43 plans: 4 % of adjacent pairs are parted with 2 warps,
 * two thirds with 7. +10 %: 0 [-0.8 %]; power: 0 [-0.4 %] */
#define TZ_FIT_CROWDED 2.3
#define TZ_FIT_CROWDED_POWER 2.0
/* Share of the time that the second level takes for stores of spilt registers that adds to a
 * stage. From: times. +10 %: 0 [+4.5 %] */
#define TZ_FIT_SPILLS 1.0
/* Share of the time of stores that a step adds to what it waits for its loads.
 * From: times. +10 %: +0.02 % [+0.2 %] */
#define TZ_FIT_STORES_WAIT 0.5
/* l2_latency that two blocks take to exchange a word, for a record without neighbour_sync.
 * From: the way there and back. +10 %: 0, an H200's record has it. */
#define TZ_FIT_NEIGHBOUR_L2 2.0

/* ---- GPU: waits and code --------------------------------------------------------------------- */

/* Share of a lone warp's step that warps wait for at a barrier of their block, in loops that no
 * schedule was run for. From: times. +10 %: 0 [0] */
#define TZ_FIT_BARRIER_WAIT 0.6
/* shuffle_latency that a dependent load of a chain takes, in loops that no schedule was run for.
 * From: times. +10 %: 0 [0] */
#define TZ_FIT_CHAIN_READ 1.5
/* shared_latency that a load of a spilt register takes: it passes the first-level cache's tags.
 * From: counters. +10 %: not determined */
#define TZ_FIT_LOCAL_LATENCY 1.5
/* Clocks of a scheduler that each instruction takes beyond one: warps at different places of the
 * code compete for register ports and lines of code. From: counters: no loop issues in more than
 * 0.87 of the slots with 0.07 of its instructions in the queue; stalls of dispatch are 0.05 to 0.08
 * of the time. +10 %: not determined */
#define TZ_FIT_DISPATCH_CLOCKS 0.07
/* Code of warps at different places begins to miss its first cache from this share of text_cache
 * on; an instruction takes CLOCKS more from (1 + SOFT) times as much on, in proportion between.
 * From: counters of box stencils: 3 % of the time of a loop of 17 KB, 17 % of 25 KB, 33 % of 33 KB.
 * +10 %: not determined; soft: not determined; clocks: not determined */
#define TZ_FIT_NEAR_TEXT_SHARE 0.2
#define TZ_FIT_NEAR_TEXT_SOFT 0.7
#define TZ_FIT_NEAR_TEXT_CLOCKS 0.45
/* The same of code beyond all of text_cache, of any warps.
 * From: times. +10 %: soft: not determined; clocks: not determined */
#define TZ_FIT_FAR_TEXT_SOFT 0.25
#define TZ_FIT_FAR_TEXT_CLOCKS 0.55
/* A warp with code of its own fetches all of it each step where its loop and the inner one are
 * together longer than (1 + 1 / this) times near_text; in proportion from near_text on.
 * From: times of box stencils. +10 %: 0 [+6.9 %] */
#define TZ_FIT_TEXT_OVER 8.0
/* Clocks after which such warps wait no longer: launches of 0.1 ms wait from beginning to end,
 * those of 2 ms no longer than this. Not explained. From: times. +10 %: 0 [0] */
#define TZ_FIT_TEXT_APART 3e5

/* ---- GPU: power ------------------------------------------------------------------------------ */

/* Power beyond power_active grows with the clock to this power, for a record without
 * power_exponent. From: assumed: power is clock times voltage squared, voltage in proportion to the
 * clock. +10 %: 0, an H200's record has it. */
#define TZ_FIT_POWER_EXPONENT 3.0
/* Exponent of the soft maximum of computing and memory when the clock falls.
 * From: not recorded. +10 %: of time_s 0, it matters in long runs alone (sustained_s). */
#define TZ_FIT_POWER_SOFT 8.0
/* Share of the full clock that a card is never held below.
 * From: assumed. +10 %: 0, no plan comes near it. */
#define TZ_FIT_POWER_CLOCK_LEAST 0.2

/* ---- CPU ------------------------------------------------------------------------------------- */

/* Of rings of all threads, need = x times the third level, x^n / (1 + x^n) come from memory.
 * From: two threads with rings of 18 MiB each take twice as long as with 9 (Zen 4, 32 MiB).
 * +10 %: not determined. */
#define TZ_FIT_CPU_OVERFLOW_POWER 6.0
/* A row that is used again after so many times the first level's size is never still there; up to
 * one size it always is, in proportion between. From: not recorded. +10 %: not determined. */
#define TZ_FIT_CPU_L1_LOST 2.0
/* Instructions a cycle of a class that the record gives no rate of, and divisions likewise.
 * From: assumed. +10 %: 0 with a calibrated record. */
#define TZ_FIT_CPU_RATE 1.0
#define TZ_FIT_CPU_SPECIAL_RATE 0.1
/* Share of a core's second level that rings may fill in a plan that is not predicted.
 * From: times on two cores with AVX-512. +10 %: of predictions 0. */
#define TZ_FIT_CPU_RING_SHARE 0.6
/* Heights of plans that are not predicted, by dimensions, for radius 1: cells, and bits.
 * From: times on two cores with AVX-512: past these heights redundant cells cost what less traffic
 * saves. +10 %: of predictions 0. */
#define TZ_FIT_CPU_HEIGHTS                                                                         \
    {                                                                                              \
        0, 48, 16, 6                                                                               \
    }
#define TZ_FIT_CPU_HEIGHTS_BITS                                                                    \
    {                                                                                              \
        0, 48, 8, 4                                                                                \
    }

/* ---- Choosing among predictions -------------------------------------------------------------- */

/* Of a CPU's plans within this ratio of the fastest the highest is preferred.
 * From: the plans of docs/prediction-cpu.md: the median share of the best speed rises from 93.1 to
 * 96.4 %. +10 %: of times 0; it changes which plan is chosen. */
#define TZ_FIT_ALIKE 1.02
/* Plans whose estimate is within this ratio of the best prediction are compiled; where eight
 * threads or more compile. From: choices with an empty cache (docs/prediction-gpu.md, "Cold cache").
 * +10 %: of times 0; more plans are compiled. */
#define TZ_FIT_MARGIN 1.2
#define TZ_FIT_MARGIN_MANY 1.5
/* Seconds that a device idles when the host waits for it between stages.
 * From: an H200: 30 stages of 66 us in six timed groups took 0.4 ms longer. +10 %: of times 0. */
#define TZ_FIT_HOST_WAIT_S 50e-6

/* ---- Families: core/backend/cuda/family ------------------------------------------------------ */

/* Share of the instructions off the way through a loop that a warp executes too whose lanes go
 * different ways, at the grid's sides; and, in proportion to that, at its ends. 1-D and 2-D streams
 * and exchanges of resident grids. From: times. +10 %: not determined. */
#define TZ_FIT_DIVERGED 0.5
#define TZ_FIT_DIVERGED_ENDS 1.5
/* Planes: share of the loads whose packets share a sector of L2 with another request that ask L2
 * twice. Not explained. From: counters of star3d1r, heights 1 and 2. +10 %: not determined. */
#define TZ_FIT_PLANES_HALVES 0.33
/* Instructions between two adjacent stores of a lane after which memory sees half of such pairs
 * apart; and the power of the ratio to them. From: counters of 30 kernels: pairs 1 to 4
 * instructions apart are put together, those 10 apart hardly ever. +10 %: not determined. */
#define TZ_FIT_PAIR_INSTRUCTIONS 8.0
#define TZ_FIT_PAIR_POWER 4.0
/* Resident grids: what orders the ways to cut a grid (family/resident/design.c). They change which
 * plan is made, not what is predicted of it.
 * Clocks of a pass besides its arithmetic (barrier, shared memory, the longest chain), of its
 * second barrier where a field has one buffer, of an exchange (a store that other blocks see, and
 * their load of it), and of a ghost cell's word in it, where lanes' cells are adjacent.
 * From: round numbers near times of an H200. +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_PASS_CLOCKS 150.0
#define TZ_FIT_RESIDENT_BARRIER_CLOCKS 40.0
#define TZ_FIT_RESIDENT_EXCHANGE_CLOCKS 1000.0
#define TZ_FIT_RESIDENT_GHOST_CLOCKS 0.3
/* Instructions of a cell update, and of a cell of a brick in an exchange (where it is, who wants
 * it). From: assumed, a star of five points. +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_OPERATIONS 6.0
#define TZ_FIT_RESIDENT_SENT_OPERATIONS 12.0
/* Bytes of a multiprocessor's part of the written fields up to which a grid that is kept in shared
 * memory is kept on chip unasked. From: times (docs/performance.md, "Small grids").
 * +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_CHANGED_BYTES (96 << 10)

#endif
