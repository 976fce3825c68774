/* The Damerau-Levenshtein distance of two names, and the hint made from it. Called where a name is
 * refused: core/cli, core/lua, core/define, core/backend. */
#include "base/names.h"

#include "base/minmax.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 63 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

/* The Damerau-Levenshtein distance of two names of at most NAME_MAX_LENGTH characters. `rows` holds
 * the last three rows of its table, of which swaps need the oldest. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int rows[3][NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            const int same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = tz_min_int(above[j] + 1, row[j - 1] + 1);
            row[j] = tz_min_int(row[j], above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = tz_min_int(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *tz_names_nearest(const char *name, const char *const *names, size_t n)
{
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_LENGTH)
        return NULL;
    const int limit = length / 3 > 2 ? (int)(length / 3) : 2;
    const char *nearest = NULL;
    int nearest_distance = limit + 1;
    for (size_t k = 0; k < n; k++) {
        const size_t other = strlen(names[k]);
        if (other > NAME_MAX_LENGTH)
            continue;
        const int d = distance(name, length, names[k], other);
        /* A name of which more than half would change is not near. */
        if (d < nearest_distance && 2 * d <= (int)(length > other ? length : other)) {
            nearest = names[k];
            nearest_distance = d;
        }
    }
    return nearest;
}

const char *tz_names_hint(char *text, size_t size, const char *name, const char *const *names,
                          size_t n)
{
    if (size == 0)
        return text;
    text[0] = '\0';
    const char *nearest = tz_names_nearest(name, names, n);
    if (nearest) {
        snprintf(text, size, "; did you mean '%s'?", nearest);
        return text;
    }
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        const char *before = k ? ", " : "; known: ";
        if (used + strlen(before) + strlen(names[k]) + sizeof ", ..." > size) {
            if (used + sizeof ", ..." <= size)
                snprintf(text + used, size - used, "%s", k ? ", ..." : "");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, names[k]);
    }
    return text;
}
