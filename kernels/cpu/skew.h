/* kernels/cpu: time skewing, the family that computes no cell twice.
 *
 * A stage keeps each state field in two arrays, and each level (a pass of an iteration) reads one and
 * writes the other. Tiles lean: at each level a tile lies further to the low side of an inner axis
 * (x; in 3-D y), by at least as far as a pass reads. So a tile has all it reads when the tile
 * before it is done. In a tile, slabs (rows; planes) go through the levels one after the other, each
 * level behind the one before, so that they stay in cache.
 *
 * The grid is cut along the last axis into parts, which shrink from level to level at the edges that they share. What
 * they leave open between them is closed when they are done: first at the edges across one axis, then at their
 * corners. On a periodic axis the grid's two sides are such an edge. If such an axis is too short for all levels of
 * a stage, the stage is computed in several runs through the grid. There is no such edge across a periodic inner axis
 * if a tile is as wide as that axis: its ghosts are copied from its other end, level by level. That takes less time,
 * since what is open at an edge has short rows that do not begin at cache lines.
 *
 * If there are fewer parts than threads, a team of threads computes a part: each thread has a tile, and stays
 * behind the thread that has the tile before, slab by slab (a wavefront). Threads of a team pass levels to each
 * other through a cache that they share.
 *
 * Meaning of tz_stage.tile here: the elements of a tile along the inner axis, and of a part along the
 * last axis. In 3-D rows are never cut: tile[0] is not read.
 *
 * The family "diamond" is the same but for its tiles (tz_stage.diamonds; 3-D, y and z not periodic). Along y a tile grows
 * to both sides from level to level, as far as a pass reads, until it has tile[1] rows, and then shrinks: in y and time it is
 * a diamond. Diamonds of a row of them leave room for those of the next row, which begin where two of them meet. All
 * diamonds of a row may be computed at once, and a thread that is slow computes fewer. A stage may be several rows of
 * diamonds high. Of a diamond, planes go through the levels as in tiles that lean, eight at a time. The last axis is not
 * cut. (Malas and others, SIAM Journal on Scientific Computing 37, 2015, doi:10.1137/140991133, combine diamonds along y
 * with a wavefront along z.) */
#ifndef TZ_KERNELS_CPU_SKEW_H
#define TZ_KERNELS_CPU_SKEW_H

#include "kernels/cpu/stage.h"

/* How far passes read state fields along the last axis, at most: levels are so many slabs apart. */
int tz_skew_reach(const tz_stage *stage);

enum {
    TZ_DIAMOND_PLANES = 8 /* that a level of a diamond computes before the next level does */
};

/* Levels by which a diamond grows before it shrinks: 1 or more. */
int tz_diamond_grows(const tz_stage *stage);

/* Slabs that a level computes before the next one does, in one or several calls of a row function. */
int tz_skew_batch(const tz_stage *stage);

/* The elements by which a tile is shifted from a level to the next. */
int tz_skew_slope(const tz_stage *stage);

/* The size of the work of a stage, from geometry alone. Calls near the last axis' ends, of single slabs, are
 * not counted apart. `ring_bytes`: what a tile's slabs of all levels take, in both arrays. `jobs`: of the
 * first parts. */
void tz_skew_count(const tz_stage *stage, tz_stage_counts *out);

/* The fields that a pass writes and that take over what another field was (tz_stencil_takes), if it writes that one,
 * too: in all iterations of a stage but the last they get that field's array, and nothing is copied. A mask. */
uint32_t tz_skew_lost(const tz_stencil *stencil, const tz_pass *pass);

/* How many arrays of a field are in use, but in the last iteration of a stage: 2 of a state field, 1 if it takes over
 * another one's values; 1 of a static field. */
int tz_skew_arrays_used(const tz_stencil *stencil, int field);

/* Bytes for each thread that tz_stage.lost must have; 0: it is not used. */
size_t tz_skew_lost_bytes(const tz_stage *stage);

/* Numbers of arrays: 2 f is stage->in[f], 2 f + 1 is stage->out[f]. */
typedef struct tz_skew_arrays {
    uint8_t values[TZ_FIELDS_MAX]; /* of the field */
    uint8_t before[TZ_FIELDS_MAX]; /* of a field that is written, before the last iteration */
} tz_skew_arrays;

/* Run one stage. Returns where the fields are then: maybe in an array that another field had. Allocates nothing. */
tz_skew_arrays tz_skew_run(const tz_stage *stage);

#endif
