/* Fitted numbers of CPUs; constants.h says what their comments mean. */
#ifndef TZ_MODEL_CONSTANTS_CPU_H
#define TZ_MODEL_CONSTANTS_CPU_H

/* If the arrays, or the rings of all threads, need x times the third level, x^n / (1 + x^n) of them
 * come from memory. From: two threads with rings of 18 MiB each take twice as long as with 9 (Zen
 * 4, 32 MiB); with 7 to 8 MiB each 2 to 8 % longer than with 5.5 (star3d1r on a Zen 5, 32 MiB,
 * which others use, too). +10 %: of choices none. */
#define TZ_FIT_CPU_OVERFLOW_POWER 4.5
/* Share of the latency of L3 that the first line of a row costs, if it lies there or another core
 * wrote it last: several wait at once. From: 48 x 48 x 48 on two cores with an L3 latency of 552
 * cycles, where it is 0.18 of it; 0.2 to 0.25 give the same choices there. +10 %: of such plans 2
 * to 5 % at height 1. */
#define TZ_FIT_CPU_STARTS 0.2
/* Latencies of L2 that each field's first line of a row in a leaning tile costs. The tile before
 * wrote it, and this one fetches it ahead, so the latency of L3 is hidden.
 * From: star2d1r in both precisions and hotspot (8192^2, tiles of 512 to 4096 elements) on two
 * cores of Zen 5, where 2.5 to 4 give the same choices. +10 %: of the narrowest tiles 1 %. */
#define TZ_FIT_CPU_LEANING 3.2
/* Instructions a cycle of a class without a rate in the record; the same for divisions.
 * From: assumed. +10 %: 0 with a calibrated record. */
#define TZ_FIT_CPU_RATE 1.0
#define TZ_FIT_CPU_SPECIAL_RATE 0.1
/* Clocks of a row and of a call of a row function beside its vectors, where row functions are
 * counted. From: measured rows of the built-in stencils on a Xeon. +10 %: 0 where rows are
 * measured. */
#define TZ_FIT_CPU_ROW 8
#define TZ_FIT_CPU_CALL 20
/* What predictions from counted row functions say of themselves. From: the same rows. */
#define TZ_FIT_CPU_COUNTED                                                                         \
    "rows are not measured: times are estimates from the operations of the stencil's text, "       \
    "mostly "                                                                                      \
    "within 20 %% of those from measured rows, at worst a factor of 2 off"
/* Share of a core's second level that the rings may fill in a plan chosen without predictions.
 * From: times on two cores with AVX-512. +10 %: of predictions 0. */
#define TZ_FIT_CPU_RING_SHARE 0.6
/* Share of L2 that the groups of rows of a batch of planes may fill, and what a call of a row
 * function takes there, in times of a line from L3. From: times of star3d1r 512^3 on two cores of a
 * Zen 5, with batches of 2 to 16 planes and groups of 8 to 32 rows. +10 %: not measured. */
#define TZ_FIT_CPU_GROUP_SHARE 0.65
#define TZ_FIT_CPU_GROUP_CALL 20
/* Heights of plans chosen without predictions, by dimensions, for radius 1: cells, and bits.
 * From: times on two cores with AVX-512: higher, redundant cells cost what traffic saves. +10 %: of
 * predictions 0. */
#define TZ_FIT_CPU_HEIGHTS                                                                         \
    {                                                                                              \
        0, 48, 16, 6                                                                               \
    }
#define TZ_FIT_CPU_HEIGHTS_BITS                                                                    \
    {                                                                                              \
        0, 48, 8, 4                                                                                \
    }
/* The same of "stream" in place.
 * From: star2d1r in both precisions, hotspot and box2d1r (8192^2) and star3d1r (512^3) on two cores
 * of Zen 5: at least 93 % of the best speed over heights of 41 to 64 in 2-D and 12 to 22 in 3-D.
 * +10 %: of predictions 0. */
#define TZ_FIT_CPU_IN_PLACE_HEIGHTS                                                                \
    {                                                                                              \
        0, 0, 40, 14                                                                               \
    }
/* The same heights for the family "skew", and the shares of a core's second level and of a thread's
 * part of the third, the larger of the two, that a tile's slabs may fill.
 * From: star2d1r, hotspot (8192^2) and star3d1r (512^3) in both precisions on two cores of Zen 4 (1
 * MiB of L2, 32 of L3): within 4 % of the best speed over heights of 16 to 48 in 2-D and 12 to 20
 * in 3-D. +10 %: of predictions 0. */
#define TZ_FIT_CPU_SKEW_HEIGHTS                                                                    \
    {                                                                                              \
        0, 0, 24, 16                                                                               \
    }
#define TZ_FIT_CPU_SKEW_L2 1.0
#define TZ_FIT_CPU_SKEW_L3 0.4
/* Rows that an update of "skew" uses stay in L1 if they fill at most this part of it. Then two rows
 * are computed at once only where that saves at least this part of the time of loads.
 * From: times of twelve problems in 2-D, both ways, on two cores of Zen 5, where rows of 30 KiB
 * stay in an L1 of 48 and rows of 40 KiB do not. Two boxes are faster with two rows at once, five
 * problems of several fields with one after the other, five others are as fast both ways. +10 %: of
 * predictions 0. */
#define TZ_FIT_CPU_ROWS_NEAR 0.67
#define TZ_FIT_CPU_LOADS_SHARED 0.25
/* Calls of a calibrated row function that each slab after the first costs in a call that computes
 * several in place: it has its own pointers, and its ghosts are set.
 * From: star2d1r in both precisions, hotspot, star2d2r and box2d1r (8192^2, tiles of 1024 to 8192
 * elements) on two cores of Zen 5. +10 %: of tiles of 1024 elements 2 to 3 %. */
#define TZ_FIT_CPU_SLAB 1.0
/* By how much a stage of "skew" takes longer for each doubling of the threads of a team, which wait
 * for each other. From: plans with and without teams, on 16 and 8 threads of a Xeon and 2 of Zen 5.
 * +10 %: of such plans 0.7 to 3 %. */
#define TZ_FIT_CPU_TEAM 0.07
/* Parts of a second level of 2 MiB or more that the planes of a diamond may take by default.
 * From: star3d1r on 2 threads of a Xeon. With rows of 2 KiB diamonds of 5.5 MB are as fast as any,
 * with rows of 8 KiB those of 6 MB a tenth faster than those of 22. +10 %: of predictions 0. */
#define TZ_FIT_CPU_DIAMOND_L2 3.2
/* What lines of diamonds cost where L2 has 2 MiB or more, of the time that the same lines of "skew"
 * are counted with: those from L2, and those from L3, which wait for little: eight planes of a
 * level follow each other in memory. From: 16 plans of star3d1r (256^3, 512^3) on two threads of a
 * Xeon. +10 %: of such plans 4 and 1 %. */
#define TZ_FIT_CPU_DIAMOND_NEAR 0.85
#define TZ_FIT_CPU_DIAMOND_RING 0.2

#endif
