/* A formula of `step` and parameters, read once and computed for each iteration. */
#include "define/scalar.h"

#include "define/expr.h"
#include <math.h>
#include <stdlib.h>

struct tz_scalar {
    tz_expr e;
    int root;
};

/* The names as a definition, which lives while the formula is read. */
static tz_status read_formula(tz_scalar *scalar, const tz_formula *formula,
                              const char *const *params, int params_count)
{
    static const tz_defined_field no_field = {.name = ""};
    tz_defined_param *all = calloc((size_t)params_count + 1, sizeof *all);
    if (!all)
        return tz_error_set(formula->error, TZ_MEMORY, formula->place, "not enough memory");
    for (int p = 0; p < params_count; p++)
        all[p] =
            (tz_defined_param){.name = params[p], .value = 1, .min = -INFINITY, .max = INFINITY};
    const tz_definition definition = {.id = formula->place,
                                      .dims = TZ_AXES,
                                      .fields = &no_field,
                                      .params_count = params_count,
                                      .params = all};
    tz_syntax syntax;
    tz_status status = tz_syntax_parse(&syntax, formula);
    if (!status) {
        scalar->e.definition = &definition;
        scalar->root = tz_expr_expand(&scalar->e, &syntax, TZ_EXPR_REAL, true);
        scalar->e.definition = NULL;
        status = scalar->e.status;
        tz_syntax_clear(&syntax);
    }
    free(all);
    return status;
}

tz_status tz_scalar_create(tz_scalar **out, const char *formula, size_t length,
                           const char *const *params, int params_count, const char *place,
                           tz_error *error)
{
    const tz_formula text = {{formula, length}, place, error};
    tz_scalar *scalar = calloc(1, sizeof *scalar);
    *out = NULL;
    if (!scalar)
        return tz_error_set(error, TZ_MEMORY, place, "not enough memory");
    tz_status status = TZ_OK;
    if (params_count > TZ_PARAMS_MAX)
        status = tz_error_set(error, TZ_RANGE, place, "%d parameters; at most %d are possible",
                              params_count, TZ_PARAMS_MAX);
    if (!status)
        status = read_formula(scalar, &text, params, params_count);
    if (status)
        tz_scalar_destroy(scalar);
    else
        *out = scalar;
    return status;
}

void tz_scalar_destroy(tz_scalar *scalar)
{
    if (scalar)
        tz_expr_clear(&scalar->e);
    free(scalar);
}

double tz_scalar_at(const tz_scalar *scalar, int64_t step, const double *values)
{
    return tz_expr_value(&scalar->e, scalar->root, values, step);
}
