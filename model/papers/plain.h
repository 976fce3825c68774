/* The plain kernels of a problem (kernels/plain.cuh): their PTX, and what it does, without a
 * device; and their time on a device, to measure what luo2011 predicts. */
#ifndef TZ_MODEL_PAPERS_PLAIN_H
#define TZ_MODEL_PAPERS_PLAIN_H

#include "model/papers/ptx.h"
#include "stencil/problem.h"

typedef struct tz_cuda_plain {
    int count;                                /* passes */
    tz_luo2011_kernel kernels[TZ_PASSES_MAX]; /* their tasks are those of the traces */
    tz_ptx_trace traces[TZ_PASSES_MAX];
    int instructions[TZ_PASSES_MAX], blocks[TZ_PASSES_MAX]; /* of the text; basic blocks */
} tz_cuda_plain;

/* The virtual architecture whose PTX is read: the oldest that NVRTC 13 has. */
#define TZ_CUDA_PLAIN_ARCHITECTURE "compute_75"

/* The source of the kernels tz_plain_0 to tz_plain_(passes - 1), malloc'd. Errors: TZ_MEMORY. */
tz_status tz_cuda_plain_source(const tz_problem *problem, const int block[TZ_AXES], char **source,
                               tz_error *error);

/* Compile and follow the warp that has the middle of the grid. `block`: threads, an element each.
 * `trips`: turns of loops whose end is not known. Errors: TZ_UNSUPPORTED (no NVRTC; a kernel that
 * is not followed), TZ_RANGE (no element has all its neighbours in the grid), TZ_BACKEND,
 * TZ_MEMORY. */
tz_status tz_cuda_plain_read(const tz_problem *problem, const int block[TZ_AXES],
                             const tz_luo2011_gpu *gpu, int trips, tz_cuda_plain *out,
                             tz_error *error);
void tz_cuda_plain_clear(tz_cuda_plain *plain); /* zeros are fine */

/* Runs iterations on the fields of a state of the cuda backend, in launches of blocks of `block`
 * threads, an element each; with streamed fields always the first one. Each of `rounds` rounds
 * takes about `seconds`; round_s gets its time by events, divided by its iterations. Elements
 * without all their neighbours in the grid keep old values. Errors: TZ_UNSUPPORTED (the stencil is
 * a slab of a grid), TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_plain_time(void *state, const int block[TZ_AXES], double seconds, int rounds,
                             double *round_s, tz_error *error);

#endif
