/* CUDA C++ to cubins, by NVRTC in other processes: the program trapeze-compile opens it at run
 * time. A compiler that crashes or hangs is an error of the one source. No device is needed. Any
 * thread may call any function at any time. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_COMPILE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_COMPILE_H

#include "backend/cuda/compile/compilers.h"
#include "base/cache.h"

/* For doctor: NVRTC's version and library, "13.0 (libnvrtc.so.13)". Errors: TZ_UNSUPPORTED names
 * what is missing. */
tz_status tz_cuda_compile_describe(char *text, size_t size, tz_error *error);

/* The cubin of `source` for an architecture ("sm_90"), malloc'd, and its size. It may come from the
 * cache: *cached. If `cached` is NULL, the source is compiled in any case. A new cubin is written
 * to the cache. `cancel` is asked every few milliseconds, and ends it at once; NULL: nothing does.
 * Not `at_once`: one of many kernels, it waits while as many compile as may at once
 * (tz_cuda_compilers_limit). Errors: TZ_UNSUPPORTED without NVRTC or the program; TZ_BACKEND, with
 * the first lines of NVRTC's log, or with what became of the compiler; TZ_INTERRUPTED. */
tz_status tz_cuda_compile(const tz_cancel *cancel, bool at_once, const char *architecture,
                          const char *source, const tz_cuda_header *headers, size_t headers_count,
                          bool *cached, void **cubin, size_t *bytes, tz_error *error);

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
