/* A grid in slabs on several devices gives the same bits as the reference on one. */
#include "backend/backend.h"
#include "contract.h"
#include "sim/fields.h"
#include "sim/residual.h"
#include "stencil/stencil.h"
#include "tests/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLABS_MAX = 3, PHASES = 3, CUT_UNIT_1D = 4096 };

/* Steps of a run: after each phase, cells around the cuts are stored. */
static const int phase_steps[PHASES] = {4, 3, 5};

/* How a grid is cut, and the plans of the phases. The grid is as small as the deepest ghost zone
 * allows, and has `spare` more rows or planes. `thick`: its slabs are so many times as thick, so
 * that GPUs exchange beside the rest of a stage. */
typedef struct layout {
    int count;
    double shares[SLABS_MAX];
    int spare;
    int height[PHASES], exchange[PHASES];
    int thick;
} layout;

static const layout layouts[] = {
    {2, {1, 1}, 0, {1, 1, 1}, {1, 1, 1}, 1},      {3, {1, 1, 1}, 0, {3, 3, 3}, {3, 3, 3}, 1},
    {2, {1, 2.5}, 1, {2, 2, 2}, {4, 4, 4}, 1},    {3, {3, 1, 2}, 2, {2, 2, 2}, {2, 2, 2}, 1},
    {3, {1, 1.5, 1}, 0, {1, 3, 2}, {2, 3, 4}, 1}, /* ghost zones become deeper as it runs */
    {1, {1}, 3, {4, 4, 4}, {0, 0, 0}, 1},         {3, {1, 1.5, 1}, 1, {1, 2, 1}, {2, 4, 3}, 4},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* What a run leaves. */
typedef struct outcome {
    contract_cells end;
    tz_reduction middle[TZ_FIELDS_MAX];
    double norm;      /* of the last iteration of a phase, as memory holds it */
    tz_update update; /* of the next iteration, in double */
} outcome;

/* Random values in a box that crosses every cut but those at its ends, in state and static
 * fields. */
static tz_status store_middle(const contract *c, const contract_case *k, tz_simulation *sim,
                              int phase, tz_error *error)
{
    const int axis = c->stencil->dims - 1;
    tz_box box = {{0, 0, 0}, {k->extent[0], k->extent[1], k->extent[2]}};
    box.low[axis] = k->extent[axis] / 5 + phase;
    box.high[axis] -= k->extent[axis] / 7 + phase;
    if (axis > 0)
        box.low[0] = k->extent[0] / 3;
    if (box.low[axis] >= box.high[axis])
        return TZ_OK;
    for (int f = 0; f < c->stencil->fields_count; f++) {
        const tz_field *field = &c->stencil->fields[f];
        if (field->role != TZ_STATE && field->role != TZ_STATIC)
            continue;
        const tz_random random = contract_values(field, k->seed + 77u * (uint64_t)(phase + f));
        const tz_status status = tz_simulation_fill_random(sim, f, &box, &random, error);
        if (status)
            return status;
    }
    return TZ_OK;
}

static tz_status run_phase(tz_simulation *sim, int64_t steps, double *norm, tz_error *error)
{
    const tz_run run = {.steps = steps,
                        .until_residual = -1.0,
                        .until_is_update = true,
                        .check_every = steps,
                        .unchecked = true};
    tz_run_result result;
    const tz_status status = run_simulation(sim, &run, &result, error);
    *norm = result.update;
    return status;
}

/* Corrections are no steps of the solution, so they run to a residual. */
static tz_status run_mixed(tz_simulation *sim, double *norm, tz_error *error)
{
    const tz_run run = {.steps = 60, .until_residual = 0.0, .check_every = 20, .unchecked = true};
    tz_run_result result;
    const tz_status status = run_simulation(sim, &run, &result, error);
    *norm = result.residual;
    return status;
}

static tz_status run_all(const contract *c, const contract_case *k, const layout *l,
                         tz_simulation *sim, int phases, outcome *o, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int i = 0; i < phases && !status; i++) {
        if (k->devices) {
            tz_plan plan = {.height = l->height[i], .exchange = l->exchange[i]};
            if (c->family)
                snprintf(plan.family, sizeof plan.family, "%s", c->family);
            status = tz_simulation_set_plan(sim, &plan, error);
            if (status == TZ_RANGE && strcmp(error->place, "height") == 0 && plan.height > 1) {
                plan.height = 1; /* families without ghost zones have no other */
                status = tz_simulation_set_plan(sim, &plan, error);
            }
        }
        if (!status && i > 0)
            status = store_middle(c, k, sim, i, error);
        if (!status)
            status = k->mixed ? run_mixed(sim, &o->norm, error)
                              : run_phase(sim, phase_steps[i], &o->norm, error);
        for (int f = 0; f < c->stencil->fields_count && !status && i == 0; f++)
            if (contract_is_state(c, f))
                status = tz_simulation_reduce(sim, f, &o->middle[f], error);
    }
    return status;
}

