/* Cubins from the cache, or compiled and then kept there. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_CUBIN_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_CUBIN_H

#include "backend/cuda/compile/cache.h"

/* A cubin, malloc'd; *cached: it was in the cache. With `refresh` an entry there is not read but
 * replaced. Errors: those of tz_cuda_compile; a cache that cannot be written is none
 * (tz_cuda_cache_take_warning). */
tz_status tz__cuda_cubin(const char *architecture, const char *source,
                         const tz_cuda_header *headers, size_t headers_count, bool refresh,
                         void **cubin, size_t *bytes, bool *cached, tz_error *error);

/* The key of a cubin: all that compiling depends on. TZ_UNSUPPORTED when NVRTC is not there, whose
 * version is part of it. */
tz_status tz__cuda_cubin_key(tz_cuda_key *key, const char *architecture, const char *source,
                             const tz_cuda_header *headers, size_t headers_count, tz_error *error);

/* From the cache alone, malloc'd; NULL: it is not there. */
void *tz__cuda_cubin_cached(tz_cuda_key key, size_t *bytes);

#endif
