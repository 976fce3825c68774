/* Memory: what an exhaustive search found, or has found so far, kept on disk for the next run.
 *
 * One file a search, `plans/HASH.json` in the cache's folder (base/paths.h), written whole
 * or not at all. It holds the key in full, and is read only if that is the same, every plan is
 * complete and the numbers make sense: whatever else is wrong with it, it is a miss. */
#ifndef TZ_CORE_POLICY_MEMORY_H
#define TZ_CORE_POLICY_MEMORY_H

#include "policy/policy.h"

typedef struct tz_policy_memory {
    int count, best;
    bool finished;                /* no: the search was cut short, and plans may be missing */
    double noise;                 /* relative: what lies closer to the best is a tie */
    tz_policy_measurement *plans; /* malloc'd */
} tz_policy_memory;

/* False: nothing is remembered. */
bool tz_policy_memory_read(const char *key, tz_policy_memory *out);
/* TZ_IO, TZ_MEMORY. Without a cache nothing is written, and that is no error. */
tz_status tz_policy_memory_write(const char *key, const tz_policy_memory *memory, tz_error *error);
void tz_policy_memory_forget(const char *key);
void tz_policy_memory_clear(tz_policy_memory *memory);

/* The file of a key into `path`; false without a cache. */
bool tz_policy_memory_path(const char *key, char *path, size_t size);

#endif
