/* The cpu backend: threads and temporal blocking with the loops of kernels/cpu. */
#include "backend/backend.h"
#include "backend/cpu/family.h"
#include "backend/host/reduce.h"
#include "backend/host/slab.h"
#include "backend/host/store.h"
#include "base/minmax.h"
#include "kernels/cpu/domain.h"
#include "kernels/cpu/update.h"
#include "stencil/registry.h"
#include "stencil/streamed_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Past fixed sides ------------------------------------------------------------------------ */

/* What the loops of kernels/cpu read past fixed sides. */
typedef struct outside {
    tz_view view[TZ_FIELDS_MAX][TZ_SIDES]; /* for tz_stage.outside */
    void *memory[TZ_FIELDS_MAX][TZ_SIDES];
} outside;

/* Has a field memory, and does a side give values to it? */
static bool is_needed(const tz_problem *problem, int field, int side)
{
    const tz_role role = problem->stencil->fields[field].role;
    return (role == TZ_STATE || role == TZ_STATIC) && side / 2 < problem->dims &&
           tz_boundary_has_value(problem->boundary[side / 2][side % 2]);
}

/* Has an axis a fixed side whose value is not that of `side`? */
static bool is_other(const tz_problem *problem, int field, int axis, int side)
{
    const double *values = problem->boundary_value[field];
    for (int i = 0; i < 2; i++)
        if (tz_boundary_has_value(problem->boundary[axis][i]) &&
            values[2 * axis + i] != values[side])
            return true;
    return false;
}

/* Rows that differ from each other: those of the ghosts in y, past the last axis of 3-D. */
static int64_t rows_of(const tz_problem *problem, int ghost, int field, int side)
{
    return side / 2 == 2 && is_other(problem, field, 1, side) ? problem->elements[1] + 2 * ghost
                                                              : 1;
}

/* The value of a column that lies past `side` and at row y: the first axis with a fixed side gives
 * it. */
static double value_at(const tz_problem *problem, int field, int side, int64_t column, int64_t y)
{
    const int64_t at[] = {column, y};
    for (int axis = 0; axis < side / 2; axis++) {
        const int64_t from =
            tz_boundary_map(problem->boundary[axis], at[axis], problem->extent[axis]);
        if (from < 0)
            return problem->boundary_value[field][2 * axis + (from == -1 ? 0 : 1)];
    }
    return problem->boundary_value[field][side];
}

/* The element that holds column x of the grid and, for bits, every W-th after it. */
static void put_element(const tz_problem *problem, int field, int side, int64_t x, int64_t y,
                        char *row)
{
    const size_t size = tz_problem_element_size(problem, field);
    if (!problem->bits) {
        tz_problem_element(problem, field, value_at(problem, field, side, x, y),
                           row + x * (int64_t)size);
        return;
    }
    uint32_t word = 0;
    for (int64_t b = 0; b < 32; b++) {
        const int64_t column = b * problem->elements[0] + x;
        word |= (uint32_t)(value_at(problem, field, side, column, y) != 0.0) << b;
    }
    memcpy(row + x * (int64_t)size, &word, sizeof word);
}

static char *create_side(const tz_problem *problem, int ghost, int field, int side)
{
    const int64_t rows = rows_of(problem, ghost, field, side), nx = problem->elements[0];
    const int64_t row_bytes = tz_constant_row_bytes(problem, field);
    const int64_t start = TZ_ALIGN_ELEMENTS * (int64_t)tz_problem_element_size(problem, field);
    char *memory = aligned_alloc(64, (size_t)tz_round_up(rows * row_bytes, 64));
    for (int64_t r = 0; memory && r < rows; r++) {
        const int64_t y = rows > 1 ? r - ghost : 0;
        char *row = memory + r * row_bytes;
        uint64_t element = 0;
        tz_problem_element(problem, field, value_at(problem, field, side, 0, y), &element);
        tz_constant_row_fill(problem, field, &element, row);
        if (side / 2 == 0 || !is_other(problem, field, 0, side))
            continue;
        /* All words of bits have columns past an edge of the grid, or padding. */
        for (int64_t x = -ghost; x < (problem->bits ? nx : 0); x++)
            put_element(problem, field, side, x, y, row + start);
        for (int64_t x = nx; x < nx + ghost; x++)
            put_element(problem, field, side, x, y, row + start);
    }
    return memory;
}

