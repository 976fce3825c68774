/* A file that all ranks write, each at its own offsets. */
#ifndef TZ_CORE_BASE_SHARED_FILE_H
#define TZ_CORE_BASE_SHARED_FILE_H

#include "base/atomic.h"
#include "base/ranks.h"
#include <stdint.h>

typedef struct tz_shared_file tz_shared_file;

/* Do all ranks see this folder of rank 0, so that they can write its files? Collective; the same answer
 * for all. `path` is read in rank 0 alone. If not, `why` says which rank does not. */
bool tz_shared_folder(const char *path, const tz_ranks *ranks, char *why, size_t size);

/* Open the file that rank 0 has begun; the others give NULL. It must stay open in rank 0, which may
 * write it in another way, too, at other offsets. Collective, with the same status for all. TZ_IO. */
tz_status tz_shared_file_open(tz_shared_file **out, tz_atomic_file *file, const tz_ranks *ranks,
                              tz_error *error);
/* Not collective. TZ_IO. */
tz_status tz_shared_file_write(tz_shared_file *file, int64_t offset, const void *data, size_t bytes,
                               tz_error *error);
/* Sync and free. `status` and `error`: what this rank has come to. Collective, with the same status
 * for all: TZ_OK if every rank has written and synced. */
tz_status tz_shared_file_close(tz_shared_file *file, const tz_ranks *ranks, tz_status status,
                               tz_error *error);

#endif
