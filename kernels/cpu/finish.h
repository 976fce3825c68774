/* Ghost cells, which lie outside the grid and are computed from the cells inside. */
#ifndef TZ_KERNELS_CPU_FINISH_H
#define TZ_KERNELS_CPU_FINISH_H

#include "kernels/cpu/stage.h"

/* A part of a slab, in elements. `at` is element (0, 0) of the slab, which may lie outside the
 * memory of a ring. */
typedef struct tz_patch {
    char *at;
    ptrdiff_t row_stride;
    int64_t x_low, x_high;
    int64_t y_low, y_high;
    bool keep_x; /* do not write ghosts of x: the slab extends past the grid */
    int rows[2]; /* ghost rows to write past the low and the high side of y, in 3-D */
} tz_patch;

/* The index in [0, extent) of the cell that a read at any coordinate of an axis gets; -1 or -2 for
 * the value past the low or the high side, which is fixed. */
int64_t tz_ghost_source(const tz_boundary sides[2], int64_t coordinate, int64_t extent);

/* Write the ghost elements, up to `ghost` columns and patch->rows rows beyond the grid, whose
 * source lies in the patch: columns of its rows and, in 3-D, rows above and below. The patch at an
 * edge writes the fixed values that ghosts beyond that edge get. */
void tz_patch_finish(const tz_stage *stage, int field, const tz_patch *patch, int ghost);

#endif
