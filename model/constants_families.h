/* Fitted numbers of kernel families; constants.h says what their comments mean. */
#ifndef TZ_MODEL_CONSTANTS_FAMILIES_H
#define TZ_MODEL_CONSTANTS_FAMILIES_H

/* Share of the instructions off the main path of a loop that a warp also executes because its lanes
 * branch differently, at the grid's sides. ENDS: the same at the grid's ends, as a multiple. For
 * 1-D and 2-D streams and for exchanges of resident grids. From: times. +10 %: not determined. */
#define TZ_FIT_DIVERGED 0.5
#define TZ_FIT_DIVERGED_ENDS 1.5
/* Planes: the share of the copy bandwidth is TZ_FIT_MEMORY_SHARE_STRIPS, and smaller by ARRAY for
 * each array that is read or written, beyond four, down to LEAST: tiles move short parts of rows.
 * From: counters of Yee's grid, one H200, 512^3 in single and 384^3 in double precision: 3.1 TB/s
 * in stages of heights 1 to 3 that move 13 arrays, of 4.12. +10 %: not determined. */
#define TZ_FIT_PLANES_SHARE_ARRAY 0.012
#define TZ_FIT_PLANES_SHARE_LEAST 0.7
/* Planes: tiles read some of their ghost cells from memory again, where other tiles are further
 * ahead or behind than the second level has room for planes of all arrays: FAR / room of these
 * cells, at most MOST. In higher stages, whose tiles wait less for memory and stay together, it is
 * less by height^-HEIGHT.
 * From: the same; room for 3.7 planes: 0.95, 0.69, 0.25, 0.35, 0.36 in stages of heights 1 to 5;
 * for 3.3: 0.88 (1), 0.43 (3); for 12: 0.40 (1); for 28: 0.17 (2). +10 %: not determined. */
#define TZ_FIT_PLANES_FAR 4.0
#define TZ_FIT_PLANES_FAR_MOST 0.95
#define TZ_FIT_PLANES_FAR_HEIGHT 0.75
/* Planes: so many steps before their use loads of static fields arrive that are not prefetched.
 * From: times of 11 plans of seven coefficient arrays. +10 %: not determined. */
#define TZ_FIT_PLANES_DIRECT 0.65
/* Number of instructions between two adjacent stores of a lane at which half of such pairs are no
 * longer joined, and the power as in TZ_FIT_CROWDED_POWER. From: counters of 30 kernels: pairs 1 to
 * 4 instructions apart are joined, pairs 10 apart hardly ever. +10 %: not determined. */
#define TZ_FIT_PAIR_INSTRUCTIONS 8.0
#define TZ_FIT_PAIR_POWER 4.0
/* Resident grids: costs by which the ways to cut a grid are compared (family/resident/design.c).
 * They change which plan is made, not its prediction. ISSUED, MOVED: parts of the time that issue
 * slots and shared memory are busy, which add up. ALONE: of a cell of a thread that waits for
 * nothing but itself. PASS: a pass besides that (barrier, latencies). BARRIER: its second barrier,
 * if a field has one buffer. EXCHANGE: a store for another block and the load there. SECTOR: a
 * sector of L2 that is sent or received. SENT: the instructions that send and receive a cell of a
 * brick, in each warp. From: times of 287 plans of 11 problems, H100; mean of the errors 14 %;
 * BARRIER: round number. +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_ISSUED 0.26
#define TZ_FIT_RESIDENT_MOVED 0.63
#define TZ_FIT_RESIDENT_ALONE_CLOCKS 15.5
#define TZ_FIT_RESIDENT_PASS_CLOCKS 134.0
#define TZ_FIT_RESIDENT_BARRIER_CLOCKS 40.0
#define TZ_FIT_RESIDENT_EXCHANGE_CLOCKS 844.0
#define TZ_FIT_RESIDENT_SECTOR_CLOCKS 1.8
#define TZ_FIT_RESIDENT_SENT_CLOCKS 10.4
/* Instructions of a cell update. From: assumed, a star of five points. +10 %: of the times of a
 * plan 0. */
