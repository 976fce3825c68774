/* The cuda backend: one NVIDIA GPU. Fields lie in device memory, their rows padded to a multiple of
 * 32 elements, with two copies of each state field. A kernel is compiled for each plan at run
 * time. */
#include "backend/cuda/compile/compile.h"
#include "backend/cuda/family/work.h"
#include "backend/cuda/state.h"
#include "backend/host/store.h"
#include "base/machine.h"
#include "stencil/streamed_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IN_FLIGHT_MAX = 16,     /* stages between two marks; at most twice as many are in flight */
    REPLAY_BYTES = 32 << 20 /* of fields: larger stages, over about 10 us, do not go into graphs */
};

/* ---- The device ------------------------------------------------------------------------------ */

static tz_limits limits_of(const tz_cuda_device *device)
{
    return (tz_limits){.multiprocessors = device->multiprocessors,
                       .shared_bytes = device->shared_bytes};
}

/* What else decides which plans are best: the compiler, and the texts of kernels. */
static void describe_kernels(char *text, size_t size)
{
    char compiler[160];
    tz_cache_key key = tz_cache_key_start();
    for (size_t i = 0; i < tz_cuda_headers_count; i++)
        tz_cache_key_add(&key, tz_cuda_headers[i].text);
    key = tz_cache_key_end(key);
    const bool known = tz_cuda_compile_describe(compiler, sizeof compiler, NULL) == TZ_OK;
    snprintf(text, size, "NVRTC %.60s, kernels %016" PRIx64, known ? compiler : "none", key.a);
}

static tz_status gpu_identify(int ordinal, tz_device_identity *out, tz_error *error)
{
    tz_cuda_device device;
    *out = (tz_device_identity){0};
    const tz_status status = tz_cuda_look(ordinal, &device, error);
    if (status)
        return status;
    out->units = device.multiprocessors;
    out->limits = limits_of(&device);
    snprintf(out->name, sizeof out->name, "%s", device.name);
    char kernels[120];
    describe_kernels(kernels, sizeof kernels);
    snprintf(out->key, sizeof out->key, "%.100s, %d multiprocessors, driver %d, %s", device.name,
             device.multiprocessors, device.driver, kernels);
    return TZ_OK;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static tz_status gpu_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                          tz_error *error)
{
    const tz_limits limits = tz_place_limits(place);
    tz_status status = tz_cuda_plan(problem, &limits, plan, error);
    int64_t bytes = 0;
    for (int f = 0; !status && f < problem->stencil->fields_count; f++)
        bytes += (int64_t)tz_cuda_field_bytes(problem, f);
    const tz_cuda_family *family = NULL;
    if (!status)
        status = tz_cuda_family_find(plan->family, problem, &family, error);
    /* Short stages are launched several at a time, as a graph. */
    if (!status && plan->launch_iterations <= plan->height && bytes <= REPLAY_BYTES &&
        tz_problem_repeats(problem) && tz_cuda_turns(family, problem, plan->height) == 1)
        plan->launch_iterations = TZ_CUDA_REPLAY_STAGES * plan->height;
    return status;
}

/* Bytes of host memory, which a run checks first. create() fails if device memory does not
 * suffice. */
static int64_t gpu_bytes(const tz_problem *problem, const tz_place *place, const tz_plan *plan)
{
    (void)place;
    (void)plan;
    return problem->elements[0] * 8; /* a row at a time */
}

static tz_status compile_into_cache(const tz_cuda_device *device, const tz_cancel *cancel,
                                    const char *source, tz_error *error)
{
    char architecture[32];
    void *cubin;
    size_t bytes;
    bool cached;
    snprintf(architecture, sizeof architecture, "sm_%d%d", device->major, device->minor);
    const tz_status status = tz_cuda_compile(cancel, true, architecture, source, tz_cuda_headers,
                                             tz_cuda_headers_count, &cached, &cubin, &bytes, error);
    free(cubin);
    return status;
}

/* The kernels that most runs need for checks, numbers and frames of their state fields. */
static tz_status prepare_reductions(const tz_problem *problem, const tz_cuda_device *device,
                                    const tz_cancel *cancel, tz_error *error)
{
    static const tz_cuda_number kinds[] = {TZ_CUDA_FINITE, TZ_CUDA_NUMBERS, TZ_CUDA_SHRINK};
    tz_status status = TZ_OK;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        unsigned types = 0; /* a bit for each that is done */
        for (int f = 0; !status && f < problem->stencil->fields_count; f++) {
            const tz_dtype dtype = tz_problem_dtype(problem, f);
            tz_cuda_text text = {0};
            if (problem->stencil->fields[f].role != TZ_STATE ||
                (tz_problem_as_computed(problem, f) && types >> dtype & 1) ||
                (kinds[k] == TZ_CUDA_FINITE && !tz_type_is_real(problem->stencil->fields[f].type)))
                continue;
            const bool stored = !tz_problem_as_computed(problem, f);
            char memory[TZ_CUDA_MEMORY_TYPE_SIZE];
            types |= (unsigned)!stored << dtype;
            tz_cuda_reduce_emit(&text, dtype,
                                stored ? tz_cuda_memory_type(problem, f, memory) : NULL, kinds[k]);
            status = text.failed ? TZ_MEMORY : compile_into_cache(device, cancel, text.text, error);
            free(text.text);
        }
    }
    return status;
}

