/* Reductions and averages of a field on a GPU (kernels/cuda/reduce.cuh). The results have the same
 * bits as those of host/reduce.h and base/average.h. Only results are copied to the host. */
#ifndef TZ_CORE_BACKEND_CUDA_REDUCE_H
#define TZ_CORE_BACKEND_CUDA_REDUCE_H

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/text.h"
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

/* These functions run in the order of the queue and wait for their result. Of a slab they reduce
 * its own cells. Errors: TZ_BACKEND, TZ_MEMORY. */
tz_status tz_cuda_reduce(tz_cuda_reducer *reducer, int field, const tz_cuda_array *array,
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

/* ---- Text, arguments and results, which tests also run without a GPU ------------------------ */

typedef enum tz_cuda_number {
    TZ_CUDA_NUMBERS = 1, /* as kernels/cuda/reduce.cuh numbers its kernels */
    TZ_CUDA_FINITE,
    TZ_CUDA_DIFFERENCE,
    TZ_CUDA_SHRINK,
    TZ_CUDA_NUMBERS_END
} tz_cuda_number;

enum { TZ_CUDA_REDUCE_THREADS = 256 };

const char *tz_cuda_reduce_kernel(tz_cuda_number which);
/* Append the source of a kernel for fields of that type. */
void tz_cuda_reduce_emit(tz_cuda_text *text, tz_dtype dtype, const char *memory,
                         tz_cuda_number which);

/* tz_record, tz_reduce_arguments and tz_shrink_arguments of the kernels. */
typedef struct tz_cuda_record {
    int64_t low, high, first, difference;
    uint64_t population, not_finite, hash;
} tz_cuda_record;

typedef struct tz_cuda_reduce_arguments {
    tz_cu_pointer cells, other;
    int64_t pitch, plane, elements, columns, rows, planes, group;
    tz_cu_pointer sums, record;
    int64_t first;
} tz_cuda_reduce_arguments;

typedef struct tz_cuda_shrink_arguments {
    tz_cu_pointer cells;
    int64_t pitch, elements;
    int32_t width, steps, nx, ny, strands, apart;
    tz_cu_pointer edges_x, edges_y, values;
} tz_cuda_shrink_arguments;

/* Fill the arguments, except pointers to device memory other than fields. `warps`: warps of the
 * kernel that the GPU runs at once. Returns the number of sums, or of warps that are needed. Of a
 * slab, own cells are reduced, with a sum for each segment. */
int64_t tz_cuda_reduce_arguments_fill(tz_cuda_reduce_arguments *arguments,
                                      const tz_problem *problem, int field,
                                      const tz_cuda_array *array, tz_cu_pointer other,
                                      int64_t warps);
int64_t tz_cuda_shrink_arguments_fill(tz_cuda_shrink_arguments *arguments,
                                      const tz_problem *problem, int field,
                                      const tz_cuda_array *array, int64_t z, int nx, int ny);

/* The record before a launch. */
tz_cuda_record tz_cuda_record_start(void);
/* Add the record after a launch, of the own cells of a grid or slab, to the numbers of the whole
 * grid. `sums` is NULL for bits. */
void tz_cuda_record_add(const tz_cuda_record *record, const tz_problem *own, const double *sums,
                        int64_t sums_count, tz_reduce_sums *out);
double tz_cuda_record_difference(const tz_cuda_record *record);

/* Edges along both axes: nx + 1, then ny + 1. */
void tz_cuda_shrink_edges(const tz_problem *problem, int nx, int ny, double *edges);

#endif
