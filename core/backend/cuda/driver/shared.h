/* Device memory and events that other processes of this machine use, too (CUDA's IPC).
 *
 * A handle is plain bytes: it reaches the other process by any way. That process must close what it
 * has opened before the owner frees the memory or destroys the event. The driver refuses where the
 * system does not let processes share device memory, as in some containers, and between GPUs
 * without peer access: TZ_BACKEND. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_SHARED_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_SHARED_H

#include "backend/cuda/driver/queue.h"

enum {
    /* The driver shares whole blocks of this size: memory that is to be shared should be a multiple of
     * it, so that it shares no block with other memory. */
    TZ_CUDA_SHARED_BLOCK_BYTES = 2 << 20
};

typedef struct tz_cuda_handle { /* CUipcMemHandle or CUipcEventHandle */
    char bytes[64];
} tz_cuda_handle;

/* `pointer` is one that tz_cuda_allocate() gave. */
tz_status tz_cuda_shared_handle(tz_cuda *cuda, tz_cu_pointer pointer, tz_cuda_handle *out,
                                tz_error *error);
/* Memory of another process. */
tz_status tz_cuda_shared_open(tz_cuda *cuda, const tz_cuda_handle *handle, tz_cu_pointer *out,
                              tz_error *error);
void tz_cuda_shared_close(tz_cuda *cuda, tz_cu_pointer pointer); /* 0 is fine */

/* An untimed event for this process and others. *handle: for the others. */
tz_status tz_cuda_shared_event_create(tz_cuda *cuda, tz_cuda_event **out, tz_cuda_handle *handle,
                                      tz_error *error);
/* An event of another process, to wait for; tz_cuda_event_destroy() closes it. A wait is for what that
 * process has recorded so far: for nothing if it has not recorded the event yet. */
tz_status tz_cuda_shared_event_open(tz_cuda *cuda, const tz_cuda_handle *handle,
                                    tz_cuda_event **out, tz_error *error);

#endif
