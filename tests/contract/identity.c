/* A backend equals the reference bit for bit, with every plan. */
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

/* 13 and 29 leave a remainder at every height from 2 to 12; 29 also makes two full stages. */
enum { STEPS_FEW = 13, STEPS_MANY = 29, HEIGHTS = 12, TILES_MAX = 5 };

/* Start and end values of every state field, from the reference. */
typedef struct answer {
    int64_t steps;
    contract_cells start, end;
    double residual; /* of a last iteration that was asked for it */
} answer;

typedef struct identity {
    contract *c;
    const contract_case *k;
    const answer *a;
    const char *isa;
    int threads;
} identity;

static void answer_clear(answer *a)
{
    contract_cells_clear(&a->start);
    contract_cells_clear(&a->end);
}

/* The run measures its residual at the end, or the change of its last iteration if the stencil has
 * none: that number must not depend on the backend either. */
static tz_status run_with_residual(tz_simulation *sim, int64_t steps, double *residual,
                                   tz_error *error)
{
    const bool has_residual = !tz_stencil_has_residual(tz_simulation_stencil(sim), NULL);
    const tz_run run = {.steps = steps,
                        .until_residual = -1.0,
                        .until_is_update = !has_residual,
                        .check_every = steps,
                        .unchecked = true};
    tz_run_result result;
    const tz_status status = run_simulation(sim, &run, &result, error);
    *residual = has_residual ? result.residual : result.update;
    return status;
}

static tz_status answer_compute(const contract *c, const contract_case *k, int64_t steps, answer *a,
                                tz_error *error)
{
    *a = (answer){.steps = steps};
    tz_simulation *sim = NULL;
    tz_status status = contract_create(c, k, "reference", 1, NULL, &sim, error);
    if (status == TZ_OK)
        status = contract_read(c, sim, &a->start, error);
    if (status == TZ_OK)
        status = run_with_residual(sim, steps, &a->residual, error);
    if (status == TZ_OK)
        status = contract_read(c, sim, &a->end, error);
    tz_simulation_destroy(sim);
    return status;
}

static void describe(const identity *t, const char *plan, char *text, size_t size)
{
    contract_case_text(t->c, t->k, text, size);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, " steps %" PRId64 " threads %d isa %s %s", t->a->steps,
             t->threads, t->isa ? t->isa : "best", plan);
}

/* Every state field against the answer. */
static void compare(const identity *t, tz_simulation *sim, const char *plan)
{
    tz_error error = {0};
    contract_cells got;
    char what[512];
    describe(t, plan, what, sizeof what);
    t->c->compared++;
    if (contract_read(t->c, sim, &got, &error) != TZ_OK)
        contract_fail(t->c, "%s: %s", what, error.message);
    else
        contract_compare(t->c, t->k, what, &got, &t->a->end);
    contract_cells_clear(&got);
}

static tz_status restart(const identity *t, tz_simulation *sim, tz_error *error)
{
    tz_simulation_rewind(sim);
    for (int f = 0; f < t->c->stencil->fields_count; f++) {
        const tz_status status =
            contract_is_state(t->c, f)
                ? tz_simulation_write_array(sim, f, t->a->start.at[f], NULL, "contract", error)
                : TZ_OK;
        if (status != TZ_OK)
            return status;
    }
    return TZ_OK;
}

static bool on_cpu(const contract *c)
{
    return strcmp(c->backend, "cpu") == 0;
}

/* A GPU family may refuse a stencil, or a height, with a reason; a given family of a CPU a
 * stencil. */
static bool is_refusal(const contract *c, tz_status status)
{
    return on_cpu(c) ? status == TZ_UNSUPPORTED && c->family
                     : status == TZ_RANGE || status == TZ_UNSUPPORTED;
}

/* The family that is asked for, or else on a CPU now "stream", now "diamond" if that can
 * compute `sim`; so the one also goes on where the other has stopped. */
static tz_plan plan_of(const identity *t, tz_simulation *sim, int height, int turn)
{
    const contract *c = t->c;
    tz_plan plan = {.height = height};
    if (c->family) {
        snprintf(plan.family, sizeof plan.family, "%s", c->family);
    } else if (on_cpu(c)) {
        strcpy(plan.family, "diamond");
        if (((uint64_t)turn + t->k->seed) % 2 == 0 || tz_simulation_set_plan(sim, &plan, NULL))
            strcpy(plan.family, "stream");
    }
    return plan;
}

/* Heights that change from run to run of one simulation, and a last iteration with its residual. A
 * GPU needs a compiled kernel for each height, so it gets fewer. */
