/* Cubins kept on disk: $TRAPEZE_CACHE ("" for none), else $XDG_CACHE_HOME/trapeze, else
 * ~/.cache/trapeze. Whatever is wrong with an entry, it is a miss. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_CACHE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_CACHE_H

#include "backend/cuda/compile/compile.h"

/* A cubin, from the cache or compiled and then kept there; *cached says which. With `refresh` the
 * entry is not read but replaced. `*cubin` is malloc'd. Errors: those of tz_cuda_compile; a cache
 * that cannot be written is none (tz_cuda_cache_take_warning). */
tz_status tz__cuda_cubin(const char *architecture, const char *source,
                         const tz_cuda_header *headers, size_t headers_count, bool refresh,
                         void **cubin, size_t *bytes, bool *cached, tz_error *error);

/* Where the cache is, or why there is none, for doctor. */
void tz__cuda_cache_describe(char *text, size_t size);

#endif
