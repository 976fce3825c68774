/* CUDA C++ to cubins, by NVRTC, which is opened at run time. No device is needed. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_COMPILE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_COMPILE_H

#include "base/cache.h"
#include "base/cancel.h"
#include "base/error.h"

/* A named text that a source includes. */
typedef struct tz_cuda_header {
    const char *name, *text;
} tz_cuda_header;

/* For doctor: NVRTC's version and library, "13.0 (libnvrtc.so.13)". Errors: TZ_UNSUPPORTED names
 * what is missing. */
tz_status tz_cuda_compile_describe(char *text, size_t size, tz_error *error);

/* The cubin of `source` for an architecture ("sm_90"), malloc'd, and its size. It may come from the
 * cache: *cached. If `cached` is NULL, the source is compiled in any case. A new cubin is written
 * to the cache. Errors: TZ_UNSUPPORTED without NVRTC; TZ_BACKEND, with the first lines of NVRTC's
 * log. */
tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, bool *cached,
                          void **cubin, size_t *bytes, tz_error *error);

/* The same. `cancel` (may be NULL) is asked while the compiler works, if NVRTC is 13 or newer,
 * else before. Errors: also TZ_INTERRUPTED. */
tz_status tz_cuda_compile_until(const tz_cancel *cancel, const char *architecture,
                                const char *source, const tz_cuda_header *headers,
                                size_t headers_count, bool *cached, void **cubin, size_t *bytes,
                                tz_error *error);

/* The PTX of `source` for a virtual architecture ("compute_75"), malloc'd. Not kept in the cache.
 * Errors: those of tz_cuda_compile(). */
tz_status tz_cuda_compile_ptx(const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, char **ptx,
                              tz_error *error);

/* The key of a cubin: all that compiling depends on. Errors: TZ_UNSUPPORTED without NVRTC, whose
 * version is part of the key. */
tz_status tz_cuda_compile_key(tz_cache_key *key, const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, tz_error *error);

/* A cubin of the cache, malloc'd; NULL if the cache does not have it. */
void *tz_cuda_compile_cached(tz_cache_key key, size_t *bytes);

#endif
