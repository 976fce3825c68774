/* Literals, comments, numbers and lines of source. */
#include "define/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tz_buffer_add_literal(tz_buffer *buffer, const char *text)
{
    tz_buffer_add(buffer, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            tz_buffer_add(buffer, "\\%c", *c);
        else if (*c < ' ' || *c == 127)
            tz_buffer_add(buffer, "\\%03o", *c);
        else
            tz_buffer_add(buffer, "%c", *c == ' ' ? TZ_SPACE : *c);
    }
    tz_buffer_add(buffer, "\"");
}

void tz_buffer_add_comment(tz_buffer *buffer, const char *text)
{
    char before = '\0';
    for (const unsigned char *c = (const unsigned char *)text; *c; before = (char)*c, c++) {
        const bool bad = (before == '*' && *c == '/') || (before == '/' && *c == '*');
        tz_buffer_add(buffer, "%s%c", bad ? " " : "", *c < ' ' || *c == 127 ? ' ' : *c);
    }
}

void tz_buffer_add_number(tz_buffer *buffer, double number)
{
    char text[40];
    if (isinf(number) || isnan(number)) {
        tz_buffer_add(buffer, "%s", isnan(number) ? "NAN" : number > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    if (number == floor(number) && fabs(number) < 1e15) {
        tz_buffer_add(buffer, signbit(number) && number == 0 ? "-0" : "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    tz_buffer_add(buffer, "%s", text);
}

/* May a line end at this space? Operators stay at the ends of lines. */
static bool may_end(const char *space)
{
    const char *next = space + 1;
    while (*next && strchr("+-*/&|^<>=?:", *next))
        next++;
    return next == space + 1 || *next != ' ';
}

/* The space at which a line ends that has `room` characters: where the fewest parentheses are open,
 * in the second half if there is one; NULL: nowhere. */
static const char *line_end(const char *text, int room)
{
    const char *best = NULL;
    int open = 0, least = 0;
    for (int i = 0; text[i] && (i <= room || !best); i++) {
        open += (text[i] == '(') - (text[i] == ')');
        if (i == 0 || text[i] != ' ' || !may_end(text + i))
            continue;
        if (!best || open <= least || best - text < room / 2) {
            best = text + i;
            least = open;
        }
    }
    return best;
}

void tz_buffer_wrap(tz_buffer *buffer)
{
    enum { LINE = 96 };
    tz_buffer out = {.failed = buffer->failed};
    for (char *line = buffer->text, *end; line && *line; line = end) {
        const bool macro = strncmp(line, "#define ", 8) == 0;
        int column = (int)(macro ? 8 + strcspn(line + 8, " \n") : strspn(line, " "));
        const int indent = macro ? 4 : strncmp(line, "/*", 2) == 0 ? 3 : column + 4;
        end = line + strcspn(line, "\n");
        const char after = *end;
        *end = '\0';
        tz_buffer_add(&out, "%.*s", column, line);
        line += column;
        for (const char *stop; end - line > LINE - column; line += stop + 1 - line) {
            stop = line_end(line, LINE - column);
            if (!stop)
                break;
            tz_buffer_add(&out, "%.*s%s\n%*s", (int)(stop - line), line, macro ? " \\" : "", indent,
                          "");
            column = indent;
        }
        tz_buffer_add(&out, after ? "%s\n" : "%s", line);
        end += after != '\0';
    }
    for (size_t i = 0; i < out.length; i++)
        out.text[i] = out.text[i] == TZ_SPACE ? ' ' : out.text[i];
    free(buffer->text);
    *buffer = out;
}
