/* What the files of this folder share: the driver's functions, the context, its errors. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_DRIVER_IMPL_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_DRIVER_IMPL_H

#include "backend/cuda/driver/driver.h"
#include "backend/cuda/driver/queue.h"
#include "base/library.h"
#include <stdatomic.h>

/* Values of CUresult that the code tests for. fault.c explains others to users. */
enum { TZ__CU_OUT_OF_MEMORY = 2, TZ__CU_NO_DEVICE = 100 };

typedef struct tz__copy_side {
    size_t x_bytes, y, z, level;
    int memory;
    void *host;
    tz_cu_pointer device;
    void *array, *reserved;
    size_t pitch, height;
} tz__copy_side;

typedef struct tz__copy_3d { /* CUDA_MEMCPY3D_v2 */
    tz__copy_side from, to;
    size_t row_bytes, rows, planes;
} tz__copy_3d;

_Static_assert(sizeof(tz__copy_3d) == 200, "the layout is CUDA_MEMCPY3D_v2's");

/* X(member, symbol, parameters). The macros of cuda.h add _v2 to plain names. All symbols exist
 * since CUDA 11.4. */
#define TZ__DRIVER_TABLE(X)                                                                        \
    X(init, cuInit, (unsigned flags))                                                              \
    X(version, cuDriverGetVersion, (int *version))                                                 \
    X(error_name, cuGetErrorName, (tz_cu_result result, const char **text))                        \
    X(error_text, cuGetErrorString, (tz_cu_result result, const char **text))                      \
    X(device_count, cuDeviceGetCount, (int *count))                                                \
    X(device_get, cuDeviceGet, (tz_cu_device * device, int ordinal))                               \
    X(device_name, cuDeviceGetName, (char *name, int size, tz_cu_device device))                   \
    X(device_bus_id, cuDeviceGetPCIBusId, (char *text, int size, tz_cu_device device))             \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int which, tz_cu_device device))        \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, tz_cu_device device))                   \
    X(context_retain, cuDevicePrimaryCtxRetain, (tz_cu_handle * context, tz_cu_device device))     \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (tz_cu_device device))                        \
    X(context_use, cuCtxSetCurrent, (tz_cu_handle context))                                        \
    X(context_wait, cuCtxSynchronize, (void))                                                      \
    X(peer_can, cuDeviceCanAccessPeer, (int *can, tz_cu_device from, tz_cu_device to))             \
    X(peer_enable, cuCtxEnablePeerAccess, (tz_cu_handle context, unsigned flags))                  \
    X(queue_copy_peer, cuMemcpyPeerAsync,                                                          \
      (tz_cu_pointer to, tz_cu_handle to_context, tz_cu_pointer from, tz_cu_handle from_context,   \
       size_t bytes, tz_cuda_queue * queue))                                                       \
    X(memory_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * bytes))                         \
    X(memory_allocate, cuMemAlloc_v2, (tz_cu_pointer * pointer, size_t bytes))                     \
    X(memory_free, cuMemFree_v2, (tz_cu_pointer pointer))                                          \
    X(memory_upload, cuMemcpyHtoD_v2, (tz_cu_pointer to, const void *from, size_t bytes))          \
    X(memory_download, cuMemcpyDtoH_v2, (void *to, tz_cu_pointer from, size_t bytes))              \
    X(memory_set, cuMemsetD8_v2, (tz_cu_pointer to, unsigned char value, size_t bytes))            \
    X(host_allocate, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                \
    X(host_free, cuMemFreeHost, (void *memory))                                                    \
    X(queue_create, cuStreamCreate, (tz_cuda_queue * *queue, unsigned flags))                      \
    X(queue_create_first, cuStreamCreateWithPriority,                                              \
      (tz_cuda_queue * *queue, unsigned flags, int priority))                                      \
    X(queue_destroy, cuStreamDestroy_v2, (tz_cuda_queue * queue))                                  \
    X(queue_wait, cuStreamSynchronize, (tz_cuda_queue * queue))                                    \
    X(queue_wait_event, cuStreamWaitEvent,                                                         \
      (tz_cuda_queue * queue, tz_cuda_event * event, unsigned flags))                              \
    X(queue_upload, cuMemcpyHtoDAsync_v2,                                                          \
      (tz_cu_pointer to, const void *from, size_t bytes, tz_cuda_queue *queue))                    \
    X(queue_download, cuMemcpyDtoHAsync_v2,                                                        \
      (void *to, tz_cu_pointer from, size_t bytes, tz_cuda_queue *queue))                          \
    X(queue_copy, cuMemcpyDtoDAsync_v2,                                                            \
      (tz_cu_pointer to, tz_cu_pointer from, size_t bytes, tz_cuda_queue * queue))                 \
    X(queue_copy_3d, cuMemcpy3DAsync_v2, (const tz__copy_3d *copy, tz_cuda_queue *queue))          \
    X(queue_fill_words, cuMemsetD32Async,                                                          \
      (tz_cu_pointer to, unsigned word, size_t count, tz_cuda_queue *queue))                       \
    X(event_create, cuEventCreate, (tz_cuda_event * *event, unsigned flags))                       \
    X(event_destroy, cuEventDestroy_v2, (tz_cuda_event * event))                                   \
    X(event_record, cuEventRecord, (tz_cuda_event * event, tz_cuda_queue * queue))                 \
    X(event_wait, cuEventSynchronize, (tz_cuda_event * event))                                     \
    X(event_elapsed, cuEventElapsedTime,                                                           \
      (float *milliseconds, tz_cuda_event *from, tz_cuda_event *to))                               \
    X(shared_memory_handle, cuIpcGetMemHandle, (tz_cuda_handle * out, tz_cu_pointer pointer))      \
    X(shared_memory_open, cuIpcOpenMemHandle_v2,                                                   \
      (tz_cu_pointer * out, tz_cuda_handle handle, unsigned flags))                                \
    X(shared_memory_close, cuIpcCloseMemHandle, (tz_cu_pointer pointer))                           \
    X(shared_event_handle, cuIpcGetEventHandle, (tz_cuda_handle * out, tz_cuda_event * event))     \
    X(shared_event_open, cuIpcOpenEventHandle, (tz_cuda_event * *out, tz_cuda_handle handle))      \
    X(capture_begin, cuStreamBeginCapture_v2, (tz_cuda_queue * queue, int mode))                   \
    X(capture_end, cuStreamEndCapture, (tz_cuda_queue * queue, tz_cu_handle * recorded))           \
    X(recorded_destroy, cuGraphDestroy, (tz_cu_handle recorded))                                   \
    X(graph_create, cuGraphInstantiateWithFlags,                                                   \
      (tz_cuda_graph * *graph, tz_cu_handle recorded, unsigned long long flags))                   \
    X(graph_launch, cuGraphLaunch, (tz_cuda_graph * graph, tz_cuda_queue * queue))                 \
    X(graph_destroy, cuGraphExecDestroy, (tz_cuda_graph * graph))                                  \
    X(module_load, cuModuleLoadData, (tz_cu_handle * module, const void *image))                   \
    X(module_unload, cuModuleUnload, (tz_cu_handle module))                                        \
    X(module_function, cuModuleGetFunction,                                                        \
      (tz_cu_handle * function, tz_cu_handle module, const char *name))                            \
    X(kernel_get, cuFuncGetAttribute, (int *value, int which, tz_cu_handle function))              \
    X(kernel_set, cuFuncSetAttribute, (tz_cu_handle function, int which, int value))               \
    X(kernel_occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
      (int *blocks, tz_cu_handle function, int threads, size_t shared_bytes))                      \
    X(kernel_launch, cuLaunchKernel,                                                               \
      (tz_cu_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, tz_cuda_queue *queue,            \
       void **arguments, void **extra))                                                            \
    X(kernel_launch_cooperative, cuLaunchCooperativeKernel,                                        \
      (tz_cu_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, tz_cuda_queue *queue,            \
       void **arguments))

typedef struct tz__driver {
#define TZ__DRIVER_MEMBER(member, symbol, parameters) tz_cu_result(*member) parameters;
    TZ__DRIVER_TABLE(TZ__DRIVER_MEMBER)
#undef TZ__DRIVER_MEMBER
    tz_library library;
    int version_number; /* 1000 major + 10 minor */
    int devices;
} tz__driver;

struct tz_cuda {
    tz__driver driver;
    tz_cuda_device device;
    tz_cu_device handle;
    tz_cu_handle context;
    tz_cancel cancel;    /* of what is compiled */
    atomic_ullong peers; /* bits: devices whose memory was tried to be opened to this one */
    atomic_int broken;   /* enum tz__broken */
    tz_error fault;      /* TZ__BROKEN: what ended the context */
};

/* BREAKING: a thread is about to write tz_cuda.fault. */
enum tz__broken { TZ__INTACT, TZ__BREAKING, TZ__BROKEN };

/* ---- open.c ---------------------------------------------------------------------------------- */

/* Opens the library. TZ_BACKEND if there is none, or it is too old. */
tz_status tz__driver_load(tz__driver *api, tz_error *error);
/* Opens the library and initialises it. TZ_BACKEND if there is no device. */
tz_status tz__driver_open(tz__driver *api, tz_error *error);
void tz__driver_close(tz__driver *api);
tz_status tz__device_look(const tz__driver *api, int ordinal, tz_cuda_device *device,
                          tz_cu_device *handle, tz_error *error);
/* Do two devices copy to each other directly? False: that is not known. */
bool tz__peers_look(const tz__driver *api, int a, int b, bool *are);

/* ---- fault.c --------------------------------------------------------------------------------- */

/* Sets the error for a result that is not 0: "WHAT: why; what to do". `device` is NULL for calls
 * that concern no device. */
tz_status tz__driver_failed(const tz__driver *api, const tz_cuda_device *device,
                            tz_cu_result result, tz_error *error, const char *place,
                            const char *what);

/* The same for an open device; TZ_OK for a result of 0. Keeps a result that ends the context for
 * tz__cuda_enter. */
tz_status tz__cuda_check(tz_cuda *cuda, tz_cu_result result, tz_error *error, const char *place,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Before every call of the driver: makes the context current in this thread. Once a fault has ended
 * the context, returns that first fault. */
tz_status tz__cuda_enter(tz_cuda *cuda, tz_error *error);

#endif
