/* Replaces invalid UTF-8 and control characters in place. Called by core/base/error.c and json.c,
 * core/lua for log lines, core/output for reports and sheets, core/cli. */
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

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
