/* The CUDA text of a plan: sizes, fields and passes as definitions around the plugin's own text. */
#ifndef TZ_CORE_CUDA_SOURCE_H
#define TZ_CORE_CUDA_SOURCE_H

#include "cuda/driver.h"
#include "sim/problem.h"

enum { TZ_CUDA_THREADS = 256, TZ_CUDA_KERNEL_CONSTANTS = 64 };

/* What a launch passes: the layout of tz_arguments in kernels/cuda/tile.cuh for `fields` fields. */
size_t tz_cuda_arguments_size(int fields);
void tz_cuda_arguments_fill(const tz_problem *problem, int height, int64_t step,
                            const tz_cu_pointer *in, const tz_cu_pointer *out, void *arguments);

/* Bytes of shared memory of a block of this plan. */
int64_t tz_cuda_tile_shared_bytes(const tz_problem *problem, const tz_plan *plan);

/* The source of a plan (malloc'd) and the header that it includes. The kernel is "tz_tile". Errors:
 * TZ_MEMORY. */
tz_status tz_cuda_source(const tz_problem *problem, const tz_plan *plan, char **source,
                         tz_cuda_header *header, tz_error *error);

#endif
