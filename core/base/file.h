/* Reading files. atomic.h writes them. */
#ifndef TZ_CORE_BASE_FILE_H
#define TZ_CORE_BASE_FILE_H

#include "base/error.h"

/* Read a regular file into *out, with a '\0' after its bytes; release it with free(). Errors, with
 * the path as place: TZ_IO, TZ_MEMORY, TZ_RANGE (more than `limit` bytes). */
tz_status tz_file_read(const char *path, size_t limit, char **out, size_t *bytes, tz_error *error);

#endif
