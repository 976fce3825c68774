/* Files of checkpoints: facts as JSON, then arrays of bytes, with checksums. docs/checkpoints.md
 * describes the format.
 *
 * A file appears whole or not at all. Each array has its place from the start, so that its bytes
 * can be written piece by piece. Its checksum is a sum that does not depend on the order of the
 * pieces. */
#ifndef TZ_CORE_SIM_CHECKPOINT_FILE_H
#define TZ_CORE_SIM_CHECKPOINT_FILE_H

#include "base/error.h"
#include <stdint.h>

struct json_t; /* jansson.h */

#define TZ_CHECKPOINT_TITLE "trapeze checkpoint 2" /* a file begins with it */
enum { TZ_CHECKPOINT_NAME_SIZE = 200, TZ_CHECKPOINT_ARRAYS_MAX = 1 << 16 };

typedef struct tz_checkpoint_array {
    char name[TZ_CHECKPOINT_NAME_SIZE];
    int64_t bytes;
    int64_t offset; /* in the file; the writer and the reader set it */
} tz_checkpoint_array;

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct tz_checkpoint_writer tz_checkpoint_writer;

/* Begin a file that will be `path`, in place of the one that is there. `facts` is any JSON value,
 * borrowed; names of arrays differ. End with tz_checkpoint_commit or tz_checkpoint_abort. TZ_IO,
 * TZ_MEMORY. */
tz_status tz_checkpoint_begin(tz_checkpoint_writer **out, const char *path,
                              const struct json_t *facts, const tz_checkpoint_array *arrays,
                              size_t count, tz_error *error);
/* Write bytes of array number `array`, from `offset` on: a multiple of 4. Pieces come in any order,
 * each once, and fill the array. TZ_IO. */
tz_status tz_checkpoint_write(tz_checkpoint_writer *writer, size_t array, int64_t offset,
                              const void *data, size_t bytes, tz_error *error);
/* Where others may write the bytes of an array: the file's name until it is committed, borrowed.
 * TZ_IO. */
tz_status tz_checkpoint_place(tz_checkpoint_writer *writer, size_t array, const char **path,
                              int64_t *offset, tz_error *error);
/* Bytes that others have written, and synced: their tz_file_sum(). */
void tz_checkpoint_add_sum(tz_checkpoint_writer *writer, size_t array, uint64_t sum);
/* Write the checksums, sync, and give the file its name. Frees `writer`, also after an error. */
tz_status tz_checkpoint_commit(tz_checkpoint_writer *writer, tz_error *error);
void tz_checkpoint_abort(tz_checkpoint_writer *writer); /* NULL is fine */

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct tz_checkpoint_reader tz_checkpoint_reader;

/* Open a file and check all of it: sizes, the facts' checksum, and with `all` those of the arrays.
 * TZ_IO, TZ_FORMAT (what is damaged), TZ_MEMORY. Close with tz_checkpoint_close. */
tz_status tz_checkpoint_open(tz_checkpoint_reader **out, const char *path, bool all,
                             tz_error *error);
void tz_checkpoint_close(tz_checkpoint_reader *reader); /* NULL is fine */

/* Borrowed. */
const char *tz_checkpoint_path(const tz_checkpoint_reader *reader);
const struct json_t *tz_checkpoint_facts(const tz_checkpoint_reader *reader);
size_t tz_checkpoint_arrays(const tz_checkpoint_reader *reader, const tz_checkpoint_array **out);
/* The array of that name; NULL: there is none. */
const tz_checkpoint_array *tz_checkpoint_find(const tz_checkpoint_reader *reader, const char *name);
/* Read bytes of an array. TZ_RANGE (not within it), TZ_IO. */
tz_status tz_checkpoint_read(tz_checkpoint_reader *reader, const tz_checkpoint_array *array,
                             int64_t offset, void *data, size_t bytes, tz_error *error);

#endif
