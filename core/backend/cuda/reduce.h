/* Numbers and pictures of a field on a GPU (kernels/cuda/reduce.cuh): the same bits as
 * sim/reduce.h and base/average.h give on the host, and only the results travel. */
#ifndef TZ_CORE_BACKEND_CUDA_REDUCE_H
#define TZ_CORE_BACKEND_CUDA_REDUCE_H

#include "backend/cuda/driver/driver.h"
#include "stencil/problem.h"

/* Where a field is: element (x, y, z) at x + pitch*y + plane*z from `cells`, in elements. */
typedef struct tz_cuda_array {
    tz_cu_pointer cells;
    int64_t pitch, plane;
} tz_cuda_array;

/* Kernels, loaded when first needed, and device memory for results, which grows as needed. One
 * thread at a time. Works on that queue (NULL: the default one). Borrows all three; destroy it
 * before they go. */
typedef struct tz_cuda_reducer tz_cuda_reducer;

tz_status tz_cuda_reducer_create(tz_cuda_reducer **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 const tz_problem *problem, tz_error *error);
void tz_cuda_reducer_destroy(tz_cuda_reducer *reducer); /* NULL is fine */

/* All of these run after the work that is in the queue already, and wait for their result. Errors:
 * TZ_BACKEND, TZ_MEMORY. */
tz_status tz_cuda_reduce(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                         tz_reduction *out, tz_error *error);
/* No NaN, no infinity: cheaper than the above. */
tz_status tz_cuda_all_finite(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                             bool *finite, tz_error *error);
/* max |a - b|; NaN differences count as infinite. Both have the same pitch and plane. */
tz_status tz_cuda_difference(tz_cuda_reducer *reducer, int field, const tz_cuda_array *a,
                             const tz_cuda_array *b, double *out, tz_error *error);
/* Plane z averaged down to nx x ny values, at most its extents. */
tz_status tz_cuda_shrink(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array, int64_t z,
                         int nx, int ny, double *values, tz_error *error);

#endif
