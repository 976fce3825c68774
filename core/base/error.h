/* Errors: one status table, one record that carries what happened and where.
 *
 * Library functions return a tz_status and fill a caller-owned tz_error; they never print or exit.
 * A message says what is wrong and what to do; `place` says where (a file and line, a key, a step).
 */
#ifndef TZ_CORE_BASE_ERROR_H
#define TZ_CORE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* X(name, text): every status there is. */
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

/* The table's text for a status; "unknown status" outside the table. Borrowed, static. */
const char *tz_status_text(tz_status status);

/* Fill `error` (may be NULL) and return `code`, so that a caller can write
 * `return tz_error_set(error, TZ_IO, path, "cannot open: %s", …)`. `place` may be NULL. */
tz_status tz_error_set(tz_error *error, tz_status code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with a va_list. */
tz_status tz_error_set_v(tz_error *error, tz_status code, const char *place, const char *format,
                         va_list arguments) __attribute__((format(printf, 4, 0)));

/* Append errno's text to a message: "cannot open: No such file or directory". Status TZ_IO. */
tz_status tz_error_set_errno(tz_error *error, int errno_value, const char *place, const char *what);

/* "place: message" (or the message alone) into `text`, always terminated. */
void tz_error_format(const tz_error *error, char *text, size_t size);

#endif
