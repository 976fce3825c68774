/* The cpu backend: threads and temporal blocking with the loops of kernels/cpu. */
#include "backend/backend.h"
#include "backend/cpu/diamond_plan.h"
#include "backend/cpu/outside.h"
#include "backend/cpu/plan.h"
#include "backend/cpu/skew_plan.h"
#include "backend/cpu/work.h"
#include "backend/host/reduce.h"
#include "backend/host/refine.h"
#include "backend/host/slab.h"
#include "backend/host/store.h"
#include "base/machine.h"
#include "kernels/cpu/skew.h"
#include "kernels/cpu/stage.h"
#include "kernels/cpu/update.h"
#include "stencil/streamed_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A third-level cache whose size is not known. */
static const int64_t L3_UNKNOWN = INT64_C(32) << 20;

typedef struct cpu {
    tz_backend_context context;
    tz_machine machine;
    tz_host_store store;
    tz_cpu_outside outside;
    tz_pipeline *pipeline;
    char *arena;
    size_t arena_bytes; /* of one thread */
    tz_slot *constants; /* of the iterations of a stage, if some vary */
    int constants_iterations;
    uint32_t stale;      /* mask of the fields whose ghosts must be set before the next stage */
    int64_t alone_width; /* `alone` is tz_stage.alone of tiles of so many columns; 0: of none yet */
    uint32_t alone;
    bool norm_known;
} cpu;

/* Ghost elements around the grid: the largest radius. */
static int store_ghost(const tz_problem *problem)
{
    int ghost = problem->radius;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].radius > ghost)
            ghost = problem->stencil->fields[f].radius;
    return ghost;
}

/* The stage of a plan, without arrays and step. */
static tz_stage describe_stage(const tz_problem *problem, const tz_plan *plan,
                               const tz_machine *machine, int threads)
{
    const int64_t caches = machine->l3_bytes > 0 ? machine->l3_bytes : L3_UNKNOWN;
    tz_stage stage = {
        .stencil = problem->stencil,
        .dims = problem->dims,
        .columns = problem->extent[0],
        .first = problem->slab.first,
        .whole = (problem->slab.of ? problem->slab.of : problem)->extent[problem->dims - 1],
        .bits = problem->bits,
        .ghost = store_ghost(problem),
        .precision = problem->precision,
        .constants = problem->constants,
        .height = plan->height,
        .batch = 1,
        .isa = machine->isa,
        .threads = threads,
        .past_caches = tz_host_store_bytes(problem, store_ghost(problem)) > caches,
        .diamonds = tz_cpu_is_diamond(plan),
        .streamed_row = tz_streamed_source_row,
    };
    memcpy(stage.elements, problem->elements, sizeof stage.elements);
    memcpy(stage.boundary, problem->boundary, sizeof stage.boundary);
    memcpy(stage.tile, plan->tile, sizeof stage.tile);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        stage.element_size[f] = tz_problem_element_size(problem, f);
    if (!tz_cpu_is_in_arrays(plan))
        tz_cpu_batch(problem, machine, &stage);
    return stage;
}

/* The problem's part of a stage, for choosing plans of the family "skew". */
static tz_stage describe_problem(const tz_problem *problem, const tz_machine *machine, int threads)
{
    tz_plan whole = {.height = 1};
    memcpy(whole.tile, problem->elements, sizeof whole.tile);
    return describe_stage(problem, &whole, machine, threads);
}

static int64_t arena_bytes(const tz_problem *problem, const tz_plan *plan,
                           const tz_machine *machine, int threads)
{
    const tz_stage stage = describe_stage(problem, plan, machine, threads);
    if (tz_cpu_is_in_arrays(plan))
        return (int64_t)tz_skew_lost_bytes(&stage);
    return tz_cpu_rings_bytes(&stage);
}

