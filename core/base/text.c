/* Replaces invalid UTF-8 and control characters in place; hashes; buffers that double. Called by
 * core/base/error.c and json.c, core/lua, core/output, core/cli, and all that writes source. */
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the UTF-8 character that begins at `text`; 0: there is none. */
static size_t character_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t length = c[0] < 0x80                   ? 1
                          : c[0] >= 0xC2 && c[0] < 0xE0 ? 2
                          : c[0] >= 0xE0 && c[0] < 0xF0 ? 3
                          : c[0] >= 0xF0 && c[0] < 0xF5 ? 4
                                                        : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    const bool wrong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] >= 0xA0) ||
                       (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] >= 0x90);
    return wrong ? 0 : length;
}

void tz_text_utf8(char *text)
{
    while (*text) {
        const size_t length = character_length(text);
        if (length == 0)
            *text = '?';
        text += length > 0 ? length : 1;
    }
}

void tz_text_printable(char *text)
{
    tz_text_utf8(text);
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 127)
            *c = '?';
        else if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) /* U+0080 to U+009F */
            c[0] = c[1] = '?';
    }
}

uint64_t tz_text_hash(uint64_t before, const char *text)
{
    for (; text && *text; text++)
        before = (before ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return before;
}

void tz_text_xml(FILE *out, const char *text)
{
    while (*text) {
        const size_t length = character_length(text);
        if (length > 1)
            fwrite(text, 1, length, out);
        else if (length == 1 && strchr("&<>\"", *text))
            fprintf(out, "&#%d;", *text);
        else
            fputc(length == 0 ? '?' : (unsigned char)*text < ' ' ? ' ' : *text, out);
        text += length > 0 ? length : 1;
    }
}

void tz_text_base64(FILE *out, const void *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *data = bytes;
    for (size_t at = 0; at < count; at += 3) {
        const size_t left = count - at;
        const uint32_t three = (uint32_t)data[at] << 16 |
                               (left > 1 ? (uint32_t)data[at + 1] << 8 : 0) |
                               (left > 2 ? data[at + 2] : 0);
        putc_unlocked(digits[three >> 18], out);
        putc_unlocked(digits[three >> 12 & 63], out);
        putc_unlocked(left > 1 ? digits[three >> 6 & 63] : '=', out);
        putc_unlocked(left > 2 ? digits[three & 63] : '=', out);
    }
}

/* ---- Texts that grow ------------------------------------------------------------------------- */

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
