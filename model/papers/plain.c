/* Plain kernels: the text, its PTX followed, and its time. luo2011_predict.c calls it. */
#include "model/papers/plain.h"

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/state.h"
#include "base/embed.h"
#include <stdio.h>
#include <stdlib.h>

TZ_EMBED(tz_papers_text_plain, "plain.cuh");
TZ_EMBED(tz_papers_text_plain_kernel, "plain_kernel.cuh");

static int largest_radius(const tz_problem *problem)
{
    int radius = problem->radius;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        if (problem->stencil->passes[p].radius > radius)
            radius = problem->stencil->passes[p].radius;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].radius > radius)
            radius = problem->stencil->fields[f].radius;
    return radius;
}

tz_status tz_cuda_plain_source(const tz_problem *problem, const int block[TZ_AXES], char **source,
                               tz_error *error)
{
    tz_cuda_text text = {0};
    const int64_t tile[TZ_AXES] = {block[0], block[1], block[2]};
    const double elements = (double)tz_cuda_pitch(problem) * (double)problem->elements[1] *
                            (double)problem->elements[2];
    tz_cuda_emit_sizes(&text, problem, 1, tile);
    tz_cuda_emit_lists(&text, problem);
    tz_cuda_emit(&text,
                 "#define TZ_PLAIN_RADIUS %d\n#define TZ_PLAIN_INDEX %s\n"
                 "#line 1 \"plain.cuh\"\n%s",
                 largest_radius(problem), elements < 2147483648.0 ? "int" : "long long",
                 tz_papers_text_plain);
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        tz_cuda_emit(&text, "/* of the kernel tz_plain_%d */\n", p);
        tz_cuda_emit_pass(&text, problem, p);
    }
    tz_cuda_emit(&text, "#line 1 \"plain_kernel.cuh\"\n%s", tz_papers_text_plain_kernel);
    *source = text.text;
    if (!text.failed)
        return TZ_OK;
    free(text.text);
    *source = NULL;
    return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel's text");
}

/* The arguments of a launch; fields lie 2^40 bytes apart, as those of a device do at multiples of
 * 256. */
static tz_status fill_arguments(const tz_problem *problem, void *arguments, tz_error *error)
{
    tz_cu_pointer in[TZ_FIELDS_MAX], out[TZ_FIELDS_MAX];
    const tz_cuda_shape shape = {0};
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        in[f] = (tz_cu_pointer)(2 * f + 1) << 40;
        out[f] = (tz_cu_pointer)(2 * f + 2) << 40;
    }
    return tz_cuda_arguments_fill(problem, &shape, 1, 0, in, out, (tz_cu_pointer)1 << 60, arguments,
                                  error);
}

/* The warp that has the middle of the grid. */
static void aim(const tz_problem *problem, const int block[TZ_AXES], tz_ptx_launch *launch)
{
    unsigned thread[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int64_t extent = problem->elements[axis], middle = extent / 2;
        launch->block[axis] = (unsigned)block[axis];
        launch->grid[axis] = (unsigned)((extent + block[axis] - 1) / block[axis]);
        launch->at[axis] = (unsigned)(middle / block[axis]);
        thread[axis] = (unsigned)(middle % block[axis]);
    }
    launch->warp = (thread[0] + launch->block[0] * (thread[1] + launch->block[1] * thread[2])) / 32;
}

