/* The CUDA driver and NVRTC, opened at run time: one binary runs with and without a GPU. */
#ifndef TZ_CORE_CUDA_DRIVER_H
#define TZ_CORE_CUDA_DRIVER_H

#include "base/error.h"
#include <stdint.h>

/* The driver's own types, declared here so that no CUDA header is needed to build. */
typedef int tz_cu_result;
typedef int tz_cu_device;
typedef void *tz_cu_handle; /* context, module, function, stream, event */
typedef uint64_t tz_cu_pointer;

typedef struct tz_cuda_device {
    char name[128];
    int ordinal;
    int major, minor; /* compute capability */
    int processors;   /* streaming multiprocessors */
    int shared_bytes; /* of a block, after opting in */
    int64_t memory_bytes;
} tz_cuda_device;

typedef struct tz_cuda tz_cuda; /* an opened driver with a context on one device */

/* What doctor prints: driver and NVRTC versions or why they are not there; devices found. Never
 * fails; creates no context. `text` is lines, each ended by a newline. */
void tz_cuda_describe(char *text, size_t size);

/* 1 when a driver, at least one device and NVRTC are there (cheap, no context), else 0. */
int tz_cuda_available(void);

/* Open the driver and the device with that ordinal (CUDA_VISIBLE_DEVICES counts). TZ_BACKEND names
 * what is missing and what to do. */
tz_status tz_cuda_open(tz_cuda **out, int ordinal, tz_error *error);
void tz_cuda_close(tz_cuda *cuda); /* NULL is fine */
const tz_cuda_device *tz_cuda_device_of(const tz_cuda *cuda);

/* Device memory. TZ_MEMORY says how much was asked for and how much is free. */
tz_status tz_cuda_allocate(tz_cuda *cuda, tz_cu_pointer *out, size_t bytes, tz_error *error);
void tz_cuda_free(tz_cuda *cuda, tz_cu_pointer pointer); /* 0 is fine */
tz_status tz_cuda_upload(tz_cuda *cuda, tz_cu_pointer to, const void *from, size_t bytes,
                         tz_error *error);
tz_status tz_cuda_download(tz_cuda *cuda, void *to, tz_cu_pointer from, size_t bytes,
                           tz_error *error);
tz_status tz_cuda_clear(tz_cuda *cuda, tz_cu_pointer to, size_t bytes, tz_error *error);
/* Rows of `row_bytes`, `rows` of them, the pitches in bytes; 3-D boxes as planes of rows. */
typedef struct tz_cuda_box {
    size_t row_bytes, rows, planes;
    size_t device_offset, device_row_pitch,
        device_plane_pitch; /* plane pitch: a multiple of row pitch */
} tz_cuda_box;
/* Between a box of device memory and a dense host array. */
tz_status tz_cuda_upload_box(tz_cuda *cuda, tz_cu_pointer to, const tz_cuda_box *box,
                             const void *from, tz_error *error);
tz_status tz_cuda_download_box(tz_cuda *cuda, void *to, tz_cu_pointer from, const tz_cuda_box *box,
                               tz_error *error);

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct tz_cuda_kernel {
    tz_cu_handle module, function;
    int registers;   /* a thread */
    int local_bytes; /* a thread: spills; 0 is what we want */
} tz_cuda_kernel;

/* Compile `source` (CUDA C++) for the device's architecture, or take the cubin from the cache on
 * disk ($XDG_CACHE_HOME/trapeze or ~/.cache/trapeze; TRAPEZE_CACHE names another, "" none), and
 * load the function. `headers` are named texts that the source includes. An unwritable cache is no
 * error. TZ_BACKEND carries the first lines of NVRTC's log. */
typedef struct tz_cuda_header {
    const char *name, *text;
} tz_cuda_header;
tz_status tz_cuda_load(tz_cuda *cuda, tz_cuda_kernel *out, const char *source, const char *function,
                       const tz_cuda_header *headers, size_t headers_count, tz_error *error);
void tz_cuda_unload(tz_cuda *cuda, tz_cuda_kernel *kernel);

/* Compile alone, for any architecture ("sm_90"), without a device: the cubin (malloc'd) and its
 * size. What CI does. TZ_UNSUPPORTED when NVRTC is not there. */
tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, void **cubin,
                          size_t *bytes, tz_error *error);

/* Launch and return at once. `arguments`: pointers to the kernel's arguments. `shared_bytes` above
 * 48 KiB are opted into. */
tz_status tz_cuda_launch(tz_cuda *cuda, const tz_cuda_kernel *kernel, const int grid[3],
                         const int block[3], int shared_bytes, void **arguments, tz_error *error);
/* Wait for all launches; an error of theirs (a fault, a lost device) is TZ_BACKEND, one line. */
tz_status tz_cuda_wait(tz_cuda *cuda, tz_error *error);

#endif
