/* Parts of update.c that tests also run without a GPU: text, arguments, results. */
#ifndef TZ_CORE_BACKEND_CUDA_UPDATE_IMPL_H
#define TZ_CORE_BACKEND_CUDA_UPDATE_IMPL_H

#include "backend/cuda/family/family.h"
#include "backend/cuda/update.h"

#define TZ_CUDA_UPDATE_KERNEL "tz_update"
enum { TZ_CUDA_UPDATE_THREADS = 256 };

/* tz_update_record of the kernel; the sums of the groups follow it. */
typedef struct tz_cuda_update_record {
    int64_t largest, magnitude;
} tz_cuda_update_record;

/* Append the source of the kernel. */
void tz_cuda_update_emit(tz_cuda_text *text, const tz_problem *problem);

/* Segments of a group, if the GPU runs `warps` warps of the kernel at once. The number of groups, in
 * *groups, is the number of sums. */
int tz_cuda_update_group(const tz_problem *problem, int64_t warps, int64_t *groups);

/* The arguments of a launch (TZ_CUDA_ARGUMENTS_MAX bytes). `changes` may be NULL. */
tz_status tz_cuda_update_arguments(const tz_problem *problem, int group, int64_t step,
                                   const tz_cu_pointer *fields, const tz_cu_pointer *changes,
                                   tz_cu_pointer record, void *arguments, tz_error *error);

/* Add the results of a slab to those of the whole grid. */
void tz_cuda_update_add(const tz_cuda_update_record *record, const tz_problem *slab,
                        const double *sums, int64_t groups, tz_update_sums *out);
/* The results from the record and the sums, which are overwritten. */
void tz_cuda_update_conclude(const tz_cuda_update_record *record, double *sums, int64_t groups,
                             tz_update *out);

#endif
