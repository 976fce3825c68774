/* The constants of a problem: calls derive() and at_step(), and checks what they gave. */
#include "stencil/constants.h"

#include "base/names.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Setups ---------------------------------------------------------------------------------- */

/* The argument of the plugin's functions. `constants` and `message` are the caller's. */
static tz_setup make_setup(const tz_problem *problem, tz_precision precision, tz_value *params,
                           double *constants, double *origins, char *message, size_t message_size)
{
    tz_setup setup = {
        .struct_size = sizeof setup,
        .dims = problem->dims,
        .precision = precision,
        .params = params,
        .constants = constants,
        .residual_per_update = 1.0,
        .message = message,
        .message_size = message_size,
        .origins = origins,
        .boundary_values = problem->boundary_value[0],
        .source_per_update = NAN,
    };
    memcpy(setup.extent, problem->extent, sizeof setup.extent);
    memcpy(setup.boundary, problem->boundary, sizeof setup.boundary);
    return setup;
}

static bool is_too_large(const tz_constant *constant, tz_precision precision, double value)
{
    return tz_type_is_real(constant->type) &&
           tz_dtype_fault(tz_element_type_of(constant->type, precision)->dtype, value);
}

/* ---- Constants that vary --------------------------------------------------------------------- */

bool tz_problem_varies(const tz_problem *problem)
{
    for (int c = 0; c < problem->stencil->constants_count; c++)
        if (problem->stencil->constants[c].varies)
            return true;
    return false;
}

static const tz_series *scalar_of(const tz_problem *problem, int constant)
{
    for (size_t i = 0; i < problem->scalars_count; i++)
        if (strcmp(problem->scalars[i].name, problem->stencil->constants[constant].name) == 0)
            return &problem->scalars[i];
    return NULL;
}

/* The constant of that name that varies. */
static tz_status find_varying(const tz_problem *problem, const char *name, int *out,
                              tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    const char *names[TZ_CONSTANTS_MAX];
    char hint[512];
    size_t count = 0;
    for (int c = 0; c < stencil->constants_count; c++) {
        *out = c;
        if (stencil->constants[c].varies && strcmp(stencil->constants[c].name, name) == 0)
            return TZ_OK;
        if (stencil->constants[c].varies)
            names[count++] = stencil->constants[c].name;
    }
    if (count == 0)
        return tz_error_set(error, TZ_UNKNOWN, "scalars",
                            "'%s' has no constant that changes with the iteration", stencil->id);
    return tz_error_set(error, TZ_UNKNOWN, "scalars", "unknown scalar '%s' of '%s'%s", name,
                        stencil->id, tz_names_hint(hint, sizeof hint, name, names, count));
}

/* Writes why a value cannot be used; NULL: it can. */
static const char *fault_of(const tz_constant *constant, tz_precision precision, double value)
{
    if (isnan(value))
        return "is NaN";
    if (!isfinite(value))
        return "is infinite";
    if (!tz_type_is_real(constant->type) &&
        (value != trunc(value) || fabs(value) > (double)UINT32_MAX))
        return "must be an integer";
    return is_too_large(constant, precision, value) ? "is too large for single precision" : NULL;
}

double tz_series_at(const tz_series *scalar, const tz_value *params, int64_t step)
{
    if (scalar->value)
        return scalar->value(scalar->context, params, step);
    return scalar->values[step < (int64_t)scalar->count ? step : (int64_t)scalar->count - 1];
}

/* The values that vary, in `values`, as they are before they are rounded. */
static tz_status values_at(const tz_problem *problem, int64_t step, double *values, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    const tz_precision precision = problem->precision;
    double origins[TZ_FIELDS_MAX], derived[TZ_CONSTANTS_MAX];
    char message[1024] = "";
    memcpy(derived, problem->derived[precision],
           (size_t)stencil->constants_count * sizeof *derived);
    const tz_problem *own = problem->narrow ? problem->narrow : problem;
    own = own->slab.of ? own->slab.of : own;
    memcpy(origins, own->origin, sizeof origins);
    tz_setup setup = make_setup(own, precision, (tz_value *)own->params, derived, origins, message,
                                sizeof message);
    setup.residual_per_update = own->residual_per_update;
    setup.source_per_update = own->source_per_update;
    for (int c = 0; c < stencil->constants_count; c++)
        values[c] = stencil->constants[c].varies ? NAN : derived[c];
    if (stencil->at_step && stencil->at_step(&setup, step, values) != 0)
        return tz_error_set(error, TZ_PLUGIN, stencil->id, "iteration %" PRId64 ": %s", step,
                            message[0] ? message : "the plugin refused it");
    for (int c = 0; c < stencil->constants_count; c++) {
        const tz_series *scalar = stencil->constants[c].varies ? scalar_of(problem, c) : NULL;
        if (scalar)
            values[c] = tz_series_at(scalar, problem->params, step);
        const char *fault = stencil->constants[c].varies
                                ? fault_of(&stencil->constants[c], precision, values[c])
                                : NULL;
        if (fault && scalar)
            return tz_error_set(error, TZ_SCRIPT, "scalars",
                                "'%s' is %g in iteration %" PRId64 ", which %s: %s", scalar->name,
                                values[c], step, fault,
                                scalar->text ? scalar->text : "choose another number");
        if (fault)
            return tz_error_set(error, TZ_PLUGIN, stencil->id,
                                "constant '%s' is %g in iteration %" PRId64
                                ", which %s: at_step() must set it",
                                stencil->constants[c].name, values[c], step, fault);
    }
    return TZ_OK;
}