static tz_status gpu_prepare(const tz_problem *problem, const tz_place *place, int ordinal,
                             const tz_plan *plan, tz_error *error)
{
    tz_cuda_device device;
    char *source = NULL;
    tz_status status = tz_cuda_look(ordinal, &device, error);
    if (status)
        return status;
    if (!plan)
        return prepare_reductions(problem, &device, &place->cancel, error);
    const tz_limits limits = limits_of(&device);
    status = tz_cuda_source(problem, &limits, plan, &source, error);
    if (!status)
        status = compile_into_cache(&device, &place->cancel, source, error);
    free(source);
    return status;
}

/* ---- Graphs of stages ------------------------------------------------------------------------ */

static void replay_clear(tz_cuda_replay *replay, tz_cuda *cuda)
{
    tz_cuda_graph_destroy(cuda, replay->graph);
    memset(replay, 0, sizeof *replay);
}

static tz_status record(tz_cuda *cuda, tz_cuda_queue *scratch, const tz_cuda_kernel *kernel,
                        const tz_cuda_shape *shape, void *const arguments[2], tz_error *error)
{
    const int block[3] = {shape->threads, 1, 1};
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < TZ_CUDA_REPLAY_STAGES; i++) {
        void *pointers[] = {arguments[i % 2]};
        status = tz_cuda_launch(cuda, scratch, kernel, shape->grid, block, shape->shared_bytes,
                                false, pointers, error);
    }
    return status;
}

/* Puts TZ_CUDA_REPLAY_STAGES launches into the default queue. The first, third, … pass
 * arguments[0], the others arguments[1], `bytes` each. Without a graph, or after the arguments have
 * changed, records a graph in the queue `scratch`, which nothing else may use. */
static tz_status replay_launch(tz_cuda_replay *replay, tz_cuda *cuda, tz_cuda_queue *scratch,
                               const tz_cuda_kernel *kernel, const tz_cuda_shape *shape,
                               void *const arguments[2], size_t bytes, tz_error *error)
{
    if (!replay->graph || memcmp(replay->arguments[0], arguments[0], bytes) != 0 ||
        memcmp(replay->arguments[1], arguments[1], bytes) != 0) {
        replay_clear(replay, cuda);
        tz_status status = tz_cuda_graph_begin(cuda, scratch, error);
        if (status)
            return status;
        status = record(cuda, scratch, kernel, shape, arguments, error);
        if (status)
            tz_cuda_graph_end(cuda, scratch, NULL, NULL);
        else
            status = tz_cuda_graph_end(cuda, scratch, &replay->graph, error);
        if (status)
            return status;
        for (int i = 0; i < 2; i++)
            memcpy(replay->arguments[i], arguments[i], bytes);
    }
    return tz_cuda_graph_launch(cuda, replay->graph, NULL, error);
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static void forget_kernel(tz_cuda_state *state, tz_cuda_compiled *slot)
{
    tz_cuda_free(state->cuda, slot->scratch);
    slot->scratch = 0;
    for (int parity = 0; parity < 2; parity++)
        replay_clear(&slot->replays[parity], state->cuda);
    tz_cuda_unload(state->cuda, &slot->kernel);
}

static void gpu_destroy(void *any)
{
    tz_cuda_state *state = any;
    if (!state)
        return;
    tz_cuda_snapshots_destroy(state->snapshots);
    tz_cuda_reducer_destroy(state->reducer);
    tz_cuda_updater_destroy(state->updater);
    tz_cuda_jumper_destroy(state->jumper);
    if (state->cuda)
        tz_cuda_refiner_clear(&state->refiner, state->cuda);
    if (state->cuda)
        tz_cuda_points_clear(&state->points, state->cuda);
    tz_cuda_staging_destroy(state->staging);
    tz_cuda_energy_close(state->energy);
    if (state->cuda) {
        tz_cuda_event_destroy(state->cuda, state->mark);
        tz_cuda_event_destroy(state->cuda, state->offered);
        tz_cuda_event_destroy(state->cuda, state->copied);
        tz_cuda_event_destroy(state->cuda, state->given);
        tz_cuda_event_destroy(state->cuda, state->taken);
        tz_cuda_event_destroy(state->cuda, state->begun);
        tz_cuda_event_destroy(state->cuda, state->ready);
        tz_cuda_queue_destroy(state->cuda, state->first);
    }
    for (int i = 0; state->cuda && i < 2 * TZ_FIELDS_MAX; i++) {
        const tz_cu_pointer array = state->copy[i / 2][i % 2];
        bool freed = false;
        for (int k = 0; k < i; k++)
            freed = freed || state->copy[k / 2][k % 2] == array;
        if (!freed)
            tz_cuda_free(state->cuda, array);
    }
    for (int f = 0; state->cuda && f < TZ_FIELDS_MAX; f++)
        tz_cuda_slabs_destroy(state->slabs[f]);
    for (int k = 0; k < state->kernels_count; k++)
        forget_kernel(state, &state->kernels[k]);
    if (state->cuda)
        tz_cuda_queue_destroy(state->cuda, state->scratch);
    tz_cuda_close(state->cuda);
    free(state);
}

/* Each state field has one array now: it is both copies, or the other one of the field whose values
 * are taken over. */
static tz_status share_copies(tz_cuda_state *state, tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    tz_cuda_pairs pairs;
    const char *why = tz_cuda_pairs_find(problem, &pairs);
    if (why)
        return tz_error_set(error, TZ_UNSUPPORTED, "copies", "'%s' %s: leave 'copies' out",
                            problem->stencil->id, why);
    state->pairs = pairs.count > 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            state->copy[f][1] = state->copy[f][0];
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int from = tz_cuda_taken(problem, f);
        if (from >= 0) {
            state->copy[f][1] = state->copy[from][0];
            state->copy[from][1] = state->copy[f][0];
        }
    }
    return TZ_OK;
}