static tz_status follow(const char *text, int pass, const tz_ptx_launch *launch,
                        const tz_luo2011_gpu *gpu, tz_cuda_plain *out, tz_error *error)
{
    char entry[32];
    tz_ptx *ptx;
    snprintf(entry, sizeof entry, "tz_plain_%d", pass);
    tz_status status = tz_ptx_read(&ptx, text, entry, error);
    if (status)
        return status;
    tz_ptx_trace *trace = &out->traces[pass];
    out->instructions[pass] = tz_ptx_count(ptx);
    out->blocks[pass] = tz_ptx_blocks(ptx);
    status = tz_ptx_run(ptx, launch, &gpu->costs, gpu->half_warps, trace, error);
    tz_ptx_destroy(ptx);
    out->kernels[pass] = (tz_luo2011_kernel){
        .tasks = trace->tasks,
        .count = trace->count,
        .text_computation = trace->text_computation,
        .text_memory = trace->text_memory,
        .threads = (double)launch->block[0] * launch->block[1] * launch->block[2],
        .blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2]};
    return status;
}

tz_status tz_cuda_plain_read(const tz_problem *problem, const int block[TZ_AXES],
                             const tz_luo2011_gpu *gpu, int trips, tz_cuda_plain *out,
                             tz_error *error)
{
    union {
        uint64_t align;
        char bytes[TZ_CUDA_ARGUMENTS_MAX];
    } arguments;
    char *source = NULL, *text = NULL;
    const int radius = largest_radius(problem);
    *out = (tz_cuda_plain){0};
    for (int axis = 0; axis < problem->dims; axis++)
        if (problem->elements[axis] <= 2 * radius)
            return tz_error_set(error, TZ_RANGE, "grid",
                                "no %s of this grid has all its neighbours inside: luo2011 needs "
                                "more than %d along each axis",
                                problem->bits ? "word of 32 cells" : "cell", 2 * radius);
    tz_status status = fill_arguments(problem, arguments.bytes, error);
    if (!status)
        status = tz_cuda_plain_source(problem, block, &source, error);
    if (!status)
        status = tz_cuda_compile_ptx(TZ_CUDA_PLAIN_ARCHITECTURE, source, tz_cuda_headers,
                                     tz_cuda_headers_count, &text, error);
    tz_ptx_launch launch = {.arguments = arguments.bytes,
                            .arguments_bytes = tz_cuda_arguments_size(problem),
                            .trips = trips};
    aim(problem, block, &launch);
    out->count = problem->stencil->passes_count;
    for (int p = 0; !status && p < out->count; p++)
        status = follow(text, p, &launch, gpu, out, error);
    free(source);
    free(text);
    if (status)
        tz_cuda_plain_clear(out);
    return status;
}

void tz_cuda_plain_clear(tz_cuda_plain *plain)
{
    for (int p = 0; p < plain->count; p++)
        tz_ptx_trace_clear(&plain->traces[p]);
    *plain = (tz_cuda_plain){0};
}

/* ---- On a device ----------------------------------------------------------------------------- */

enum { ITERATIONS_MAX = 20000 };

typedef struct runner {
    tz_cuda_state *state;
    int grid[TZ_AXES], block[TZ_AXES];
    tz_cuda_kernel kernels[TZ_PASSES_MAX];
    tz_cu_pointer streamed[TZ_FIELDS_MAX];
    tz_cuda_event *begin, *end;
} runner;

static tz_status load(runner *r, tz_error *error)
{
    const tz_problem *problem = r->state->context.problem;
    char *source = NULL, entry[32];
    tz_status status = tz_cuda_plain_source(problem, r->block, &source, error);
    for (int p = 0; !status && p < problem->stencil->passes_count; p++) {
        snprintf(entry, sizeof entry, "tz_plain_%d", p);
        status = tz_cuda_need_kernel(r->state->cuda, &r->kernels[p], source, entry, error);
    }
    free(source);
    return status;
}