static tz_status outside_create(outside *to, const tz_problem *problem, int ghost, tz_error *error)
{
    memset(to, 0, sizeof *to);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int side = 0; side < TZ_SIDES; side++) {
            if (!is_needed(problem, f, side))
                continue;
            const int64_t rows = rows_of(problem, ghost, f, side);
            const size_t size = tz_problem_element_size(problem, f);
            char *memory = create_side(problem, ghost, f, side);
            if (!memory)
                return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
            const int64_t row_bytes = tz_constant_row_bytes(problem, f);
            to->memory[f][side] = memory;
            to->view[f][side] =
                (tz_view){memory + TZ_ALIGN_ELEMENTS * size + (rows > 1 ? ghost * row_bytes : 0),
                          rows > 1 ? (ptrdiff_t)(row_bytes / (int64_t)size) : 0};
        }
    return TZ_OK;
}

static void outside_clear(outside *to)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            free(to->memory[f][side]);
    memset(to, 0, sizeof *to);
}

static int64_t outside_bytes(const tz_problem *problem, int ghost)
{
    int64_t bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            if (is_needed(problem, f, side))
                bytes += rows_of(problem, ghost, f, side) * tz_constant_row_bytes(problem, f);
    return bytes;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Ghost elements around the grid: the largest radius. */
static int store_ghost(const tz_problem *problem)
{
    int ghost = problem->radius;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].radius > ghost)
            ghost = problem->stencil->fields[f].radius;
    return ghost;
}

tz_stage tz_cpu_stage_of(const tz_cpu_grid *grid, const tz_cpu_family *family, const tz_plan *plan)
{
    tz_stage stage = grid->stage;
    stage.height = plan->height;
    stage.batch = 1;
    memcpy(stage.tile, plan->tile, sizeof stage.tile);
    family->describe(grid, &stage);
    return stage;
}

tz_cpu_grid tz_cpu_grid_of(const tz_problem *problem, const tz_machine *machine, int threads)
{
    tz_cpu_grid grid = {
        .problem = problem,
        .machine = machine,
        .stage = {.stencil = problem->stencil,
                  .dims = problem->dims,
                  .columns = problem->extent[0],
                  .first = problem->slab.first,
                  .whole =
                      (problem->slab.of ? problem->slab.of : problem)->extent[problem->dims - 1],
                  .bits = problem->bits,
                  .storage = tz_problem_all_as_computed(problem) ? NULL : problem->storage,
                  .ghost = store_ghost(problem),
                  .precision = problem->precision,
                  .constants = problem->constants,
                  .height = 1,
                  .batch = 1,
                  .isa = machine->isa,
                  .threads = threads,
                  .points = problem->points,
                  .streamed_row = tz_streamed_source_row},
    };
    memcpy(grid.stage.elements, problem->elements, sizeof grid.stage.elements);
    memcpy(grid.stage.tile, problem->elements, sizeof grid.stage.tile);
    memcpy(grid.stage.boundary, problem->boundary, sizeof grid.stage.boundary);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        grid.stage.element_size[f] = tz_problem_element_size(problem, f);
    tz_cpu_families[0]->describe(&grid, &grid.stage);
    return grid;
}

extern const tz_cpu_family tz_cpu_stream, tz_cpu_diamond;

const tz_cpu_family *const tz_cpu_families[] = {&tz_cpu_stream, &tz_cpu_diamond, NULL};

static const char *cpu_family(int index)
{
    return tz_cpu_families[index] ? tz_cpu_families[index]->name : NULL;
}

static bool may_be(const tz_cpu_family *family, const tz_cpu_grid *grid, const tz_plan *plan)
{
    if (plan->family[0])
        return strcmp(plan->family, family->name) == 0;
    return !family->may || family->may(grid, plan);
}

