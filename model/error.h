/* Errors of model/: a status and a record that says what is wrong and where.
 *
 * The same shape as the engine's errors, and separate from them: model/ imports nothing. */
#ifndef TZ_MODEL_ERROR_H
#define TZ_MODEL_ERROR_H

#include <stddef.h>

/* X(name, text): every status there is. */
#define TZ_MODEL_STATUS_TABLE(X)                                                                   \
    X(OK, "done")                                                                                  \
    X(IO, "input or output failed")                                                                \
    X(FORMAT, "malformed record")                                                                  \
    X(RANGE, "value out of range")                                                                 \
    X(UNKNOWN, "unknown name")                                                                     \
    X(MISSING, "a number is missing")

typedef enum tz_model_status {
#define TZ_MODEL_STATUS_ENUM(name, text) TZ_MODEL_##name,
    TZ_MODEL_STATUS_TABLE(TZ_MODEL_STATUS_ENUM)
#undef TZ_MODEL_STATUS_ENUM
        TZ_MODEL_STATUS_COUNT
} tz_model_status;

typedef struct tz_model_error {
    tz_model_status code;
    char place[512];   /* FILE:LINE, or "" when there is no place to name */
    char message[512]; /* one line, no final full stop or newline */
} tz_model_error;

/* The table's text for a status; "unknown status" outside the table. Borrowed, static. */
const char *tz_model_status_text(tz_model_status status);

/* Fill `error` (may be NULL) and return `code`. `place` may be NULL. */
tz_model_status tz_model_error_set(tz_model_error *error, tz_model_status code, const char *place,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The tail of an "unknown name" message into `text` (always terminated): "; did you mean 'bar'?"
 * when one of the n names is near (at most max(2, length / 3) edits), else "; known: a, b, …" as
 * far as it fits. Case does not count. Returns `text`. */
const char *tz_model_name_hint(char *text, size_t size, const char *name, const char *const *names,
                               size_t n);

#endif
