/* The rows of a streamed field on the GPU. If a source lies in memory and the device has room for
 * all of it, it is uploaded once. Otherwise the rows of each stage are made and uploaded while the
 * stage before it computes. */
#ifndef TZ_CORE_BACKEND_CUDA_SLABS_H
#define TZ_CORE_BACKEND_CUDA_SLABS_H

#include "backend/cuda/driver/driver.h"
#include "stencil/streamed_source.h"

typedef struct tz_cuda_slabs tz_cuda_slabs;

/* Rows of `cells` 32-bit integers, `pitch` elements apart on the device. Borrows the driver.
 * Errors: TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_slabs_create(tz_cuda_slabs **out, tz_cuda *cuda, int64_t cells, int64_t pitch,
                               tz_error *error);
void tz_cuda_slabs_destroy(tz_cuda_slabs *slabs); /* NULL is fine */

/* The address of the rows of iterations step to step + height - 1, in order. They are there for
 * what is put into the default queue from now on. After the launch that reads them, call
 * tz_cuda_slabs_used. Errors: TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_slabs_take(tz_cuda_slabs *slabs, const tz_streamed_source *source, int64_t step,
                             int height, tz_cu_pointer *rows, tz_error *error);
/* The rows taken last may be overwritten once the work that is now in the default queue is done. */
tz_status tz_cuda_slabs_used(tz_cuda_slabs *slabs, tz_error *error);

#endif