/* The family of a plan; the first one takes any plan. */
static const tz_cpu_family *family_of(const tz_cpu_grid *grid, const tz_plan *plan)
{
    const tz_cpu_family *found = tz_cpu_families[0];
    for (int i = 1; tz_cpu_families[i]; i++) {
        const tz_cpu_family *family = tz_cpu_families[i];
        if (may_be(family, grid, plan) &&
            (plan->family[0] || !family->preferred || family->preferred(grid, plan)))
            found = family;
    }
    return found;
}

/* "skew" of earlier versions is "diamond" now. Its tiles meant something else. */
static void rename_old(tz_plan *plan)
{
    if (strcmp(plan->family, "skew") != 0)
        return;
    strcpy(plan->family, "diamond");
    memset(plan->tile, 0, sizeof plan->tile);
}

static tz_status plan_for(const tz_cpu_grid *grid, tz_plan *plan, tz_error *error)
{
    rename_old(plan);
    const tz_status status = tz_backend_check_plan(plan, &tz_backend_cpu, error);
    return status ? status : family_of(grid, plan)->plan(grid, plan, error);
}

static int64_t room_bytes(const tz_cpu_grid *grid, const tz_plan *plan)
{
    const tz_cpu_family *family = family_of(grid, plan);
    const tz_stage stage = tz_cpu_stage_of(grid, family, plan);
    return family->room(&stage);
}

static tz_status cpu_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                          tz_error *error)
{
    tz_machine machine;
    tz_machine_read(&machine);
    const tz_cpu_grid grid = tz_cpu_grid_of(problem, &machine, place->threads);
    return plan_for(&grid, plan, error);
}

/* ---- For families ---------------------------------------------------------------------------- */

int tz_cpu_growth(const tz_problem *problem, int axis)
{
    const tz_reach reach = tz_stencil_reach_sides(problem->stencil);
    return (reach.low[axis] + reach.high[axis] + 1) / 2;
}

tz_status tz_cpu_check_numbers(const tz_problem *problem, const tz_plan *plan, tz_error *error)
{
    const int height_max = tz_stage_height_max(problem->stencil);
    if (plan->height < 0 || plan->height > height_max)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d is out of range; 1 to %d are possible for '%s'",
                            plan->height, height_max, problem->stencil->id);
    for (int axis = 0; axis < problem->dims; axis++)
        if (plan->tile[axis] < 0)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                axis + 1, plan->tile[axis]);
    return TZ_OK;
}

int tz_cpu_fields(const tz_problem *problem, tz_role role)
{
    int count = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        count += problem->stencil->fields[f].role == role;
    return count;
}

double tz_cpu_bytes(const tz_problem *problem, tz_role role)
{
    double bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == role)
            bytes += (double)tz_problem_element_size(problem, f);
    return bytes;
}

int64_t tz_cpu_split_evenly(int64_t extent, int64_t largest, int64_t unit)
{
    if (largest >= extent)
        return extent;
    const int64_t parts = (extent + largest - 1) / largest;
    return tz_min(extent, tz_round_up((extent + parts - 1) / parts, unit));
}

int tz_cpu_height_next(const tz_problem *problem, const tz_plan *given, int height)
{
    /* Above 8, steps of an eighth: a model cannot say which of two closer heights is faster. */
    int r = 1; /* the largest growth of an axis */
    for (int axis = 0; axis < problem->dims; axis++)
        r = tz_max_int(r, tz_cpu_growth(problem, axis));
    static const int highest[] = {0, 192, 64, 24};
    const int next = height < 8 ? height + 1 : height + height / 8;
    const int most =
        (int)tz_min(tz_max(2, highest[problem->dims] / r), tz_stage_height_max(problem->stencil));
    if (given->height > 0)
        return height == 0 ? given->height : 0;
    return next <= most ? next : 0;
}

void tz_cpu_finish_plan(tz_plan *plan, const tz_cpu_family *family, bool height_chosen,
                        bool tile_chosen)
{
    strcpy(plan->family, family->name);
    snprintf(plan->why, sizeof plan->why, "%s height, %s tile", height_chosen ? "default" : "given",
             tile_chosen ? "default" : "given");
}

/* ---- Plans for this machine or another ------------------------------------------------------- */

/* The machine that a record describes. Numbers that the record lacks are this machine's, and all of
 * them if it is this machine's: TZ_ISA may have lowered its instruction set. */
