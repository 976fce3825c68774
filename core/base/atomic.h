/* Files that appear whole or not at all.
 *
 * The text goes to `.NAME.tmp-PID-N` beside the target; commit flushes, syncs and renames it.
 * Whatever fails, nothing half-written stays behind under either name. Nothing that exists is
 * overwritten unless `replace` was asked for, even when it appears between open and commit. */
#ifndef TZ_CORE_BASE_ATOMIC_H
#define TZ_CORE_BASE_ATOMIC_H

#include "base/error.h"
#include <stdio.h>

typedef struct tz_atomic_file tz_atomic_file;

/* Open a file to be known as `path` once committed. Errors: TZ_IO (exists already, no directory,
 * not writable), TZ_MEMORY. End with tz_atomic_commit or tz_atomic_abort. */
tz_status tz_atomic_open(tz_atomic_file **out, const char *path, bool replace, tz_error *error);

/* The stream to write to. Borrowed; never fclose it. Seeking is allowed. */
FILE *tz_atomic_stream(tz_atomic_file *file);

/* The target's path. Borrowed. */
const char *tz_atomic_path(const tz_atomic_file *file);

/* fwrite that names the reason: "cannot write: No space left on device". */
tz_status tz_atomic_write(tz_atomic_file *file, const void *data, size_t bytes, tz_error *error);

/* Make the file appear. Frees `file` and removes the temporary one whether it works or not.
 * Errors: TZ_IO, also for a write that failed earlier on the stream. */
tz_status tz_atomic_commit(tz_atomic_file *file, tz_error *error);

/* Drop the file: nothing appears. NULL is fine. */
void tz_atomic_abort(tz_atomic_file *file);

/* mkdir -p. Fine if the directory exists; TZ_IO if something else has its name. */
tz_status tz_make_dirs(const char *path, tz_error *error);

#endif
