/* Adds and records values at points of what a pass has just computed. */
#ifndef TZ_KERNELS_CPU_POINTS_H
#define TZ_KERNELS_CPU_POINTS_H

#include "kernels/cpu/stage.h"

/* Rows of a field that the last pass of an iteration to change it has written, in elements of the
 * grid. `at` is element (0, 0, 0). */
typedef struct tz_points_box {
    int field, iteration; /* of the stage */
    char *at;
    ptrdiff_t row_stride, plane_stride;
    int64_t low[TZ_AXES], high[TZ_AXES];         /* points here are added */
    int64_t own_low[TZ_AXES], own_high[TZ_AXES]; /* and recorded here, within these */
} tz_points_box;

void tz_points_apply(const tz_stage *stage, const tz_points_box *box);

#endif
