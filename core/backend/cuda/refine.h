/* tz_backend.refine on a GPU (kernels/cuda/refine.cuh). */
#ifndef TZ_CORE_BACKEND_CUDA_REFINE_H
#define TZ_CORE_BACKEND_CUDA_REFINE_H

#include "backend/cuda/driver/driver.h"
#include "base/embed.h"
#include "stencil/problem.h"

/* Members as in the kernels. */
typedef struct tz_cuda_refine_arguments {
    tz_cu_pointer solution, changes, correction, source;
    double source_per_update;
    int64_t pitch, plane, single_pitch, single_plane;
    int64_t nx, ny, nz;
} tz_cuda_refine_arguments;

/* The kernels of one device; compiled when they are first needed. */
typedef struct tz_cuda_refiner {
    tz_cuda_kernel add, set;
} tz_cuda_refiner;

#define TZ_CUDA_REFINE_ADD "tz_add_correction"
#define TZ_CUDA_REFINE_SET "tz_set_source"

/* The source of both kernels. */
TZ_EMBEDDED(tz_cuda_text_refine);

/* All members but the pointers. */
void tz_cuda_refine_arguments_fill(tz_cuda_refine_arguments *out, const tz_problem *solution,
                                   const tz_problem *correction);

/* solution += correction; correction = 0. In the order of the default queue; does not wait. Errors:
 * TZ_BACKEND, TZ_MEMORY. */
tz_status tz_cuda_refine_add(tz_cuda_refiner *refiner, tz_cuda *cuda,
                             const tz_cuda_refine_arguments *arguments, tz_error *error);
/* source = changes * source_per_update; likewise. */
tz_status tz_cuda_refine_set(tz_cuda_refiner *refiner, tz_cuda *cuda,
                             const tz_cuda_refine_arguments *arguments, tz_error *error);
void tz_cuda_refiner_clear(tz_cuda_refiner *refiner, tz_cuda *cuda);

#endif
