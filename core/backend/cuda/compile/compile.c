#include "backend/cuda/compile/compile.h"

#include "backend/cuda/compile/nvrtc.h"

static const tz_cache_kind cubins = {.magic = {'T', 'Z', 'C', 'U', 'B', 'I', 'N', '1'},
                                     .ending = "cubin"};

static tz_cache_key key_of(const tz__nvrtc *nvrtc, const char *architecture, const char *source,
                           const tz_cuda_header *headers, size_t count)
{
    char text[TZ__NVRTC_OPTION_BYTES];
    const char *options[TZ__NVRTC_OPTIONS_MAX];
    tz_cache_key key = tz_cache_key_start();
    tz_cache_key_add(&key, TZ_VERSION);
    tz__nvrtc_version(nvrtc, text, sizeof text);
    tz_cache_key_add(&key, text);
    const int options_count = tz__nvrtc_code_options(architecture, text, options);
    for (int k = 0; k < options_count; k++)
        tz_cache_key_add(&key, options[k]);
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
    tz__nvrtc *nvrtc;
    const tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status)
        return status;
    *key = key_of(nvrtc, architecture, source, headers, headers_count);
    tz__nvrtc_close(nvrtc);
    return TZ_OK;
}

void *tz_cuda_compile_cached(tz_cache_key key, size_t *bytes)
{
    return tz_cache_read(key, &cubins, bytes);
}

tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, bool *cached,
                          void **cubin, size_t *bytes, tz_error *error)
{
    return tz_cuda_compile_until(NULL, architecture, source, headers, headers_count, cached, cubin,
                                 bytes, error);
}

tz_status tz_cuda_compile_until(tz_stopped_fn *stopped, const char *architecture,
                                const char *source, const tz_cuda_header *headers,
                                size_t headers_count, bool *cached, void **cubin, size_t *bytes,
                                tz_error *error)
{
    tz__nvrtc *nvrtc;
    *cubin = NULL;
    *bytes = 0;
    tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status)
        return status;
    const tz_cache_key key = key_of(nvrtc, architecture, source, headers, headers_count);
    if (cached) {
        *cubin = tz_cuda_compile_cached(key, bytes);
        *cached = *cubin;
    }
    if (!*cubin) {
        status = tz__nvrtc_compile(nvrtc, stopped, architecture, source, headers, headers_count,
                                   cubin, bytes, error);
        if (!status)
            tz_cache_write(key, &cubins, *cubin, *bytes);
    }
    tz__nvrtc_close(nvrtc);
    return status;
}

tz_status tz_cuda_compile_ptx(const char *architecture, const char *source,
                              const tz_cuda_header *headers, size_t headers_count, char **ptx,
                              tz_error *error)
{
    tz__nvrtc *nvrtc;
    *ptx = NULL;
    tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status)
        return status;
    status = tz__nvrtc_compile_ptx(nvrtc, architecture, source, headers, headers_count, ptx, error);
    tz__nvrtc_close(nvrtc);
    return status;
}
