/* Numbers that change with the iteration: formulas of `step` and parameters, as they stand in a
 * scenario. */
#ifndef TZ_CORE_DEFINE_SCALAR_H
#define TZ_CORE_DEFINE_SCALAR_H

#include "base/error.h"
#include <stdint.h>

typedef struct tz_scalar tz_scalar;

/* Read a formula of `length` bytes with these names of parameters. `place` says in messages what it
 * is: "scalar 'amplitude'"; it is copied, and so are the names. Errors: TZ_FORMAT, TZ_UNKNOWN,
 * TZ_TYPE, TZ_RANGE, TZ_MEMORY, with a caret under the place (define/definition.h). */
tz_status tz_scalar_create(tz_scalar **out, const char *formula, size_t length,
                           const char *const *params, int params_count, const char *place,
                           tz_error *error);
/* NULL is fine. */
void tz_scalar_destroy(tz_scalar *scalar);

/* Its value in iteration `step`, computed in double; `values` in the order of the parameters, or
 * NULL if there are none. It may be infinite or NAN. Pure; any thread. */
double tz_scalar_at(const tz_scalar *scalar, int64_t step, const double *values);

#endif