static tz_status plan_for(const tz_problem *problem, const tz_machine *machine, int threads,
                          tz_plan *plan, tz_error *error)
{
    const tz_plan given = *plan;
    const tz_stage stage = describe_problem(problem, machine, threads);
    tz_status status = tz_backend_check_plan(plan, &tz_backend_cpu, error);
    if (!status) {
        tz_cpu_diamond_choose(problem, threads, machine, plan);
        tz_cpu_skew_choose(problem, &stage, machine, plan);
    }
    if (!status && tz_cpu_is_skew(plan))
        return tz_cpu_skew_plan(problem, &stage, machine, plan, error);
    if (!status && tz_cpu_is_diamond(plan))
        return tz_cpu_diamond_plan(problem, threads, machine, plan, error);
    if (!status)
        status = tz_cpu_plan(problem, &stage, machine, plan, error);
    if (status)
        return status;
    const int wanted = plan->height;
    while (arena_bytes(problem, plan, machine, threads) * threads > TZ_CPU_RINGS_MAX &&
           plan->height > 1) {
        const int lower = plan->height - (plan->height + 7) / 8;
        *plan = given;
        plan->height = lower;
        tz_cpu_plan(problem, &stage, machine, plan, NULL);
    }
    if (given.height > 0 && plan->height < wanted)
        return tz_error_set(
            error, TZ_RANGE, "height",
            "height %d with a tile of %" PRId64 " x %" PRId64 " needs more than %" PRId64
            " MiB of work space: use a height up to %d, or a smaller tile",
            wanted, plan->tile[0], plan->tile[1], TZ_CPU_RINGS_MAX >> 20, plan->height);
    return TZ_OK;
}

static tz_status cpu_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                          tz_error *error)
{
    tz_machine machine;
    tz_machine_read(&machine);
    return plan_for(problem, &machine, place->threads, plan, error);
}

/* ---- Plans for this machine or another ------------------------------------------------------- */

/* The machine that a record describes. Numbers that the record lacks are this machine's. If TZ_ISA
 * is set and the record is this machine's, all numbers are this machine's, with the lower
 * instruction set. tz_machine_read() takes longer than a prediction, so it is called only if
 * needed. */
static tz_machine machine_of(const tz_place *place)
{
    tz_machine machine = {.cores = place->threads};
    const tz_model_device *d = place->device;
    if (!d || !d->l1_bytes.known || !d->l2_bytes.known || !d->l3_bytes.known ||
        !d->vector_bytes.known || getenv("TZ_ISA")) {
        tz_machine_read(&machine);
        if (!d || strncmp(d->title, machine.cpu, sizeof d->title - 1) == 0)
            return machine;
    }
    if (d->l1_bytes.known)
        machine.l1_bytes = (int64_t)d->l1_bytes.value;
    if (d->l2_bytes.known)
        machine.l2_bytes = (int64_t)d->l2_bytes.value;
    if (d->l3_bytes.known)
        machine.l3_bytes = (int64_t)d->l3_bytes.value;
    if (d->vector_bytes.known)
        machine.isa = d->vector_bytes.value >= 64   ? TZ_ISA_V4
                      : d->vector_bytes.value >= 32 ? TZ_ISA_V3
                                                    : TZ_ISA_BASE;
    return machine;
}

typedef struct plan_list {
    tz_plan *plans;
    int count, max;
} plan_list;

/* Adds the plan, completed, if it is possible and not in the list. */
static void add_plan(plan_list *list, const tz_problem *problem, const tz_machine *machine,
                     int threads, const tz_plan *shape)
{
    tz_plan plan = *shape;
    if (list->count == list->max || plan_for(problem, machine, threads, &plan, NULL))
        return;
    for (int k = 0; k < list->count; k++)
        if (tz_plan_equal(&list->plans[k], &plan))
            return;
    list->plans[list->count++] = plan;
}

/* Without a family, and without a tile, which is one of "stream": plans of all families. */
static tz_status cpu_candidates(const tz_problem *problem, const tz_place *place,
                                const tz_plan *given, tz_plan *plans, int max, int *count,
                                tz_error *error)
{
    const tz_machine machine = machine_of(place);
    const int threads = place->threads;
    plan_list list = {.plans = plans, .max = max};
    tz_plan shapes[TZ_CPU_SHAPES_MAX], whole = *given, stream = *given, skew = *given;
    *count = 0;
    const tz_status status = plan_for(problem, &machine, threads, &whole, error);
    if (status)
        return status;
    if (tz_cpu_skew_may(problem, given))
        strcpy(skew.family, tz_cpu_skew);
    if (!tz_cpu_is_in_arrays(given))
        strcpy(stream.family, "stream");
    const tz_stage stage = describe_problem(problem, &machine, threads);
    for (int height = 0; (height = tz_cpu_height_next(problem, given, height)) > 0;) {
        int n = tz_cpu_is_in_arrays(&stream)
                    ? 0
                    : tz_cpu_shapes(problem, &stage, &machine, &stream, height, shapes);
        for (int i = 0; i < n; i++)
            add_plan(&list, problem, &machine, threads, &shapes[i]);
        n = tz_cpu_is_skew(&skew)
                ? tz_cpu_skew_shapes(problem, &stage, &machine, &skew, height, shapes)
                : 0;
        for (int i = 0; i < n; i++)
            add_plan(&list, problem, &machine, threads, &shapes[i]);
    }
    const int n = tz_cpu_diamond_shapes(problem, threads, given, shapes);
    for (int i = 0; i < n; i++)
        add_plan(&list, problem, &machine, threads, &shapes[i]);
    *count = list.count;
    return TZ_OK;
}

