/* Shared by driver.c and compile.c: opening a library by its symbols, NVRTC, cached cubins. */
#ifndef TZ_CORE_CUDA_DRIVER_IMPL_H
#define TZ_CORE_CUDA_DRIVER_IMPL_H

#include "cuda/driver.h"

/* A symbol and where its address goes in the caller's table of functions. */
typedef struct tz__symbol {
    const char *name;
    size_t offset;
} tz__symbol;

/* Fill `table` from an open library; the first missing symbol's name, or NULL when all are there.
 */
const char *tz__symbols_find(void *library, void *table, const tz__symbol *symbols, size_t count);

/* The NVRTC that is found and its version, for doctor. TZ_UNSUPPORTED says what is missing. */
tz_status tz__nvrtc_describe(char *text, size_t size, tz_error *error);

/* A cubin through the cache on disk; *cached says whether it came from there. With `refresh` the
 * entry is not read but replaced. `*cubin` is malloc'd. Errors: those of tz_cuda_compile. */
tz_status tz__cuda_cubin(const char *architecture, const char *source,
                         const tz_cuda_header *headers, size_t headers_count, bool refresh,
                         void **cubin, size_t *bytes, bool *cached, tz_error *error);

#endif
