/* Numbers that change with the iteration: formulas of `step` and parameters, as they stand in a
 * scenario. */
#ifndef TZ_CORE_DEFINE_SCALAR_H
#define TZ_CORE_DEFINE_SCALAR_H

#include "stencil/types.h"

typedef struct tz_scalar tz_scalar;

/* Read a formula of `length` bytes with these names of parameters. `place` says in messages what it
 * is: "scalar 'amplitude'"; it is copied, and so are the names. Errors: TZ_FORMAT, TZ_UNKNOWN,
 * TZ_TYPE, TZ_RANGE, TZ_MEMORY, with a caret under the place (define/source.h). */
tz_status tz_scalar_create(tz_scalar **out, const char *formula, size_t length,
                           const char *const *params, int params_count, const char *place,
                           tz_error *error);
/* NULL is fine. */
void tz_scalar_destroy(tz_scalar *scalar);

/* Its value in iteration `step`, computed in double; `values` in the order of the parameters, or
 * NULL if there are none. It may be infinite or NAN. Pure; any thread. */
double tz_scalar_at(const tz_scalar *scalar, int64_t step, const double *values);

/* ---- As a constant of a stencil that varies (tz_series) -------------------------------------- */

typedef struct tz_named_scalar tz_named_scalar;

/* Read the formula of the constant `name`. It may name the numeric parameters of the stencil, and
 * follows them as they change. Errors: those of tz_scalar_create(). */
tz_status tz_named_scalar_create(tz_named_scalar **out, const tz_stencil *stencil, const char *name,
                                 const char *text, size_t length, tz_error *error);
void tz_named_scalar_destroy(tz_named_scalar *formula); /* NULL is fine */

/* Its texts and context are those of the formula, which must outlive what uses the series. */
tz_series tz_named_scalar_series(const tz_named_scalar *formula);

#endif
