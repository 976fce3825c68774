/* cuda: one NVIDIA GPU, the tile family (kernels/cuda/tile.cuh). Fields live in device memory,
 * dense, two copies of each state field; kernels are compiled for their plan at run time. */
#include "base/machine.h"
#include "cuda/source.h"
#include "sim/backend.h"
#include "sim/host_store.h"
#include "sim/reduce.h"
#include "sim/stream_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNELS_MAX = 4,             /* plans in use at once: the height, a remainder, one more */
    SHARED_BYTES_MAX = 200 << 10 /* of a block, on any GPU from Ampere's A100 on less is given */
};

typedef struct compiled {
    tz_plan plan;
    tz_cuda_kernel kernel;
    int64_t used; /* stage that used it last */
} compiled;

typedef struct gpu {
    tz_backend_context context;
    tz_cuda *cuda;
    tz_cu_pointer copy[TZ_FIELDS_MAX][2]; /* static fields have the first alone */
    int current[TZ_FIELDS_MAX];
    tz_cu_pointer slabs[TZ_FIELDS_MAX]; /* streamed rows of a stage */
    int64_t slabs_room[TZ_FIELDS_MAX];  /* rows */
    compiled kernels[KERNELS_MAX];
    int kernels_count;
    int64_t stages;
    bool norm_known;
} gpu;

static int64_t field_bytes(const tz_problem *problem, int f)
{
    return tz_problem_elements(problem) * (int64_t)tz_problem_element_size(problem, f);
}

/* ---- Plans ------------------------------------------------------------------------------------
 */

static tz_status gpu_plan(const tz_problem *problem, int threads, tz_plan *plan, tz_error *error)
{
    (void)threads;
    static const int64_t tiles[][TZ_AXES] = {{0}, {2048, 1, 1}, {64, 32, 1}, {32, 8, 8}};
    static const int heights[] = {0, 20, 4, 2};
    const tz_stencil *stencil = problem->stencil;
    const bool chosen = plan->height == 0;
    const tz_plan given = *plan;
    const int r = tz_stencil_reach(problem->stencil) > 0 ? tz_stencil_reach(problem->stencil) : 1;
    for (int f = 0; problem->bits && f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATIC)
            return tz_error_set(error, TZ_UNSUPPORTED, "backend",
                                "the cuda backend has no static bit fields yet, and '%s' has '%s': "
                                "use --backend cpu",
                                stencil->id, stencil->fields[f].name);
    if (plan->height < 0 || plan->height > 512)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; 1 to 512",
                            plan->height);
    if (chosen)
        plan->height = heights[problem->dims] / r > 0 ? heights[problem->dims] / r : 1;
    for (int d = 0; d < TZ_AXES; d++) {
        if (plan->tile[d] < 0)
            return tz_error_set(error, TZ_RANGE, "tile", "extent %d is %" PRId64 "; use 1 or more",
                                d + 1, plan->tile[d]);
        if (d >= problem->dims)
            plan->tile[d] = 1;
        else if (plan->tile[d] == 0)
            plan->tile[d] = tiles[problem->dims][d];
        if (plan->tile[d] > problem->elements[d])
            plan->tile[d] = problem->elements[d];
    }
    /* A high trapezoid leaves room for a smaller tile only. */
    while (tz_cuda_tile_shared_bytes(problem, plan) > SHARED_BYTES_MAX) {
        int widest = -1;
        for (int d = 0; d < problem->dims; d++)
            if (given.tile[d] == 0 && plan->tile[d] > 4 &&
                (widest < 0 || plan->tile[d] > plan->tile[widest]))
                widest = d;
        if (widest < 0)
            break;
        plan->tile[widest] = (plan->tile[widest] + 1) / 2;
    }
    const int wanted = plan->height;
    while (plan->height > 1 && tz_cuda_tile_shared_bytes(problem, plan) > SHARED_BYTES_MAX)
        plan->height--;
    if (tz_cuda_tile_shared_bytes(problem, plan) > SHARED_BYTES_MAX)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "a tile of %" PRId64 " x %" PRId64 " x %" PRId64
                            " with its ghost zone does not fit a block's shared memory: use a "
                            "smaller one",
                            plan->tile[0], plan->tile[1], plan->tile[2]);
    if (plan->height < wanted && !chosen)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d with this tile needs more shared memory than a block has: "
                            "use a height up to %d, or a smaller tile",
                            wanted, plan->height);
    strcpy(plan->family, "tile");
    snprintf(plan->why, sizeof plan->why, "%s height", chosen ? "default" : "given");
    return TZ_OK;
}

