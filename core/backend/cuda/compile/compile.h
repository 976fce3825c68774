/* CUDA C++ to cubins, by NVRTC, opened at run time; no device is needed. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_COMPILE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_COMPILE_H

#include "base/error.h"

/* A named text that a source includes. */
typedef struct tz_cuda_header {
    const char *name, *text;
} tz_cuda_header;

/* Compile `source` for an architecture ("sm_90"): the cubin, malloc'd, and its size. TZ_UNSUPPORTED
 * when NVRTC is not there; TZ_BACKEND carries the first lines of NVRTC's log. The cache is not
 * looked at. */
tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, void **cubin,
                          size_t *bytes, tz_error *error);

/* What the assembler says of a kernel. Local memory is where spilled registers and arrays with
 * computed indices go: off chip, so 0 is what we want. */
typedef struct tz_cuda_kernel_report {
    char name[128];  /* mangled, unless the kernel is extern "C" */
    int registers;   /* a thread */
    int local_bytes; /* a thread: the stack frame, with those of the functions that it calls */
    int spill_store_bytes, spill_load_bytes; /* a thread: what register spills write and read */
    int shared_bytes;                        /* a block, static */
} tz_cuda_kernel_report;

/* Compile and report on the first `kernels_max` kernels of the source; *count is how many it has.
 * `cubin` may be NULL. Errors: those of tz_cuda_compile; TZ_FORMAT when NVRTC's log does not tell.
 */
tz_status tz_cuda_compile_report(const char *architecture, const char *source,
                                 const tz_cuda_header *headers, size_t headers_count, void **cubin,
                                 size_t *bytes, tz_cuda_kernel_report *kernels, size_t kernels_max,
                                 size_t *count, tz_error *error);

/* The first time that a compiled kernel could not be kept in the cache on disk, the reason, as a
 * line for the user: true once a process, false before and after. Any thread. */
bool tz_cuda_cache_take_warning(char *text, size_t size);

#endif
