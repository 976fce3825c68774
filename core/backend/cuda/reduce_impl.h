/* Parts of reduce.c that tests also run without a GPU: text, arguments, results. */
#ifndef TZ_CORE_BACKEND_CUDA_REDUCE_IMPL_H
#define TZ_CORE_BACKEND_CUDA_REDUCE_IMPL_H

#include "backend/cuda/family/text.h"
#include "backend/cuda/reduce.h"

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
void tz_cuda_reduce_emit(tz_cuda_text *text, tz_dtype dtype, tz_cuda_number which);

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

/* Fill the arguments, except pointers to device memory other than fields. `warps`: warps of the kernel
 * that the GPU runs at once. Returns the number of sums, or of warps that are needed. Of a slab, own
 * cells are reduced, with a sum for each segment. */
int64_t tz_cuda_reduce_arguments_fill(tz_cuda_reduce_arguments *arguments,
                                      const tz_problem *problem, int field,
                                      const tz_cuda_array *array, tz_cu_pointer other,
                                      int64_t warps);
int64_t tz_cuda_shrink_arguments_fill(tz_cuda_shrink_arguments *arguments,
                                      const tz_problem *problem, int field,
                                      const tz_cuda_array *array, int64_t z, int nx, int ny);

/* The record before a launch, and the results from the record after it. `sums` is overwritten. */
tz_cuda_record tz_cuda_record_start(void);
void tz_cuda_record_conclude(const tz_cuda_record *record, const tz_problem *problem, int field,
                             double *sums, int64_t sums_count, tz_reduction *out);
/* Add the record of a slab to the numbers of the whole grid. `sums` is NULL for bits. */
void tz_cuda_record_add(const tz_cuda_record *record, const tz_problem *slab, const double *sums,
                        int64_t sums_count, tz_reduce_sums *out);
double tz_cuda_record_difference(const tz_cuda_record *record);

/* Edges along both axes: nx + 1, then ny + 1. */
void tz_cuda_shrink_edges(const tz_problem *problem, int nx, int ny, double *edges);

#endif
