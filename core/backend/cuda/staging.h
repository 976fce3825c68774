/* Copies between ordinary host memory and the device through two pinned buffers: while the device
 * moves one, the host fills or empties the other.
 *
 * Errors are driver.h's. Not for two threads at once. Pinned memory is taken when first needed. */
#ifndef TZ_CORE_BACKEND_CUDA_STAGING_H
#define TZ_CORE_BACKEND_CUDA_STAGING_H

#include "backend/cuda/driver/queue.h"

typedef struct tz_cuda_staging tz_cuda_staging;

/* All its copies go to that stream (NULL: the default one), which is borrowed. */
tz_status tz_cuda_staging_create(tz_cuda_staging **out, tz_cuda *cuda, tz_cuda_queue *stream,
                                 tz_error *error);
void tz_cuda_staging_destroy(tz_cuda_staging *staging); /* NULL is fine */

/* As tz_cuda_upload_box, but the device's side is written in order with the stream; `from` is free
 * when this returns. */
tz_status tz_cuda_staging_upload(tz_cuda_staging *staging, tz_cu_pointer to, const tz_cuda_box *box,
                                 const void *from, tz_error *error);
/* As tz_cuda_download_box, of what the stream has come to: done when it returns. */
tz_status tz_cuda_staging_download(tz_cuda_staging *staging, void *to, tz_cu_pointer from,
                                   const tz_cuda_box *box, tz_error *error);
/* `bytes` of device memory to copies of one element of 4 or 8 bytes, written by the device in order
 * with the stream. `to` and `bytes` are multiples of the element's size. */
tz_status tz_cuda_staging_fill(tz_cuda_staging *staging, tz_cu_pointer to, const void *element,
                               size_t size, size_t bytes, tz_error *error);

#endif
