/* Counts of kernels in the cache, beside the cubins. */
#include "backend/cuda/compile/compile.h"
#include "backend/cuda/sass/mix.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Change the version when tz_cuda_mix or any of its counts changes. */
static const tz_cache_kind mixes = {.magic = {'T', 'Z', 'C', 'U', 'M', 'I', 'X', 'c'},
                                    .ending = "mix"};

/* An entry ends after the last loop. */
static const size_t least_bytes = offsetof(tz_cuda_mix, loops);

/* Does an entry have this format, and was it made for the same machine? */
static bool is_usable(const void *data, size_t bytes, const tz_cuda_machine *machine)
{
    static const tz_cuda_machine none;
    const tz_cuda_mix *mix = data;
    if (!data || bytes < least_bytes || bytes > sizeof *mix)
        return false;
    const int64_t loops = (int64_t)mix->loops_count + mix->shortest_count;
    return mix->loops_count >= 0 && mix->shortest_count >= 0 &&
           (int64_t)(bytes - least_bytes) == loops * (int64_t)sizeof *mix->loops &&
           memcmp(&mix->machine, machine ? machine : &none, sizeof none) == 0;
}

tz_status tz_cuda_mix_get(tz_cuda_mix *out, bool *found, const tz_cuda_machine *machine,
                          const char *architecture, const char *source, const char *entry,
                          const tz_cuda_header *headers, size_t headers_count, bool compile,
                          tz_stopped_fn *stopped, tz_error *error)
{
    tz_cache_key key;
    size_t bytes = 0;
    *found = false;
    tz_status status =
        tz_cuda_compile_key(&key, architecture, source, headers, headers_count, error);
    if (status)
        return status;
    void *data = tz_cache_read(key, &mixes, &bytes);
    if (is_usable(data, bytes, machine)) {
        memset(out, 0, sizeof *out);
        memcpy(out, data, bytes);
        *found = true;
        free(data);
        return TZ_OK;
    }
    free(data);
    data = tz_cuda_compile_cached(key, &bytes);
    if (!data && compile)
        status = tz_cuda_compile_until(stopped, architecture, source, headers, headers_count, NULL,
                                       &data, &bytes, error);
    if (data)
        status = tz_cuda_mix_count(out, data, bytes, entry, machine, error);
    *found = data && !status;
    if (*found) {
        const size_t loops = (size_t)(out->loops_count + out->shortest_count);
        tz_cache_write(key, &mixes, out, least_bytes + loops * sizeof *out->loops);
    }
    free(data);
    return status;
}
