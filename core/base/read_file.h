/* Reading small files into memory. */
#ifndef TZ_CORE_BASE_READ_FILE_H
#define TZ_CORE_BASE_READ_FILE_H

#include "base/error.h"

/* Read all bytes of a file. `*text` has a NUL after the last of its `*length` bytes (there may be
 * others among them) and is the caller's to free(); NULL after an error. Errors, with the path as
 * their place: TZ_IO (it cannot be opened or read, or has more than `most` bytes), TZ_MEMORY. */
tz_status tz_file_read(char **text, size_t *length, const char *path, size_t most, tz_error *error);

#endif