static tz_status gpu_create(void **out, const tz_backend_context *context, tz_error *error)
{
    const tz_problem *problem = context->problem;
    tz_cuda_state *state = calloc(1, sizeof *state);
    if (!state)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    state->context = *context;
    tz_cuda_compilers_begin(); /* it opens NVRTC while the driver makes the context */
    tz_status status = tz_cuda_open(&state->cuda, context->device, error);
    if (!status)
        tz_cuda_cancel_by(
            state->cuda, (tz_cancel){.stopped = context->overdue, .cancelled = context->cancelled});
    if (!status)
        status = tz_cuda_reducer_create(&state->reducer, state->cuda, NULL, problem, error);
    if (!status)
        status = tz_cuda_updater_create(&state->updater, state->cuda, NULL, problem, error);
    if (!status)
        status = tz_cuda_staging_create(&state->staging, state->cuda, NULL, error);
    if (!status)
        status = tz_cuda_queue_create(state->cuda, &state->scratch, error);
    state->replays = !context->sync && tz_problem_repeats(problem);
    if (!status)
        status = tz_cuda_event_create(state->cuda, &state->mark, false, error);
    if (!status)
        tz_cuda_energy_open(&state->energy, tz_cuda_device_of(state->cuda), &state->no_energy);
    for (int f = 0; !status && f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        if (role == TZ_STREAMED)
            status = tz_cuda_slabs_create(&state->slabs[f], state->cuda, context->threads,
                                          problem->elements[0], tz_cuda_pitch(problem), error);
        const int copies = role == TZ_STATE && !problem->one_copy  ? 2
                           : role == TZ_STATE || role == TZ_STATIC ? 1
                                                                   : 0;
        for (int c = 0; !status && c < copies; c++) {
            size_t bytes = tz_cuda_field_bytes(problem, f);
            if (context->ranks) /* may be shared with other processes */
                bytes += -bytes % TZ_CUDA_SHARED_BLOCK_BYTES;
            status = tz_cuda_allocate(state->cuda, &state->copy[f][c], bytes, error);
            if (!status)
                status = tz_cuda_clear(state->cuda, state->copy[f][c], bytes, error);
        }
    }
    if (!status && problem->one_copy)
        status = share_copies(state, error);
    if (status) {
        gpu_destroy(state);
        return status;
    }
    *out = state;
    return TZ_OK;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static tz_status gpu_store(void *any, int field, const tz_box *box, const void *elements,
                           tz_error *error)
{
    tz_cuda_state *state = any;
    const tz_cuda_box where = tz_cuda_box_of(state->context.problem, field, box);
    state->norm_known &= tz_problem_is_ghost(state->context.problem, box);
    state->unnoted = true;
    tz_cuda_state_touch(state);
    return tz_cuda_staging_upload(state->staging, state->copy[field][state->current[field]], &where,
                                  elements, error);
}

static tz_status gpu_load(const void *any, int field, const tz_box *box, void *elements,
                          tz_error *error)
{
    const tz_cuda_state *state = any;
    const tz_cuda_box where = tz_cuda_box_of(state->context.problem, field, box);
    return tz_cuda_staging_download(state->staging, elements,
                                    state->copy[field][state->current[field]], &where, error);
}

static tz_field_memory gpu_memory(const void *any, int field)
{
    const tz_cuda_state *state = any;
    const tz_problem *problem = state->context.problem;
    const tz_cuda_box box = tz_cuda_box_of(problem, field, &(tz_box){.high = {1, 1, 1}});
    return (tz_field_memory){.first = (void *)(uintptr_t)state->copy[field][state->current[field]],
                             .strides = {(int64_t)tz_problem_element_size(problem, field),
                                         (int64_t)box.device_row_pitch,
                                         (int64_t)box.device_plane_pitch}};
}

/* Also fills the padding between rows, which nothing reads. */
static tz_status gpu_fill(void *any, int field, const void *element, tz_error *error)
{
    tz_cuda_state *state = any;
    const tz_problem *problem = state->context.problem;
    state->norm_known = false;
    state->unnoted = true;
    tz_cuda_state_touch(state);
    return tz_cuda_staging_fill(state->staging, state->copy[field][state->current[field]], element,
                                tz_problem_element_size(problem, field),
                                tz_cuda_field_bytes(problem, field), error);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static bool same_text(const tz_problem *problem, const tz_slot *constants)
{
    for (int k = 0; k < problem->stencil->constants_count; k++)
        if (!tz_type_is_real(problem->stencil->constants[k].type) &&
            !problem->stencil->constants[k].varies && problem->constants[k].i != constants[k].i)
            return false;
    return true;
}

/* Waits for the stages under way before it makes a kernel: the times of both shall be known. */
static tz_status find_kernel(tz_cuda_state *state, const tz_plan *plan, tz_cuda_compiled **out,
                             tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const uint64_t points = problem->points ? UINT64_C(1) << 32 | problem->points->fields : 0;
    tz_cuda_compiled *slot = NULL;
    for (int k = 0; k < state->kernels_count; k++)
        if (tz_plan_equal(&state->kernels[k].plan, plan) && state->kernels[k].points == points &&
            same_text(problem, state->kernels[k].constants))
            slot = &state->kernels[k];
    if (!slot) {
        const tz_limits limits = limits_of(tz_cuda_device_of(state->cuda));
        tz_cuda_compiled fresh = {.plan = *plan, .points = points};
        memcpy(fresh.constants, problem->constants, sizeof fresh.constants);
        char *source = NULL;
        tz_status status = tz_cuda_queue_wait(state->cuda, NULL, error);
        const double begin = tz_machine_clock_s();
        if (!status)
            status = tz_cuda_family_find(plan->family, problem, &fresh.family, error);
        if (!status)
            status = tz_cuda_source(problem, &limits, plan, &source, error);
        if (!status)
            status = tz_cuda_load(state->cuda, &fresh.kernel, source, TZ_CUDA_ENTRY,
                                  tz_cuda_headers, tz_cuda_headers_count, error);
        free(source);
        if (status)
            return status;
        status = tz_cuda_occupancy(state->cuda, &fresh.kernel, tz_cuda_threads(fresh.family, plan),
                                   fresh.family->shared_bytes(problem, &limits, plan),
                                   &fresh.blocks, error);
        if (!status)
            status = tz_cuda_shape_all(fresh.family, problem, &limits, plan, fresh.blocks,
                                       &fresh.shape, error);
        const size_t scratch = status ? 0 : (size_t)fresh.shape.scratch_bytes;
        if (scratch > 0)
            status = tz_cuda_allocate(state->cuda, &fresh.scratch, scratch, error);
        if (scratch > 0 && !status)
            status = tz_cuda_clear(state->cuda, fresh.scratch, scratch, error);
        if (status) {
            forget_kernel(state, &fresh);
            return status;
        }
        slot = &state->kernels[0];
        if (state->kernels_count < TZ_CUDA_KERNELS_MAX)
            slot = &state->kernels[state->kernels_count++];
        else {
            for (int k = 1; k < TZ_CUDA_KERNELS_MAX; k++)
                if (state->kernels[k].used < slot->used)
                    slot = &state->kernels[k];
            forget_kernel(state, slot);
        }
        *slot = fresh;
        state->set_up_s += tz_machine_clock_s() - begin;
    }
    slot->used = state->stages++;
    *out = slot;
    return TZ_OK;
}

/* Limits how far ahead the host launches, so that an interrupt takes effect soon. */
static tz_status hold_back(tz_cuda_state *state, int stages, tz_error *error)
{
    if (state->context.sync)
        return tz_cuda_wait(state->cuda, error);
    state->unmarked += stages;
    if (state->unmarked < IN_FLIGHT_MAX)
        return TZ_OK;
    state->unmarked = 0;
    tz_status status = tz_cuda_event_wait(state->cuda, state->mark, error);
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->mark, NULL, error);
    return status;
}

/* Waits for the stages, but not for readers of snapshots. */
static tz_status gpu_wait(void *any, tz_error *error)
{
    return tz_cuda_queue_wait(((tz_cuda_state *)any)->cuda, NULL, error);
}

typedef union arguments {
    uint64_t align;
    char bytes[TZ_CUDA_ARGUMENTS_MAX];
} arguments;

/* The arguments of a launch that reads the current copies, or with `swapped` the others. `step` is
 * the stage's first. */
static tz_status fill_arguments(const tz_cuda_state *state, const tz_cuda_compiled *use,
                                const tz_cuda_shape *shape, const tz_cuda_turn *turn, int64_t step,
                                bool swapped, const tz_cu_pointer *streamed, arguments *out,
                                tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const uint32_t written = tz_problem_written(problem);
    const int64_t row_bytes = tz_cuda_pitch(problem) * (int64_t)sizeof(int32_t);
    tz_cu_pointer from[TZ_FIELDS_MAX] = {0}, to[TZ_FIELDS_MAX] = {0};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int current = state->current[f] ^ (swapped && written >> f & 1);
        const tz_cu_pointer copies[] = {state->copy[f][current], state->copy[f][1 - current],
                                        use->scratch + tz_cuda_between(problem, f)};
        if (streamed && streamed[f]) {
            from[f] = streamed[f] + (tz_cu_pointer)(turn->first * row_bytes);
        } else {
            from[f] = copies[tz_cuda_reads(problem, turn->pass, f)];
            to[f] = copies[tz_cuda_writes(problem, turn->pass, f)];
        }
    }
    tz_cuda_shape own = *shape;
    if (turn->pass >= 0)
        own.geometry[TZ_CUDA_PASS] = turn->pass;
    if (state->pairs)
        own.geometry[TZ_CUDA_PHASE] = state->phase ^ swapped;
    const tz_status status = tz_cuda_arguments_fill(problem, &own, turn->height, step + turn->first,
                                                    from, to, use->scratch, out->bytes, error);
    if (!status && problem->points) {
        const tz_cuda_point_arguments points =
            tz_cuda_points_arguments(&state->points, step + turn->first);
        memcpy(out->bytes + tz_cuda_arguments_size(problem) - sizeof points, &points,
               sizeof points);
    }
    return status;
}

