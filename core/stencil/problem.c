/* A problem: a stencil on a grid, resolved from what a scenario gives, with its constants. Made by
 * core/sim and core/predict. */
#include "stencil/problem.h"

#include "base/minmax.h"
#include "base/names.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tz_element_type *tz_problem_element_type(const tz_problem *problem, int field)
{
    return tz_problem_as_computed(problem, field)
               ? tz_problem_computed_type(problem, field)
               : tz_element_type_stored(problem->storage[field].as);
}

const tz_element_type *tz_problem_computed_type(const tz_problem *problem, int field)
{
    return tz_element_type_of(problem->stencil->fields[field].type, problem->precision);
}

const tz_element_type *tz_problem_real(const tz_problem *problem)
{
    return tz_element_type_of(TZ_REAL, problem->precision);
}

size_t tz_problem_element_size(const tz_problem *problem, int field)
{
    return tz_problem_element_type(problem, field)->size;
}

tz_dtype tz_problem_dtype(const tz_problem *problem, int field)
{
    return tz_problem_element_type(problem, field)->dtype;
}

tz_dtype tz_problem_value_dtype(const tz_problem *problem, int field)
{
    return problem->origin[field] != 0.0 ? TZ_DTYPE_F64 : tz_problem_dtype(problem, field);
}

int64_t tz_problem_elements(const tz_problem *problem)
{
    return problem->elements[0] * problem->elements[1] * problem->elements[2];
}

bool tz_problem_values_are_elements(const tz_problem *problem, int field)
{
    return problem->origin[field] == 0.0 && tz_problem_as_computed(problem, field);
}

bool tz_problem_all_as_computed(const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (!tz_problem_as_computed(problem, f))
            return false;
    return true;
}

/* ---- Conversions ----------------------------------------------------------------------------- */

enum { PIECE = 2048 }; /* values that are converted at once */

void tz_problem_to_elements(const tz_problem *problem, int field, const double *values,
                            int64_t count, void *elements)
{
    const tz_element_type *type = tz_problem_element_type(problem, field);
    if (tz_problem_as_computed(problem, field)) {
        type->put(values, problem->origin[field], count, elements);
        return;
    }
    float computed[PIECE];
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t some = tz_min(PIECE, count - first);
        tz_problem_real(problem)->put(values + first, problem->origin[field], some, computed);
        tz_stored_store(&problem->storage[field], tz_machine_isa(), computed, some,
                        (char *)elements + (size_t)first * type->size);
    }
}

void tz_problem_to_computed(const tz_problem *problem, int field, const void *elements,
                            int64_t count, double *computed)
{
    const tz_element_type *type = tz_problem_element_type(problem, field);
    if (tz_problem_as_computed(problem, field)) {
        type->get(elements, count, computed);
        return;
    }
    float values[PIECE];
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t some = tz_min(PIECE, count - first);
        tz_stored_load(&problem->storage[field], tz_machine_isa(),
                       (const char *)elements + (size_t)first * type->size, some, values);
        tz_problem_real(problem)->get(values, some, computed + first);
    }
}

void tz_problem_to_values(const tz_problem *problem, int field, const void *elements, int64_t count,
                          double *values)
{
    const double origin = problem->origin[field];
    tz_problem_to_computed(problem, field, elements, count, values);
    for (int64_t i = 0; origin != 0.0 && i < count; i++) /* 0 would turn -0 into +0 */
        values[i] += origin;
}

void tz_problem_to_cells(const tz_problem *problem, int field, const void *elements, int64_t count,
                         void *cells)
{
    if (tz_problem_value_dtype(problem, field) == TZ_DTYPE_F64)
        tz_problem_to_values(problem, field, elements, count, cells);
    else
        tz_stored_load(&problem->storage[field], tz_machine_isa(), elements, count, cells);
}

void tz_bits_spread(const uint32_t *row, int64_t words, int64_t x, int64_t count, uint8_t *cells)
{
    int64_t word = x % words, bit = x / words;
    for (int64_t i = 0; i < count; i++) {
        cells[i] = row[word] >> bit & 1;
        if (++word == words) {
            word = 0;
            bit++;
        }
    }
}

void tz_problem_element(const tz_problem *problem, int field, double value, void *element)
{
    tz_problem_to_elements(problem, field, &value, 1, element);
}

