/* A formula of a scenario as a constant that varies. Called by core/lua. */
#include "define/formula.h"

#include "define/scalar.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tz_formula {
    tz_scalar *scalar;
    char *name, *text;
    int params_count;
    int params[TZ_PARAMS_MAX]; /* the stencil's that are numbers */
};

static bool is_number(const tz_param *param)
{
    return param->type != TZ_PARAM_TEXT && param->type != TZ_PARAM_CHOICE;
}

tz_status tz_formula_create(tz_formula **out, const tz_stencil *stencil, const char *name,
                            const char *text, size_t length, tz_error *error)
{
    const char *names[TZ_PARAMS_MAX];
    char place[160];
    *out = NULL;
    tz_formula *formula = calloc(1, sizeof *formula);
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
        tz_formula_destroy(formula);
        return status;
    }
    *out = formula;
    return TZ_OK;
}

void tz_formula_destroy(tz_formula *formula)
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
    const tz_formula *formula = context;
    double values[TZ_PARAMS_MAX];
    for (int i = 0; i < formula->params_count; i++)
        values[i] = params[formula->params[i]].number;
    return tz_scalar_at(formula->scalar, step, values);
}

tz_series tz_formula_series(const tz_formula *formula)
{
    return (tz_series){
        .name = formula->name, .text = formula->text, .value = value_at, .context = formula};
}
