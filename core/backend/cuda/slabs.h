/* The rows of a streamed field on their way to the GPU: all of them once where they fit, else a
 * stage's at a time, made and copied while the stage before computes. */
#ifndef TZ_CORE_BACKEND_CUDA_SLABS_H
#define TZ_CORE_BACKEND_CUDA_SLABS_H

#include "backend/cuda/driver/driver.h"
#include "stencil/streamed_source.h"

typedef struct tz_cuda_slabs tz_cuda_slabs;

/* Rows of `cells` elements, `pitch` apart. Borrows the driver; TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_slabs_create(tz_cuda_slabs **out, tz_cuda *cuda, int64_t cells, int64_t pitch,
                               tz_error *error);
void tz_cuda_slabs_destroy(tz_cuda_slabs *slabs); /* NULL is fine */

/* Where the rows of iterations step .. step + height - 1 will be, in order, when what is launched
 * on the default stream from now on runs. Follow the launch by tz_cuda_slabs_used. */
tz_status tz_cuda_slabs_take(tz_cuda_slabs *slabs, const tz_streamed_source *source, int64_t step,
                             int height, tz_cu_pointer *rows, tz_error *error);
/* The rows taken last are free again once what was launched so far is done. */
tz_status tz_cuda_slabs_used(tz_cuda_slabs *slabs, tz_error *error);

#endif
