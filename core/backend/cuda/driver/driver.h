/* The CUDA driver: devices, memory, kernels. It is opened at run time, so that one binary runs
 * with and without a GPU. queue.h has queues, events, graphs and pinned memory; compile.h has
 * NVRTC.
 *
 * A queue (a CUDA stream) does its work in order. NULL is the default queue. It is a queue like
 * the others: only events order the work of two queues.
 *
 * Threads. Any number of threads may call any function at once. Work for a graph must come from
 * the thread that began the graph.
 *
 * Errors:
 *
 *   TZ_BACKEND          the driver refuses, or a kernel or the device has failed
 *   TZ_MEMORY           device memory or pinned memory does not suffice
 *   TZ_RANGE, TZ_SHAPE  an argument is wrong; nothing was done
 *
 * A later call reports that a kernel failed, usually a call that waits. After such a failure, or
 * the loss of a device, the context is unusable: functions that return a status repeat the first
 * error, functions that free or destroy do nothing, and tz_cuda_close frees everything. */
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
    int driver;       /* CUDA version of the driver: 13000; 0: not known */
    int major, minor; /* compute capability */
    int64_t memory_bytes;
    int l2_bytes;
    int multiprocessors;
    /* Of a block. */
    int shared_bytes;          /* at most, after opting in */
    int shared_reserved_bytes; /* which the system takes in addition */
    /* Of a multiprocessor. */
    int multiprocessor_shared_bytes;
    int multiprocessor_registers;
    int multiprocessor_threads;
    int multiprocessor_blocks;
    /* Nominal; 0 where not known. The memory moves memory_bus_bits twice in a clock. */
    int clock_khz, memory_clock_khz, memory_bus_bits;
    bool cooperative; /* a kernel may synchronise its whole grid */
    bool time_limit;  /* the system stops kernels that take long */
} tz_cuda_device;

typedef struct tz_cuda tz_cuda;             /* an opened driver with a context on one device */
typedef struct tz_cuda_queue tz_cuda_queue; /* queue.h */

/* For `trapeze doctor`, as lines that end with a newline: the versions of the driver and of NVRTC,
 * or why they are missing; the devices, their energy, whether processes share their memory, and
 * which pairs have peer access; the folder of compiled kernels. Creates no context. The text is
 * cut off if `size` is too small. */
void tz_cuda_describe(char *text, size_t size);

/* 1 if a driver, at least one device and NVRTC are available, else 0. Cheap; creates no context. */
int tz_cuda_available(void);
/* Whether the driver is installed; opens no device. */
int tz_cuda_installed(void);

/* Open the driver and the device with that ordinal (CUDA_VISIBLE_DEVICES counts). TZ_BACKEND names
 * what is missing and what to do. */
tz_status tz_cuda_open(tz_cuda **out, int ordinal, tz_error *error);
void tz_cuda_close(tz_cuda *cuda); /* NULL is fine */
/* From now on tz_cuda_load() asks `cancel`, as tz_cuda_compile() does. */
void tz_cuda_cancel_by(tz_cuda *cuda, tz_cancel cancel);
const tz_cuda_device *tz_cuda_device_of(const tz_cuda *cuda);

/* How many devices there are; 0 without a driver. */
int tz_cuda_devices_count(void);
/* Do two devices copy to each other directly? False if that is not known. */
bool tz_cuda_are_peers(int a, int b);
/* The facts of a device, without a context on it. TZ_BACKEND as tz_cuda_open. */
tz_status tz_cuda_look(int ordinal, tz_cuda_device *out, tz_error *error);

/* Wait until the work of all queues is done. */
tz_status tz_cuda_wait(tz_cuda *cuda, tz_error *error);

/* ---- Device memory ----------------------------------------------------------------------------
 *
 * These copies and clears are done when they return. They wait for the work of the default queue,
 * but not for other queues: before a download, wait for the queue that computes. */

/* 0 bytes are allocated as 1. The message of TZ_MEMORY has the requested and the free bytes. */
tz_status tz_cuda_allocate(tz_cuda *cuda, tz_cu_pointer *out, size_t bytes, tz_error *error);
void tz_cuda_free(tz_cuda *cuda, tz_cu_pointer pointer); /* 0 is fine; waits for the device */
/* Free and total bytes of the device's memory, which other programs use, too. */
tz_status tz_cuda_memory(tz_cuda *cuda, size_t *free_bytes, size_t *all_bytes, tz_error *error);
tz_status tz_cuda_upload(tz_cuda *cuda, tz_cu_pointer to, const void *from, size_t bytes,
                         tz_error *error);
tz_status tz_cuda_download(tz_cuda *cuda, void *to, tz_cu_pointer from, size_t bytes,
                           tz_error *error);
tz_status tz_cuda_clear(tz_cuda *cuda, tz_cu_pointer to, size_t bytes, tz_error *error);
/* A box of device memory: `planes` planes of `rows` rows. Everything in bytes. */
typedef struct tz_cuda_box {
    size_t row_bytes, rows, planes;
    size_t device_offset;      /* of the first row */
    size_t device_row_pitch;   /* from row to row */
    size_t device_plane_pitch; /* from plane to plane: a multiple of the row pitch */
} tz_cuda_box;

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct tz_cuda_kernel {
    tz_cu_handle module, function;
    int registers;            /* of a thread */
    int local_bytes;          /* of a thread, for spilt registers; 0 is best */
    int shared_bytes;         /* of a block, static */
    int dynamic_shared_bytes; /* of a block, the limit of a launch */
    int threads_max;          /* of a block, with this number of registers */
} tz_cuda_kernel;

/* Compiles `source` (CUDA C++) for the device's architecture, or takes the cubin from the cache,
 * and loads a function. `headers` are the texts that the source includes. The message of
 * TZ_BACKEND has the first lines of NVRTC's log. Errors: also TZ_INTERRUPTED. */
tz_status tz_cuda_load(tz_cuda *cuda, tz_cuda_kernel *out, const char *source, const char *function,
                       const tz_cuda_header *headers, size_t headers_count, tz_error *error);
void tz_cuda_unload(tz_cuda *cuda, tz_cuda_kernel *kernel);

/* Puts a launch into a queue and returns at once: `grid` blocks of `block` threads, each block with
 * `shared_bytes` of dynamic shared memory. `arguments` points to the kernel's arguments, which are
 * read before this returns. `cooperative`: the kernel synchronises its grid, so all blocks must fit
 * on the device at once (tz_cuda_occupancy); TZ_UNSUPPORTED if the device cannot do that. */
tz_status tz_cuda_launch(tz_cuda *cuda, tz_cuda_queue *queue, const tz_cuda_kernel *kernel,
                         const int grid[3], const int block[3], int shared_bytes, bool cooperative,
                         void **arguments, tz_error *error);

/* How many blocks of `threads` threads and `shared_bytes` of dynamic shared memory a multiprocessor
 * holds at once; 0 if none fits. */
tz_status tz_cuda_occupancy(tz_cuda *cuda, const tz_cuda_kernel *kernel, int threads,
                            int shared_bytes, int *blocks_per_multiprocessor, tz_error *error);

#endif
