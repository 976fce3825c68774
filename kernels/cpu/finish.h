/* Ghost cells: what lies outside the grid, written from the cells inside. */
#ifndef TZ_KERNELS_CPU_FINISH_H
#define TZ_KERNELS_CPU_FINISH_H

#include "kernels/cpu/stream.h"

/* Part of one slab whose cells were just computed: columns and rows half open, in elements.
 * `at` is element (0, 0) of the slab (which may lie outside the buffer of a ring slab). */
typedef struct tz_patch {
    char *at;
    ptrdiff_t row_stride;
    int64_t x_low, x_high;
    int64_t y_low, y_high;
    bool keep_x, keep_y; /* leave this axis alone: the slab extends past the grid on it */
} tz_patch;

/* Index inside [0, extent) that a coordinate outside reads under a boundary, or -1 under TZ_FIXED.
 */
int64_t tz_ghost_source(tz_boundary boundary, int64_t coordinate, int64_t extent);

/* Write every ghost element within `ghost` of the grid whose source lies in the patch: columns of
 * the patch's rows and, in 3-D, rows above and below. Fixed ghosts are written by the patch that
 * touches that edge. */
void tz_patch_finish(const tz_stage *stage, int field, const tz_patch *patch, int ghost);

#endif