tz_status tz_problem_check_memory(const tz_problem *problem, int64_t bytes, int sharers,
                                  tz_error *error)
{
    const double gib = 1.0 / (double)(INT64_C(1) << 30);
    const int64_t available = tz_machine_memory_available() / sharers;
    if (bytes <= available)
        return TZ_OK;
    return tz_error_set(error, TZ_MEMORY, "grid",
                        "%" PRId64 " x %" PRId64 " x %" PRId64
                        " cells need %.2f GiB and %.2f GiB are available: use a smaller grid%s",
                        problem->extent[0], problem->extent[1], problem->extent[2],
                        (double)bytes * gib, (double)available * gib,
                        problem->precision != TZ_PRECISION_CORRECTION ? " or single precision"
                                                                      : "");
}

/* ---- Grid ------------------------------------------------------------------------------------ */

static tz_status resolve_grid(tz_problem *problem, const tz_simulation_config *config,
                              tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    static const char *const shapes[] = {"", "{nx}", "{nx, ny}", "{nx, ny, nz}"};
    if (config->dims != stencil->dims)
        return tz_error_set(error, TZ_SHAPE, "grid",
                            "'%s' is %d-dimensional: the grid is %s, not %d number%s", stencil->id,
                            stencil->dims, shapes[stencil->dims], config->dims,
                            config->dims == 1 ? "" : "s");
    problem->dims = stencil->dims;
    for (int d = 0; d < TZ_AXES; d++) {
        problem->extent[d] = d < problem->dims ? config->extent[d] : 1;
        if (problem->extent[d] < 1)
            return tz_error_set(error, TZ_RANGE, "grid",
                                "extent %d is %" PRId64 "; every extent must be 1 or more", d + 1,
                                problem->extent[d]);
        if (problem->extent[d] > INT32_MAX)
            return tz_error_set(error, TZ_RANGE, "grid",
                                "extent %d is %" PRId64 "; at most %d cells an axis are possible",
                                d + 1, problem->extent[d], INT32_MAX);
    }
    if (tz_shape_count(TZ_AXES, problem->extent) < 0)
        return tz_error_set(error, TZ_RANGE, "grid",
                            "%" PRId64 " x %" PRId64 " x %" PRId64 " cells overflow 63 bits",
                            problem->extent[0], problem->extent[1], problem->extent[2]);
    problem->bits = tz_type_is_bits(stencil->fields[0].type);
    memcpy(problem->elements, problem->extent, sizeof problem->elements);
    if (problem->bits)
        problem->elements[0] = (problem->extent[0] + 31) / 32;
    return TZ_OK;
}

static tz_status resolve_precision(tz_problem *problem, const tz_simulation_config *config,
                                   tz_error *error)
{
    problem->one_copy = config->one_copy;
    if (config->mixed && config->one_copy)
        return tz_error_set(error, TZ_UNSUPPORTED, "copies",
                            "mixed precision takes two copies of the fields: leave copies out");
    problem->precision = config->precision < 0 ? (tz_precision)0 : (tz_precision)config->precision;
    if (config->precision >= 0 && !tz_stencil_has_real(problem->stencil))
        return tz_error_set(error, TZ_UNSUPPORTED, "precision",
                            "'%s' computes with integers: leave precision out",
                            problem->stencil->id);
    if (config->mixed && !problem->stencil->refinement)
        return tz_error_set(error, TZ_UNSUPPORTED, "precision",
                            "'%s' has no mixed precision, since its plugin declares no refinement: "
                            "use single or double",
                            problem->stencil->id);
    return TZ_OK;
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

/* The boundary whose name is the first `length` bytes of `text`. */
static tz_status find_boundary(const tz_stencil *stencil, const char *text, size_t length,
                               tz_boundary *out, tz_error *error)
{
    const char *allowed[TZ_BOUNDARIES];
    size_t allowed_count = 0;
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        if (stencil->boundaries & TZ_ALLOW(b))
            allowed[allowed_count++] = tz_boundary_name((tz_boundary)b);
    char name[64], hint[256];
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), text);
    const int found = tz_boundary_find(name);
    if (found < 0 || !(stencil->boundaries & TZ_ALLOW(found))) {
        tz_names_hint(hint, sizeof hint, name, allowed, allowed_count);
        return tz_error_set(error, TZ_UNKNOWN, "boundary", "%s '%s' for '%s'%s",
                            found < 0 ? "unknown boundary" : "there is no boundary", name,
                            stencil->id, hint);
    }
    *out = (tz_boundary)found;
    return TZ_OK;
}