static void check_changing_heights(const identity *t, tz_simulation *sim)
{
    enum { HEIGHTS_CHANGING = 6 };
    static const int every[HEIGHTS_CHANGING] = {3, 5, 1, 4, 2, 7};
    static const int few[HEIGHTS_CHANGING] = {3, 1, 8, 3, 1, 3};
    const int *heights = on_cpu(t->c) ? every : few;
    char plan[128] = "heights changing";
    tz_error error = {0};
    tz_status status = restart(t, sim, &error);
    int64_t left = t->a->steps;
    int refused = 0;
    for (int i = 0; status == TZ_OK && left > 1; i++) {
        const int height = heights[i % HEIGHTS_CHANGING];
        const int64_t steps = height + 1 < left ? height + 1 : left - 1;
        const tz_plan wanted = plan_of(t, sim, height, i);
        status = tz_simulation_set_plan(sim, &wanted, &error);
        if (is_refusal(t->c, status)) { /* keep the previous plan if it is the family's */
            status = TZ_OK;
            if (refused++ == i) {
                if (refused < HEIGHTS_CHANGING)
                    continue;
                contract_refuse(t->c, &error);
                return;
            }
        }
        if (status == TZ_OK)
            status = contract_run(sim, steps, &error);
        left -= steps;
    }
    double residual = NAN;
    if (status == TZ_OK)
        status = run_with_residual(sim, left, &residual, &error);
    char what[512];
    describe(t, plan, what, sizeof what);
    if (status != TZ_OK)
        contract_fail(t->c, "%s: %s", what, error.message);
    else if (!contract_same_number(residual, t->a->residual))
        contract_fail(t->c, "%s: residual %.17g instead of %.17g", what, residual, t->a->residual);
    else
        compare(t, sim, plan);
}

/* Small tiles, so that a small grid has several of them and several chunks. A tile must hold the
 * ghost zone on the axes that are not streamed: w is just wide enough for every height. Rows of
 * bits are never cut. Returns how many; the first leaves the choice to the engine. */
static int list_tiles(const contract *c, int64_t tiles[TILES_MAX][TZ_AXES])
{
    int64_t w = 0;
    for (int p = 0; p < c->stencil->passes_count; p++)
        w += HEIGHTS * c->stencil->passes[p].radius;
    w = w > 0 ? w : 1;
    const int64_t lists[3][TILES_MAX][TZ_AXES] = {
        {{0}, {w}, {5}, {w + 5}, {16}},
        {{0, 0}, {w, 6}, {8, 3}, {5, 16}, {w + 5, 1}},
        {{0, 0, 0}, {w, w, 3}, {8, 4, 6}, {5, w, 1}, {w + 4, 5, 2}},
    };
    memcpy(tiles, lists[c->stencil->dims - 1], TILES_MAX * sizeof *tiles);
    if (contract_has_bits(c->stencil))
        for (int i = 0; i < TILES_MAX; i++)
            tiles[i][0] = 0;
    return c->quick ? 2 : TILES_MAX;
}

static bool is_chosen(const contract *c, int height, int tile, bool few)
{
    if (!few && !c->quick)
        return true;
    if (on_cpu(c))
        return height == 2 || height == 3 || height == 5 || height == 12;
    return tile == 0 ? height == 1 || height == 3 || (height == 8 && !few) : height == 2;
}

/* Chunks of a few rows or planes, and other knobs of the stream family. */
static void vary_stream(const contract *c, int tile, tz_plan *plan)
{
    static const int vectors[] = {4, 1, 8, 2, 4}, warps[] = {0, 4, 1, 2, 8};
    memset(plan->tile, 0, sizeof plan->tile);
    if (c->stencil->dims > 1)
        plan->tile[c->stencil->dims - 1] = 5 + 2 * tile;
    plan->vector = vectors[tile];
    plan->warps = warps[tile];
}

/* Full runs over tiles and heights by one simulation. `few`: another variant has run the full
 * list. */
