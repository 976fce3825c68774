/* Running the plain kernels of a problem (kernels/cuda/plain.cuh), to measure what luo2011 predicts. */
#ifndef TZ_CORE_BACKEND_CUDA_PTX_PLAIN_TIME_H
#define TZ_CORE_BACKEND_CUDA_PTX_PLAIN_TIME_H

#include "base/error.h"
#include "stencil/problem.h"

/* Runs iterations on the fields of a state of the cuda backend, in launches of blocks of `block` threads,
 * an element each; with streamed fields always the first one. Each of `rounds` rounds takes about
 * `seconds`; round_s gets its time by events, divided by its iterations. Elements without all their
 * neighbours in the grid keep old values. Errors: TZ_UNSUPPORTED (the stencil is a slab of a grid),
 * TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_plain_time(void *state, const int block[TZ_AXES], double seconds, int rounds,
                             double *round_s, tz_error *error);

#endif