static tz_machine machine_of(const tz_place *place)
{
    tz_machine machine;
    const tz_model_device *d = place->device;
    tz_machine_read(&machine);
    if (!d || strncmp(d->title, machine.cpu, sizeof d->title - 1) == 0)
        return machine;
    if (d->l1_bytes.known)
        machine.l1_bytes = (int64_t)d->l1_bytes.value;
    if (d->l2_bytes.known)
        machine.l2_bytes = (int64_t)d->l2_bytes.value;
    if (d->l3_bytes.known)
        machine.l3_bytes = (int64_t)d->l3_bytes.value;
    if (d->vector_bytes.known)
        machine.isa = tz_isa_of_vectors(d->vector_bytes.value);
    return machine;
}

struct tz_cpu_plans {
    const tz_cpu_grid *grid;
    tz_plan *plans;
    int count, max;
};

void tz_cpu_add(tz_cpu_plans *list, const tz_plan *given)
{
    tz_plan plan = *given;
    if (list->count == list->max || plan_for(list->grid, &plan, NULL))
        return;
    for (int k = 0; k < list->count; k++)
        if (tz_plan_equal(&list->plans[k], &plan))
            return;
    list->plans[list->count++] = plan;
}

/* Without a family: plans of all families. */
static tz_status cpu_candidates(const tz_problem *problem, const tz_place *place,
                                const tz_plan *given, tz_plan *plans, int max, int *count,
                                tz_error *error)
{
    tz_status status = tz_stencil_compile(problem->stencil, &place->cancel, error);
    const tz_machine machine = machine_of(place);
    const tz_cpu_grid grid = tz_cpu_grid_of(problem, &machine, place->threads);
    tz_cpu_plans list = {.grid = &grid, .plans = plans, .max = max};
    tz_plan wanted = *given;
    rename_old(&wanted);
    tz_plan whole = wanted;
    *count = 0;
    if (status != TZ_INTERRUPTED) /* plans of the interpreted rows without a compiler */
        status = plan_for(&grid, &whole, error);
    for (int i = 0; !status && tz_cpu_families[i]; i++) {
        tz_plan named = wanted;
        strcpy(named.family, tz_cpu_families[i]->name);
        if (may_be(tz_cpu_families[i], &grid, &wanted))
            tz_cpu_families[i]->candidates(&grid, &named, &list);
    }
    *count = list.count;
    return status;
}

static tz_status cpu_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                          tz_effort effort, tz_model_work *out, tz_error *error)
{
    const bool counted =
        place->absent || (effort == TZ_EFFORT_KNOWN && tz_stencil_is_interpreted(problem->stencil));
    const tz_status status =
        counted ? TZ_OK : tz_stencil_compile(problem->stencil, &place->cancel, error);
    if (status)
        return status;
    const tz_machine machine = machine_of(place);
    tz_cpu_grid grid = tz_cpu_grid_of(problem, &machine, place->threads);
    grid.absent = counted;
    const tz_cpu_family *family = family_of(&grid, plan);
    const tz_stage stage = tz_cpu_stage_of(&grid, family, plan);
    return tz_cpu_work(&grid, family, &stage, out, error);
}

static int64_t cpu_bytes(const tz_problem *problem, const tz_place *place, const tz_plan *plan)
{
    int64_t fields = tz_host_store_bytes(problem, store_ghost(problem));
    tz_machine machine;
    if (fields < INT64_MAX / 2)
        fields += outside_bytes(problem, store_ghost(problem));
    if (fields > INT64_MAX / 2)
        return fields;
    tz_machine_read(&machine);
    const tz_cpu_grid grid = tz_cpu_grid_of(problem, &machine, place->threads);
    return fields + place->threads * room_bytes(&grid, plan) +
           (int64_t)tz_pipeline_size(problem->stencil, plan->height);
}

/* ---- States ---------------------------------------------------------------------------------- */