/* A stage that is about to be launched, or a part of it. */
typedef struct launch {
    tz_cuda_state *state;
    tz_cuda_compiled *use;
    tz_cuda_turn turn;
    int64_t step;
    tz_cu_pointer streamed[TZ_FIELDS_MAX];
} launch;

static tz_status launch_shape(const launch *l, tz_cuda_queue *queue, const tz_cuda_shape *shape,
                              tz_error *error)
{
    arguments passed;
    void *pointers[] = {passed.bytes};
    const int block[3] = {shape->threads, 1, 1};
    const tz_status status = fill_arguments(l->state, l->use, shape, &l->turn, l->step, false,
                                            l->streamed, &passed, error);
    return status ? status
                  : tz_cuda_launch(l->state->cuda, queue, &l->use->kernel, shape->grid, block,
                                   shape->shared_bytes, shape->cooperative, pointers, error);
}

static tz_status launch_span(const launch *l, tz_cuda_queue *queue, int64_t low, int64_t high,
                             tz_error *error)
{
    tz_cuda_compiled *use = l->use;
    const tz_limits limits = limits_of(tz_cuda_device_of(l->state->cuda));
    /* Most often the one after the last one. */
    for (int i = 1; i <= TZ_CUDA_SPANS_MAX; i++) {
        const int k = (use->spans_last + i) % TZ_CUDA_SPANS_MAX;
        if (use->spans[k].low != low || use->spans[k].high != high)
            continue;
        use->spans_last = k;
        return launch_shape(l, queue, &use->spans[k], error);
    }
    tz_cuda_shape shape;
    const tz_status status = tz_cuda_shape_span(use->family, l->state->context.problem, &limits,
                                                &use->plan, use->blocks, low, high, &shape, error);
    if (status)
        return status;
    use->spans_last = use->spans_next++ % TZ_CUDA_SPANS_MAX;
    use->spans[use->spans_last] = shape;
    return launch_shape(l, queue, &shape, error);
}

