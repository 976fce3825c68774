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
 * a stage, the stage is computed in several runs through the grid.
 *
 * If there are fewer parts than threads, a team of threads computes a part: each thread has a tile, and stays
 * behind the thread that has the tile before, slab by slab (a wavefront). Threads of a team pass levels to each
 * other through a cache that they share.
 *
 * Meaning of tz_stage.tile here: the elements of a tile along the inner axis, and of a part along the
 * last axis. In 3-D rows are never cut: tile[0] is not read. */
#ifndef TZ_KERNELS_CPU_SKEW_H
#define TZ_KERNELS_CPU_SKEW_H

#include "kernels/cpu/stage.h"

/* How far passes read state fields along the last axis, at most: levels are so many slabs apart. */
int tz_skew_reach(const tz_stage *stage);

/* Slabs that a level computes before the next one does, in one or several calls of a row function. */
int tz_skew_batch(const tz_stage *stage);

/* The elements by which a tile is shifted from a level to the next. */
int tz_skew_slope(const tz_stage *stage);

/* The size of the work of a stage, from geometry alone. Calls near the last axis' ends, of single slabs, are
 * not counted apart. `ring_bytes`: what a tile's slabs of all levels take, in both arrays. `jobs`: of the
 * first parts. */
void tz_skew_count(const tz_stage *stage, tz_stage_counts *out);

/* Run one stage. Field f then has its values in stage->out[f] if bit f of the result is set, else in
 * stage->in[f]; the other array has other values. Allocates nothing. */
uint32_t tz_skew_run(const tz_stage *stage);

#endif
