/* Fitted numbers of kernel families; constants.h says what their comments mean. */
#ifndef TZ_MODEL_CONSTANTS_FAMILIES_H
#define TZ_MODEL_CONSTANTS_FAMILIES_H

/* Share of the instructions off the main path of a loop that a warp also executes because its lanes
 * branch differently, at the grid's sides. ENDS: the same at the grid's ends, as a multiple. For
 * 1-D and 2-D streams and for exchanges of resident grids. From: times. +10 %: not determined. */
#define TZ_FIT_DIVERGED 0.5
#define TZ_FIT_DIVERGED_ENDS 1.5
/* Planes: among loads whose packets share a sector of L2 with another request, the share that requests
 * it twice; not explained. From: counters of star3d1r, heights 1, 2. +10 %: not determined. */
#define TZ_FIT_PLANES_HALVES 0.33
/* Planes: so many steps before their use loads of static fields arrive that are not prefetched.
 * From: times of 11 plans of seven coefficient arrays. +10 %: not determined. */
#define TZ_FIT_PLANES_DIRECT 0.65
/* Rows of height 1: share of the cost of parts of bursts (TZ_FIT_TORN) that is left where lanes load
 * what they need and warps follow each other in short chunks.
 * From: times of 8 stencils, 8192 x 8192. +10 %: not determined. */
#define TZ_FIT_ROWS_DIRECT_TORN 0.33
/* Number of instructions between two adjacent stores of a lane at which half of such pairs are no
 * longer joined, and the power as in TZ_FIT_CROWDED_POWER. From: counters of 30 kernels: pairs 1 to
 * 4 instructions apart are joined, pairs 10 apart hardly ever. +10 %: not determined. */
#define TZ_FIT_PAIR_INSTRUCTIONS 8.0
#define TZ_FIT_PAIR_POWER 4.0
/* Resident grids: costs by which the ways to cut a grid are compared (family/resident/design.c).
 * They change which plan is made, not its prediction.
 * PASS: a pass besides its arithmetic (barrier, shared memory, the longest chain). BARRIER: its
 * second barrier, if a field has one buffer. EXCHANGE: a store for another block and the load there.
 * GHOST: a word of a ghost cell in an exchange, where the lanes' cells are adjacent.
 * From: round numbers near times of an H200. +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_PASS_CLOCKS 150.0
#define TZ_FIT_RESIDENT_BARRIER_CLOCKS 40.0
#define TZ_FIT_RESIDENT_EXCHANGE_CLOCKS 1000.0
#define TZ_FIT_RESIDENT_GHOST_CLOCKS 0.3
/* Instructions of a cell update; SENT: of a cell of a brick in an exchange (its address and receiver).
 * From: assumed, a star of five points. +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_OPERATIONS 6.0
#define TZ_FIT_RESIDENT_SENT_OPERATIONS 12.0
/* A grid is kept on chip by default if a multiprocessor's part of the written fields has at most
 * this many bytes of shared memory. From: times ("Small grids"). +10 %: of the times of a plan 0. */
#define TZ_FIT_RESIDENT_CHANGED_BYTES (96 << 10)

#endif