static tz_status need_first(tz_cuda_state *state, tz_error *error)
{
    tz_cuda_event **events[] = {&state->begun, &state->ready, &state->offered};
    tz_status status = TZ_OK;
    if (!state->first)
        status = tz_cuda_queue_create_first(state->cuda, &state->first, error);
    for (int i = 0; i < 3 && !status; i++)
        if (!*events[i])
            status = tz_cuda_event_create(state->cuda, events[i], false, error);
    return status;
}

/* Launches the ends in a queue of their own, and then the rest. The rest is launched after `ready`,
 * with which the ends begin: they shall find free multiprocessors. Later work of the default queue
 * waits for all. */
static tz_status launch_ends_first(const launch *l, const tz_slab_span *span, tz_error *error)
{
    tz_cuda_state *state = l->state;
    const int64_t low = span->low + span->ends[0], high = span->high - span->ends[1];
    tz_status status = need_first(state, error);
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->begun, NULL, error);
    if (!status)
        status = tz_cuda_queue_wait_event(state->cuda, state->first, state->begun, error);
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->ready, state->first, error);
    if (!status && span->ends[0] > 0)
        status = launch_span(l, state->first, span->low, low, error);
    if (!status && span->ends[1] > 0)
        status = launch_span(l, state->first, high, span->high, error);
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->offered, state->first, error);
    if (!status)
        status = tz_cuda_queue_wait_event(state->cuda, NULL, state->ready, error);
    if (!status)
        status = launch_span(l, NULL, low, high, error);
    if (!status)
        status = tz_cuda_queue_wait_event(state->cuda, NULL, state->offered, error);
    if (!status)
        memcpy(state->early, span->ends, sizeof state->early);
    return status;
}

