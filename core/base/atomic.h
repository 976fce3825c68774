/* Files that appear complete or not at all.
 *
 * Data goes to a file in the target's folder that has no name yet. Commit flushes it, syncs it to
 * the disk and gives it the target's name. After an error nothing is left, and nothing of a process
 * that was killed. Where the file system has no files without a name, a temporary file
 * `.NAME.tmp-PID-N` is renamed; tz_atomic_sweep() removes those that killed processes left. An
 * existing file is overwritten only with `replace`, even if it appears between open and commit. */
#ifndef TZ_CORE_BASE_ATOMIC_H
#define TZ_CORE_BASE_ATOMIC_H

#include "base/error.h"
#include <stdio.h>

typedef struct tz_atomic_file tz_atomic_file;

/* Open a file that will be `path` once it is committed. End with tz_atomic_commit or
 * tz_atomic_abort. Errors: TZ_IO (it exists, there is no such folder, it is not writable),
 * TZ_MEMORY. */
tz_status tz_atomic_open(tz_atomic_file **out, const char *path, bool replace, tz_error *error);

/* Keep room on the disk for that many bytes, or for less if there is less; where the file system
 * cannot, nothing happens. tz_atomic_abort() frees it. */
void tz_atomic_reserve(tz_atomic_file *file, size_t bytes);

/* The stream to write to: borrowed, do not close it. Seeking is allowed. */
FILE *tz_atomic_stream(tz_atomic_file *file);

/* The target's path. Borrowed. */
const char *tz_atomic_path(const tz_atomic_file *file);

/* A name that the file has until it is committed, for a library that opens files by name; it takes
 * a temporary one if it has none yet. NULL: TZ_IO. Borrowed. */
const char *tz_atomic_name(tz_atomic_file *file, tz_error *error);

/* Like fwrite(), but the error has the reason: "cannot write: No space left on device". */
tz_status tz_atomic_write(tz_atomic_file *file, const void *data, size_t bytes, tz_error *error);

/* Make the file appear. Frees `file`, also after an error. Errors: TZ_IO, also if an earlier write
 * failed. */
tz_status tz_atomic_commit(tz_atomic_file *file, tz_error *error);

/* Free `file` and remove the temporary file: nothing appears. NULL is fine. */
void tz_atomic_abort(tz_atomic_file *file);

/* Commit if `status` is TZ_OK, else abort. Returns what has failed first. */
tz_status tz_atomic_end(tz_atomic_file *file, tz_status status, tz_error *error);

/* Open, write, end. */
tz_status tz_atomic_save(const char *path, bool replace, const void *data, size_t bytes,
                         tz_error *error);

/* Remove the temporary files in a folder whose processes have ended. A lock tells those that are in
 * use, also by other processes and machines. */
void tz_atomic_sweep(const char *folder);

/* Make a folder and its parents, unless they exist. Errors: TZ_IO, also if one of the names is a
 * file's. */
tz_status tz_make_dirs(const char *path, tz_error *error);

#endif
