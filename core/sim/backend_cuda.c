/* cuda: one NVIDIA GPU (core/cuda, kernels/cuda). Fields live in device memory, rows padded to
 * a multiple of 32 elements, two copies of each state field; kernels are compiled for their plan at
 * run time. */
#include "cuda/energy.h"
#include "cuda/family.h"
#include "cuda/reduce.h"
#include "cuda/slabs.h"
#include "cuda/stream.h"
#include "cuda/work.h"
#include "sim/backend.h"
#include "sim/host_store.h"
#include "sim/stream_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IN_FLIGHT_MAX = 16,   /* stages launched and not known to be done, half of them */
    COPY_BYTES = 1 << 30, /* of a copy that measures the bandwidth */
    COPIES = 7,
    KERNELS_MAX = 8 /* in use at once: plans and their remainders */
};

typedef struct compiled {
    tz_plan plan;
    const tz_cuda_family *family;
    tz_slot constants[TZ_CONSTANTS_MAX]; /* whole ones are part of the text */
    tz_cuda_kernel kernel;
    tz_cuda_shape shape;
    int blocks;            /* that a multiprocessor takes at once */
    tz_cu_pointer scratch; /* of shape.scratch_bytes */
    int64_t used;          /* stage that used it last */
} compiled;

typedef struct gpu {
    tz_backend_context context;
    tz_cuda *cuda;
    tz_cu_pointer copy[TZ_FIELDS_MAX][2]; /* static fields have the first alone */
    int current[TZ_FIELDS_MAX];
    tz_cuda_slabs *slabs[TZ_FIELDS_MAX]; /* of streamed fields */
    tz_cuda_energy *energy;              /* NULL: not counted */
    tz_cuda_event *mark;                 /* the stages before it are done, or as good as */
    int unmarked;                        /* stages launched since */
    compiled kernels[KERNELS_MAX];
    int kernels_count;
    int64_t stages;
    tz_cuda_reducer *reducer;
    bool norm_known;
} gpu;

static int64_t field_bytes(const tz_problem *problem, int f)
{
    return tz_cuda_pitch(problem) * problem->elements[1] * problem->elements[2] *
           (int64_t)tz_problem_element_size(problem, f);
}

/* ---- Plans ------------------------------------------------------------------------------------
 */

static tz_status gpu_plan(const tz_problem *problem, int threads, tz_plan *plan, tz_error *error)
{
    (void)threads;
    return tz_cuda_plan(problem, plan, error);
}

/* Host memory: the check before a run is of that. The device says itself when it is full. */
static int64_t gpu_bytes(const tz_problem *problem, int threads, const tz_plan *plan)
{
    (void)threads;
    (void)plan;
    return problem->elements[0] * 8; /* a row at a time */
}

/* ---- Life -------------------------------------------------------------------------------------
 */

static void forget_kernel(gpu *state, compiled *slot)
{
    tz_cuda_free(state->cuda, slot->scratch);
    slot->scratch = 0;
    tz_cuda_unload(state->cuda, &slot->kernel);
}

static void gpu_destroy(void *any)
{
    gpu *state = any;
    if (!state)
        return;
    tz_cuda_reducer_destroy(state->reducer);
    tz_cuda_energy_close(state->energy);
    if (state->cuda)
        tz_cuda_event_destroy(state->cuda, state->mark);
    for (int f = 0; state->cuda && f < TZ_FIELDS_MAX; f++) {
        tz_cuda_free(state->cuda, state->copy[f][0]);
        tz_cuda_free(state->cuda, state->copy[f][1]);
        tz_cuda_slabs_destroy(state->slabs[f]);
    }
    for (int k = 0; k < state->kernels_count; k++)
        forget_kernel(state, &state->kernels[k]);
    tz_cuda_close(state->cuda);
    free(state);
}

static tz_status gpu_create(void **out, const tz_backend_context *context, tz_error *error)
{
    const tz_problem *problem = context->problem;
    gpu *state = calloc(1, sizeof *state);
    if (!state)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    state->context = *context;
    tz_status status = tz_cuda_open(&state->cuda, context->device, error);
    if (!status)
        status = tz_cuda_reducer_create(&state->reducer, state->cuda, problem, error);
    if (!status)
        status = tz_cuda_event_create(state->cuda, &state->mark, false, error);
    if (!status) /* a number beside the results: doctor says why it is not there */
        tz_cuda_energy_open(&state->energy, tz_cuda_device_of(state->cuda), NULL);
    for (int f = 0; !status && f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        if (role == TZ_STREAMED)
            status = tz_cuda_slabs_create(&state->slabs[f], state->cuda, problem->elements[0],
                                          tz_cuda_pitch(problem), error);
        for (int c = 0; !status && c < (role == TZ_STATE ? 2 : role == TZ_STATIC ? 1 : 0); c++) {
            const size_t bytes = (size_t)field_bytes(problem, f);
            status = tz_cuda_allocate(state->cuda, &state->copy[f][c], bytes, error);
            if (!status)
                status = tz_cuda_clear(state->cuda, state->copy[f][c], bytes, error);
        }
    }
    if (status) {
        gpu_destroy(state);
        return status;
    }
    *out = state;
    return TZ_OK;
}

