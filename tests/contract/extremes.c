/* Bits at the ends of the range: subnormal numbers, infinities and NaNs, which a run meets when it
 * goes wrong, must not depend on the backend either. With --hashes the program prints what each
 * case leaves: scripts/test-arm64.sh compares two kinds of processors. */
#include "contract.h"
#include "sim/fields.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 7, MAGNITUDES = 3, AS_THEY_ARE = INT_MIN };

/* The binary exponent of the largest value of a field. */
static const int magnitudes[TZ_PRECISIONS + 1][MAGNITUDES] = {
    [TZ_SINGLE] = {AS_THEY_ARE, -135, 127},
    [TZ_DOUBLE] = {AS_THEY_ARE, -1060, 1023},
    [CONTRACT_HALF] = {AS_THEY_ARE, -20, 15},
};

static tz_status scale_field(tz_simulation *sim, int field, int exponent, tz_error *error)
{
    tz_array *array = NULL;
    tz_status status = tz_simulation_read_array(sim, field, &array, error);
    if (status)
        return status;
    const int64_t count = tz_shape_count(array->dims, array->shape);
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(tz_array_get(array, i)));
    for (int64_t i = 0; largest > 0 && i < count; i++)
        tz_array_set(array, i, ldexp(tz_array_get(array, i), exponent - ilogb(largest)));
    status = tz_simulation_write_array(sim, field, array, NULL, "contract", error);
    tz_array_destroy(array);
    return status;
}

/* What a run leaves in the state fields: `left`, for each of them. */
static tz_status compute(const contract *c, const contract_case *k, const char *backend,
                         int exponent, tz_reduction *left, tz_error *error)
{
    tz_simulation *sim = NULL;
    tz_status status = contract_create(c, k, backend, 2, NULL, &sim, error);
    if (status)
        return status;
    for (int f = 0; f < c->stencil->fields_count && exponent != AS_THEY_ARE && !status; f++)
        if (contract_is_state(c, f) && c->stencil->fields[f].type == TZ_REAL)
            status = scale_field(sim, f, exponent, error);
    /* A backend that cannot have such a plan keeps its own. */
    const tz_plan plan = {.height = 3};
    if (strcmp(backend, "cpu") == 0)
        tz_simulation_set_plan(sim, &plan, NULL);
    if (!status)
        status = contract_run(sim, STEPS, error);
    if (status == TZ_DIVERGED) /* which the last step has shown */
        status = TZ_OK;
    for (int f = 0; f < c->stencil->fields_count && !status; f++)
        if (contract_is_state(c, f))
            status = tz_simulation_reduce(sim, f, &left[f], error);
    tz_simulation_destroy(sim);
    return status;
}

static void check_magnitude(contract *c, const contract_case *k, int exponent)
{
    tz_reduction want[TZ_FIELDS_MAX] = {0}, got[TZ_FIELDS_MAX] = {0};
    tz_error error = {0};
    char what[300];
    contract_case_text(c, k, what, sizeof what);
    const size_t used = strlen(what);
    if (exponent != AS_THEY_ARE)
        snprintf(what + used, sizeof what - used, " values up to 2^%d", exponent);
    if (compute(c, k, "reference", exponent, want, &error)) {
        contract_refuse(c, &error);
        return;
    }
    c->compared++;
    if (compute(c, k, c->backend, exponent, got, &error)) {
        contract_fail(c, "%s: %s", what, error.message);
        return;
    }
    for (int f = 0; f < c->stencil->fields_count; f++) {
        if (!contract_is_state(c, f))
            continue;
        if (!contract_same_reduction(&got[f], &want[f]))
            contract_fail(c, "%s: '%s' has another hash, min, max, sum or population", what,
                          c->stencil->fields[f].name);
    }
    contract_print_hashes(c, what, got);
}

void contract_extremes(contract *c)
{
    int precisions[TZ_PRECISIONS + 1];
    tz_boundary boundaries[CONTRACT_BOUNDARIES_MAX][TZ_AXES][2];
    const int64_t(*sizes)[TZ_AXES];
    const int precisions_count = contract_storages(c, precisions);
    const int boundaries_count = contract_boundaries(c, boundaries);
    const int sizes_count = contract_sizes(c, &sizes);
    for (int b = 0; b < boundaries_count && !(c->smoke && c->compared > 0); b += c->quick ? 3 : 1)
        for (int p = 0; p < precisions_count; p++) {
            /* Stored as half without an origin, from which such values would be too far. */
            contract_case k = {.precision = precisions[p], .seed = 2 * (uint64_t)b};
            memcpy(k.boundary, boundaries[b], sizeof k.boundary);
            memcpy(k.extent, sizes[sizes_count - 1 - b % (sizes_count / 2)], sizeof k.extent);
            for (int m = 0; m < (k.precision < 0 ? 1 : MAGNITUDES); m++)
                check_magnitude(c, &k, k.precision < 0 ? AS_THEY_ARE : magnitudes[k.precision][m]);
        }
}