/* Points after a launch of one pass. */
static tz_status apply_points(const launch *l, tz_error *error)
{
    tz_cuda_state *state = l->state;
    tz_cu_pointer out[TZ_FIELDS_MAX] = {0};
    for (int f = 0; f < state->context.problem->stencil->fields_count; f++)
        out[f] = state->copy[f][1 - state->current[f]];
    return tz_cuda_points_apply(&state->points, state->cuda, l->turn.pass > 0 ? l->turn.pass : 0,
                                l->step + l->turn.first, out, error);
}

/* `span`: NULL for all of the grid. */
static tz_status one_stage(tz_cuda_state *state, const tz_plan *plan, int height, int64_t step,
                           const tz_slab_span *span, tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const tz_stencil *stencil = problem->stencil;
    const tz_cuda_family *family;
    tz_plan exact = *plan;
    launch l = {.state = state, .step = step};
    tz_cuda_state_touch(state);
    tz_status status = tz_cuda_family_find(plan->family, problem, &family, error);
    if (!status && family->exact)
        exact.height = height;
    if (!status)
        status = find_kernel(state, &exact, &l.use, error);
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            status = tz_cuda_slabs_take(state->slabs[f], state->context.streamed[f], step, height,
                                        &l.streamed[f], error);
    const char *refusal = !status && problem->points ? tz_cuda_refusal(family, problem) : NULL;
    if (refusal)
        status =
            tz_error_set(error, TZ_UNSUPPORTED, "family", "'%s' %s", problem->stencil->id, refusal);
    if (!status)
        status = tz_cuda_points_begin(&state->points, state->cuda, problem, step, height, error);
    const int turns = status ? 0 : tz_cuda_turns(family, problem, height);
    for (int i = 0; !status && i < turns; i++) {
        l.turn = tz_cuda_turn_of(family, problem, height, i);
        if (!span)
            status = launch_shape(&l, NULL, &l.use->shape, error);
        else if (span->ends[0] + span->ends[1] > 0 && !state->context.sync && !problem->points)
            status = launch_ends_first(&l, span, error);
        else
            status = launch_span(&l, NULL, span->low, span->high, error);
        if (!status && family->apart)
            status = apply_points(&l, error);
        if (!status && l.turn.ends)
            tz_cuda_state_swap(state, family);
        if (!status && l.turn.ends && state->pairs)
            state->phase ^= TZ_CUDA_EXCHANGED;
    }
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            status = tz_cuda_slabs_used(state->slabs[f], error);
    tz_cuda_points_launched(&state->points, step, height);
    return status ? status : hold_back(state, turns, error);
}

/* Cells were stored, so kernels have to find anew which ones lie outside of a domain and are the
 * same in both copies. */
static tz_status forget_notes(tz_cuda_state *state, tz_error *error)
{
    const bool noted = state->unnoted && tz_stencil_domain(state->context.problem->stencil) >= 0;
    tz_status status = TZ_OK;
    for (int k = 0; noted && k < state->kernels_count && !status; k++)
        if (state->kernels[k].shape.scratch_bytes > 0)
            status = tz_cuda_clear(state->cuda, state->kernels[k].scratch,
                                   (size_t)state->kernels[k].shape.scratch_bytes, error);
    state->unnoted &= status != TZ_OK;
    return status;
}

/* TZ_CUDA_REPLAY_STAGES stages of the plan's height. The number is even, so the results end in the
 * copy that they started from. */