/* Host memory: the check before a run is of that. The device says itself when it is full. */
static int64_t gpu_bytes(const tz_problem *problem, int threads, const tz_plan *plan)
{
    (void)threads;
    (void)plan;
    int64_t largest = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role != TZ_STREAMED && field_bytes(problem, f) > largest)
            largest = field_bytes(problem, f);
    return 2 * largest; /* reductions look at a copy here */
}

/* ---- Life -------------------------------------------------------------------------------------
 */

static void gpu_destroy(void *any)
{
    gpu *state = any;
    if (!state)
        return;
    for (int f = 0; state->cuda && f < TZ_FIELDS_MAX; f++) {
        tz_cuda_free(state->cuda, state->copy[f][0]);
        tz_cuda_free(state->cuda, state->copy[f][1]);
        tz_cuda_free(state->cuda, state->slabs[f]);
    }
    for (int k = 0; k < state->kernels_count; k++)
        tz_cuda_unload(state->cuda, &state->kernels[k].kernel);
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
    for (int f = 0; !status && f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
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
    const size_t row = (size_t)problem->elements[0] * size;
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

static tz_status find_kernel(gpu *state, const tz_plan *plan, const tz_cuda_kernel **out,
                             tz_error *error)
{
    compiled *slot = NULL;
    for (int k = 0; k < state->kernels_count; k++)
        if (state->kernels[k].plan.height == plan->height &&
            memcmp(state->kernels[k].plan.tile, plan->tile, sizeof plan->tile) == 0)
            slot = &state->kernels[k];
    if (!slot) {
        tz_cuda_header header;
        char *source = NULL;
        tz_status status = tz_cuda_source(state->context.problem, plan, &source, &header, error);
        tz_cuda_kernel kernel;
        if (!status)
            status = tz_cuda_load(state->cuda, &kernel, source, "tz_tile", &header, 1, error);
        free(source);
        if (status)
            return status;
        slot = &state->kernels[0];
        if (state->kernels_count < KERNELS_MAX)
            slot = &state->kernels[state->kernels_count++];
        else {
            for (int k = 1; k < KERNELS_MAX; k++)
                if (state->kernels[k].used < slot->used)
                    slot = &state->kernels[k];
            tz_cuda_unload(state->cuda, &slot->kernel);
        }
        slot->plan = *plan;
        slot->kernel = kernel;
    }
    slot->used = state->stages++;
    *out = &slot->kernel;
    return TZ_OK;
}

/* The rows that a stage consumes, one after the other in device memory. */
static tz_status upload_slabs(gpu *state, int f, int height, int64_t step, tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const int64_t nx = problem->elements[0];
    if (state->slabs_room[f] < height) {
        tz_cuda_free(state->cuda, state->slabs[f]);
        state->slabs[f] = 0;
        state->slabs_room[f] = 0;
        tz_status status = tz_cuda_allocate(state->cuda, &state->slabs[f],
                                            (size_t)(nx * height) * sizeof(int32_t), error);
        if (status)
            return status;
        state->slabs_room[f] = height;
    }
    int32_t *scratch = malloc((size_t)nx * sizeof *scratch);
    if (!scratch)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row");
    tz_status status = TZ_OK;
    for (int t = 0; !status && t < height; t++) {
        const void *row = tz_stream_source_row(state->context.streams[f], step + t, 0, nx, scratch);
        status = tz_cuda_upload(state->cuda, state->slabs[f] + (tz_cu_pointer)(t * nx * 4), row,
                                (size_t)nx * sizeof *scratch, error);
    }
    free(scratch);
    return status;
}

static tz_status gpu_stage(void *any, const tz_plan *plan, int height, int64_t step,
                           tz_error *error)
{
    gpu *state = any;
    const tz_problem *problem = state->context.problem;
    const tz_stencil *stencil = problem->stencil;
    const tz_cuda_kernel *kernel;
    tz_cu_pointer in[TZ_FIELDS_MAX] = {0}, out[TZ_FIELDS_MAX] = {0};
    tz_status status = find_kernel(state, plan, &kernel, error);
    for (int f = 0; !status && f < stencil->fields_count; f++) {
        if (stencil->fields[f].role == TZ_STREAMED) {
            status = upload_slabs(state, f, height, step, error);
            in[f] = state->slabs[f];
        } else {
            in[f] = state->copy[f][state->current[f]];
            out[f] = state->copy[f][1 - state->current[f]];
        }
    }
    if (status)
        return status;
    union {
        uint64_t align;
        char bytes[TZ_FIELDS_MAX * 24 + TZ_CUDA_KERNEL_CONSTANTS * 8 + 64];
    } arguments;
    tz_cuda_arguments_fill(problem, height, step, in, out, arguments.bytes);
    void *pointers[] = {arguments.bytes};
    const int block[3] = {TZ_CUDA_THREADS, 1, 1};
    int grid[3];
    for (int d = 0; d < TZ_AXES; d++)
        grid[d] = (int)((problem->elements[d] + plan->tile[d] - 1) / plan->tile[d]);
    if (grid[1] > 65535 || grid[2] > 65535)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "too many tiles along y or z for a GPU: use "
                            "larger ones");
    status = tz_cuda_launch(state->cuda, NULL, kernel, grid, block,
                            (int)tz_cuda_tile_shared_bytes(problem, plan), false, pointers, error);
    if (!status)
        status = tz_cuda_wait(state->cuda, error);
    if (status)
        return status;
    const uint32_t written = tz_problem_written(problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (written >> f & 1)
            state->current[f] = 1 - state->current[f];
    state->norm_known = height == 1;
    return TZ_OK;
}

/* ---- Numbers: of a copy in host memory --------------------------------------------------------
 */

static tz_status fetch(const gpu *state, int field, int copy, tz_host_field *host, tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const size_t bytes = (size_t)field_bytes(problem, field);
    *host = (tz_host_field){.origin = malloc(bytes),
                            .row_stride = problem->elements[0],
                            .plane_stride = problem->elements[0] * problem->elements[1]};
    if (!host->origin)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a copy of '%s'",
                            problem->stencil->fields[field].name);
    return tz_cuda_download(state->cuda, host->origin, state->copy[field][copy], bytes, error);
}

static int host_threads(void)
{
    tz_machine machine;
    tz_machine_read(&machine);
    return machine.cores;
}

static tz_status gpu_reduce(const void *any, int field, tz_reduction *out, tz_error *error)
{
    const gpu *state = any;
    tz_host_field host;
    tz_status status = fetch(state, field, state->current[field], &host, error);
    if (!status)
        status = tz_reduce_host(state->context.problem, field, &host, host_threads(), out, error);
    free(host.origin);
    return status;
}

static bool gpu_all_finite(const void *any)
{
    const gpu *state = any;
    const tz_problem *problem = state->context.problem;
    bool finite = true;
    for (int f = 0; finite && f < problem->stencil->fields_count; f++) {
        tz_host_field host;
        if (problem->stencil->fields[f].role != TZ_STATE ||
            problem->stencil->fields[f].type != TZ_REAL)
            continue;
        if (fetch(state, f, state->current[f], &host, NULL) == TZ_OK)
            finite = tz_reduce_all_finite(problem, f, &host, host_threads());
        free(host.origin);
    }
    return finite;
}

static double gpu_update_norm(const void *any)
{
    const gpu *state = any;
    const tz_problem *problem = state->context.problem;
    double largest = 0.0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        tz_host_field a, b;
        if (!(tz_problem_written(problem) >> f & 1))
            continue;
        const tz_status first = fetch(state, f, 0, &a, NULL), second = fetch(state, f, 1, &b, NULL);
        const double d =
            first || second ? NAN : tz_reduce_difference(problem, f, &a, &b, host_threads());
        free(a.origin);
        free(b.origin);
        largest = d <= largest ? largest : d;
    }
    return state->norm_known ? largest : NAN;
}

const tz_backend tz_backend_cuda = {
    .name = "cuda",
    .doc = "one NVIDIA GPU, tiles with ghost zones in shared memory",
    .available = tz_cuda_available,
    .plan = gpu_plan,
    .bytes = gpu_bytes,
    .create = gpu_create,
    .destroy = gpu_destroy,
    .store = gpu_store,
    .load = gpu_load,
    .fill = gpu_fill,
    .stage = gpu_stage,
    .reduce = gpu_reduce,
    .all_finite = gpu_all_finite,
    .update_norm = gpu_update_norm,
};
