/* The rows of a streamed field on the GPU. A source in memory for which the device has room is
 * uploaded once. Otherwise the host makes and uploads the rows of each stage while the stage before
 * computes. */
#ifndef TZ_CORE_BACKEND_CUDA_SLABS_H
#define TZ_CORE_BACKEND_CUDA_SLABS_H

#include "backend/cuda/driver/driver.h"
#include "base/threads.h"
#include "stencil/streamed_source.h"

typedef struct tz_cuda_slabs tz_cuda_slabs;

/* Rows of `cells` 32-bit integers, `pitch` elements apart on the device. Borrows the driver, and
 * the threads that make rows. Errors: TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_slabs_create(tz_cuda_slabs **out, tz_cuda *cuda, tz_threads *threads,
                               int64_t cells, int64_t pitch, tz_error *error);
void tz_cuda_slabs_destroy(tz_cuda_slabs *slabs); /* NULL is fine */

/* The address of the rows of iterations step to step + height - 1, in order. Later work of the
 * default queue can read them. After the launch that reads them, call tz_cuda_slabs_used. Errors:
 * TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_slabs_take(tz_cuda_slabs *slabs, const tz_streamed_source *source, int64_t step,
                             int height, tz_cu_pointer *rows, tz_error *error);
/* Allows overwriting the last taken rows once the current work of the default queue is done. */
tz_status tz_cuda_slabs_used(tz_cuda_slabs *slabs, tz_error *error);

#endif