static tz_status many_stages(tz_cuda_state *state, const tz_cuda_family *family,
                             const tz_plan *plan, tz_error *error)
{
    tz_cuda_compiled *use = NULL;
    const tz_cuda_turn turn = tz_cuda_turn_of(family, state->context.problem, plan->height, 0);
    arguments passed[2];
    tz_status status = find_kernel(state, plan, &use, error);
    for (int i = 0; !status && i < 2; i++)
        status = fill_arguments(state, use, &use->shape, &turn, 0, i > 0, NULL, &passed[i], error);
    if (status)
        return status;
    void *const both[2] = {passed[0].bytes, passed[1].bytes};
    int written = 0; /* any written field: all of them swap copies together */
    while (written < TZ_FIELDS_MAX - 1 &&
           !(tz_problem_written(state->context.problem) >> written & 1))
        written++;
    status = replay_launch(&use->replays[state->current[written]], state->cuda, state->scratch,
                           &use->kernel, &use->shape, both,
                           tz_cuda_arguments_size(state->context.problem), error);
    return status ? status : hold_back(state, TZ_CUDA_REPLAY_STAGES, error);
}

/* Pairs of fields lie in their own arrays again. */
static tz_status settle(tz_cuda_state *state, const tz_plan *plan, tz_error *error)
{
    launch l = {.state = state, .turn = {.height = 1, .pass = -1}};
    tz_status status = find_kernel(state, plan, &l.use, error);
    if (status)
        return status;
    tz_cuda_shape shape = l.use->shape;
    l.use->family->settle(state->context.problem, &shape);
    state->phase = TZ_CUDA_SETTLES;
    status = launch_shape(&l, NULL, &shape, error);
    state->phase = TZ_CUDA_IN_ORDER;
    return status;
}

static tz_status gpu_stage(void *any, const tz_plan *plan, int height, int64_t step,
                           tz_error *error)
{
    tz_cuda_state *state = any;
    const tz_cuda_family *family;
    tz_status status = tz_cuda_family_find(plan->family, state->context.problem, &family, error);
    if (!status)
        status = forget_notes(state, error);
    /* The launches of a graph use two sets of arrays in turns. */
    const bool hands = !status && tz_cuda_state_note_handed(state, family);
    const bool replays = !status && state->replays && !state->context.problem->points &&
                         !family->spans && !hands &&
                         tz_cuda_turns(family, state->context.problem, plan->height) == 1;
    for (int done = 0; !status && done < height;) {
        int more = height - done;
        if (replays && more >= TZ_CUDA_REPLAY_STAGES * plan->height) {
            more = TZ_CUDA_REPLAY_STAGES * plan->height;
            status = many_stages(state, family, plan, error);
        } else {
            if (!family->spans && more > plan->height)
                more = plan->height;
            status = one_stage(state, plan, more, step + done, NULL, error);
        }
        done += more;
    }
    if (!status && state->phase != TZ_CUDA_IN_ORDER)
        status = settle(state, plan, error);
    if (!status)
        state->norm_known = !state->context.problem->one_copy;
    return status;
}

