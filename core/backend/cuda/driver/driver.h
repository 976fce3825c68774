/* The CUDA driver, opened at run time: devices, memory, kernels. One binary runs with and without a
 * GPU. Streams, events, graphs and pinned memory are in stream.h, NVRTC alone in compile.h.
 *
 * Work goes to a stream. NULL, the default stream, is one more stream of its own: nothing orders it
 * against those of tz_cuda_queue_create. Any thread may call, two at a time too, but a graph's
 * capture belongs to the thread that began it.
 *
 * Errors. What the driver refuses is TZ_BACKEND, device memory that is not there TZ_MEMORY, an
 * argument that cannot be right TZ_RANGE or TZ_SHAPE. A kernel that fails is told by any later
 * call, most likely by one that waits. After that, and after the loss of a device, the context is
 * of no use: calls go to the driver no more and return the first error again, word for word; what
 * frees or destroys does nothing; tz_cuda_close frees everything. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_DRIVER_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_DRIVER_H

#include "backend/cuda/compile/compile.h"
#include "base/error.h"
#include <stdint.h>

/* The driver's own types, declared here so that no CUDA header is needed to build. */
typedef int tz_cu_result;
typedef int tz_cu_device;
typedef void *tz_cu_handle; /* context, module, function */
typedef uint64_t tz_cu_pointer;

typedef struct tz_cuda_device {
    char name[128];
    char bus_id[32]; /* on the PCI bus: "0000:17:00.0"; "" if unknown */
    int ordinal;
    int major, minor; /* compute capability */
    int64_t memory_bytes;
    int64_t l2_bytes;
    int multiprocessors; /* streaming multiprocessors */
    /* Of a block. */
    int shared_bytes;          /* at most, after opting in */
    int shared_reserved_bytes; /* that the system takes beside what a block asks for */
    /* Of a multiprocessor. */
    int processor_shared_bytes;
    int processor_registers;
    int processor_threads;
    int processor_blocks;
    /* Nominal; 0 where the driver does not tell. A transfer moves bus_bits twice a clock. */
    int clock_khz, memory_clock_khz, memory_bus_bits;
    bool cooperative;        /* a kernel may synchronise its whole grid */
    bool unified_addressing; /* host and device pointers share one address space */
    bool integrated;         /* its memory is the host's */
    bool time_limit;         /* the system stops kernels that take long */
} tz_cuda_device;

typedef struct tz_cuda tz_cuda;             /* an opened driver with a context on one device */
typedef struct tz_cuda_queue tz_cuda_queue; /* work that is done in order: stream.h */

/* What doctor prints: driver and NVRTC versions or why they are not there; devices found, whether
 * their energy is counted; where compiled kernels are kept. Never fails; creates no context. `text`
 * is lines, each ended by a newline. */
void tz_cuda_describe(char *text, size_t size);

/* 1 when a driver, at least one device and NVRTC are there (cheap, no context), else 0. */
int tz_cuda_available(void);

/* Open the driver and the device with that ordinal (CUDA_VISIBLE_DEVICES counts). TZ_BACKEND names
 * what is missing and what to do. */
tz_status tz_cuda_open(tz_cuda **out, int ordinal, tz_error *error);
void tz_cuda_close(tz_cuda *cuda); /* NULL is fine */
const tz_cuda_device *tz_cuda_device_of(const tz_cuda *cuda);

/* How many devices there are; 0 without a driver. */
int tz_cuda_devices_count(void);
/* What is known of a device without a context on it. TZ_BACKEND as tz_cuda_open. */
tz_status tz_cuda_look(int ordinal, tz_cuda_device *out, tz_error *error);

/* Wait for the work of all streams. */
tz_status tz_cuda_wait(tz_cuda *cuda, tz_error *error);

/* ---- Device memory ----------------------------------------------------------------------------
 *
 * These copies and clears are done when they return. They do not wait for streams other than the
 * default one: wait for the one that computes what is downloaded. */

/* TZ_MEMORY says how much was asked for and how much is free. */
tz_status tz_cuda_allocate(tz_cuda *cuda, tz_cu_pointer *out, size_t bytes, tz_error *error);
void tz_cuda_free(tz_cuda *cuda, tz_cu_pointer pointer); /* 0 is fine; waits for the device */
/* Bytes that nobody holds, and all that there are. */
tz_status tz_cuda_memory(tz_cuda *cuda, size_t *free_bytes, size_t *all_bytes, tz_error *error);
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
/* Between a box of device memory and a dense host array. TZ_SHAPE: the pitches do not fit. */
tz_status tz_cuda_upload_box(tz_cuda *cuda, tz_cu_pointer to, const tz_cuda_box *box,
                             const void *from, tz_error *error);
tz_status tz_cuda_download_box(tz_cuda *cuda, void *to, tz_cu_pointer from, const tz_cuda_box *box,
                               tz_error *error);

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct tz_cuda_kernel {
    tz_cu_handle module, function;
    int registers;            /* a thread */
    int local_bytes;          /* a thread: spills; 0 is what we want */
    int shared_bytes;         /* a block, static */
    int dynamic_shared_bytes; /* a block: the most that a launch may ask for, opted into on loading
                               */
    int threads_max;          /* a block, with so many registers */
} tz_cuda_kernel;

/* Compile `source` (CUDA C++) for the device's architecture, or take the cubin from the cache on
 * disk ($XDG_CACHE_HOME/trapeze or ~/.cache/trapeze; TRAPEZE_CACHE names another, "" none), and
 * load the function. `headers` are named texts that the source includes. A cache that cannot be
 * written is no error but a warning: tz_cuda_cache_take_warning. TZ_BACKEND carries the first lines
 * of NVRTC's log. */
tz_status tz_cuda_load(tz_cuda *cuda, tz_cuda_kernel *out, const char *source, const char *function,
                       const tz_cuda_header *headers, size_t headers_count, tz_error *error);
void tz_cuda_unload(tz_cuda *cuda, tz_cuda_kernel *kernel);

/* Launch on a stream and return at once: `grid` blocks of `block` threads, `shared_bytes` of
 * dynamic shared memory each. `arguments`: pointers to the kernel's arguments, read before this
 * returns. `cooperative`: the kernel synchronises its grid, so all blocks must fit on the device at
 * once (tz_cuda_occupancy); TZ_UNSUPPORTED where the device cannot. */
tz_status tz_cuda_launch(tz_cuda *cuda, tz_cuda_queue *stream, const tz_cuda_kernel *kernel,
                         const int grid[3], const int block[3], int shared_bytes, bool cooperative,
                         void **arguments, tz_error *error);

/* Blocks of `threads` threads and `shared_bytes` of dynamic shared memory that a multiprocessor
 * holds at once; 0 when not even one fits. */
tz_status tz_cuda_occupancy(tz_cuda *cuda, const tz_cuda_kernel *kernel, int threads,
                            int shared_bytes, int *blocks_per_multiprocessor, tz_error *error);

#endif