typedef struct cpu {
    tz_backend_context context;
    tz_machine machine;
    tz_cpu_grid grid;
    tz_host_store store;
    outside outside;
    tz_cpu_room room;
    const tz_kernels *kernels; /* of the first pass, when `grid` was made */
    /* The last plan's, without arrays and step; NULL: no plan yet. */
    const tz_cpu_family *family;
    tz_plan plan;
    tz_stage stage;
    size_t room_bytes;  /* of a thread */
    tz_slot *constants; /* of the iterations of a stage, if some vary */
    int constants_iterations;
    uint32_t stale;    /* mask of the fields whose ghosts must be set before the next stage */
    tz_domain *domain; /* NULL: not made yet, or the stencil has none */
    bool settled;      /* cells outside of the domain are the same in both copies */
    bool norm_known;
} cpu;

static void cpu_destroy(void *any)
{
    cpu *state = any;
    if (!state)
        return;
    tz_host_store_destroy(&state->store);
    outside_clear(&state->outside);
    free(state->room.pipeline);
    free(state->room.arena);
    free(state->constants);
    free(state->domain);
    free(state);
}

/* For the row functions that the stencil has now. */
static void set_grid(cpu *state)
{
    const tz_backend_context *context = &state->context;
    state->grid =
        tz_cpu_grid_of(context->problem, &state->machine, tz_threads_count(context->threads));
    state->grid.stage.pool = context->threads;
    state->kernels = context->problem->stencil->passes[0].kernels;
    state->family = NULL;
}

static tz_status cpu_create(void **out, const tz_backend_context *context, tz_error *error)
{
    const tz_problem *problem = context->problem;
    cpu *state = calloc(1, sizeof *state);
    if (!state)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    state->context = *context;
    tz_machine_read(&state->machine);
    set_grid(state);
    tz_status status = tz_threads_start(context->threads, error);
    if (!status)
        status = tz_host_store_create(&state->store, problem, store_ghost(problem),
                                      context->threads, true, error);
    state->room.store = &state->store;
    if (!status)
        status = outside_create(&state->outside, problem, store_ghost(problem), error);
    if (status) {
        cpu_destroy(state);
        return status;
    }
    state->stale = UINT32_MAX;
    *out = state;
    return TZ_OK;
}

/* Memory of so many bytes for each thread. */
static tz_status make_room(cpu *state, size_t bytes, tz_error *error)
{
    if (bytes <= state->room.arena_bytes)
        return TZ_OK;
    free(state->room.arena);
    state->room.arena_bytes = 0;
    const size_t all = (bytes * (size_t)tz_threads_count(state->context.threads) + 63) / 64 * 64;
    state->room.arena = aligned_alloc(64, all);
    if (!state->room.arena)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "a stage needs %zu bytes beside the fields, more than are free: use a "
                            "smaller height or tile",
                            all);
    memset(state->room.arena, 0, all);
    state->room.arena_bytes = bytes;
    return TZ_OK;
}

/* Give a stage the fields, with current ghosts. */
static void set_fields(cpu *state, tz_stage *stage)
{
    const tz_stencil *stencil = state->context.problem->stencil;
    memcpy(stage->outside, state->outside.view, sizeof stage->outside);
    for (int f = 0; f < stencil->fields_count; f++) {
        stage->streamed[f] = state->context.streamed[f];
        if (stencil->fields[f].role != TZ_STATE && stencil->fields[f].role != TZ_STATIC)
            continue;
        stage->in[f] = *tz_host_store_current(&state->store, f);
        if (stencil->fields[f].role == TZ_STATE)
            stage->out[f] = *tz_host_store_other(&state->store, f);
    }
    for (int f = 0; f < stencil->fields_count; f++)
        if (state->stale >> f & 1 && stage->in[f].origin) {
            tz_host_field_finish(stage, f, &stage->in[f]);
            if (stencil->fields[f].role == TZ_STATE)
                tz_host_field_finish(stage, f, &stage->out[f]);
        }
    state->stale = 0;
}

/* Give each iteration of a stage its constants. */
static tz_status set_constants(cpu *state, tz_stage *stage, tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    if (!tz_problem_varies(problem))
        return TZ_OK;
    if (state->constants_iterations < stage->height) {
        free(state->constants);
        state->constants_iterations = 0;
        state->constants =
            malloc((size_t)stage->height * TZ_CONSTANTS_MAX * sizeof *state->constants);
        if (!state->constants)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a stage");
        state->constants_iterations = stage->height;
    }
    tz_status status = TZ_OK;
    for (int i = 0; i < stage->height && !status; i++)
        status = tz_problem_constants_at(problem, stage->step + i,
                                         state->constants + (size_t)i * TZ_CONSTANTS_MAX, error);
    stage->constants = state->constants;
    stage->constants_stride = TZ_CONSTANTS_MAX;
    return status;
}

