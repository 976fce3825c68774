/* Snapshots: copies of fields, made on the device between two stages. Another thread can read a
 * snapshot while later stages run. There are at most two: one is read while the next waits.
 *
 * Threads: only the thread that launches stages takes snapshots. Any thread reads and destroys
 * them. Errors are those of driver.h. */
#ifndef TZ_CORE_BACKEND_CUDA_SNAPSHOT_H
#define TZ_CORE_BACKEND_CUDA_SNAPSHOT_H

#include "backend/cuda/driver/queue.h"
#include "backend/cuda/reduce.h"

enum { TZ_CUDA_SNAPSHOTS = 2 };

typedef struct tz_cuda_snapshots tz_cuda_snapshots;
typedef struct tz_cuda_snapshot tz_cuda_snapshot;

/* Borrows both. Destroy it before them, and after all its snapshots are destroyed. The first
 * snapshot allocates the device memory. */
tz_status tz_cuda_snapshots_create(tz_cuda_snapshots **out, tz_cuda *cuda,
                                   const tz_problem *problem, tz_error *error);
void tz_cuda_snapshots_destroy(tz_cuda_snapshots *snapshots); /* NULL is fine */

/* Copies the state fields of the mask, each from `now[field]`, in the default queue, and returns at
 * once. Static fields are not copied: they are read at `now[field]`. If both snapshots are in use,
 * waits until one is destroyed, or without `wait` sets *out to NULL. TZ_MEMORY: too little memory
 * would remain. */
tz_status tz_cuda_snapshot_take(tz_cuda_snapshots *snapshots, uint32_t fields,
                                const tz_cu_pointer *now, bool wait, tz_cuda_snapshot **out,
                                tz_error *error);
/* tz_backend.frozen of the cuda backend: reads and destroys a tz_cuda_snapshot. */
extern const struct tz_backend tz_backend_cuda_frozen;

/* ---- Copies through pinned buffers ----------------------------------------------------------- */

/* Between ordinary host memory and the device through two pinned buffers: the host fills or empties
 * one buffer while the device moves the other. The first copy allocates the buffers.
 *
 * One thread at a time may use a tz_cuda_staging. Errors are those of driver.h. */

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
