/* A run whose numbers overflow must end in TZ_DIVERGED, with step, field and cell. */
#include "contract.h"
#include "sim/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 400, STEPS_SLABS = 40, WAYS = 3, HALF_MAX = 65504 };

/* How a run is made to overflow. */
typedef struct blow {
    int way;
    int64_t low; /* along the last axis: there it begins */
    int steps;   /* at most */
} blow;

/* Make fields (and, if asked, parameters) so large that an update overflows. */
static tz_status blow_up(const contract *c, tz_simulation *sim, int precision, const blow *b,
                         tz_error *error)
{
    const tz_stencil *s = c->stencil;
    const int way = b->way;
    const int64_t *extent = tz_simulation_extent(sim);
    tz_box all = {{0, 0, 0}, {extent[0], extent[1], extent[2]}};
    all.low[s->dims - 1] = b->low;
    tz_status status = TZ_OK;
    for (int f = 0; f < s->fields_count && status == TZ_OK; f++) {
        if (s->fields[f].type != TZ_REAL || s->fields[f].role == TZ_STREAMED)
            continue;
        if (s->fields[f].role == TZ_STATIC && way == 0)
            continue;
        tz_storage_wish storage;
        const bool half = tz_simulation_storage(sim, f, &storage);
        const double most = half                     ? storage.scale * HALF_MAX
                            : precision == TZ_DOUBLE ? DBL_MAX
                                                     : FLT_MAX;
        const double origin = half ? storage.origin : 0.0;
        status = tz_simulation_fill(sim, f, &all, origin + most, error);
        /* Opposite neighbours make differences overflow as well as sums. */
        for (int64_t x = all.low[0]; x < extent[0] && status == TZ_OK && way == 1; x += 2) {
            tz_box box = all;
            box.low[0] = x;
            box.high[0] = x + 1;
            status = tz_simulation_fill(sim, f, &box, origin - most, error);
        }
    }
    for (int p = 0; p < s->params_count && status == TZ_OK && way == 2; p++) {
        const tz_param *param = &s->params[p];
        if (param->type != TZ_PARAM_REAL)
            continue;
        /* A plugin may refuse one of these: the others may do. */
        const tz_assignment most_of_it = {.name = param->name, .number = param->max};
        tz_error ignored;
        tz_simulation_set_params(sim, 1, &most_of_it, &ignored);
    }
    return status;
}

/* The message must name the field and the cell that the engine itself reports. */
static void check_message(contract *c, tz_simulation *sim, const char *what, const tz_error *error)
{
    char text[sizeof error->place + sizeof error->message + 4];
    tz_error_format(error, text, sizeof text);
    bool names_field = false, names_cell = false;
    for (int f = 0; f < c->stencil->fields_count; f++) {
        if (c->stencil->fields[f].role != TZ_STATE || c->stencil->fields[f].type != TZ_REAL ||
            !strstr(text, c->stencil->fields[f].name))
            continue;
        names_field = true;
        tz_reduction r;
        tz_error ignored;
        if (tz_simulation_reduce(sim, f, &r, &ignored) != TZ_OK || r.not_finite == 0)
            continue;
        char cell[96];
        const long long x = r.first_not_finite[0], y = r.first_not_finite[1],
                        z = r.first_not_finite[2];
        if (c->stencil->dims == 1)
            snprintf(cell, sizeof cell, "%lld", x);
        else if (c->stencil->dims == 2)
            snprintf(cell, sizeof cell, "%lld, %lld", x, y);
        else
            snprintf(cell, sizeof cell, "%lld, %lld, %lld", x, y, z);
        names_cell = names_cell || strstr(text, cell);
    }
    if (!names_field)
        contract_fail(c, "%s: the report names no field: %s", what, text);
    else if (!names_cell)
        contract_fail(c, "%s: the report does not name the first such cell: %s", what, text);
    if (!strstr(text, "step"))
        contract_fail(c, "%s: the report names no step: %s", what, text);
}

typedef enum way_end { FINITE, DIVERGED, REFUSED } way_end;

/* How the run ends. REFUSED: the family that the plan names cannot do this; the case is counted as
 * not possible. */
