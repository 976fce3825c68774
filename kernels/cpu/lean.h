/* Internal to kernels/cpu: tiles that lean, of the family "stream" in place, in 3-D.
 *
 * At each level, a tile lies further to the low side of y, by as many rows as a pass reads. So it
 * reads no row that it would have to compute for itself although the next tile computes it, too. A
 * thread takes the tiles of a chunk in order. If there are more threads than chunks, each chunk has
 * a team (kernels/cpu/teams.h). Of each plane of each level, a tile keeps its last rows in a seam,
 * for the tile that comes next. */
#ifndef TZ_KERNELS_CPU_LEAN_H
#define TZ_KERNELS_CPU_LEAN_H

#include "kernels/cpu/job.h"

/* Leaning tiles of a chunk, 2 or more, for a stage of so many levels. Fewer than the given tile
 * asks for, if they would be too narrow at some level. 0: tiles overlap, or there is one. */
int tz__lean_tiles(const tz_stage *stage, int levels);

/* Tile `index` of pipeline->leaning. */
tz__axis tz__lean_axis(const tz_stage *stage, const tz_pipeline *pipeline, int64_t index);

/* Rows that a slab must have in memory, without ghosts: the most that a tile has at a level, with
 * its seam. */
int64_t tz__lean_rows(const tz_stage *stage, const tz_pipeline *pipeline);

/* Elements below those of level 0 at which the last level's rows begin, because tiles lean. */
int64_t tz__lean_drift(const tz_pipeline *pipeline);

/* Places the seams of a field at `at`; returns where they end. Rings are placed already. */
size_t tz__lean_place(tz_pipeline *pipeline, const tz_stage *stage, int f, size_t at);

/* When level l of a tile has an area of slab j, with its ghosts: gives it the rows that the tile
 * before kept, if the area begins where the tile does, and keeps rows for the next one, if it ends
 * there. `slab` is element (0, 0) of the slab of field f in its ring. */
void tz__lean_pass_on(const tz_stage *stage, const tz_pipeline *pipeline, const tz__job *job, int l,
                      int f, int64_t j, const tz__area *area, char *slab);

#endif