#define TZ_FIT_RESIDENT_OPERATIONS 6.0
/* Shares of what the code tells. SYNC: of the measured time in which a word reaches another block,
 * which contains the latency of its load, and the instructions of an exchange have that, too.
 * EXCHANGE_SHARE: of the clocks that an exchange takes a warp alone. HELD: of the time of an
 * iteration if bricks are in registers. WHOLE_ROWS: of that time if a row has 32, 64, ... threads,
 * in 2-D and 3-D. From: times of 202 plans of six problems in 2-D, H100; mean of the errors 5 %,
 * before 9.4 %; tried on 264 other plans of nine problems: 7 %, as before. +10 %: 1 to 3 % of the
 * times of these plans, HELD 4 %. */
#define TZ_FIT_RESIDENT_SYNC 0.8
#define TZ_FIT_RESIDENT_EXCHANGE_SHARE 0.75
#define TZ_FIT_RESIDENT_HELD 0.9
#define TZ_FIT_RESIDENT_WHOLE_ROWS 0.93
/* Time of a batch of ghost cells beyond the first one, as a multiple of l2_latency: the way to the
 * second level and back while all warps of the device ask it.
 * From: the same plans. +10 %: 1 % of their times. */
#define TZ_FIT_RESIDENT_BATCH 1.25
/* Whether all threads of a block gather its ghost cells in shared memory. In units of a batch of
 * few ghost cells: what each value of a batch adds, what each request of a warp takes if they
 * gather, for all fields of a group, and all that gathering takes besides. There are so many
 * batches at least, of all groups. A predicted time has REQUEST, too, and GATHERED_TIME. From:
 * times of 146 plans of five problems in 2-D in both ways, H100: 125 gather by this rule, and the
 * choices take 0.14 % more time than the faster ways on average, 8 % at most; tried on 58 plans of
 * two problems with 9 and 2 fields, which all gather: 0.45 %, one plan 22 %. GATHERED_TIME: the
 * plans of EXCHANGE_SHARE. +10 %: 1 to 3 % of the plans change; 1 % of the times. */
#define TZ_FIT_RESIDENT_BATCH_CELL 0.0375
#define TZ_FIT_RESIDENT_REQUEST 0.35
#define TZ_FIT_RESIDENT_GATHERED 2.0
#define TZ_FIT_RESIDENT_GATHERED_TIME 2.5
#define TZ_FIT_RESIDENT_BATCHES_LEAST 2.0
/* A grid is kept on chip by default if a multiprocessor's part of the written fields has at most
 * this many bytes of shared memory. From: times ("Small grids"). +10 %: of the times of a plan
 * 0. */
#define TZ_FIT_RESIDENT_CHANGED_BYTES (96 << 10)

/* ---- Estimates of kernels that are not compiled ----------------------------------------------
 *
 * Instructions that a family adds to the operations of cells, which are those of the base family's
 * kernel. From: the code of plans of star2d1r, star3d1r, yee, shallow and grayscott27, sm_90. They
 * change which plans are compiled, not the prediction of a compiled one. */

/* Of an access by addresses: integer instructions in "direct"; the same in its wide form. */
#define TZ_FIT_ESTIMATE_ADDRESSES 2.0
#define TZ_FIT_ESTIMATE_WIDE_ADDRESSES 4.0
/* 2-D stream, of a packet copied or stored; branches of a step. */
#define TZ_FIT_ESTIMATE_ROWS_ADDRESSES 5.0
#define TZ_FIT_ESTIMATE_ROWS_CONTROL 7.0
/* 3-D stream: the same; branches of a pass. */
#define TZ_FIT_ESTIMATE_PLANES_ADDRESSES 4.0
#define TZ_FIT_ESTIMATE_PLANES_CONTROL 5.0
/* Registers that an update's intermediate results take in the 2-D stream: of each, and of each of
 * its operations. From: 92 to 247 in plans of shallow, 66 to 234 in plans of star2d1r. */
#define TZ_FIT_ESTIMATE_HELD 0.6
#define TZ_FIT_ESTIMATE_HELD_EACH 0.045
/* A plan with nothing compiled near it takes its estimate times or over this. */
#define TZ_FIT_ESTIMATE_WITHIN 1.2
/* Clocks of an instruction of a warp that is alone. */
#define TZ_FIT_ESTIMATE_ALONE 1.2
#define TZ_FIT_ESTIMATE_SPECIAL_CLOCKS 22.5
/* Instructions of a step at the grid's ends, as a multiple of those of other steps. */
#define TZ_FIT_ESTIMATE_ENDS 1.4

