/* What the next iteration would change, on a GPU (kernels/cuda/update.cuh), with the bits that
 * kernels/cpu/update.h defines; and tz_backend.refine (kernels/cuda/refine.cuh). */
#ifndef TZ_CORE_BACKEND_CUDA_UPDATE_H
#define TZ_CORE_BACKEND_CUDA_UPDATE_H

#include "backend/cuda/driver/driver.h"
#include "backend/cuda/driver/queue.h"
#include "backend/cuda/family/family.h"
#include "backend/host/reduce.h"
#include "base/embed.h"
#include "stencil/problem.h"

/* Compiles its kernel when it is first needed, and keeps it and device memory for results. All work
 * goes to `queue` (NULL: the default queue). Borrows its arguments; destroy it before them. One
 * thread at a time may use it. */
typedef struct tz_cuda_updater tz_cuda_updater;

/* Errors: TZ_MEMORY. */
tz_status tz_cuda_updater_create(tz_cuda_updater **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 const tz_problem *problem, tz_error *error);
void tz_cuda_updater_destroy(tz_cuda_updater *updater); /* NULL is fine */

/* As tz_backend.update. `fields`: each field in device memory. `changes`: for each field an array
 * that gets new - old of each element as a double, with the pitch of the fields, or 0; NULL: none.
 * Runs in the order of the queue and waits for its result. Errors: TZ_BACKEND, TZ_MEMORY. */
tz_status tz_cuda_update(tz_cuda_updater *updater, const tz_cu_pointer *fields,
                         const tz_cu_pointer *changes, int64_t step, tz_update_sums *sums,
                         tz_error *error);

/* ---- Text, arguments and results, which tests also run without a GPU ------------------------ */

#define TZ_CUDA_UPDATE_KERNEL "tz_update"
enum { TZ_CUDA_UPDATE_THREADS = 256 };

/* tz_update_record of the kernel; the sums of the groups follow it. */
typedef struct tz_cuda_update_record {
    int64_t largest, magnitude;
} tz_cuda_update_record;

/* Append the source of the kernel. */
void tz_cuda_update_emit(tz_cuda_text *text, const tz_problem *problem);

/* Segments of a group, if the GPU runs `warps` warps of the kernel at once. The number of groups,
 * in *groups, is the number of sums. */
int tz_cuda_update_group(const tz_problem *problem, int64_t warps, int64_t *groups);

/* The arguments of a launch (TZ_CUDA_ARGUMENTS_MAX bytes). `changes` may be NULL. */
tz_status tz_cuda_update_arguments(const tz_problem *problem, int group, int64_t step,
                                   const tz_cu_pointer *fields, const tz_cu_pointer *changes,
                                   tz_cu_pointer record, void *arguments, tz_error *error);

/* Add the results of a grid or slab to those of the whole grid. */
void tz_cuda_update_add(const tz_cuda_update_record *record, const tz_problem *own,
                        const double *sums, int64_t groups, tz_update_sums *out);

/* ---- Iterative refinement -------------------------------------------------------------------- */

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
