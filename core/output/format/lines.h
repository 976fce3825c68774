/* Lines of words, as HotSpot's files have them: words between blanks, '#' begins a comment, lines
 * without words do not count. Errors: TZ_IO, TZ_MEMORY, TZ_FORMAT; place: FILE:LINE. */
#ifndef TZ_CORE_OUTPUT_FORMAT_LINES_H
#define TZ_CORE_OUTPUT_FORMAT_LINES_H

#include "base/error.h"

enum { TZ_WORD_NAME_SIZE = 64 };

typedef struct tz_word {
    const char *text;
    size_t length;
} tz_word;

/* A line that has a word. */
typedef struct tz_line {
    const char *path; /* its file's, borrowed */
    const char *begin, *end;
    int number;
} tz_line;

/* The next word from *p on, which moves behind it. False at the end of the line or at a comment. */
bool tz_line_word(const char **p, const char *end, tz_word *out);

typedef tz_status tz_line_take(void *out, const tz_line *line, tz_error *error);

/* Give `take` the file's lines one after the other, up to the first error. Keep a copy of its path
 * in *kept, the caller's; NULL: none. */
tz_status tz_lines_read(const char *path, char **kept, tz_line_take *take, void *out,
                        tz_error *error);

/* tz_error_set_line at the line. */
#define TZ_LINE_FAULT(LINE, ERROR, CODE, ...)                                                      \
    tz_error_set_line(ERROR, CODE, (LINE)->path, (LINE)->number, __VA_ARGS__)

bool tz_word_is(const tz_word *word, const char *text);
/* A finite decimal number. */
tz_status tz_word_number(const tz_word *word, const tz_line *line, double *value, tz_error *error);
/* A name without control characters, of less than TZ_WORD_NAME_SIZE bytes. */
tz_status tz_word_name(const tz_word *word, const tz_line *line, char name[TZ_WORD_NAME_SIZE],
                       tz_error *error);

#endif