/* ---- Choices of plans ------------------------------------------------------------------------
 *
 * By these a family chooses the knobs that a plan leaves open. They change which plan is made, not
 * its prediction. From: NVRTC's allocation of registers for sm_90, if nothing else is said. */

/* 1-D: registers beside those of fields; twice as many for masks of bits. MAX: of 255, since the
 * estimate is not exact. GOOD: sixteen warps a multiprocessor and more. */
#define TZ_FIT_LINE_REGISTERS_OWN 32
#define TZ_FIT_LINE_REGISTERS_MAX 240
#define TZ_FIT_LINE_REGISTERS_GOOD 128

/* 2-D, as estimated by rows_registers(). OTHER: addresses, loop, rows in flight. STATIC: 168 as
 * compiled, where static fields are. THREE, TWO: a scheduler holds so many warps. FEW: four
 * warps a scheduler, 128 as compiled. SMALL: the compiler needs no limit. SUMS_TWO: where rows
 * are summed. */
#define TZ_FIT_ROWS_REGISTERS_OTHER 45
#define TZ_FIT_ROWS_REGISTERS_STATIC 130
#define TZ_FIT_ROWS_REGISTERS_THREE 145
#define TZ_FIT_ROWS_REGISTERS_TWO 205
#define TZ_FIT_ROWS_REGISTERS_FEW 110
#define TZ_FIT_ROWS_REGISTERS_SMALL 115
#define TZ_FIT_ROWS_REGISTERS_SUMS_TWO 175
/* Levels times words a lane of a loop body: more code misses the instruction cache. */
#define TZ_FIT_ROWS_UNROLLED_WORDS 150
/* Longer loops, with the loops for the grid's border, miss the instruction cache nearest to the
 * units. From: times of 23 plans with two to four lengths, H100: up to 19.8 KiB is no slower than
 * shorter code, 20.4 to 25 KiB take up to 1.5 times as long. */
#define TZ_FIT_ROWS_TEXT_BYTES 19968
/* Share of the instructions of a step by which moves of registers may add to it, to shorten the
 * code. From: round number. */
#define TZ_FIT_ROWS_MOVES_MORE 0.2
/* Rows of a chunk at height 1. From: of 8 to 128 the fastest on an H200. */
#define TZ_FIT_ROWS_DIRECT_CHUNK 16

/* 3-D stream: by how many registers the estimate may exceed those of a thread. SPARE: no register
 * is spilt but in code of borders. BORDERS: only code of borders spills. REQUESTED: with more
 * spills, for a plan that was requested. */
#define TZ_FIT_PLANES_SPARE (-16)
#define TZ_FIT_PLANES_BORDERS 24
#define TZ_FIT_PLANES_REQUESTED 64

/* Direct: cells of a lane, and where a 3-D cell reads more than one plane to a side. From: the
 * fastest of 8 to 128 for stars in 2-D and 3-D, H200. */
#define TZ_FIT_DIRECT_CELLS 8
#define TZ_FIT_DIRECT_CELLS_FAR 16
/* Words of all fields in a cell from which on half and a quarter of the threads run at once. From:
 * 2 and 19 fields, H200. */
#define TZ_FIT_DIRECT_WORDS_FEW 10
#define TZ_FIT_DIRECT_WORDS_MANY 32
/* Its wide form: registers for addresses and the loop; planes of a chunk: longer ones leave
 * multiprocessors idle at the end, shorter ones load more planes twice. */
#define TZ_FIT_DIRECT_REGISTERS_OTHER 24
#define TZ_FIT_DIRECT_CHUNK 32

/* Resident: registers for addresses, loop, tags; those that masks take: with less room the compiler
 * spills (fdd5, d2q9 and wave3d8 did). */
#define TZ_FIT_RESIDENT_REGISTERS_OWN 40
#define TZ_FIT_RESIDENT_REGISTERS_MASKED 32

/* Steps in whose time a block starts, where a stage is cut into chunks. From: round number. */
#define TZ_FIT_CHUNK_STARTS 4
/* A kernel may load so many spilt words a step and still count as one that spills none: they are a
 * few constants, which cost little. */
#define TZ_FIT_SPILT_FEW 4.0

#endif
