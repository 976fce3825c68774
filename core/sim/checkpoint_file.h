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

/* The checksum of bytes that begin at `offset`, a multiple of 4, of an array. That of an array is
 * the sum over its pieces; only the last piece may have a length that is no multiple of 4. */
uint64_t tz_checkpoint_sum(int64_t offset, const void *data, size_t bytes);

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
/* All ranks go on with the file that rank 0 has begun; the others give NULL, and get a writer.
 * Each may write some pieces, until tz_checkpoint_together(). Collective, with the same status for
 * all; after an error rank 0 still has its own. */
struct tz_ranks;
tz_status tz_checkpoint_share(tz_checkpoint_writer **writer, const tz_checkpoint_array *arrays,
                              size_t count, const struct tz_ranks *ranks, tz_error *error);
/* Sync what all have written, and free the writers of all but rank 0, which goes on alone.
 * `status`: what this rank has come to. Collective, with the same status for all. */
tz_status tz_checkpoint_together(tz_checkpoint_writer **writer, const struct tz_ranks *ranks,
                                 tz_status status, tz_error *error);
bool tz_checkpoint_is_shared(const tz_checkpoint_writer *writer); /* false for NULL */
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
const struct json_t *tz_checkpoint_facts(const tz_checkpoint_reader *reader);
size_t tz_checkpoint_arrays(const tz_checkpoint_reader *reader, const tz_checkpoint_array **out);
/* The array of that name; NULL: there is none. */
const tz_checkpoint_array *tz_checkpoint_find(const tz_checkpoint_reader *reader, const char *name);
/* Read bytes of an array. TZ_RANGE (not within it), TZ_IO. */
tz_status tz_checkpoint_read(tz_checkpoint_reader *reader, const tz_checkpoint_array *array,
                             int64_t offset, void *data, size_t bytes, tz_error *error);

#endif