static tz_status compute(const contract *c, const contract_case *k, const layout *l,
                         const char *backend, int phases, outcome *o, tz_error *error)
{
    tz_simulation *sim = NULL;
    memset(o, 0, sizeof *o);
    tz_status status = contract_create(c, k, backend, 3, NULL, &sim, error);
    if (!status)
        status = run_all(c, k, l, sim, phases, o, error);
    if (!status && !tz_stencil_has_residual(c->stencil, NULL))
        status = tz_simulation_measure(sim, &o->update, error);
    if (!status)
        status = contract_read(c, sim, &o->end, error);
    tz_simulation_destroy(sim);
    return status;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void compare(contract *c, const contract_case *k, const char *what, const outcome *got,
                    const outcome *want)
{
    c->compared++;
    contract_compare(c, k, what, &got->end, &want->end);
    for (int f = 0; f < c->stencil->fields_count; f++)
        if (contract_is_state(c, f) && !contract_same_reduction(&got->middle[f], &want->middle[f]))
            contract_fail(c, "%s: '%s' has another hash, min, max or sum in the middle of the run",
                          what, c->stencil->fields[f].name);
    if (!contract_same_number(got->norm, want->norm))
        contract_fail(c, "%s: the last iteration changed %.17g instead of %.17g", what, got->norm,
                      want->norm);
    if (!contract_same_number(got->update.largest, want->update.largest) ||
        !contract_same_number(got->update.sum, want->update.sum) ||
        !contract_same_number(got->update.magnitude, want->update.magnitude))
        contract_fail(
            c, "%s: the next iteration changes %.17g (sum %.17g) instead of %.17g (%.17g)", what,
            got->update.largest, got->update.sum, want->update.largest, want->update.sum);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* The thinnest slab that can be: as the ghost zone of `exchange` iterations. Static fields may be
 * read farther away than state fields. */
static int64_t ghost_zone(const tz_stencil *stencil, int exchange)
{
    const int axis = stencil->dims - 1;
    const tz_reach all = tz_stencil_reach_sides(stencil);
    int64_t low = (int64_t)exchange * all.low[axis], high = (int64_t)exchange * all.high[axis];
    int64_t need = low > high ? low : high;
    low -= all.low[axis];
    high -= all.high[axis];
    for (int p = stencil->passes_count - 1; p >= 0; p--) {
        const tz_reach reach = tz_pass_reach(stencil, &stencil->passes[p]);
        for (int f = 0; f < stencil->fields_count; f++) {
            const tz_reads reads = tz_stencil_reads(stencil, &stencil->passes[p], f);
            if (stencil->fields[f].role != TZ_STATIC)
                continue;
            need = low - reads.low[axis] > need ? low - reads.low[axis] : need;
            need = high + reads.high[axis] > need ? high + reads.high[axis] : need;
        }
        low += reach.low[axis];
        high += reach.high[axis];
    }
    return need > 0 ? need : 1;
}

/* The grid of a layout. In 1-D cuts lie at multiples of 4096 cells. */
static void lay_out(const contract *c, const layout *l, contract_case *k, double shares[SLABS_MAX])
{
    const int dims = c->stencil->dims, axis = dims - 1;
    const bool bits = contract_has_bits(c->stencil);
    int deepest = 1;
    double all = 0.0, least = l->shares[0];
    for (int i = 0; i < PHASES; i++)
        deepest = l->exchange[i] > deepest ? l->exchange[i] : deepest;
    const int64_t need = l->thick * ghost_zone(c->stencil, deepest);
    for (int i = 0; i < l->count; i++) {
        shares[i] = l->shares[i];
        all += l->shares[i];
        least = fmin(least, l->shares[i]);
    }
    k->extent[0] = bits ? (dims == 3 ? 40 : 70) : dims == 3 ? 9 : 37;
    k->extent[1] = dims == 3 ? (bits ? 2 : 4) : 1;
    k->extent[2] = 1;
    k->extent[axis] = least * l->count == all
                          ? need * l->count + l->spare
                          : (int64_t)ceil((double)(need + 1) * all / least) + l->spare;
    if (dims > 1)
        return;
    k->extent[0] = need + l->spare;
    for (int i = 0; i < l->count - 1; i++)
        k->extent[0] += (int64_t)(shares[i] = (l->shares[i] > 1 ? 2 : 1) * CUT_UNIT_1D);
    shares[l->count - 1] = (double)(need + l->spare);
}

static int count_gpus(void)
{
    tz_device_identity identity;
    int count = 1;
    while (tz_backend_cuda.identify(count, &identity, NULL) == TZ_OK)
        count++;
    return count;
}

/* "cpu*1,cpu*2.5". Of GPUs "0*1,0*2.5", or in turns all that there are. */
static void name_devices(const char *backend, const layout *l, const double *shares, bool turns,
                         char *text, size_t size)
{
    const bool is_gpu = strcmp(backend, "cuda") == 0;
    const int gpus = is_gpu && turns ? count_gpus() : 1;
    size_t used = 0;
    for (int i = 0; i < l->count && used < size; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i % gpus);
        used += (size_t)snprintf(text + used, size - used, "%s%s*%.17g", i > 0 ? "," : "",
                                 is_gpu ? number : backend, shares[i]);
    }
}

/* One layout with one boundary, on the backend in question and in turns on the reference. */
static void check_layout(contract *c, const contract_case *like, const layout *l)
{
    contract_case k = *like;
    double shares[SLABS_MAX];
    char devices[160], what[512];
    outcome want, got;
    tz_error error = {0};
    int phases = k.mixed ? 1 : PHASES;
    lay_out(c, l, &k, shares);
    tz_status status = compute(c, &k, l, "reference", phases, &want, &error);
    while (status == TZ_DIVERGED && phases > 1) { /* values far from those that suit the stencil */
        contract_cells_clear(&want.end);
        status = compute(c, &k, l, "reference", --phases, &want, &error);
    }
    const char *backend =
        k.seed % 5 == 4 && strcmp(c->backend, "cpu") == 0 ? "reference" : c->backend;
    name_devices(backend, l, shares, k.seed % 2 == 1, devices, sizeof devices);
    k.devices = devices;
    contract_case_text(c, &k, what, sizeof what);
    const size_t used = strlen(what);
    snprintf(what + used, sizeof what - used, " height %d,%d,%d exchange %d,%d,%d", l->height[0],
             l->height[1], l->height[2], l->exchange[0], l->exchange[1], l->exchange[2]);
    if (status) { /* then slabs must be refused, too */
        const bool overflows = status == TZ_DIVERGED && k.precision == CONTRACT_HALF;
        if (overflows ||
            (status != TZ_DIVERGED && compute(c, &k, l, backend, phases, &got, &error) == status))
            contract_refuse(c, &error);
        else
            contract_fail(c, "%s: reference: %s", what, error.message);
        contract_cells_clear(&want.end);
        return;
    }
    status = compute(c, &k, l, backend, phases, &got, &error);
    if (status == TZ_UNSUPPORTED || (status == TZ_RANGE && strcmp(c->backend, "cuda") == 0))
        contract_refuse(c, &error); /* a family that cannot do this, or bits in 1-D */
    else if (status)
        contract_fail(c, "%s: %s", what, error.message);
    else
        compare(c, &k, what, &got, &want);
    contract_cells_clear(&got.end);
    contract_cells_clear(&want.end);
}

static bool is_ring(const contract *c, const contract_case *k)
{
    return k->boundary[c->stencil->dims - 1][0] == TZ_PERIODIC;
}

/* A case of a boundary and a layout: all of them, or fewer of stencils that take long. */
static bool is_chosen(const contract *c, int boundary, int number, bool ring)
{
    const tz_stencil *s = c->stencil;
    const int weight = 1 + s->passes_count * s->fields_count / 8 +
                       (s->dims == 3) * (contract_has_bits(s) ? 8 : tz_stencil_reach(s)) +
                       tz_stencil_reach(s) / 4;
    if (c->smoke)
        return boundary == 0 && number == 4;
    if (!c->quick)
        return (boundary + number) % weight == 0 || (ring && number == 1 + boundary % 4);
    return (boundary + number) % (4 * weight) == 0 ||
           (ring && boundary % weight == 1 % weight && number == 1 + boundary % 4);
}

static void check_mixed(contract *c, const contract_case *like)
{
    contract_case k = *like;
    k.precision = TZ_DOUBLE;
    k.mixed = true;
    for (int number = 1; number < (c->quick ? 2 : 4); number++) {
        k.seed = (uint64_t)number;
        check_layout(c, &k, &layouts[number]);
    }
}

/* Numbers overflow in the last slab, and from there in all of them. */
static void check_divergence(contract *c, const contract_case *like, const layout *l)
{
    contract_case k = *like;
    double shares[SLABS_MAX];
    char devices[160];
    if (k.precision == CONTRACT_HALF)
        k.precision = TZ_SINGLE;
    lay_out(c, l, &k, shares);
    name_devices(c->backend, l, shares, true, devices, sizeof devices);
    tz_plan plan = {.height = l->height[0], .exchange = l->exchange[0]};
    if (c->family)
        snprintf(plan.family, sizeof plan.family, "%s", c->family);
    contract_diverge_in_slabs(c, &k, c->backend, devices, &plan,
                              k.extent[c->stencil->dims - 1] - 3);
}

void contract_devices(contract *c)
{
    int precisions[TZ_PRECISIONS + 1];
    tz_boundary boundaries[CONTRACT_BOUNDARIES_MAX][TZ_AXES][2];
    const int precisions_count = contract_storages(c, precisions);
    const int boundaries_count = contract_boundaries(c, boundaries);
    contract_case k = {0};
    if (c->stencil->dims == 1 && contract_has_bits(c->stencil))
        snprintf(c->note, sizeof c->note, "bits in 1-D are not cut");
    for (int b = 0; b < boundaries_count; b++) {
        memcpy(k.boundary, boundaries[b], sizeof k.boundary);
        for (int number = 0; number < LAYOUTS; number++) {
            k.seed = (uint64_t)(b * LAYOUTS + number);
            k.precision = precisions[(b + number) % precisions_count];
            k.constant_statics = number == 3;
            k.other_outside = (b + number) % 2 == 1;
            k.points = (b + number) % 4 != 0 && contract_serves_points(c);
            if (is_chosen(c, b, number, is_ring(c, &k)))
                check_layout(c, &k, &layouts[number]);
        }
    }
    memcpy(k.boundary, boundaries[0], sizeof k.boundary);
    k.seed = 3;
    for (int number = 1; number < (c->smoke ? 1 : c->quick ? 2 : 4); number++)
        check_divergence(c, &k, &layouts[number]);
    if (c->stencil->refinement && !c->smoke)
        check_mixed(c, &k);
}
