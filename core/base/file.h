/* Reading files. atomic.h writes them.
 *
 * Every file that a user names is opened here: opening never waits, and only regular files are
 * read. A directory, pipe, socket or device is refused with TZ_IO and a message that says what it
 * is.
 *
 * Streams and texts of files that gzip has compressed are what it compressed. */
#ifndef TZ_CORE_BASE_FILE_H
#define TZ_CORE_BASE_FILE_H

#include "base/error.h"
#include <stdint.h>
#include <stdio.h>

/* Open a regular file for reading. *bytes is its size; `bytes` may be NULL. Close the descriptor
 * with close(). TZ_IO, with the path as place; *descriptor is then -1. */
tz_status tz_file_open(const char *path, int *descriptor, size_t *bytes, tz_error *error);

/* The same as a stream, NULL after an error. Close it with fclose(). TZ_FORMAT (corrupt gzip),
 * TZ_RANGE (more than memory holds). */
tz_status tz_file_stream(const char *path, FILE **stream, size_t *bytes, tz_error *error);

/* As pread() and pwrite(), but all of it. Returns the bytes that were moved; fewer: errno says why,
 * and is 0 where the file ends. */
size_t tz_file_get(int file, void *data, size_t bytes, int64_t offset);
size_t tz_file_put(int file, const void *data, size_t bytes, int64_t offset);

/* Open the `what`, "table", that a run wrote, to go on with it after its first `bytes`. TZ_IO. */
tz_status tz_file_go_on(const char *path, const char *what, int64_t bytes, int *descriptor,
                        tz_error *error);

/* Read a regular file into *out, with a '\0' after its bytes; release it with free(). Errors, with
 * the path as place: TZ_IO, TZ_MEMORY, TZ_RANGE (more than `limit` bytes). */
tz_status tz_file_read(const char *path, size_t limit, char **out, size_t *bytes, tz_error *error);

/* The same for a text: without the byte order mark that some editors write at its beginning, and
 * with '\n' at the end of each line. TZ_FORMAT: it is UTF-16, or corrupt gzip. */
tz_status tz_file_read_text(const char *path, size_t limit, char **out, size_t *bytes,
                            tz_error *error);

/* Inflate a part of an open file into a file in memory, which the caller closes: `format` is that
 * of zlib's inflateInit2(), 31 for gzip, -15 for bare deflate. *bytes becomes its size. TZ_FORMAT,
 * TZ_RANGE (more than `limit` bytes), TZ_IO, TZ_MEMORY; the path is the place. */
tz_status tz_file_inflate(const char *path, int file, int64_t offset, int64_t length, int format,
                          size_t limit, int *out, size_t *bytes, tz_error *error);

/* The checksum of bytes that begin at `offset`, a multiple of 4, of a whole. That of the whole is
 * the sum over its pieces; only the last piece may have a length that is no multiple of 4. */
uint64_t tz_file_sum(int64_t offset, const void *data, size_t bytes);

#endif
