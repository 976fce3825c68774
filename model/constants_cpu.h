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
/* Calls of a calibrated row function that each further call of a level's part of a step costs: only
 * pointers move on. From: star2d1r in both precisions, hotspot and box2d1r (4096^2) on a Xeon.
 * +10 %: of tiles of 512 elements 1 %. */
#define TZ_FIT_CPU_SLAB 0.25
/* Parts of a second level of 2 MiB or more that the planes of a diamond may take by default.
 * From: star3d1r on 2 threads of a Xeon. With rows of 2 KiB diamonds of 5.5 MB are as fast as any,
 * with rows of 8 KiB those of 6 MB a tenth faster than those of 22. +10 %: of predictions 0. */
#define TZ_FIT_CPU_DIAMOND_L2 3.2
/* The same in 2-D, where a level computes some columns of all rows of a diamond. From: star2d1r in
 * both precisions and hotspot (8192^2) on 16 threads of a Xeon: hotspot's diamonds of 1.5 MB take a
 * tenth longer than those of 0.4, star2d1r's of 1 MB are the fastest. +10 %: of predictions 0. */
#define TZ_FIT_CPU_DIAMOND_L2_2D 0.5
/* What lines of diamonds cost where L2 has 2 MiB or more, of the time that they are counted with
 * elsewhere: those from L2, and those from L3, which wait for little: eight planes of a level
 * follow each other in memory. From: 16 plans of star3d1r (256^3, 512^3) on two threads of a
 * Xeon. +10 %: of such plans 4 and 1 %. */
#define TZ_FIT_CPU_DIAMOND_NEAR 0.85
#define TZ_FIT_CPU_DIAMOND_RING 0.2

#endif
