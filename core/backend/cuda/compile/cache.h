/* A cache on disk of compiled kernels and their counts (base/cache_folder.h says where). An entry
 * has a key and a kind. Any number of threads and processes may use it at once. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_CACHE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash of texts. */
typedef struct tz_cuda_key {
    uint64_t a, b;
} tz_cuda_key;

tz_cuda_key tz_cuda_key_start(void);
void tz_cuda_key_add(tz_cuda_key *key, const char *text);
tz_cuda_key tz_cuda_key_end(tz_cuda_key key);

/* A kind of entries. */
typedef struct tz_cuda_kind {
    char magic[8];      /* the first bytes of a file; the last one is the format's version */
    const char *ending; /* of a file's name */
} tz_cuda_kind;

/* The data of an entry, malloc'd; NULL if the entry is missing or damaged. */
void *tz_cuda_cache_read(tz_cuda_key key, const tz_cuda_kind *kind, size_t *bytes);

/* Writes or replaces an entry. A failure costs only time: it gives a warning, not an error. */
void tz_cuda_cache_write(tz_cuda_key key, const tz_cuda_kind *kind, const void *data, size_t bytes);

/* The warning of the first write that failed, as a line for the user. Returns true only once in a
 * process. */
bool tz_cuda_cache_take_warning(char *text, size_t size);

/* For doctor: the cache's folder, or why there is none. */
void tz__cuda_cache_describe(char *text, size_t size);

#endif
