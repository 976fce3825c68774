/* A text that grows. After a failure (memory) it stays as it is, and `failed` is set. */
#ifndef TZ_CORE_DEFINE_BUFFER_H
#define TZ_CORE_DEFINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tz_buffer {
    char *text; /* terminated, or NULL; free() it */
    size_t length, capacity;
    bool failed;
} tz_buffer;

void tz_buffer_add(tz_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A string literal of C, with its quotes. */
void tz_buffer_add_literal(tz_buffer *buffer, const char *text);
/* Text of a comment: without line ends and ends of comments. */
void tz_buffer_add_comment(tz_buffer *buffer, const char *text);
/* A number that reads back as the same double: "0.25", "1e-06", "INFINITY". */
void tz_buffer_add_number(tz_buffer *buffer, double number);
/* Append `text`, which has no line ends, with lines of at most 96 characters: it is broken at
 * spaces (but not at a TZ_SPACE), and later lines begin with `indent` spaces. `column` is where it
 * begins. */
#define TZ_SPACE '\x1f'
void tz_buffer_add_wrapped(tz_buffer *buffer, const char *text, int column, int indent);

#endif
