/* A formula of `step` and parameters, read once and computed for each iteration; and as a constant
 * of a stencil that varies. Called by core/lua. */
#include "define/scalar.h"

#include "define/expand.h"
#include "define/expr.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- As a constant of a stencil -------------------------------------------------------------- */

struct tz_named_scalar {
    tz_scalar *scalar;
    char *name, *text;
    int params_count;
    int params[TZ_PARAMS_MAX]; /* the stencil's that are numbers */
};

static bool is_number(const tz_param *param)
{
    return param->type != TZ_PARAM_TEXT && param->type != TZ_PARAM_CHOICE;
}

tz_status tz_named_scalar_create(tz_named_scalar **out, const tz_stencil *stencil, const char *name,
                                 const char *text, size_t length, tz_error *error)
{
    const char *names[TZ_PARAMS_MAX];
    char place[160];
    *out = NULL;
    tz_named_scalar *formula = calloc(1, sizeof *formula);
    if (!formula)
        return tz_error_set(error, TZ_MEMORY, "scalars", "not enough memory");
    for (int p = 0; p < stencil->params_count; p++)
        if (is_number(&stencil->params[p])) {
            names[formula->params_count] = stencil->params[p].name;
            formula->params[formula->params_count++] = p;
        }
    formula->name = strdup(name);
    formula->text = strndup(text, length);
    tz_status status = TZ_OK;
    if (!formula->name || !formula->text)
        status = tz_error_set(error, TZ_MEMORY, "scalars", "not enough memory");
    snprintf(place, sizeof place, "scalar '%.100s'", name);
    if (!status)
        status = tz_scalar_create(&formula->scalar, text, length, names, formula->params_count,
                                  place, error);
    if (status) {
        tz_named_scalar_destroy(formula);
        return status;
    }
    *out = formula;
    return TZ_OK;
}

void tz_named_scalar_destroy(tz_named_scalar *formula)
{
    if (!formula)
        return;
    tz_scalar_destroy(formula->scalar);
    free(formula->name);
    free(formula->text);
    free(formula);
}

static double value_at(const void *context, const tz_value *params, int64_t step)
{
    const tz_named_scalar *formula = context;
    double values[TZ_PARAMS_MAX];
    for (int i = 0; i < formula->params_count; i++)
        values[i] = params[formula->params[i]].number;
    return tz_scalar_at(formula->scalar, step, values);
}

tz_series tz_named_scalar_series(const tz_named_scalar *formula)
{
    return (tz_series){
        .name = formula->name, .text = formula->text, .value = value_at, .context = formula};
}
