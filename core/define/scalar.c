/* A formula of `step` and parameters, read once and computed for each iteration: a constant of a
 * stencil that varies. Called by core/lua. */
#include "define/scalar.h"

#include "define/expansion.h"
#include "define/expr.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tz_scalar {
    tz_expr e;
    int root;
    char *name, *text;
    bool timed; /* after the parameters comes the time */
    int params_count;
    int params[TZ_PARAMS_MAX]; /* the stencil's that are numbers */
};

/* The names as a definition, which lives while the formula is read. */
static tz_status read_formula(tz_scalar *scalar, const tz_formula *formula,
                              const tz_stencil *stencil)
{
    static const tz_defined_field no_field = {.name = ""};
    tz_defined_param all[TZ_PARAMS_MAX + 1];
    for (int p = 0; p < stencil->params_count; p++) {
        const tz_param *param = &stencil->params[p];
        if (param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE)
            continue;
        all[scalar->params_count] =
            (tz_defined_param){.name = param->name, .value = 1, .min = -INFINITY, .max = INFINITY};
        scalar->params[scalar->params_count++] = p;
    }
    if (scalar->timed)
        all[scalar->params_count] =
            (tz_defined_param){.name = "t", .value = 1, .min = -INFINITY, .max = INFINITY};
    const tz_definition definition = {.id = formula->place,
                                      .dims = TZ_AXES,
                                      .fields = &no_field,
                                      .params_count = scalar->params_count + scalar->timed,
                                      .params = all};
    tz_syntax syntax;
    const tz_status status = tz_syntax_parse(&syntax, formula);
    if (status)
        return status;
    scalar->e.definition = &definition;
    scalar->root = tz_expr_expand(&scalar->e, &syntax, TZ_EXPR_REAL, true);
    scalar->e.definition = NULL;
    tz_syntax_clear(&syntax);
    return scalar->e.status;
}

tz_status tz_scalar_create(tz_scalar **out, const tz_stencil *stencil, const char *name,
                           const char *formula, size_t length, bool timed, tz_error *error)
{
    char place[160];
    *out = NULL;
    snprintf(place, sizeof place, "scalar '%.100s'", name);
    const tz_formula text = {{formula, length}, place, error};
    tz_scalar *scalar = calloc(1, sizeof *scalar);
    if (scalar) {
        scalar->timed = timed && tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_TIME_STEP) >= 0 &&
                        tz_stencil_param_index(stencil, "t") < 0;
        scalar->name = strdup(name);
        scalar->text = strndup(formula, length);
    }
    const tz_status status = scalar && scalar->name && scalar->text
                                 ? read_formula(scalar, &text, stencil)
                                 : tz_error_set(error, TZ_MEMORY, place, "not enough memory");
    if (status)
        tz_scalar_destroy(scalar);
    else
        *out = scalar;
    return status;
}

void tz_scalar_destroy(tz_scalar *scalar)
{
    if (!scalar)
        return;
    tz_expr_clear(&scalar->e);
    free(scalar->name);
    free(scalar->text);
    free(scalar);
}

double tz_scalar_value(const void *any, const tz_value *params, int64_t step, double time)
{
    const tz_scalar *scalar = any;
    double values[TZ_PARAMS_MAX + 1];
    for (int i = 0; i < scalar->params_count; i++)
        values[i] = params[scalar->params[i]].number;
    values[scalar->params_count] = time;
    return tz_expr_value(&scalar->e, scalar->root, values, step);
}

static double value_at(const void *context, const tz_value *params, int64_t step)
{
    return tz_scalar_value(context, params, step, NAN);
}

tz_series tz_scalar_series(const tz_scalar *scalar)
{
    return (tz_series){
        .name = scalar->name, .text = scalar->text, .value = value_at, .context = scalar};
}
