#include "backend/cuda/ptx/plain_time.h"

#include "backend/cuda/ptx/plain.h"
#include "backend/cuda/state.h"
#include <stdio.h>
#include <stdlib.h>

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
        status = tz_cuda_load(r->state->cuda, &r->kernels[p], source, entry, tz_cuda_headers,
                              tz_cuda_headers_count, error);
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
