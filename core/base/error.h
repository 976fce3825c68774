/* Errors: a status, and a record with the message.
 *
 * A function that can fail returns a tz_status. If that is not TZ_OK, it has filled the caller's
 * tz_error, which may be NULL. Library functions never print and never exit. `message` says what is
 * wrong and what to do, `place` says where: a file and line, a key, a step. */
#ifndef TZ_CORE_BASE_ERROR_H
#define TZ_CORE_BASE_ERROR_H

#include "trapeze/status.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Fill `error`, unless it is NULL, and return `code`:
 *
 *     return tz_error_set(error, TZ_IO, path, "cannot open: %s", reason);
 *
 * `place` may be NULL. `place` and the arguments may point into `error`. Long texts are cut, and
 * control characters become '?'. */
tz_status tz_error_set(tz_error *error, tz_status code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with a va_list. */
tz_status tz_error_set_v(tz_error *error, tz_status code, const char *place, const char *format,
                         va_list arguments) __attribute__((format(printf, 4, 0)));

/* The same with the place "PATH:LINE". */
tz_status tz_error_set_line(tz_error *error, tz_status code, const char *path, int line,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Like tz_error_set() with TZ_IO and a message from `what` and an errno: "cannot open: No such file
 * or directory". */
tz_status tz_error_set_errno(tz_error *error, int errno_value, const char *place, const char *what);

/* Write "PLACE: MESSAGE", or "MESSAGE" without a place, into `text`; cut to `size`, always
 * terminated. */
void tz_error_format(const tz_error *error, char *text, size_t size);

#endif
