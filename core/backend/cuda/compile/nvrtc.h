/* NVRTC as compile.c and cache.c see it: opened, asked for its version, made to compile. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_NVRTC_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_NVRTC_H

#include "backend/cuda/compile/compile.h"

typedef struct tz__nvrtc tz__nvrtc;

/* TZ_UNSUPPORTED says what is missing. It costs about 6 ms where the library (110 MB) is in the
 * page cache, 0.13 s from a local disk, and next to nothing the second time in a process. */
tz_status tz__nvrtc_open(tz__nvrtc **out, tz_error *error);
void tz__nvrtc_close(tz__nvrtc *nvrtc); /* NULL is fine */

/* "13.0" */
void tz__nvrtc_version(const tz__nvrtc *nvrtc, char *text, size_t size);
/* Which one there is, for doctor: "13.0 (libnvrtc.so.13)". */
tz_status tz__nvrtc_describe(char *text, size_t size, tz_error *error);

/* What decides the code beside source, headers and NVRTC's version: "--gpu-architecture=sm_90" and
 * the like, then the name that the source goes by. Options that change no code are not among them.
 * Borrowed texts into `options`, of which there is room for TZ__NVRTC_OPTIONS_MAX; their count. */
enum { TZ__NVRTC_OPTIONS_MAX = 16, TZ__NVRTC_OPTION_BYTES = 64 };
int tz__nvrtc_code_options(const char *architecture, char first[TZ__NVRTC_OPTION_BYTES],
                           const char **options);

/* The cubin, malloc'd. `log`, unless NULL, becomes the assembler's own words on each kernel,
 * malloc'd; the code is the same with and without. */
tz_status tz__nvrtc_compile(const tz__nvrtc *nvrtc, const char *architecture, const char *source,
                            const tz_cuda_header *headers, size_t count, void **cubin,
                            size_t *bytes, char **log, tz_error *error);

#endif