tz_status tz_problem_constants_at(const tz_problem *problem, int64_t step,
                                  tz_slot constants[TZ_CONSTANTS_MAX], tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    double values[TZ_CONSTANTS_MAX];
    memmove(constants, problem->constants, sizeof problem->constants);
    if (!tz_problem_varies(problem))
        return TZ_OK;
    const tz_status status = values_at(problem, step, values, error);
    for (int c = 0; !status && c < stencil->constants_count; c++)
        if (stencil->constants[c].varies)
            constants[c] = tz_slot_of(stencil->constants[c].type, problem->precision, values[c]);
    return status;
}

tz_status tz_problem_scalar_at(const tz_problem *problem, const char *name, int64_t step,
                               double *value, tz_error *error)
{
    double values[TZ_CONSTANTS_MAX];
    int constant = 0;
    tz_status status = find_varying(problem, name, &constant, error);
    if (!status)
        status = values_at(problem, step, values, error);
    if (!status)
        *value = values[constant];
    return status;
}

static char *put_text(char *at, const char *text, const char **out)
{
    const size_t bytes = strlen(text) + 1;
    *out = memcpy(at, text, bytes);
    return at + bytes;
}

tz_status tz_series_copy(size_t count, const tz_series *scalars, tz_series **out, tz_error *error)
{
    size_t values = 0, texts = 0;
    *out = NULL;
    if (count == 0)
        return TZ_OK;
    for (size_t i = 0; i < count; i++) {
        values += scalars[i].value ? 0 : scalars[i].count;
        texts += strlen(scalars[i].name) + (scalars[i].text ? strlen(scalars[i].text) : 0) + 2;
    }
    char *at = malloc(count * sizeof **out + values * sizeof(double) + texts);
    if (!at)
        return tz_error_set(error, TZ_MEMORY, "scalars", "not enough memory");
    *out = memcpy(at, scalars, count * sizeof **out);
    at += count * sizeof **out;
    for (size_t i = 0; i < count; i++)
        if (!scalars[i].value && scalars[i].count > 0) {
            (*out)[i].values = memcpy(at, scalars[i].values, scalars[i].count * sizeof(double));
            at += scalars[i].count * sizeof(double);
        }
    for (size_t i = 0; i < count; i++) {
        at = put_text(at, scalars[i].name, &(*out)[i].name);
        if (scalars[i].text)
            at = put_text(at, scalars[i].text, &(*out)[i].text);
    }
    return TZ_OK;
}

tz_status tz__problem_take_scalars(tz_problem *problem, const tz_simulation_config *config,
                                   tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    for (size_t i = 0; i < config->scalars_count; i++) {
        const tz_series *scalar = &config->scalars[i];
        int c = 0;
        const tz_status status = find_varying(problem, scalar->name, &c, error);
        if (status)
            return status;
        if (!scalar->value && scalar->count == 0)
            return tz_error_set(error, TZ_RANGE, "scalars", "the list '%s' is empty", scalar->name);
        for (size_t k = 0; !scalar->value && k < scalar->count; k++) {
            const char *fault =
                fault_of(&stencil->constants[c], problem->precision, scalar->values[k]);
            if (fault)
                return tz_error_set(error, TZ_RANGE, "scalars",
                                    "number %zu of the list '%s' is %g, which %s", k + 1,
                                    scalar->name, scalar->values[k], fault);
        }
    }
    problem->scalars = config->scalars;
    problem->scalars_count = config->scalars_count;
    for (int c = 0; c < stencil->constants_count; c++)
        if (stencil->constants[c].varies && !stencil->at_step && !scalar_of(problem, c))
            return tz_error_set(error, TZ_RANGE, "scalars",
                                "'%s' needs a value for each iteration: scalars = { %s = \"a "
                                "formula of step\" }, or a list of numbers",
                                stencil->id, stencil->constants[c].name);
    return TZ_OK;
}

/* ---- derive() -------------------------------------------------------------------------------- */

