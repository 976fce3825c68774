/* What the next iteration would change, on a GPU (kernels/cuda/update.cuh). The results have the
 * bits that kernels/cpu/update.h defines. */
#ifndef TZ_CORE_BACKEND_CUDA_UPDATE_H
#define TZ_CORE_BACKEND_CUDA_UPDATE_H

#include "backend/cuda/driver/driver.h"
#include "backend/host/reduce.h"
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
                         const tz_cu_pointer *changes, int64_t step, tz_update *out,
                         tz_error *error);
/* The same of the own cells of a slab, as part of the whole grid. */
tz_status tz_cuda_update_slab(tz_cuda_updater *updater, const tz_cu_pointer *fields,
                              const tz_cu_pointer *changes, int64_t step, tz_update_sums *sums,
                              tz_error *error);

#endif
