/* Reductions and averages of a field on a GPU (kernels/cuda/reduce.cuh). The results have the same
 * bits as those of host/reduce.h and base/average.h. Only results are copied to the host. */
#ifndef TZ_CORE_BACKEND_CUDA_REDUCE_H
#define TZ_CORE_BACKEND_CUDA_REDUCE_H

#include "backend/cuda/driver/driver.h"
#include "backend/host/reduce.h"
#include "stencil/problem.h"

/* A field in device memory: element (x, y, z) is x + pitch*y + plane*z elements after `cells`. */
typedef struct tz_cuda_array {
    tz_cu_pointer cells;
    int64_t pitch, plane;
} tz_cuda_array;

/* Compiles a kernel when it is first needed and keeps device memory for results. All work goes to
 * `queue` (NULL: the default queue). Borrows its arguments; destroy it before them. One thread at a
 * time may use it. */
typedef struct tz_cuda_reducer tz_cuda_reducer;

tz_status tz_cuda_reducer_create(tz_cuda_reducer **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 const tz_problem *problem, tz_error *error);
void tz_cuda_reducer_destroy(tz_cuda_reducer *reducer); /* NULL is fine */

/* These functions run in the order of the queue and wait for their result. Of a slab they reduce its
 * own cells. Errors: TZ_BACKEND, TZ_MEMORY. */
tz_status tz_cuda_reduce(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                         tz_reduction *out, tz_error *error);
/* The same of a slab, as part of the whole grid. */
tz_status tz_cuda_reduce_slab(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                              tz_reduce_sums *sums, tz_error *error);
/* Whether the field has neither NaN nor infinity; costs less than tz_cuda_reduce. */
tz_status tz_cuda_all_finite(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
                             bool *finite, tz_error *error);
/* max |a - b|; a difference of NaN counts as infinite. Both have the same pitch and plane. */
tz_status tz_cuda_difference(tz_cuda_reducer *reducer, int field, const tz_cuda_array *a,
                             const tz_cuda_array *b, double *out, tz_error *error);
/* Averages plane z down to nx x ny values, at most its number of cells along each axis. */
tz_status tz_cuda_shrink(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array, int64_t z,
                         int nx, int ny, double *values, tz_error *error);

#endif
