/* NVRTC: opening, version, options, compiling. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_NVRTC_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_NVRTC_H

#include "backend/cuda/compile/compile.h"

typedef struct tz__nvrtc tz__nvrtc;

/* TZ_UNSUPPORTED names what is missing. Opening takes about 6 ms if the library (110 MB) is in the
 * page cache, 0.13 s from a local disk, and almost nothing the second time in a process. */
tz_status tz__nvrtc_open(tz__nvrtc **out, tz_error *error);
void tz__nvrtc_close(tz__nvrtc *nvrtc); /* NULL is fine */

/* "13.0" */
void tz__nvrtc_version(const tz__nvrtc *nvrtc, char *text, size_t size);
/* For doctor: "13.0 (libnvrtc.so.13)". */
tz_status tz__nvrtc_describe(char *text, size_t size, tz_error *error);

/* The options that change the code, beginning with "--gpu-architecture=sm_90", then the name of the
 * source. Stores borrowed texts in `options`, which has room for TZ__NVRTC_OPTIONS_MAX. Returns
 * their number. */
enum { TZ__NVRTC_OPTIONS_MAX = 16, TZ__NVRTC_OPTION_BYTES = 64 };
int tz__nvrtc_code_options(const char *architecture, char first[TZ__NVRTC_OPTION_BYTES],
                           const char **options);

/* The cubin, malloc'd. `stopped` may be NULL. */
tz_status tz__nvrtc_compile(const tz__nvrtc *nvrtc, tz_stopped_fn *stopped,
                            const char *architecture, const char *source,
                            const tz_cuda_header *headers, size_t count, void **cubin,
                            size_t *bytes, tz_error *error);

/* The same as PTX, for a virtual architecture ("compute_75"): a text, malloc'd. */
tz_status tz__nvrtc_compile_ptx(const tz__nvrtc *nvrtc, const char *architecture,
                                const char *source, const tz_cuda_header *headers, size_t count,
                                char **ptx, tz_error *error);

#endif