tz_status tz_cuda_state_stage(void *any, const tz_plan *plan, int height, int64_t step,
                              const tz_slab_span *span, tz_error *error)
{
    tz_cuda_state *state = any;
    const tz_cuda_family *family;
    tz_status status = tz_cuda_family_find(plan->family, state->context.problem, &family, error);
    if (!status &&
        (!tz_cuda_in_spans(family, state->context.problem, height) || height > plan->height))
        return gpu_stage(any, plan, height, step, error);
    if (!status)
        tz_cuda_state_note_handed(state, family);
    if (!status)
        status = one_stage(state, plan, height, step, span, error);
    if (!status)
        state->norm_known = true;
    return status;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static tz_status gpu_freeze(void *any, uint32_t fields, bool wait, void **out, tz_error *error)
{
    tz_cuda_state *state = any;
    tz_cuda_snapshot *frozen = NULL;
    tz_cu_pointer now[TZ_FIELDS_MAX];
    *out = NULL;
    if (state->context.sync)
        return TZ_UNSUPPORTED;
    tz_status status = TZ_OK;
    if (!state->snapshots)
        status =
            tz_cuda_snapshots_create(&state->snapshots, state->cuda, state->context.problem, error);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        now[f] = state->copy[f][state->current[f]];
    if (!status)
        status = tz_cuda_snapshot_take(state->snapshots, fields, now, wait, &frozen, error);
    *out = frozen;
    return status;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

enum { COPY_BYTES = 1 << 30, COPIES = 7 };

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Bytes read and written a second: the median of seven copies of 1 GiB within the device's memory.
 * Allocates 2 GiB meanwhile. */
static tz_status copy_rate(tz_cuda *cuda, double *bytes_per_s, tz_error *error)
{
    tz_cu_pointer from = 0, to = 0;
    tz_cuda_event *begin = NULL, *end = NULL;
    double seconds[COPIES] = {0};
    tz_status status = tz_cuda_allocate(cuda, &from, COPY_BYTES, error);
    if (!status)
        status = tz_cuda_allocate(cuda, &to, COPY_BYTES, error);
    if (!status)
        status = tz_cuda_queue_fill_words(cuda, NULL, from, 0x3f9d70a4u, COPY_BYTES / 4, error);
    if (!status)
        status = tz_cuda_event_create(cuda, &begin, true, error);
    if (!status)
        status = tz_cuda_event_create(cuda, &end, true, error);
    for (int i = -1; !status && i < COPIES; i++) {
        status = tz_cuda_event_record(cuda, begin, NULL, error);
        if (!status)
            status = tz_cuda_queue_copy(cuda, NULL, to, from, COPY_BYTES, error);
        if (!status)
            status = tz_cuda_event_record(cuda, end, NULL, error);
        if (!status)
            status = tz_cuda_event_wait(cuda, end, error);
        if (!status && i >= 0)
            status = tz_cuda_event_elapsed_s(cuda, begin, end, &seconds[i], error);
    }
    qsort(seconds, COPIES, sizeof *seconds, compare_doubles);
    if (!status)
        *bytes_per_s = 2.0 * COPY_BYTES / seconds[COPIES / 2];
    tz_cuda_event_destroy(cuda, begin);
    tz_cuda_event_destroy(cuda, end);
    tz_cuda_free(cuda, from);
    tz_cuda_free(cuda, to);
    return status;
}

static tz_status gpu_facts(void *any, const tz_plan *plan, tz_kernel_facts *out, tz_error *error)
{
    tz_cuda_state *state = any;
    tz_cuda_compiled *use;
    tz_status status = find_kernel(state, plan, &use, error);
    if (status)
        return status;
    const tz_cuda_device *device = tz_cuda_device_of(state->cuda);
    *out = (tz_kernel_facts){
        .registers = use->kernel.registers,
        .local_bytes = use->kernel.local_bytes,
        .warps = use->blocks * use->shape.threads / 32,
        .warps_max = device->multiprocessor_threads / 32,
    };
    snprintf(out->device, sizeof out->device, "%s", device->name);
    return copy_rate(state->cuda, &out->copy_bytes_per_s, error);
}

static tz_status gpu_recorded(void *any, tz_error *error)
{
    tz_cuda_state *state = any;
    return tz_cuda_points_take(&state->points, state->cuda, error);
}

static double gpu_set_up_s(const void *any)
{
    return ((const tz_cuda_state *)any)->set_up_s;
}

static tz_status need_energy(const tz_cuda_state *state, tz_error *error)
{
    if (state->energy)
        return TZ_OK;
    if (error)
        *error = state->no_energy;
    return state->no_energy.code;
}

static tz_status gpu_energy(void *any, double *joules, tz_error *error)
{
    tz_cuda_state *state = any;
    *joules = NAN;
    const tz_status status = need_energy(state, error);
    return status ? status : tz_cuda_energy_read(state->energy, joules, error);
}

static tz_status gpu_clock(void *any, tz_clock_facts *out, tz_error *error)
{
    tz_cuda_state *state = any;
    *out = (tz_clock_facts){0};
    const tz_status status = need_energy(state, error);
    return status ? status : tz_cuda_energy_clock(state->energy, out, error);
}

const tz_backend tz_backend_cuda = {
    .name = "cuda",
    .doc = "one NVIDIA GPU",
    .is_gpu = true,
    .identify = gpu_identify,
    .available = tz_cuda_available,
    .installed = tz_cuda_installed,
    .prepare = gpu_prepare,
    .family = tz_cuda_family_name,
    .base_family = TZ_CUDA_BASE,
    .plan = gpu_plan,
    .bytes = gpu_bytes,
    .create = gpu_create,
    .destroy = gpu_destroy,
    .store = gpu_store,
    .load = gpu_load,
    .memory = gpu_memory,
    .fill = gpu_fill,
    .stage = gpu_stage,
    .points = true,
    .recorded = gpu_recorded,
    .set_up_s = gpu_set_up_s,
    .jump = tz_cuda_state_jump,
    .jump_library = tz_cuda_fft_describe,
    .wait = gpu_wait,
    .facts = gpu_facts,
    .energy = gpu_energy,
    .clock = gpu_clock,
    .reduce = tz_cuda_state_reduce,
    .all_finite = tz_cuda_state_all_finite,
    .update_norm = tz_cuda_state_update_norm,
    .update = tz_cuda_state_update,
    .refine = tz_cuda_state_refine,
    .slab = &tz_cuda_slab_functions,
    .shrink = tz_cuda_state_shrink,
    .freeze = gpu_freeze,
    .frozen = &tz_backend_cuda_frozen,
    .candidates = tz_cuda_candidates,
    .shorten = tz_cuda_shorten,
    .work = tz_cuda_work,
};
