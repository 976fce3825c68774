/* Copies between ordinary host memory and the device through two pinned buffers: the host fills or
 * empties one buffer while the device moves the other. The first copy allocates the buffers.
 *
 * One thread at a time may use a tz_cuda_staging. Errors are those of driver.h. */
#ifndef TZ_CORE_BACKEND_CUDA_STAGING_H
#define TZ_CORE_BACKEND_CUDA_STAGING_H

#include "backend/cuda/driver/queue.h"

typedef struct tz_cuda_staging tz_cuda_staging;

/* All work goes to `queue` (NULL: the default queue), in order. Borrows both. */
tz_status tz_cuda_staging_create(tz_cuda_staging **out, tz_cuda *cuda, tz_cuda_queue *queue,
                                 tz_error *error);
void tz_cuda_staging_destroy(tz_cuda_staging *staging); /* NULL is fine */

/* Copies a box to the device. When this returns, `from` may be changed although the copy may not be
 * done. */
tz_status tz_cuda_staging_upload(tz_cuda_staging *staging, tz_cu_pointer to, const tz_cuda_box *box,
                                 const void *from, tz_error *error);
/* Copies a box from the device. The copy is done when this returns. */
tz_status tz_cuda_staging_download(tz_cuda_staging *staging, void *to, tz_cu_pointer from,
                                   const tz_cuda_box *box, tz_error *error);
/* Fills `bytes` of device memory with copies of an element of `size` 4 or 8 bytes. `to` and `bytes`
 * are multiples of `size`. */
tz_status tz_cuda_staging_fill(tz_cuda_staging *staging, tz_cu_pointer to, const void *element,
                               size_t size, size_t bytes, tz_error *error);

#endif