static tz_status cpu_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                          tz_effort effort, tz_model_work *out, tz_error *error)
{
    (void)effort; /* row functions are compiled already */
    const tz_machine machine = machine_of(place);
    tz_stage stage = describe_stage(problem, plan, &machine, place->threads);
    if (tz_cpu_is_in_arrays(plan)) {
        stage.batch = tz_skew_batch(&stage);
        stage.alone = tz_cpu_skew_alone(problem, &stage, &machine);
    }
    return tz_cpu_work(problem, &stage, tz_cpu_is_in_arrays(plan), &machine, place->walks, out,
                       error);
}

static int64_t cpu_bytes(const tz_problem *problem, const tz_place *place, const tz_plan *plan)
{
    int64_t fields = tz_host_store_bytes(problem, store_ghost(problem));
    tz_machine machine;
    if (fields < INT64_MAX / 2)
        fields += tz_cpu_outside_bytes(problem, store_ghost(problem));
    tz_machine_read(&machine);
    return fields > INT64_MAX / 2
               ? fields
               : fields + place->threads * arena_bytes(problem, plan, &machine, place->threads) +
                     (int64_t)tz_pipeline_size();
}

/* The stage of a plan with the threads of a state, without arrays and step. */
static tz_stage own_stage(const cpu *state, const tz_plan *plan)
{
    tz_threads *pool = state->context.threads;
    tz_stage stage =
        describe_stage(state->context.problem, plan, &state->machine, tz_threads_count(pool));
    stage.pool = pool;
    return stage;
}

static void cpu_destroy(void *any)
{
    cpu *state = any;
    if (!state)
        return;
    tz_host_store_destroy(&state->store);
    tz_cpu_outside_clear(&state->outside);
    free(state->pipeline);
    free(state->arena);
    free(state->constants);
    free(state);
}

static tz_status cpu_create(void **out, const tz_backend_context *context, tz_error *error)
{
    const tz_problem *problem = context->problem;
    cpu *state = calloc(1, sizeof *state);
    if (!state)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    state->context = *context;
    tz_machine_read(&state->machine);
    tz_status status = tz_threads_start(context->threads, error);
    if (!status)
        status = tz_host_store_create(&state->store, problem, store_ghost(problem),
                                      context->threads, true, error);
    state->pipeline = malloc(tz_pipeline_size());
    if (!status)
        status = tz_cpu_outside_create(&state->outside, problem, store_ghost(problem), error);
    if (!status && !state->pipeline)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
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
    if (bytes <= state->arena_bytes)
        return TZ_OK;
    free(state->arena);
    state->arena_bytes = 0;
    const size_t all = (bytes * (size_t)tz_threads_count(state->context.threads) + 63) / 64 * 64;
    state->arena = aligned_alloc(64, all);
    if (!state->arena)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "a stage needs %zu bytes beside the fields, more than are free: use a "
                            "smaller height or tile",
                            all);
    memset(state->arena, 0, all);
    state->arena_bytes = bytes;
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

static void skew_stage(cpu *state, tz_stage *stage, uint32_t written)
{
    if (state->alone_width != stage->tile[0]) {
        state->alone_width = stage->tile[0];
        state->alone = tz_cpu_skew_alone(state->context.problem, stage, &state->machine);
    }
    stage->alone = state->alone;
    stage->lost = state->arena;
    const tz_skew_arrays arrays = tz_skew_run(stage);
    tz_host_store_turn(&state->store, written, arrays.values, arrays.before);
}

static void stream_stage(cpu *state, tz_stage *stage, uint32_t written)
{
    int from[TZ_FIELDS_MAX];
    tz_stage_run(stage, state->pipeline, state->arena, state->arena_bytes);
    for (int f = 0; f < stage->stencil->fields_count; f++)
        from[f] = tz_pipeline_hands_over(state->pipeline, f);
    tz_host_store_advance(&state->store, written, from);
}