static void check_plans(const identity *t, tz_simulation *sim, bool few)
{
    contract *c = t->c;
    int64_t tiles[TILES_MAX][TZ_AXES];
    const int tiles_count = list_tiles(c, tiles);
    for (int tile = 0; tile < tiles_count; tile++) {
        for (int height = 1; height <= HEIGHTS; height++) {
            if (!is_chosen(c, height, tile, few))
                continue;
            /* Every pair of forced tile and height occurs, but not on every grid. */
            if (!c->quick && tile > 1 && ((uint64_t)height + (uint64_t)tile + t->k->seed) % 3 != 0)
                continue;
            tz_plan plan = plan_of(t, sim, height, height + tile);
            memcpy(plan.tile, tiles[tile], sizeof plan.tile);
            if (strcmp(plan.family, "stream") != 0 && on_cpu(c) && c->stencil->dims == 3)
                plan.tile[0] = 0; /* these do not cut rows there */
            if (strcmp(plan.family, "diamond") == 0)
                plan.tile[2] = 0; /* nor the last axis */
            if (tile > 0 && c->family && strcmp(c->family, "stream") == 0)
                vary_stream(c, tile, &plan);
            char text[128];
            snprintf(text, sizeof text,
                     "family %s height %d tile %" PRId64 ",%" PRId64 ",%" PRId64
                     " vector %d warps %d",
                     plan.family[0] ? plan.family : "any", height, plan.tile[0], plan.tile[1],
                     plan.tile[2], plan.vector, plan.warps);
            char what[512];
            describe(t, text, what, sizeof what);
            tz_error error = {0};
            tz_status status = tz_simulation_set_plan(sim, &plan, &error);
            if (is_refusal(c, status) || (status == TZ_RANGE && tile > 0)) {
                /* A forced tile may be too small for the height. */
                contract_refuse(c, &error);
                continue;
            }
            if (status == TZ_OK)
                status = restart(t, sim, &error);
            if (status == TZ_OK)
                status = contract_run(sim, t->a->steps, &error);
            if (status != TZ_OK)
                contract_fail(c, "%s: %s", what, error.message);
            else
                compare(t, sim, text);
        }
    }
    check_changing_heights(t, sim);
}

/* The row function that a processor with this instruction set runs. */
static tz_row_fn *rows_of(const tz_kernels *kernels, int isa, tz_precision precision)
{
    tz_row_fn *rows = NULL;
    for (; kernels && isa >= TZ_ISA_BASE && !rows; isa--)
        rows = tz_kernels_rows(kernels, (tz_isa)isa, precision);
    return rows;
}

/* Whether an instruction set has the functions of the processor's best: a run with it is the same
 * run. */
static bool is_best(const tz_stencil *stencil, tz_isa isa)
{
    const int best = (int)tz_machine_isa();
    bool same = true;
    for (int p = 0; p < stencil->passes_count; p++)
        for (int precision = TZ_SINGLE; precision < TZ_PRECISIONS; precision++) {
            const tz_pass *pass = &stencil->passes[p];
            same = same &&
                   rows_of(pass->kernels, (int)isa, (tz_precision)precision) ==
                       rows_of(pass->kernels, best, (tz_precision)precision) &&
                   rows_of(pass->in_place, (int)isa, (tz_precision)precision) ==
                       rows_of(pass->in_place, best, (tz_precision)precision);
        }
    return same;
}

/* One problem: the reference once (or until it stays finite), then every way to compute it. */
static void check_case(contract *c, const contract_case *k, int64_t steps, bool few)
{
    answer a;
    tz_error error = {0};
    char what[256];
    contract_case_text(c, k, what, sizeof what);
    tz_status status = answer_compute(c, k, steps, &a, &error);
    /* A nonlinear update of random values may diverge: then compare after fewer steps. */
    while (status == TZ_DIVERGED && steps > 2) {
        answer_clear(&a);
        steps /= 2;
        status = answer_compute(c, k, steps, &a, &error);
    }
    if (status != TZ_OK) {
        /* A plugin may refuse a grid or parameter; both backends must then refuse it. */
        tz_simulation *sim = NULL;
        tz_error other = {0};
        if (status != TZ_DIVERGED &&
            contract_create(c, k, c->backend, 1, NULL, &sim, &other) == status)
            contract_refuse(c, &error);
        else
            contract_fail(c, "%s: reference: %s", what, error.message);
        tz_simulation_destroy(sim);
        answer_clear(&a);
        return;
    }
    contract_print_hashes(c, what, a.end.reduction);
    const char *isas[1 + TZ_ISA_COUNT] = {NULL};
    int isas_count = 1 + contract_isas(isas + 1);
    /* The best instruction set is tested in full; the others differ in the row function alone. */
    for (int i = 0; i < isas_count; i++)
        for (int threads = 1; threads <= 3; threads++) {
            /* Threads and instruction sets are the cpu backend's. */
            if (strcmp(c->backend, "cpu") != 0 && (threads > 1 || i > 0))
                continue;
            if (i > 0 && (threads != 2 || (k->seed + (uint64_t)i) % 2 != 0 ||
                          is_best(c->stencil, (tz_isa)(i - 1))))
                continue;
            if ((c->quick || few) && threads == 1 && strcmp(c->backend, "cpu") == 0)
                continue;
            /* Two threads in a half of the cases, three in the others. */
            if (c->quick && i == 0 && strcmp(c->backend, "cpu") == 0 &&
                threads != 2 + (int)(k->seed % 2))
                continue;
            identity t = {.c = c, .k = k, .a = &a, .isa = isas[i], .threads = threads};
            tz_simulation *sim = NULL;
            if (contract_create(c, k, c->backend, threads, isas[i], &sim, &error) != TZ_OK)
                contract_fail(c, "%s: %s: %s", what, c->backend, error.message);
            else
                check_plans(&t, sim, few || i > 0);
            tz_simulation_destroy(sim);
        }
    answer_clear(&a);
}

