#include "backend/cuda/driver/shared.h"

#include "backend/cuda/driver/driver_impl.h"

/* From cuda.h. */
enum {
    EVENT_DISABLE_TIMING = 2, /* CU_EVENT_DISABLE_TIMING */
    EVENT_INTERPROCESS = 4,   /* CU_EVENT_INTERPROCESS */
    ENABLE_PEER_ACCESS = 1,   /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS */
};

_Static_assert(sizeof(tz_cuda_handle) == 64, "the size is CU_IPC_HANDLE_SIZE");

tz_status tz_cuda_shared_handle(tz_cuda *cuda, tz_cu_pointer pointer, tz_cuda_handle *out,
                                tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    return status ? status
                  : tz__cuda_check(cuda, cuda->driver.shared_memory_handle(out, pointer), error,
                                   NULL, "cannot share memory of GPU %d with another process",
                                   cuda->device.ordinal);
}

tz_status tz_cuda_shared_open(tz_cuda *cuda, const tz_cuda_handle *handle, tz_cu_pointer *out,
                              tz_error *error)
{
    *out = 0;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status = tz__cuda_check(
            cuda, cuda->driver.shared_memory_open(out, *handle, ENABLE_PEER_ACCESS), error, NULL,
            "GPU %d cannot open device memory of another process", cuda->device.ordinal);
    if (status)
        *out = 0;
    return status;
}

void tz_cuda_shared_close(tz_cuda *cuda, tz_cu_pointer pointer)
{
    if (pointer && tz__cuda_enter(cuda, NULL) == TZ_OK)
        cuda->driver.shared_memory_close(pointer);
}

tz_status tz_cuda_shared_event_create(tz_cuda *cuda, tz_cuda_event **out, tz_cuda_handle *handle,
                                      tz_error *error)
{
    *out = NULL;
    tz_cuda_event *event = NULL;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status = tz__cuda_check(
            cuda, cuda->driver.event_create(&event, EVENT_DISABLE_TIMING | EVENT_INTERPROCESS),
            error, NULL, "cannot make an event of GPU %d for other processes",
            cuda->device.ordinal);
    if (status)
        return status;
    status = tz__cuda_check(cuda, cuda->driver.shared_event_handle(handle, event), error, NULL,
                            "cannot share an event of GPU %d with another process",
                            cuda->device.ordinal);
    if (status)
        tz_cuda_event_destroy(cuda, event);
    else
        *out = event;
    return status;
}

tz_status tz_cuda_shared_event_open(tz_cuda *cuda, const tz_cuda_handle *handle,
                                    tz_cuda_event **out, tz_error *error)
{
    *out = NULL;
    tz_status status = tz__cuda_enter(cuda, error);
    if (!status)
        status =
            tz__cuda_check(cuda, cuda->driver.shared_event_open(out, *handle), error, NULL,
                           "GPU %d cannot open an event of another process", cuda->device.ordinal);
    if (status)
        *out = NULL;
    return status;
}
