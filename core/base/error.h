/* Errors: a table of statuses, and a record with the message.
 *
 * A function that can fail returns a tz_status. If that is not TZ_OK it has filled the caller's
 * tz_error, which may be NULL. Library functions never print and never exit. `message` says what is
 * wrong and what to do, `place` says where: a file and line, a key, a step. */
#ifndef TZ_CORE_BASE_ERROR_H
#define TZ_CORE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* All statuses: X(name, text). */
#define TZ_STATUS_TABLE(X)                                                                         \
    X(OK, "done")                                                                                  \
    X(USAGE, "wrong use")                                                                          \
    X(MEMORY, "not enough memory")                                                                 \
    X(IO, "input or output failed")                                                                \
    X(FORMAT, "malformed data")                                                                    \
    X(SHAPE, "wrong shape")                                                                        \
    X(TYPE, "wrong type")                                                                          \
    X(RANGE, "value out of range")                                                                 \
    X(UNKNOWN, "unknown name")                                                                     \
    X(UNSTABLE, "unstable step")                                                                   \
    X(DIVERGED, "the run diverged")                                                                \
    X(PLUGIN, "plugin refused")                                                                    \
    X(BACKEND, "backend failed")                                                                   \
    X(SCRIPT, "the scenario failed")                                                               \
    X(EXPECT, "an expectation failed")                                                             \
    X(INTERRUPTED, "interrupted")                                                                  \
    X(UNSUPPORTED, "not supported")

typedef enum tz_status {
#define TZ_STATUS_ENUM(name, text) TZ_##name,
    TZ_STATUS_TABLE(TZ_STATUS_ENUM)
#undef TZ_STATUS_ENUM
        TZ_STATUS_COUNT
} tz_status;

typedef struct tz_error {
    tz_status code;
    char place[512];    /* "" when there is no place to name */
    char message[1536]; /* one line, no final full stop or newline */
} tz_error;

/* The text of a status in the table above; "unknown status" for other values. Static. */
const char *tz_status_text(tz_status status);

/* Fill `error`, unless it is NULL, and return `code`:
 *
 *     return tz_error_set(error, TZ_IO, path, "cannot open: %s", reason);
 *
 * `place` may be NULL. It and the arguments may be parts of `error` itself. Long texts are cut. */
tz_status tz_error_set(tz_error *error, tz_status code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with a va_list. */
tz_status tz_error_set_v(tz_error *error, tz_status code, const char *place, const char *format,
                         va_list arguments) __attribute__((format(printf, 4, 0)));

/* Status TZ_IO with a message made of `what` and the text of an errno: "cannot open: No such file
 * or directory". */
tz_status tz_error_set_errno(tz_error *error, int errno_value, const char *place, const char *what);

/* Write "PLACE: MESSAGE", or "MESSAGE" without a place, into `text`; cut to `size`, always
 * terminated. */
void tz_error_format(const tz_error *error, char *text, size_t size);

#endif
