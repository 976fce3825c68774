/* A text, or bytes, that grow. Begin with zeros. After a failure (memory) they stay as they are,
 * and `failed` is set. */
#ifndef TZ_CORE_BASE_BUFFER_H
#define TZ_CORE_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct tz_buffer {
    char *text; /* terminated, unless bytes were put; or NULL; free() it */
    size_t length, capacity;
    bool failed;
} tz_buffer;

/* Append text, formatted as by printf. */
void tz_buffer_add(tz_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tz_buffer_add_v(tz_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Append bytes, as they are. */
void tz_buffer_put(tz_buffer *buffer, const void *bytes, size_t count);

#endif