static way_end check_way(contract *c, const contract_case *k, const char *backend,
                         const tz_plan *plan, const blow *b, tz_error *error)
{
    char what[256];
    contract_case_text(c, k, what, sizeof what);
    const size_t used = strlen(what);
    snprintf(what + used, sizeof what - used, " backend %s height %d", backend, plan->height);
    tz_simulation *sim = NULL;
    const int precision = k->precision;
    bool diverged = false;
    tz_status status = contract_create(c, k, backend, 2, NULL, &sim, error);
    if (status == TZ_OK)
        status = blow_up(c, sim, precision, b, error);
    if (status == TZ_OK && plan->height > 0)
        status = tz_simulation_set_plan(sim, plan, error);
    const bool refused = plan->family[0] && (status == TZ_UNSUPPORTED ||
                                             (status == TZ_RANGE && strcmp(backend, "cuda") == 0));
    if (refused) {
        contract_refuse(c, error);
    } else if (status != TZ_OK) {
        contract_fail(c, "%s: %s", what, error->message);
    } else {
        status = contract_run(sim, b->steps, error);
        diverged = status == TZ_DIVERGED;
        if (diverged)
            check_message(c, sim, what, error);
        else if (status != TZ_OK)
            contract_fail(c, "%s: ends with status %d instead of a report of divergence: %s", what,
                          (int)status, error->message);
        for (int f = 0; status == TZ_OK && f < c->stencil->fields_count; f++) {
            tz_reduction r;
            if (c->stencil->fields[f].role == TZ_STATE &&
                tz_simulation_reduce(sim, f, &r, error) == TZ_OK && r.not_finite > 0)
                contract_fail(c, "%s: '%s' holds %lld values that are not finite, unreported", what,
                              c->stencil->fields[f].name, (long long)r.not_finite);
        }
        c->compared++;
    }
    tz_simulation_destroy(sim);
    return refused ? REFUSED : diverged ? DIVERGED : FINITE;
}

static bool has_real_state(const tz_stencil *s)
{
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role == TZ_STATE && s->fields[f].type == TZ_REAL)
            return true;
    return false;
}

void contract_diverge_in_slabs(contract *c, const contract_case *k, const char *backend,
                               const char *devices, const tz_plan *plan, int64_t low)
{
    for (int way = 0; way < WAYS && has_real_state(c->stencil); way++) {
        const blow b = {way, low, STEPS_SLABS};
        const tz_plan one = {.height = 1};
        contract_case slabs = *k;
        tz_error first = {0}, other = {0};
        slabs.devices = devices;
        if (check_way(c, k, "reference", &one, &b, &first) != DIVERGED)
            continue;
        const way_end end = check_way(c, &slabs, backend, plan, &b, &other);
        if (end == FINITE)
            contract_fail(c, "the reference diverges, %s do not", devices);
        else if (end == DIVERGED && strcmp(first.message, other.message) != 0)
            contract_fail(c, "the reference and %s report differently: '%s' and '%s'", devices,
                          first.message, other.message);
    }
}

void contract_diverge(contract *c)
{
    const tz_stencil *s = c->stencil;
    if (!has_real_state(s)) {
        snprintf(c->note, sizeof c->note, "integers cannot diverge");
        return;
    }
    int precisions[TZ_PRECISIONS + 1];
    const int count = contract_storages(c, precisions);
    bool ever = false;
    for (int p = 0; p < count; p++) {
        contract_case k = {.precision = precisions[p], .extent = {1, 1, 1}, .seed = 77};
        contract_surround(&k, s->boundary);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            k.extent[axis] = axis < s->dims ? 9 + axis : 1;
        }
        for (int way = 0; way < WAYS; way++) {
            const blow b = {way, 0, STEPS};
            tz_error first = {0};
            if (check_way(c, &k, "reference", &(tz_plan){.height = 1}, &b, &first) != DIVERGED)
                continue;
            ever = true;
            /* With height 3, and most heights that a backend chooses, stages do not end at the
             * same steps as the reference's. */
            for (int h = 0; h < 3; h++) {
                static const int heights[] = {1, 3, 0};
                tz_error other = {0};
                if (check_way(c, &k, c->backend, &(tz_plan){.height = heights[h]}, &b, &other) !=
                    DIVERGED)
                    contract_fail(c, "the reference diverges, the %s backend (height %d) does not",
                                  c->backend, heights[h]);
                else if (strcmp(first.message, other.message) != 0)
                    contract_fail(c, "the backends report differently: '%s' and (height %d) '%s'",
                                  first.message, heights[h], other.message);
            }
        }
    }
    /* A convex combination of finite values stays finite. */
    if (!ever)
        snprintf(c->note, sizeof c->note, "its update cannot overflow");
}