static tz_status stage_of_span(void *any, const tz_plan *plan, int height, int64_t step,
                               const tz_slab_span *span, tz_error *error)
{
    cpu *state = any;
    const tz_problem *problem = state->context.problem;
    tz_plan now = *plan;
    now.height = height;
    tz_stage stage = own_stage(state, &now);
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
        status =
            make_room(state,
                      tz_cpu_is_in_arrays(plan) ? tz_skew_lost_bytes(&stage)
                                                : tz_stage_arena_bytes(&stage, state->pipeline),
                      error);
    if (status)
        return status;
    set_fields(state, &stage);
    (tz_cpu_is_in_arrays(plan) ? skew_stage : stream_stage)(state, &stage,
                                                            tz_problem_written(problem));
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
    tz_plan plan = {.height = 1};
    memcpy(plan.tile, problem->elements, sizeof plan.tile);
    tz_stage stage = own_stage(state, &plan);
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

static tz_status cpu_add_update(void *any, int64_t step, tz_update_sums *out, tz_error *error)
{
    return add_update(any, step, NULL, out, error);
}

static tz_status cpu_update(void *any, int64_t step, tz_update *out, tz_error *error)
{
    const cpu *state = any;
    tz_update_sums sums;
    tz_status status = tz_update_begin(&sums, state->context.problem, error);
    if (!status)
        status = cpu_add_update(any, step, &sums, error);
    tz_update_end(&sums, out);
    return status;
}

static tz_status cpu_add_refine(void *any, void *any_correction, int64_t step, tz_update_sums *out,
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

static tz_status cpu_refine(void *any, void *correction, int64_t step, tz_update *out,
                            tz_error *error)
{
    const cpu *state = any;
    tz_update_sums sums;
    tz_status status = tz_update_begin(&sums, state->context.problem, error);
    if (!status)
        status = cpu_add_refine(any, correction, step, &sums, error);
    tz_update_end(&sums, out);
    return status;
}

static tz_status cpu_store(void *any, int field, const tz_box *box, const void *elements,
                           tz_error *error)
{
    cpu *state = any;
    state->stale |= 1u << field;
    state->norm_known &= tz_problem_is_ghost(state->context.problem, box);
    return tz_host_store_put(&state->store, field, box, elements, error);
}

static tz_status cpu_load(const void *any, int field, const tz_box *box, void *elements,
                          tz_error *error)
{
    return tz_host_store_get(&((const cpu *)any)->store, field, box, elements, error);
}

static tz_status cpu_fill(void *any, int field, const void *element, tz_error *error)
{
    cpu *state = any;
    state->stale |= 1u << field;
    state->norm_known = false;
    return tz_host_store_fill(&state->store, field, element, true, error);
}

static tz_status cpu_reduce(const void *any, int field, tz_reduction *out, tz_error *error)
{
    const cpu *state = any;
    return tz_reduce_host(state->context.problem, field,
                          tz_host_store_current(&state->store, field), state->context.threads, out,
                          error);
}

static tz_status cpu_add_reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error)
{
    const cpu *state = any;
    return tz_reduce_add_slab(sums, state->context.problem,
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

static const char *cpu_family(int index)
{
    static const char *const names[] = {"stream", tz_cpu_skew, tz_cpu_diamond};
    return index < 3 ? names[index] : NULL;
}

static const tz_slab_functions slab_functions = {.leaves_out = leaves_out,
                                                 .stage = stage_of_span,
                                                 .reduce = cpu_add_reduce,
                                                 .update = cpu_add_update,
                                                 .refine = cpu_add_refine};

const tz_backend tz_backend_cpu = {
    .name = "cpu",
    .doc = "threads and temporal blocking with ghost zones",
    .identify = tz_host_identify,
    .family = cpu_family,
    .plan = cpu_plan,
    .bytes = cpu_bytes,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .store = cpu_store,
    .load = cpu_load,
    .fill = cpu_fill,
    .stage = cpu_stage,
    .reduce = cpu_reduce,
    .all_finite = cpu_all_finite,
    .update_norm = cpu_update_norm,
    .update = cpu_update,
    .refine = cpu_refine,
    .slab = &slab_functions,
    .candidates = cpu_candidates,
    .work = cpu_work,
};