/* What derive() left in setup->origins: 0 for NAN. */
static tz_status take_origins(const tz_problem *problem, double *origins, tz_error *error)
{
    for (int f = 0; f < tz_stencil_fields_all(problem->stencil); f++) {
        const tz_field *field = &problem->stencil->fields[f];
        const double kept = problem->origin[f];
        const char *fault = NULL;
        if (isnan(kept) && isnan(origins[f]))
            origins[f] = 0.0;
        if (!isfinite(origins[f]))
            fault = "must be finite";
        else if (!isnan(kept) && origins[f] != kept)
            fault = "must stay as it was when the simulation was created";
        else if (origins[f] != 0.0 && (!tz_type_is_real(field->type) ||
                                       field->role == TZ_STREAMED || field->role == TZ_DERIVED))
            fault = "must be 0: only state and static fields of real numbers can have one";
        if (fault)
            return tz_error_set(error, TZ_RANGE, problem->stencil->id,
                                "the plugin makes %g the origin of field '%s', which %s",
                                origins[f], field->name, fault);
    }
    return TZ_OK;
}

/* Call derive() for a precision. Writes the origins, and the constants as slots of that precision.
 * */
static tz_status derive_for(tz_problem *problem, tz_precision precision, tz_value *params,
                            tz_slot *slots, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    double constants[TZ_CONSTANTS_MAX], origins[TZ_FIELDS_MAX];
    char message[1024] = "";
    tz_setup setup =
        make_setup(problem, precision, params, constants, origins, message, sizeof message);
    for (int c = 0; c < TZ_CONSTANTS_MAX; c++)
        constants[c] = NAN;
    memcpy(origins, problem->origin, sizeof origins);
    const int step = tz_stencil_param_of_role(stencil, TZ_PARAM_ROLE_TIME_STEP);
    const int derived = stencil->derive ? stencil->derive(&setup) : 0;
    if (derived != 0)
        return tz_error_set(error, derived == TZ_DIVERGES ? TZ_UNSTABLE : TZ_RANGE, stencil->id,
                            "%s", message[0] ? message : "the plugin refused its parameters");
    const tz_status status = take_origins(problem, origins, error);
    if (status)
        return status;
    if (step >= 0 && !(params[step].number > 0 && isfinite(params[step].number)))
        return tz_error_set(error, TZ_RANGE, stencil->id,
                            "the time step '%s' is %g; it must be positive",
                            stencil->params[step].name, params[step].number);
    for (int c = 0; c < stencil->constants_count; c++) {
        if (stencil->constants[c].varies && isnan(constants[c]))
            constants[c] = 0.0;
        if (isnan(constants[c]))
            return tz_error_set(error, TZ_RANGE, stencil->id,
                                "constant '%s' has no value: derive() does not set it, or makes it "
                                "NaN with these parameters",
                                stencil->constants[c].name);
        if (!isfinite(constants[c]))
            return tz_error_set(error, TZ_RANGE, stencil->id,
                                "the parameters make constant '%s' %g: choose others",
                                stencil->constants[c].name, constants[c]);
        if (is_too_large(&stencil->constants[c], precision, constants[c]))
            return tz_error_set(error, TZ_RANGE, stencil->id,
                                "the parameters make constant '%s' %g, which single precision "
                                "cannot hold: choose others, or precision = \"double\"",
                                stencil->constants[c].name, constants[c]);
        slots[c] = tz_slot_of(stencil->constants[c].type, precision, constants[c]);
    }
    if (stencil->refinement && !isfinite(setup.source_per_update))
        return tz_error_set(error, TZ_PLUGIN, stencil->id,
                            "derive() set source_per_update to %g; it must be finite",
                            setup.source_per_update);
    problem->residual_per_update = setup.residual_per_update;
    problem->source_per_update = setup.source_per_update;
    memcpy(problem->origin, origins, sizeof origins);
    memcpy(problem->derived[precision], constants, sizeof constants);
    return TZ_OK;
}

/* The constants of the run, and those of double precision for the same values of all parameters. */
static tz_status derive_all(tz_problem *problem, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    tz_value params[TZ_PARAMS_MAX];
    tz_status status =
        derive_for(problem, problem->precision, problem->params, problem->constants, error);
    if (status)
        return status;
    memcpy(problem->constants_in_double, problem->constants, sizeof problem->constants);
    if (problem->precision == TZ_PRECISION_RESIDUAL || !tz_stencil_has_real(stencil))
        return TZ_OK;
    memcpy(params, problem->params, sizeof params);
    for (int p = 0; p < stencil->params_count; p++)
        params[p].given = params[p].given || isnan(stencil->params[p].value);
    return derive_for(problem, TZ_PRECISION_RESIDUAL, params, problem->constants_in_double, error);
}

tz_status tz__problem_derive(tz_problem *problem, tz_error *error)
{
    const tz_status status = derive_all(problem, error);
    return status ? status : tz_problem_constants_at(problem, 0, problem->constants, error);
}