/* Of a stencil without one, or if there is no memory for it: NULL. */
static const tz_domain *domain_of(cpu *state, const tz_stage *stage)
{
    const tz_stencil *stencil = state->context.problem->stencil;
    const int field = tz_stencil_domain(stencil);
    if (field >= 0 && !state->domain)
        state->domain = tz_domain_create(stage, &stage->in[field], stencil->fields[field].radius);
    return state->domain;
}

/* Cells of a field were stored. */
static void unsettle(cpu *state, int field)
{
    state->settled = false;
    if (field != tz_stencil_domain(state->context.problem->stencil))
        return;
    free(state->domain);
    state->domain = NULL;
}

static tz_status stage_of_span(void *any, const tz_plan *plan, int height, int64_t step,
                               const tz_slab_span *span, tz_error *error)
{
    cpu *state = any;
    const tz_problem *problem = state->context.problem;
    tz_plan now = *plan;
    now.height = height;
    if (state->kernels != problem->stencil->passes[0].kernels || /* compiled since */
        state->grid.stage.points != problem->points)
        set_grid(state);
    if (!state->family || !tz_plan_equal(&now, &state->plan)) {
        tz_pipeline *pipeline =
            realloc(state->room.pipeline, tz_pipeline_size(problem->stencil, height));
        if (!pipeline)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a stage");
        state->room.pipeline = pipeline;
        state->family = family_of(&state->grid, &now);
        state->plan = now;
        state->stage = tz_cpu_stage_of(&state->grid, state->family, &now);
        state->room_bytes = (size_t)state->family->room(&state->stage);
    }
    tz_stage stage = state->stage;
    stage.step = step;
    stage.low = span->low;
    stage.high = span->high;
    if (problem->dims > 1 && span->high > 0) { /* as many chunks, of equal size */
        int64_t *chunk = &stage.tile[problem->dims - 1];
        const int64_t slabs = span->high - span->low, chunks = (slabs + *chunk - 1) / *chunk;
        *chunk = (slabs + chunks - 1) / chunks;
    }
    tz_status status = set_constants(state, &stage, error);
    if (!status)
        status = make_room(
            state, span->high > 0 ? (size_t)state->family->room(&stage) : state->room_bytes, error);
    if (status)
        return status;
    set_fields(state, &stage);
    stage.domain = state->settled ? domain_of(state, &stage) : NULL;
    state->settled = true;
    state->family->run(&state->room, &stage, tz_problem_written(problem));
    state->norm_known = true;
    return TZ_OK;
}

static tz_status cpu_stage(void *any, const tz_plan *plan, int height, int64_t step,
                           tz_error *error)
{
    return stage_of_span(any, plan, height, step, &(tz_slab_span){0}, error);
}

static bool leaves_out(const tz_problem *problem, const tz_plan *plan)
{
    (void)problem;
    (void)plan;
    return true;
}

/* The stage is described as for height 1; it has the fields as they are stored and the constants of
 * double precision. `changes`: as in tz_update_job, or NULL. */
static tz_status add_update(cpu *state, int64_t step, double *const *changes, tz_update_sums *out,
                            tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const tz_problem in_double = tz_problem_in_double(problem);
    tz_stage stage = state->grid.stage;
    stage.step = step;
    stage.precision = in_double.precision;
    tz_slot constants[TZ_CONSTANTS_MAX];
    const tz_status status = tz_problem_constants_at(&in_double, step, constants, error);
    if (status)
        return status;
    stage.constants = constants;
    set_fields(state, &stage);
    tz_update_job job = {
        .stage = &stage,
        .sums = out->sums + tz_update_first(problem),
        .changes = changes,
        .work = aligned_alloc(64, (size_t)stage.threads * tz_update_work_bytes(&stage)),
    };
    tz_problem_own(problem, &job.low, &job.high);
    if (!job.work)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a residual");
    tz_update_run(&job, &out->largest, &out->magnitude);
    free(job.work);
    return TZ_OK;
}

