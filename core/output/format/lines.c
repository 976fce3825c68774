/* Lines of words: floorplan.c and chip_files.c read files with them. */
#include "output/format/lines.h"

#include "base/file.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 28 };

bool tz_line_word(const char **p, const char *end, tz_word *out)
{
    const char *s = *p;
    while (s < end && (*s == ' ' || *s == '\t' || *s == '\r'))
        s++;
    if (s == end || *s == '#')
        return false;
    out->text = s;
    while (s < end && *s != ' ' && *s != '\t' && *s != '\r' && *s != '#')
        s++;
    out->length = (size_t)(s - out->text);
    *p = s;
    return true;
}

tz_status tz_lines_read(const char *path, char **kept, tz_line_take *take, void *out,
                        tz_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    tz_word first;
    tz_status status = tz_file_read_text(path, FILE_MAX, &text, &bytes, error);
    if (status == TZ_OK && kept && !(*kept = strdup(path)))
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory for a path");
    tz_line line = {.end = text};
    for (const char *p = text; status == TZ_OK && p < text + bytes; p = line.end + 1) {
        const char *newline = memchr(p, '\n', (size_t)(text + bytes - p));
        line = (tz_line){path, p, newline ? newline : text + bytes, line.number + 1};
        if (tz_line_word(&p, line.end, &first))
            status = take(out, &line, error);
    }
    free(text);
    return status;
}

bool tz_word_is(const tz_word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(text, word->text, word->length) == 0;
}

tz_status tz_word_number(const tz_word *word, const tz_line *line, double *value, tz_error *error)
{
    char quoted[64];
    if (tz_number_parse(word->text, word->length, value) && isfinite(*value))
        return TZ_OK;
    return TZ_LINE_FAULT(line, error, TZ_FORMAT, "%s is not a finite decimal number",
                         tz_token_quote(quoted, sizeof quoted, word->text, word->length));
}

tz_status tz_word_name(const tz_word *word, const tz_line *line, char name[TZ_WORD_NAME_SIZE],
                       tz_error *error)
{
    if (word->length >= TZ_WORD_NAME_SIZE)
        return TZ_LINE_FAULT(line, error, TZ_FORMAT, "a name is longer than %d characters",
                             TZ_WORD_NAME_SIZE - 1);
    for (size_t i = 0; i < word->length; i++)
        if ((unsigned char)word->text[i] < ' ' || word->text[i] == 127)
            return TZ_LINE_FAULT(line, error, TZ_FORMAT, "byte 0x%02x in a name",
                                 (unsigned char)word->text[i]);
    memcpy(name, word->text, word->length);
    name[word->length] = '\0';
    return TZ_OK;
}