static tz_status resolve_boundary(tz_problem *problem, const tz_simulation_config *config,
                                  tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    for (int d = 0; d < TZ_AXES; d++) {
        tz_boundary *sides = problem->boundary[d];
        sides[0] = sides[1] = stencil->boundary;
        const char *low = config->boundary[d];
        if (d >= problem->dims || !low)
            continue;
        const char *colon = strchr(low, ':'), *high = colon ? colon + 1 : low;
        tz_status status = find_boundary(stencil, low, colon ? (size_t)(colon - low) : strlen(low),
                                         &sides[0], error);
        if (!status)
            status = find_boundary(stencil, high, strlen(high), &sides[1], error);
        if (status)
            return status;
        const int wraps = tz_boundary_wraps(sides[0]) ? 0 : 1;
        if (sides[0] != sides[1] && tz_boundary_wraps(sides[wraps])) {
            const char *name = tz_boundary_name(sides[wraps]);
            return tz_error_set(error, TZ_UNSUPPORTED, "boundary",
                                "%c is %s on one side and %s on the other: an axis is %s on both "
                                "sides or on none",
                                'x' + d, tz_boundary_name(sides[1 - wraps]), name, name);
        }
    }
    return TZ_OK;
}

const char *tz_problem_fault(const tz_problem *problem, int field, double value)
{
    const bool bits = tz_type_is_bits(problem->stencil->fields[field].type);
    const tz_dtype dtype = bits ? TZ_DTYPE_BOOL : tz_problem_dtype(problem, field);
    const char *fault = isfinite(value) ? tz_dtype_fault(dtype, value) : "must be finite";
    if (fault || tz_problem_as_computed(problem, field))
        return fault;
    uint64_t element = 0;
    tz_problem_element(problem, field, value, &element);
    tz_problem_to_values(problem, field, &element, 1, &value);
    return isfinite(value) ? NULL : "becomes infinite in half: give a larger scale or an origin";
}

/* What a field is stored as matters only where a side has its value. */
static tz_status check_boundary_values(const tz_problem *problem, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    for (int k = 0; k < stencil->fields_count * TZ_SIDES; k++) {
        const int f = k / TZ_SIDES, side = k % TZ_SIDES;
        const double value = problem->boundary_value[f][side];
        if (!tz_boundary_has_value(problem->boundary[side / 2][side % 2]) &&
            !tz_problem_as_computed(problem, f))
            continue;
        const char *fault = tz_problem_fault(problem, f, value);
        if (fault)
            return tz_error_set(
                error, TZ_RANGE, "boundary_values", "the value of '%s' (type %s) is %.10g; it %s",
                stencil->fields[f].name, tz_type_name(stencil->fields[f].type), value, fault);
    }
    return TZ_OK;
}

