/* CUDA C++ to cubins and PTX: the options, and the cache of cubins. Launches, the planner and the
 * plans of papers compile here. */
#include "backend/cuda/compile/compile.h"

#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 16, OPTION_BYTES = 64 };

/* All results must equal those of C on the CPU: no contraction, IEEE division and square root, no
 * flushing of denormals. --device-as-default-execution-space is the long name of -default-device.
 */
static const char *const code_options[] = {
    "--std=c++17",     "--device-as-default-execution-space",
    "--fmad=false",    "--ftz=false",
    "--prec-div=true", "--prec-sqrt=true",
};
enum { CODE_OPTIONS = sizeof code_options / sizeof *code_options };
_Static_assert(CODE_OPTIONS + 2 <= OPTIONS_MAX, "room for the others");

/* The options that change the code, beginning with "--gpu-architecture=sm_90" in `first`: borrowed
 * texts in `options`, which has room for OPTIONS_MAX. Returns their number. */
static int code_options_of(const char *architecture, char first[OPTION_BYTES], const char **options)
{
    int count = 0;
    snprintf(first, OPTION_BYTES, "--gpu-architecture=%s", architecture);
    options[count++] = first;
    for (int k = 0; k < CODE_OPTIONS; k++)
        options[count++] = code_options[k];
    return count;
}

tz_status tz_cuda_compile_describe(char *text, size_t size, tz_error *error)
{
    tz__nvrtc nvrtc;
    const tz_status status = tz__compilers_look(&nvrtc, error);
    if (!status)
        snprintf(text, size, "%s (%s)", nvrtc.version, nvrtc.library);
    return status;
}

/* Compiles `order`, whose options are those of the architecture. */
static tz_status compile(tz__compile_order order, const tz__nvrtc *nvrtc, const char *architecture,
                         void **out, size_t *bytes, tz_error *error)
{
    char first[OPTION_BYTES];
    const char *options[OPTIONS_MAX];
    order.options = options;
    order.options_count = code_options_of(architecture, first, options);
    /* Since NVRTC 12.4: fewer built-in names. Saves 9 of 100 to 350 ms; the cubin is the same. */
    if (nvrtc->major >= 13)
        options[order.options_count++] = "--minimal";
    return tz__compilers_compile(&order, out, bytes, error);
}

/* ---- The cache ------------------------------------------------------------------------------- */

static const tz_cache_kind cubins = {
    .magic = {'T', 'Z', 'C', 'U', 'B', 'I', 'N', '1'}, .ending = "cubin", .kept = true};

static tz_cache_key key_of(const tz__nvrtc *nvrtc, const char *architecture, const char *source,
                           const tz_cuda_header *headers, size_t count)
{
    char first[OPTION_BYTES];
    const char *options[OPTIONS_MAX];
    tz_cache_key key = tz_cache_key_start();
    tz_cache_key_add(&key, TZ_VERSION);
    tz_cache_key_add(&key, nvrtc->version);
    const int options_count = code_options_of(architecture, first, options);
    for (int k = 0; k < options_count; k++)
        tz_cache_key_add(&key, options[k]);
    tz_cache_key_add(&key, "kernel.cu"); /* the source's name in messages */
    tz_cache_key_add(&key, source);
    for (size_t k = 0; k < count; k++) {
        tz_cache_key_add(&key, headers[k].name);
        tz_cache_key_add(&key, headers[k].text);
    }
    return tz_cache_key_end(key);
}

tz_status tz_cuda_compile_key(tz_cache_key *key, const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, tz_error *error)
{
    tz__nvrtc nvrtc;
    const tz_status status = tz__compilers_look(&nvrtc, error);
    if (!status)
        *key = key_of(&nvrtc, architecture, source, headers, headers_count);
    return status;
}

void *tz_cuda_compile_cached(tz_cache_key key, size_t *bytes)
{
    return tz_cache_read(key, &cubins, bytes);
}

tz_status tz_cuda_compile(const tz_cancel *cancel, bool at_once, const char *architecture,
                          const char *source, const tz_cuda_header *headers, size_t headers_count,
                          bool *cached, void **cubin, size_t *bytes, tz_error *error)
{
    const tz__compile_order order = {.source = source,
                                     .headers = headers,
                                     .headers_count = headers_count,
                                     .cancel = cancel,
                                     .at_once = at_once};
    tz__nvrtc nvrtc;
    *cubin = NULL;
    *bytes = 0;
    tz_status status = tz__compilers_look(&nvrtc, error);
    if (status)
        return status;
    const tz_cache_key key = key_of(&nvrtc, architecture, source, headers, headers_count);
    if (cached) {
        *cubin = tz_cuda_compile_cached(key, bytes);
        *cached = *cubin;
    }
    if (*cubin)
        return TZ_OK;
    status = compile(order, &nvrtc, architecture, cubin, bytes, error);
    if (!status)
        tz_cache_write(key, &cubins, *cubin, *bytes);
    return status;
}

tz_status tz_cuda_compile_ptx(const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, char **ptx,
                              tz_error *error)
{
    const tz__compile_order order = {.ptx = true,
                                     .source = source,
                                     .headers = headers,
                                     .headers_count = headers_count,
                                     .at_once = true};
    tz__nvrtc nvrtc;
    void *text = NULL; /* its bytes include the end of the string */
    size_t bytes;
    tz_status status = tz__compilers_look(&nvrtc, error);
    if (!status)
        status = compile(order, &nvrtc, architecture, &text, &bytes, error);
    *ptx = text;
    return status;
}