static tz_status cpu_update(void *any, int64_t step, tz_update_sums *out, tz_error *error)
{
    return add_update(any, step, NULL, out, error);
}

static tz_status cpu_refine(void *any, void *any_correction, int64_t step, tz_update_sums *out,
                            tz_error *error)
{
    cpu *state = any, *correction = any_correction;
    const tz_problem *problem = state->context.problem;
    const tz_refinement *fields = problem->stencil->refinement;
    tz_threads *threads = state->context.threads;
    double *changes[TZ_FIELDS_MAX] = {NULL};
    /* The other copy of the solution is free between stages. */
    changes[fields->solution] = tz_host_store_scratch(&state->store, fields->solution);
    tz_host_refine_add(&state->store, &correction->store, fields->solution, threads);
    state->settled = correction->settled = false;
    state->stale |= 1u << fields->solution;
    state->norm_known = correction->norm_known = false;
    tz_status status = add_update(state, step, changes, out, error);
    if (!status)
        status =
            tz_host_refine_source(&correction->store, fields->source, changes[fields->solution],
                                  problem->source_per_update, threads, error);
    state->stale |= 1u << fields->solution;
    correction->stale |= 1u << fields->solution | 1u << fields->source;
    return status;
}

static tz_status cpu_store(void *any, int field, const tz_box *box, const void *elements,
                           tz_error *error)
{
    cpu *state = any;
    state->stale |= 1u << field;
    state->norm_known &= tz_problem_is_ghost(state->context.problem, box);
    if (field == tz_stencil_domain(state->context.problem->stencil) ||
        !tz_problem_is_ghost(state->context.problem, box))
        unsettle(state, field);
    return tz_host_store_put(&state->store, field, box, elements, error);
}

static tz_status cpu_load(const void *any, int field, const tz_box *box, void *elements,
                          tz_error *error)
{
    return tz_host_store_get(&((const cpu *)any)->store, field, box, elements, error);
}

static tz_field_memory cpu_memory(const void *any, int field)
{
    return tz_host_store_memory(&((const cpu *)any)->store, field);
}

static tz_status cpu_fill(void *any, int field, const void *element, tz_error *error)
{
    cpu *state = any;
    state->stale |= 1u << field;
    state->norm_known = false;
    unsettle(state, field);
    return tz_host_store_fill(&state->store, field, element, true, error);
}

static tz_status cpu_reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error)
{
    const cpu *state = any;
    return tz_reduce_add_own(sums, state->context.problem,
                             tz_host_store_current(&state->store, field), state->context.threads,
                             error);
}

static tz_status cpu_all_finite(const void *any, bool *finite, tz_error *error)
{
    const cpu *state = any;
    (void)error;
    *finite = tz_host_store_all_finite(&state->store, state->context.threads);
    return TZ_OK;
}

static tz_status cpu_update_norm(const void *any, double *norm, tz_error *error)
{
    const cpu *state = any;
    (void)error;
    *norm = state->norm_known ? tz_host_store_difference(&state->store,
                                                         tz_problem_written(state->context.problem),
                                                         state->context.threads)
                              : NAN;
    return TZ_OK;
}

static const tz_slab_functions slab_functions = {.leaves_out = leaves_out, .stage = stage_of_span};

const tz_backend tz_backend_cpu = {
    .name = "cpu",
    .doc = "threads and temporal blocking with ghost zones",
    .rows = true,
    .identify = tz_host_identify,
    .family = cpu_family,
    .plan = cpu_plan,
    .bytes = cpu_bytes,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .store = cpu_store,
    .load = cpu_load,
    .memory = cpu_memory,
    .fill = cpu_fill,
    .stage = cpu_stage,
    .points = true,
    .reduce = cpu_reduce,
    .all_finite = cpu_all_finite,
    .update_norm = cpu_update_norm,
    .update = cpu_update,
    .refine = cpu_refine,
    .slab = &slab_functions,
    .candidates = cpu_candidates,
    .work = cpu_work,
};
