/* Memory: the results of an exhaustive search, complete or partial, on disk for the next run.
 *
 * Each search has one file, `plans/HASH.json` in the cache's folder (base/paths.h), written
 * whole or not at all. The file holds the full key. A file with another key, an incomplete plan or
 * an invalid number counts as missing. */
#ifndef TZ_CORE_POLICY_MEMORY_H
#define TZ_CORE_POLICY_MEMORY_H

#include "policy/options.h"

typedef struct tz_policy_memory {
    int count, best;
    bool finished;                /* false: the search was cut short; plans may lack a time */
    double noise;                 /* relative: plans this close to the best are ties */
    tz_policy_measurement *plans; /* malloc'd */
} tz_policy_memory;

/* False: no valid file. */
bool tz_policy_memory_read(const char *key, tz_policy_memory *out);
/* TZ_IO, TZ_MEMORY. Without a cache folder it writes nothing and returns TZ_OK. */
tz_status tz_policy_memory_write(const char *key, const tz_policy_memory *memory, tz_error *error);
void tz_policy_memory_forget(const char *key);
void tz_policy_memory_clear(tz_policy_memory *memory);

/* The path of a key's file; false without a cache folder. */
bool tz_policy_memory_path(const char *key, char *path, size_t size);

#endif
