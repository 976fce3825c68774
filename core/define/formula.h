/* A formula of `step` and parameters as the value of a constant that varies (tz_series). */
#ifndef TZ_CORE_DEFINE_FORMULA_H
#define TZ_CORE_DEFINE_FORMULA_H

#include "stencil/types.h"

typedef struct tz_formula tz_formula;

/* Read the formula of the constant `name`. It may name the numeric parameters of the stencil, and
 * follows them as they change. Errors: those of tz_scalar_create(). */
tz_status tz_formula_create(tz_formula **out, const tz_stencil *stencil, const char *name,
                            const char *text, size_t length, tz_error *error);
void tz_formula_destroy(tz_formula *formula); /* NULL is fine */

/* Its texts and context are those of the formula, which must outlive what uses the series. */
tz_series tz_formula_series(const tz_formula *formula);

#endif