/* ---- Cells ------------------------------------------------------------------------------------
 */

static tz_cuda_box device_box(const tz_problem *problem, int f, const tz_box *box)
{
    const size_t size = tz_problem_element_size(problem, f);
    const size_t row = (size_t)tz_cuda_pitch(problem) * size;
    const size_t plane = row * (size_t)problem->elements[1];
    return (tz_cuda_box){
        .row_bytes = (size_t)(box->high[0] - box->low[0]) * size,
        .rows = (size_t)(box->high[1] - box->low[1]),
        .planes = (size_t)(box->high[2] - box->low[2]),
        .device_offset =
            (size_t)box->low[0] * size + (size_t)box->low[1] * row + (size_t)box->low[2] * plane,
        .device_row_pitch = row,
        .device_plane_pitch = plane,
    };
}

static tz_status gpu_store(void *any, int field, const tz_box *box, const void *elements,
                           tz_error *error)
{
    gpu *state = any;
    const tz_cuda_box where = device_box(state->context.problem, field, box);
    state->norm_known = false;
    return tz_cuda_upload_box(state->cuda, state->copy[field][state->current[field]], &where,
                              elements, error);
}

static tz_status gpu_load(const void *any, int field, const tz_box *box, void *elements,
                          tz_error *error)
{
    const gpu *state = any;
    const tz_cuda_box where = device_box(state->context.problem, field, box);
    return tz_cuda_download_box(state->cuda, elements, state->copy[field][state->current[field]],
                                &where, error);
}

static tz_status gpu_fill(void *any, int field, const void *element, tz_error *error)
{
    gpu *state = any;
    const tz_problem *problem = state->context.problem;
    const size_t size = tz_problem_element_size(problem, field);
    const size_t count = (size_t)problem->elements[0];
    char *row = malloc(count * size);
    if (!row)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row");
    for (size_t i = 0; i < count; i++)
        memcpy(row + i * size, element, size);
    tz_status status = TZ_OK;
    for (int64_t z = 0; !status && z < problem->elements[2]; z++)
        for (int64_t y = 0; !status && y < problem->elements[1]; y++) {
            const tz_box box = {{0, y, z}, {problem->elements[0], y + 1, z + 1}};
            status = gpu_store(any, field, &box, row, error);
        }
    free(row);
    return status;
}

/* ---- Stages -----------------------------------------------------------------------------------
 */

static bool same_kernel(const tz_plan *a, const tz_plan *b)
{
    return a->height == b->height && memcmp(a->tile, b->tile, sizeof a->tile) == 0 &&
           strcmp(a->family, b->family) == 0 && a->vector == b->vector && a->ahead == b->ahead &&
           a->slack == b->slack && a->warps == b->warps && a->blocks == b->blocks;
}

static bool same_text(const tz_problem *problem, const tz_slot *constants)
{
    for (int k = 0; k < problem->stencil->constants_count; k++)
        if (problem->stencil->constants[k].type != TZ_REAL &&
            problem->constants[k].i != constants[k].i)
            return false;
    return true;
}

static tz_status find_kernel(gpu *state, const tz_plan *plan, compiled **out, tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    compiled *slot = NULL;
    for (int k = 0; k < state->kernels_count; k++)
        if (same_kernel(&state->kernels[k].plan, plan) &&
            same_text(problem, state->kernels[k].constants))
            slot = &state->kernels[k];
    if (!slot) {
        compiled fresh = {.plan = *plan};
        memcpy(fresh.constants, problem->constants, sizeof fresh.constants);
        char *source = NULL;
        tz_status status = tz_cuda_family_find(plan->family, problem, &fresh.family, error);
        if (!status)
            status = tz_cuda_source(problem, plan, &source, error);
        if (!status)
            status = tz_cuda_load(state->cuda, &fresh.kernel, source, TZ_CUDA_ENTRY,
                                  tz_cuda_headers, tz_cuda_headers_count, error);
        free(source);
        if (status)
            return status;
        tz_cuda_room room = {.processors = tz_cuda_device_of(state->cuda)->processors};
        status = tz_cuda_occupancy(state->cuda, &fresh.kernel, fresh.family->threads(problem, plan),
                                   fresh.family->shared_bytes(problem, plan),
                                   &room.blocks_per_processor, error);
        fresh.blocks = room.blocks_per_processor;
        if (!status)
            status = fresh.family->shape(problem, plan, &room, &fresh.shape, error);
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
        if (state->kernels_count < KERNELS_MAX)
            slot = &state->kernels[state->kernels_count++];
        else {
            for (int k = 1; k < KERNELS_MAX; k++)
                if (state->kernels[k].used < slot->used)
                    slot = &state->kernels[k];
            forget_kernel(state, slot);
        }
        *slot = fresh;
    }
    slot->used = state->stages++;
    *out = slot;
    return TZ_OK;
}

