/* Buffers that double. Used by all that writes source, journals and tables. */
#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes behind what is there. */
static bool make_room(tz_buffer *buffer, size_t more)
{
    const size_t needed = buffer->length + more;
    if (buffer->failed || needed <= buffer->capacity)
        return !buffer->failed;
    const size_t capacity = needed > 2 * buffer->capacity ? needed + 1024 : 2 * buffer->capacity;
    char *text = realloc(buffer->text, capacity);
    buffer->failed = !text;
    if (!text)
        return false;
    buffer->text = text;
    buffer->capacity = capacity;
    return true;
}

void tz_buffer_add_v(tz_buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && make_room(buffer, (size_t)length + 1)) {
        vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void tz_buffer_add(tz_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tz_buffer_add_v(buffer, format, arguments);
    va_end(arguments);
}

void tz_buffer_put(tz_buffer *buffer, const void *bytes, size_t count)
{
    if (count == 0 || !make_room(buffer, count))
        return;
    memcpy(buffer->text + buffer->length, bytes, count);
    buffer->length += count;
}
