/* Numbers that change with the iteration: formulas of `step` and parameters, as they stand in a
 * scenario. */
#ifndef TZ_CORE_DEFINE_SCALAR_H
#define TZ_CORE_DEFINE_SCALAR_H

#include "stencil/types.h"

typedef struct tz_scalar tz_scalar;

/* Read the formula, of `length` bytes, of the constant `name` of a stencil. It may name the numeric
 * parameters of the stencil, and follows them as they change; with `timed`, also the simulated time
 * `t`, unless a parameter has that name. Errors, with "scalar 'NAME'" as
 * place: TZ_FORMAT, TZ_UNKNOWN, TZ_TYPE, TZ_RANGE, TZ_MEMORY, with a caret under the place
 * (define/source.h). */
tz_status tz_scalar_create(tz_scalar **out, const tz_stencil *stencil, const char *name,
                           const char *formula, size_t length, bool timed, tz_error *error);
void tz_scalar_destroy(tz_scalar *scalar); /* NULL is fine */

/* Its values, computed in double, which may be infinite or NAN. Texts and context are those of the
 * formula, which must outlive what uses the series. */
tz_series tz_scalar_series(const tz_scalar *scalar);
/* The value in an iteration; `scalar` is a tz_scalar. `params`: one for each of the stencil. */
double tz_scalar_value(const void *scalar, const tz_value *params, int64_t step, double time);

#endif