/* One iteration: a launch for each pass, which later passes read from. */
static tz_status launch(runner *r, tz_error *error)
{
    tz_cuda_state *state = r->state;
    const tz_problem *problem = state->context.problem;
    const tz_cuda_shape shape = {0};
    tz_status status = TZ_OK;
    for (int p = 0; !status && p < problem->stencil->passes_count; p++) {
        union {
            uint64_t align;
            char bytes[TZ_CUDA_ARGUMENTS_MAX];
        } arguments;
        tz_cu_pointer in[TZ_FIELDS_MAX] = {0}, out[TZ_FIELDS_MAX] = {0};
        for (int f = 0; f < problem->stencil->fields_count; f++) {
            const bool streamed = problem->stencil->fields[f].role == TZ_STREAMED;
            in[f] = streamed ? r->streamed[f] : state->copy[f][state->current[f]];
            out[f] = streamed ? 0 : state->copy[f][1 - state->current[f]];
        }
        status = tz_cuda_arguments_fill(problem, &shape, 1, 0, in, out, 0, arguments.bytes, error);
        if (!status)
            status = tz_cuda_launch(state->cuda, NULL, &r->kernels[p], r->grid, r->block, 0, false,
                                    (void *[]){arguments.bytes}, error);
        for (int f = 0; f < problem->stencil->fields_count; f++)
            if (problem->stencil->passes[p].writes >> f & 1)
                state->current[f] = 1 - state->current[f];
    }
    return status;
}

static tz_status time_iterations(runner *r, int iterations, double *seconds, tz_error *error)
{
    tz_cuda *cuda = r->state->cuda;
    tz_status status = tz_cuda_event_record(cuda, r->begin, NULL, error);
    for (int i = 0; !status && i < iterations; i++)
        status = launch(r, error);
    if (!status)
        status = tz_cuda_event_record(cuda, r->end, NULL, error);
    if (!status)
        status = tz_cuda_event_wait(cuda, r->end, error);
    if (!status)
        status = tz_cuda_event_elapsed_s(cuda, r->begin, r->end, seconds, error);
    return status;
}

static tz_status prepare(runner *r, tz_error *error)
{
    tz_cuda_state *state = r->state;
    const tz_problem *problem = state->context.problem;
    if (problem->slab.of)
        return tz_error_set(error, TZ_UNSUPPORTED, "plain",
                            "plain kernels are measured on one device alone");
    tz_status status = tz_cuda_event_create(state->cuda, &r->begin, true, error);
    if (!status)
        status = tz_cuda_event_create(state->cuda, &r->end, true, error);
    if (!status)
        status = load(r, error);
    for (int f = 0; !status && f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            status = tz_cuda_slabs_take(state->slabs[f], state->context.streamed[f], 0, 1,
                                        &r->streamed[f], error);
    return status;
}

tz_status tz_cuda_plain_time(void *any, const int block[TZ_AXES], double seconds, int rounds,
                             double *round_s, tz_error *error)
{
    runner r = {.state = any};
    const tz_problem *problem = r.state->context.problem;
    double all = 0;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        r.block[axis] = block[axis];
        r.grid[axis] = (int)((problem->elements[axis] + block[axis] - 1) / block[axis]);
    }
    tz_cuda_state_touch(r.state);
    r.state->norm_known = false;
    tz_status status = prepare(&r, error);
    /* The first launch loads code and pages. */
    for (int i = 0; !status && i < 2; i++)
        status = time_iterations(&r, 2, &all, error);
    const double wanted = all > 0 ? seconds / (all / 2) : 1;
    const int iterations = wanted < 1 ? 1 : wanted < ITERATIONS_MAX ? (int)wanted : ITERATIONS_MAX;
    for (int i = 0; !status && i < rounds; i++) {
        status = time_iterations(&r, iterations, &all, error);
        round_s[i] = all / iterations;
    }
    for (int f = 0; !status && f < problem->stencil->fields_count; f++)
        if (r.streamed[f])
            status = tz_cuda_slabs_used(r.state->slabs[f], error);
    for (int p = 0; p < problem->stencil->passes_count; p++)
        tz_cuda_unload(r.state->cuda, &r.kernels[p]);
    tz_cuda_event_destroy(r.state->cuda, r.begin);
    tz_cuda_event_destroy(r.state->cuda, r.end);
    return status;
}
