#include "model/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 63 };

const char *tz_model_status_text(tz_model_status status)
{
    static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
        TZ_MODEL_STATUS_TABLE(STATUS_TEXT)
#undef STATUS_TEXT
    };
    return status >= 0 && status < TZ_MODEL_STATUS_COUNT ? texts[status] : "unknown status";
}

tz_model_status tz_model_error_set(tz_model_error *error, tz_model_status code, const char *place,
                                   const char *format, ...)
{
    if (error == NULL)
        return code;
    va_list arguments;
    error->code = code;
    snprintf(error->place, sizeof error->place, "%s", place ? place : "");
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions and changes that make a into b: one row of the usual table. */
static size_t edits(const char *a, const char *b)
{
    size_t row[NAME_MAX_LENGTH + 1];
    const size_t a_length = strlen(a), b_length = strlen(b);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t above = row[j];
            const int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + !same);
            diagonal = above;
        }
    }
    return row[b_length];
}

static const char *nearest(const char *name, const char *const *names, size_t n)
{
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_LENGTH)
        return NULL;
    const char *found = NULL;
    size_t found_edits = (length / 3 > 2 ? length / 3 : 2) + 1;
    for (size_t k = 0; k < n; k++) {
        const size_t other = strlen(names[k]);
        if (other > NAME_MAX_LENGTH)
            continue;
        const size_t e = edits(name, names[k]);
        /* A match that rewrites the whole of a short name is no help. */
        if (e < found_edits && e < (length > other ? length : other)) {
            found = names[k];
            found_edits = e;
        }
    }
    return found;
}

const char *tz_model_name_hint(char *text, size_t size, const char *name, const char *const *names,
                               size_t n)
{
    const char *found = nearest(name, names, n);
    if (size == 0)
        return text;
    text[0] = '\0';
    if (found) {
        snprintf(text, size, "; did you mean '%s'?", found);
        return text;
    }
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        const char *before = k ? ", " : "; known: ";
        const char *after = k + 1 < n ? ", ..." : "";
        if (used + strlen(before) + strlen(names[k]) + strlen(after) >= size) {
            if (used + sizeof ", ..." <= size)
                snprintf(text + used, size - used, "%s", k ? ", ..." : "");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, names[k]);
    }
    return text;
}