/* A derived parameter, such as a time step, is often far below what is stable on a small grid: a
 * cell then hardly depends on its neighbours, and a wrong neighbour may not show. Finds the
 * largest power of two times the derived value that the plugin accepts. False: there is none. */
static bool strengthen(const contract *c, const contract_case *k, int param,
                       tz_assignment *assignment)
{
    tz_simulation *sim = NULL;
    tz_error error = {0};
    bool found = false;
    if (contract_create(c, k, "reference", 1, NULL, &sim, &error) == TZ_OK) {
        const double derived = tz_simulation_params(sim)[param].number;
        for (int exponent = 60; exponent > 0 && !found && isfinite(derived); exponent--) {
            *assignment = (tz_assignment){.name = c->stencil->params[param].name,
                                          .number = ldexp(derived, exponent)};
            found = tz_simulation_set_params(sim, 1, assignment, &error) == TZ_OK;
        }
    }
    tz_simulation_destroy(sim);
    return found;
}

/* Other choices and flags than the defaults change the arithmetic: a few cases of each. */
static void check_options(contract *c, const contract_case *like, int64_t steps)
{
    for (int p = 0; p < c->stencil->params_count; p++) {
        const tz_param *param = &c->stencil->params[p];
        contract_case k = *like;
        tz_assignment strong;
        if (param->type == TZ_PARAM_REAL && isnan(param->value) && strengthen(c, &k, p, &strong)) {
            k.assignment = &strong;
            check_case(c, &k, steps, true);
        }
        if (param->type == TZ_PARAM_FLAG) {
            k.assignment = &(tz_assignment){.name = param->name, .number = param->value == 0.0};
            check_case(c, &k, steps, true);
        }
        const char *at = param->type == TZ_PARAM_CHOICE ? param->choices : NULL;
        while (at && *at != '\0') {
            char choice[64];
            const size_t length = strcspn(at, "|");
            snprintf(choice, sizeof choice, "%.*s", (int)length, at);
            k.assignment = &(tz_assignment){.name = param->name, .text = choice};
            if (strcmp(choice, param->text) != 0)
                check_case(c, &k, steps, true);
            at += length + (at[length] == '|');
        }
    }
}

void contract_identity(contract *c)
{
    int precisions[TZ_PRECISIONS + 1];
    tz_boundary boundaries[CONTRACT_BOUNDARIES_MAX][TZ_AXES][2];
    const int64_t(*sizes)[TZ_AXES];
    const int precisions_count = contract_storages(c, precisions);
    const int boundaries_count = contract_boundaries(c, boundaries);
    const int sizes_count = contract_sizes(c, &sizes);
    /* A case of a stencil with many fields and passes takes long: fewer cases. */
    const int every =
        (c->quick ? 4 : 1) * (1 + c->stencil->passes_count * c->stencil->fields_count / 16);
    bool static_fields = false;
    for (int f = 0; f < c->stencil->fields_count; f++)
        static_fields = static_fields || c->stencil->fields[f].role == TZ_STATIC;
    for (int b = 0; b < boundaries_count; b++)
        for (int size = 0; size < sizes_count; size++) {
            /* Smoke: one grid, with the first boundary that is possible. */
            if (c->smoke ? c->compared > 0 || size != sizes_count / 2 : (size + b) % every != 0)
                continue;
            contract_case k = {.seed = (uint64_t)(b * sizes_count + size)};
            memcpy(k.boundary, boundaries[b], sizeof k.boundary);
            memcpy(k.extent, sizes[size], sizeof k.extent);
            k.constant_statics = static_fields && (size + b) % 3 == 2;
            k.other_outside = (size + b) % 2 == 1;
            k.points = (size + 2 * b) % 3 != 0 && contract_serves_points(c);
            const int64_t cells = k.extent[0] * k.extent[1] * k.extent[2];
            const int64_t steps = cells > 1000 ? STEPS_FEW : STEPS_MANY;
            for (int p = 0; p < precisions_count; p++) {
                /* Both precisions on every size and boundary, but not on each pair of them. */
                if (precisions_count > 1 && size > 5 && (size + b + p) % 2 != 0)
                    continue;
                k.precision = precisions[p];
                check_case(c, &k, steps, k.precision == CONTRACT_HALF);
                if (k.precision == CONTRACT_HALF)
                    continue;
                if (size >= sizes_count - 4 || c->quick)
                    check_options(c, &k, steps);
            }
        }
}