/* A GPU may be some stages behind, but not without end: an interrupt is to be felt. */
static tz_status hold_back(gpu *state, tz_error *error)
{
    if (state->context.sync)
        return tz_cuda_wait(state->cuda, error);
    if (++state->unmarked < IN_FLIGHT_MAX)
        return TZ_OK;
    state->unmarked = 0;
    tz_status status = tz_cuda_event_wait(state->cuda, state->mark, error);
    if (!status)
        status = tz_cuda_event_record(state->cuda, state->mark, NULL, error);
    return status;
}

static tz_status gpu_wait(void *any, tz_error *error)
{
    return tz_cuda_wait(((gpu *)any)->cuda, error);
}

static tz_status gpu_stage(void *any, const tz_plan *plan, int height, int64_t step,
                           tz_error *error)
{
    gpu *state = any;
    const tz_problem *problem = state->context.problem;
    const tz_stencil *stencil = problem->stencil;
    const tz_cuda_family *family;
    compiled *use = NULL;
    tz_plan exact = *plan;
    tz_cu_pointer in[TZ_FIELDS_MAX] = {0}, out[TZ_FIELDS_MAX] = {0};
    tz_status status = tz_cuda_family_find(plan->family, problem, &family, error);
    if (!status && family->exact)
        exact.height = height;
    if (!status)
        status = find_kernel(state, &exact, &use, error);
    for (int f = 0; !status && f < stencil->fields_count; f++) {
        if (stencil->fields[f].role == TZ_STREAMED) {
            status = tz_cuda_slabs_take(state->slabs[f], state->context.streams[f], step, height,
                                        &in[f], error);
        } else {
            in[f] = state->copy[f][state->current[f]];
            out[f] = state->copy[f][1 - state->current[f]];
        }
    }
    if (status)
        return status;
    union {
        uint64_t align;
        char bytes[TZ_CUDA_ARGUMENTS_MAX];
    } arguments;
    tz_cuda_arguments_fill(problem, &use->shape, height, step, in, out, use->scratch,
                           arguments.bytes);
    void *pointers[] = {arguments.bytes};
    const int block[3] = {use->shape.threads, 1, 1};
    status = tz_cuda_launch(state->cuda, NULL, &use->kernel, use->shape.grid, block,
                            use->shape.shared_bytes, use->shape.cooperative, pointers, error);
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            status = tz_cuda_slabs_used(state->slabs[f], error);
    if (!status)
        status = hold_back(state, error);
    if (status)
        return status;
    const uint32_t written = tz_problem_written(problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (written >> f & 1)
            state->current[f] = 1 - state->current[f];
    state->norm_known = height == 1;
    return TZ_OK;
}

/* ---- Numbers: made on the device --------------------------------------------------------------
 */

static tz_cuda_array array_of(const gpu *state, int field, int copy)
{
    const int64_t pitch = tz_cuda_pitch(state->context.problem);
    return (tz_cuda_array){state->copy[field][copy], pitch,
                           pitch * state->context.problem->elements[1]};
}

static tz_status gpu_reduce(const void *any, int field, tz_reduction *out, tz_error *error)
{
    const gpu *state = any;
    const tz_cuda_array array = array_of(state, field, state->current[field]);
    return tz_cuda_reduce(state->reducer, field, &array, out, error);
}

static bool gpu_all_finite(const void *any)
{
    const gpu *state = any;
    const tz_problem *problem = state->context.problem;
    bool finite = true;
    for (int f = 0; finite && f < problem->stencil->fields_count; f++) {
        if (problem->stencil->fields[f].role != TZ_STATE ||
            problem->stencil->fields[f].type != TZ_REAL)
            continue;
        const tz_cuda_array array = array_of(state, f, state->current[f]);
        if (tz_cuda_all_finite(state->reducer, f, &array, &finite, NULL) != TZ_OK)
            finite = false;
    }
    return finite;
}

static double gpu_update_norm(const void *any)
{
    const gpu *state = any;
    const tz_problem *problem = state->context.problem;
    double largest = 0.0;
    for (int f = 0; state->norm_known && f < problem->stencil->fields_count; f++) {
        if (!(tz_problem_written(problem) >> f & 1))
            continue;
        const tz_cuda_array a = array_of(state, f, 0), b = array_of(state, f, 1);
        double d = NAN;
        if (tz_cuda_difference(state->reducer, f, &a, &b, &d, NULL) != TZ_OK)
            d = NAN;
        largest = d <= largest ? largest : d;
    }
    return state->norm_known ? largest : NAN;
}

static tz_status gpu_shrink(const void *any, int field, int64_t z, int nx, int ny, double *values,
                            tz_error *error)
{
    const gpu *state = any;
    const tz_cuda_array array = array_of(state, field, state->current[field]);
    return tz_cuda_shrink(state->reducer, field, &array, z, nx, ny, values, error);
}

/* ---- What a measurement wants to know --------------------------------------------------------
 */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some copies between two pieces of device memory, after one more. */
static tz_status measure_copy(gpu *state, double *bytes_per_s, tz_error *error)
{
    tz_cu_pointer from = 0, to = 0;
    tz_cuda_event *begin = NULL, *end = NULL;
    double seconds[COPIES] = {0};
    tz_status status = tz_cuda_allocate(state->cuda, &from, COPY_BYTES, error);
    if (!status)
        status = tz_cuda_allocate(state->cuda, &to, COPY_BYTES, error);
    if (!status)
        status =
            tz_cuda_stream_fill_words(state->cuda, NULL, from, 0x3f9d70a4u, COPY_BYTES / 4, error);
    if (!status)
        status = tz_cuda_event_create(state->cuda, &begin, true, error);
    if (!status)
        status = tz_cuda_event_create(state->cuda, &end, true, error);
    for (int i = -1; !status && i < COPIES; i++) {
        status = tz_cuda_event_record(state->cuda, begin, NULL, error);
        if (!status)
            status = tz_cuda_stream_copy(state->cuda, NULL, to, from, COPY_BYTES, error);
        if (!status)
            status = tz_cuda_event_record(state->cuda, end, NULL, error);
        if (!status)
            status = tz_cuda_event_wait(state->cuda, end, error);
        if (!status && i >= 0)
            status = tz_cuda_event_elapsed_s(state->cuda, begin, end, &seconds[i], error);
    }
    qsort(seconds, COPIES, sizeof *seconds, compare_doubles);
    if (!status)
        *bytes_per_s = 2.0 * COPY_BYTES / seconds[COPIES / 2];
    tz_cuda_event_destroy(state->cuda, begin);
    tz_cuda_event_destroy(state->cuda, end);
    tz_cuda_free(state->cuda, from);
    tz_cuda_free(state->cuda, to);
    return status;
}

static tz_status gpu_facts(void *any, const tz_plan *plan, tz_kernel_facts *out, tz_error *error)
{
    gpu *state = any;
    compiled *use;
    tz_status status = find_kernel(state, plan, &use, error);
    if (status)
        return status;
    const tz_cuda_device *device = tz_cuda_device_of(state->cuda);
    *out = (tz_kernel_facts){
        .registers = use->kernel.registers,
        .local_bytes = use->kernel.local_bytes,
        .warps = use->blocks * use->shape.threads / 32,
        .warps_max = device->processor_threads / 32,
    };
    snprintf(out->device, sizeof out->device, "%s", device->name);
    return measure_copy(state, &out->copy_bytes_per_s, error);
}

static double gpu_energy(void *any)
{
    gpu *state = any;
    double joules;
    if (!state->energy || tz_cuda_energy_read(state->energy, &joules, NULL) != TZ_OK)
        return NAN;
    return joules;
}

const tz_backend tz_backend_cuda = {
    .name = "cuda",
    .doc = "one NVIDIA GPU",
    .available = tz_cuda_available,
    .plan = gpu_plan,
    .bytes = gpu_bytes,
    .create = gpu_create,
    .destroy = gpu_destroy,
    .store = gpu_store,
    .load = gpu_load,
    .fill = gpu_fill,
    .stage = gpu_stage,
    .wait = gpu_wait,
    .facts = gpu_facts,
    .energy = gpu_energy,
    .reduce = gpu_reduce,
    .all_finite = gpu_all_finite,
    .update_norm = gpu_update_norm,
    .shrink = gpu_shrink,
    .candidates = tz_cuda_candidates,
    .work = tz_cuda_work,
};