static tz_status resolve_boundary_values(tz_problem *problem, const tz_simulation_config *config,
                                         tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    for (int f = 0; f < stencil->fields_count; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            problem->boundary_value[f][side] = stencil->fields[f].boundary_value;
    for (size_t i = 0; i < config->boundary_values_count; i++) {
        const tz_side_value *given = &config->boundary_values[i];
        const int f = tz_stencil_field_index(stencil, given->field);
        if (f < 0)
            return tz_stencil_unknown_field(stencil, given->field, "boundary_values", error);
        if (stencil->fields[f].role != TZ_STATE && stencil->fields[f].role != TZ_STATIC)
            return tz_error_set(error, TZ_UNSUPPORTED, "boundary_values",
                                "'%s' is %s: it has no boundary value", given->field,
                                tz_role_name(stencil->fields[f].role));
        for (int side = 0; side < TZ_SIDES; side++)
            if (given->sides == 0 || given->sides >> side & 1)
                problem->boundary_value[f][side] = given->value;
    }
    return check_boundary_values(problem, error);
}

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
        .engine = problem->stencil->engine,
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

/* Takes the scalars of a scenario. TZ_UNKNOWN: no constant of that name varies, with the nearest;
 * TZ_RANGE: a list is empty or has values that cannot be used, or a constant that varies is given
 * neither by the scenario nor by the plugin. */
static tz_status take_scalars(tz_problem *problem, const tz_simulation_config *config,
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

/* Calls derive() for the parameters as they are: sets the constants, the origins and the members
 * that derive() returns. */
static tz_status derive_constants(tz_problem *problem, tz_error *error)
{
    const tz_status status = derive_all(problem, error);
    return status ? status : tz_problem_constants_at(problem, 0, problem->constants, error);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static bool is_choice(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

static tz_status unknown_param(const tz_stencil *stencil, const char *name, tz_error *error)
{
    char hint[512];
    TZ_NAMES_HINT(hint, name, stencil->params, stencil->params_count);
    return tz_error_set(error, TZ_UNKNOWN, "params", "unknown parameter '%s' of '%s'%s", name,
                        stencil->id, hint);
}

static tz_status check_param(const tz_param *param, const tz_assignment *given, tz_error *error)
{
    const bool wants_text = param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE;
    const bool is_text = given->text;
    if (wants_text != is_text)
        return tz_error_set(error, TZ_TYPE, "params", "'%s' must be %s", param->name,
                            wants_text                     ? "a text"
                            : param->type == TZ_PARAM_FLAG ? "true or false"
                                                           : "a number");
    if (param->type == TZ_PARAM_CHOICE && !is_choice(param->choices, given->text))
        return tz_error_set(error, TZ_UNKNOWN, "params", "'%s' is '%s'; it can be %s", param->name,
                            given->text, param->choices);
    if (wants_text)
        return TZ_OK;
    if (!(given->number >= param->min && given->number <= param->max))
        return tz_error_set(error, TZ_RANGE, "params", "'%s' is %g; it must be %g to %g%s%s",
                            param->name, given->number, param->min, param->max,
                            param->unit[0] ? " " : "", param->unit);
    if (param->type == TZ_PARAM_INTEGER && given->number != trunc(given->number))
        return tz_error_set(error, TZ_TYPE, "params", "'%s' is %g; it must be an integer",
                            param->name, given->number);
    return TZ_OK;
}

static void clear_params(tz_value *params)
{
    for (int p = 0; p < TZ_PARAMS_MAX; p++) {
        free((char *)params[p].text);
        params[p].text = NULL;
    }
}

static tz_status copy_params(tz_value *to, const tz_value *from, int count, tz_error *error)
{
    memset(to, 0, TZ_PARAMS_MAX * sizeof *to);
    for (int p = 0; p < count; p++) {
        to[p] = from[p];
        if (from[p].text && !(to[p].text = strdup(from[p].text))) {
            clear_params(to);
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the parameters");
        }
    }
    return TZ_OK;
}

tz_problem tz_problem_in_double(const tz_problem *problem)
{
    tz_problem in_double = *problem;
    if (problem->precision == TZ_PRECISION_RESIDUAL || !tz_stencil_has_real(problem->stencil))
        return in_double;
    in_double.narrow = problem;
    in_double.precision = TZ_PRECISION_RESIDUAL;
    memcpy(in_double.constants, problem->constants_in_double, sizeof in_double.constants);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_type_is_real(problem->stencil->fields[f].type)) {
            for (int side = 0; side < TZ_SIDES; side++) {
                uint64_t element = 0;
                tz_problem_element(problem, f, problem->boundary_value[f][side], &element);
                tz_problem_to_computed(problem, f, &element, 1, &in_double.boundary_value[f][side]);
            }
            in_double.origin[f] = 0.0;
            in_double.storage[f].as = TZ_STORED_AS_COMPUTED;
        }
    return in_double;
}

tz_status tz_problem_set_params(tz_problem *problem, size_t count, const tz_assignment *params,
                                tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    tz_problem before = *problem;
    tz_status status = copy_params(problem->params, before.params, stencil->params_count, error);
    /* derive() computes these again, unless the scenario set them. */
    for (int p = 0; !status && p < stencil->params_count; p++)
        if (!problem->params[p].given && isnan(stencil->params[p].value))
            problem->params[p].number = NAN;
    for (size_t i = 0; !status && i < count; i++) {
        const int p = tz_stencil_param_index(stencil, params[i].name);
        if (p < 0) {
            status = unknown_param(stencil, params[i].name, error);
            break;
        }
        status = check_param(&stencil->params[p], &params[i], error);
        if (status)
            break;
        tz_value *value = &problem->params[p];
        value->number = params[i].number;
        value->given = 1;
        if (params[i].text) {
            free((char *)value->text);
            value->text = strdup(params[i].text);
            if (!value->text)
                status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
        }
    }
    if (!status)
        status = derive_constants(problem, error);
    if (status) {
        clear_params(problem->params);
        *problem = before;
    } else {
        clear_params(before.params);
    }
    return status;
}

tz_status tz_problem_copy_with(tz_problem *out, const tz_problem *problem,
                               const tz_assignment *param, tz_error *error)
{
    *out = *problem;
    tz_status status =
        copy_params(out->params, problem->params, problem->stencil->params_count, error);
    if (status)
        return status;
    status = tz_problem_set_params(out, 1, param, error);
    if (status)
        clear_params(out->params);
    return status;
}

tz_cell tz_param_cell(const tz_param *param, const tz_value *value)
{
    if (param->type == TZ_PARAM_TEXT || param->type == TZ_PARAM_CHOICE)
        return tz_cell_text(value->text);
    if (param->type == TZ_PARAM_FLAG)
        return tz_cell_flag(value->number != 0);
    return param->type == TZ_PARAM_INTEGER && fabs(value->number) < 9e15
               ? tz_cell_integer((int64_t)value->number)
               : tz_cell_real(value->number);
}

static tz_status default_params(tz_problem *problem, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    tz_value defaults[TZ_PARAMS_MAX] = {{0}};
    for (int p = 0; p < stencil->params_count; p++) {
        const bool text =
            stencil->params[p].type == TZ_PARAM_TEXT || stencil->params[p].type == TZ_PARAM_CHOICE;
        defaults[p].number = stencil->params[p].value;
        defaults[p].text = text ? stencil->params[p].text : NULL;
    }
    return copy_params(problem->params, defaults, stencil->params_count, error);
}

tz_status tz_problem_resolve(tz_problem *problem, const tz_stencil *stencil,
                             const tz_simulation_config *config, tz_error *error)
{
    memset(problem, 0, sizeof *problem);
    problem->stencil = stencil;
    problem->radius = tz_stencil_radius(stencil);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        problem->origin[f] = NAN; /* derive() may choose it */
    tz_status status = resolve_grid(problem, config, error);
    if (!status)
        status = resolve_precision(problem, config, error);
    if (!status)
        status = resolve_boundary(problem, config, error);
    if (!status)
        status = resolve_boundary_values(problem, config, error);
    if (!status)
        status = take_scalars(problem, config, error);
    if (!status)
        status = default_params(problem, error);
    if (!status)
        status = tz_problem_set_params(problem, config->params_count, config->params, error);
    if (!status)
        status = tz_problem_resolve_storage(problem, config, error);
    if (!status && !tz_problem_all_as_computed(problem))
        status = check_boundary_values(problem, error);
    if (status)
        tz_problem_clear(problem);
    return status;
}

tz_status tz_problem_correction(tz_problem *correction, const tz_problem *problem, tz_error *error)
{
    *correction = *problem;
    correction->precision = TZ_PRECISION_CORRECTION;
    /* Memory holds corrections: 0 outside. */
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            correction->boundary_value[f][side] = correction->origin[f];
    tz_status status =
        copy_params(correction->params, problem->params, problem->stencil->params_count, error);
    if (!status)
        status = tz_problem_set_params(correction, 0, NULL, error);
    if (status)
        tz_problem_clear(correction);
    return status;
}

void tz_problem_clear(tz_problem *problem)
{
    clear_params(problem->params);
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

tz_problem tz_problem_slab(const tz_problem *whole, int64_t low, int64_t high, int64_t before,
                           int64_t after)
{
    tz_problem slab = *whole;
    const int axis = whole->dims - 1;
    slab.slab =
        (tz_slab){.of = whole, .first = low - before, .low = before, .high = before + high - low};
    slab.extent[axis] = slab.elements[axis] = before + high - low + after;
    for (int side = 0; side < 2; side++)
        if (tz_boundary_wraps(whole->boundary[axis][side]) && before + after > 0)
            slab.boundary[axis][side] = TZ_BOUNDARY_CUT;
    return slab;
}

void tz_problem_slab_refresh(tz_problem *slab)
{
    const tz_problem *whole = slab->slab.of;
    memcpy(slab->params, whole->params, sizeof slab->params);
    memcpy(slab->constants, whole->constants, sizeof slab->constants);
    memcpy(slab->constants_in_double, whole->constants_in_double, sizeof slab->constants_in_double);
    memcpy(slab->derived, whole->derived, sizeof slab->derived);
    memcpy(slab->boundary_value, whole->boundary_value, sizeof slab->boundary_value);
    slab->residual_per_update = whole->residual_per_update;
    slab->source_per_update = whole->source_per_update;
}

void tz_problem_own(const tz_problem *problem, int64_t *low, int64_t *high)
{
    *low = problem->slab.of ? problem->slab.low : 0;
    *high = problem->slab.of ? problem->slab.high : problem->elements[problem->dims - 1];
}

int64_t tz_problem_coordinate(const tz_problem *problem, int64_t here)
{
    if (!problem->slab.of)
        return here;
    const int64_t n = problem->slab.of->extent[problem->dims - 1];
    return ((here + problem->slab.first) % n + n) % n;
}

bool tz_problem_is_ghost(const tz_problem *problem, const tz_box *box)
{
    const int axis = problem->dims - 1;
    return problem->slab.of &&
           (box->high[axis] <= problem->slab.low || box->low[axis] >= problem->slab.high);
}

bool tz_problem_repeats(const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STREAMED)
            return false;
    if (tz_problem_varies(problem) || problem->points)
        return false;
    for (int p = 0; p < s->passes_count; p++)
        if (strstr(s->passes[p].text, "TZ_STEP"))
            return false;
    return true;
}
