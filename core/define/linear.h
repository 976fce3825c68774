/* The coefficients of a stencil whose update is one weighted sum, found by computing it. */
#ifndef TZ_CORE_DEFINE_LINEAR_H
#define TZ_CORE_DEFINE_LINEAR_H

#include "base/error.h"
#include <trapeze/plugin.h>

enum {
    TZ_LINEAR_CELLS_MAX =
        (2 * TZ_RADIUS_MAX + 1) * (2 * TZ_RADIUS_MAX + 1) * (2 * TZ_RADIUS_MAX + 1)
};

/* Of a stencil with one field of real numbers, one pass and its default parameters: the array of
 * coefficients, x fastest, with the cell itself in the middle. `values` has TZ_LINEAR_CELLS_MAX
 * numbers. Errors: TZ_UNSUPPORTED for a stencil that is no such sum, with the reason; those of
 * derive(). */
tz_status tz_define_linear(const tz_stencil *stencil, int *side, double *values, tz_error *error);

#endif
