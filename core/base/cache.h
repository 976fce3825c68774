/* A cache on disk of what was compiled (tz_cache_folder() says where). An entry has a key and a
 * kind. Any number of threads and processes may use it at once. */
#ifndef TZ_CORE_BASE_CACHE_H
#define TZ_CORE_BASE_CACHE_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash of texts. */
typedef struct tz_cache_key {
    uint64_t a, b;
} tz_cache_key;

tz_cache_key tz_cache_key_start(void);
void tz_cache_key_add(tz_cache_key *key, const char *text);
tz_cache_key tz_cache_key_end(tz_cache_key key);
bool tz_cache_key_equal(tz_cache_key a, tz_cache_key b);

/* A kind of entries. */
typedef struct tz_cache_kind {
    char magic[8];      /* the first bytes of a file; the last one is the format's version */
    const char *ending; /* of a file's name */
    const char *folder; /* OPTIONAL: within the cache, for entries that this user alone may write */
    bool kept;          /* what cannot be written is kept in memory, for this process */
} tz_cache_kind;

/* For a kind with a folder of its own, before its entries are used: is the folder this user's, and
 * can nobody else change or exchange it? TZ_IO with the folder as place, and what to do, if not. A
 * folder that is not there yet is fine: writing makes it with mode 0700. Reading and writing check
 * again, by the opened folder. */
tz_status tz_cache_check_private(const tz_cache_kind *kind, tz_error *error);

/* Can nobody else exchange what is in a folder? TZ_IO with the folder as place if its owner is
 * neither this user nor root, or if others may write there and it is not sticky, as /tmp is.
 * `variable`: of the environment, which names the folder. */
tz_status tz_cache_check_folder(const char *folder, const char *variable, tz_error *error);

/* The data of an entry, malloc'd; NULL if the entry is missing or damaged, or not a file that this
 * user alone can change, and this process has not kept it. */
void *tz_cache_read(tz_cache_key key, const tz_cache_kind *kind, size_t *bytes);

/* Writes or replaces an entry. A failure costs only time: it gives a warning, not an error. */
void tz_cache_write(tz_cache_key key, const tz_cache_kind *kind, const void *data, size_t bytes);

/* The warning of the first write that failed, as a line for the user. Returns true only once in a
 * process. */
bool tz_cache_take_warning(char *text, size_t size);

/* For doctor: the cache's folder, or why nothing can be kept. False: that is not what the user
 * wants. */
bool tz_cache_describe(char *text, size_t size);

#endif
