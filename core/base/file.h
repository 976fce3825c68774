/* Reading a file. Writing: atomic.h. */
#ifndef TZ_CORE_BASE_FILE_H
#define TZ_CORE_BASE_FILE_H

#include "base/error.h"

/* A regular file's bytes, with a '\0' after the last one. Free *out with free(). TZ_IO (with
 * errno's text), TZ_MEMORY, TZ_RANGE if it is larger than `limit` bytes. */
tz_status tz_file_read(const char *path, size_t limit, char **out, size_t *bytes, tz_error *error);

#endif
