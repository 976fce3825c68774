/* A store on disk of what compiling costs time to make: $TRAPEZE_CACHE ("" for none), else
 * $XDG_CACHE_HOME/trapeze, else ~/.cache/trapeze. An entry has a key and a kind. Any thread, any
 * number of processes. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_CACHE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_CACHE_H

#include "backend/cuda/compile/compile.h"
#include <stdint.h>

/* A hash of texts. */
typedef struct tz_cuda_key {
    uint64_t a, b;
} tz_cuda_key;

tz_cuda_key tz_cuda_key_start(void);
void tz_cuda_key_add(tz_cuda_key *key, const char *text);
tz_cuda_key tz_cuda_key_end(tz_cuda_key key);

/* What the data of an entry is. */
typedef struct tz_cuda_kind {
    char magic[8];      /* the first bytes of a file; the last of them is the format's version */
    const char *ending; /* of a file's name */
} tz_cuda_kind;

/* The data of an entry, malloc'd; NULL when there is none, or it is damaged. */
void *tz_cuda_cache_read(tz_cuda_key key, const tz_cuda_kind *kind, size_t *bytes);

/* Writes or replaces an entry. What cannot be written costs time only, and so is a warning
 * (tz_cuda_cache_take_warning). */
void tz_cuda_cache_write(tz_cuda_key key, const tz_cuda_kind *kind, const void *data, size_t bytes);

/* Where the cache is, or why there is none, for doctor. */
void tz__cuda_cache_describe(char *text, size_t size);

#endif
