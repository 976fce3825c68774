#include "output/format/text.h"

#include "base/file.h"
#include "output/format/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *path;
    const char *p, *end;
    int64_t line;
} reader;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Move to the next token; its length, 0 at the end of the file. */
static size_t next_token(reader *r)
{
    while (r->p < r->end) {
        if (*r->p == '#') {
            const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
            r->p = newline ? newline : r->end;
        } else if (is_space(*r->p)) {
            r->line += *r->p++ == '\n';
        } else {
            break;
        }
    }
    const char *q = r->p;
    while (q < r->end && !is_space(*q) && *q != '#')
        q++;
    return (size_t)(q - r->p);
}

static tz_status bad_token(const reader *r, size_t length, const char *what, tz_error *error)
{
    char place[512], quoted[64];
    snprintf(place, sizeof place, "%s:%" PRId64, r->path, r->line);
    return tz_error_set(error, TZ_FORMAT, place, "%s is %s",
                        tz_token_quote(quoted, sizeof quoted, r->p, length), what);
}

/* Count the numbers, and store those that fit. */
static tz_status parse_all(reader *r, double *values, int64_t room, int64_t *count, tz_error *error)
{
    *count = 0;
    for (size_t length; (length = next_token(r)) > 0; r->p += length) {
        double value;
        if (!tz_number_parse(r->p, length, &value))
            return bad_token(r, length, "not a decimal number", error);
        if (!isfinite(value))
            return bad_token(r, length, "not finite", error);
        if (*count < room)
            values[*count] = value;
        ++*count;
    }
    return TZ_OK;
}

tz_status tz_text_read(const char *path, int dims, const int64_t *shape, tz_array **out,
                       tz_error *error)
{
    *out = NULL;
    char *text = NULL;
    size_t bytes = 0;
    tz_array *array = NULL;
    int64_t count = 0, length = 0;
    tz_status status = tz_file_read(path, (size_t)INT64_MAX / 16, &text, &bytes, error);
    if (status != TZ_OK)
        return status;
    if (dims > 0) {
        status = tz_array_create(&array, TZ_DTYPE_F64, dims, shape, error);
        length = status == TZ_OK ? tz_shape_count(dims, shape) : 0;
    } else {
        /* Counting first is cheap compared with parsing, and makes an array of the exact size. */
        reader counter = {path, text, text + bytes, 1};
        for (size_t token; (token = next_token(&counter)) > 0; counter.p += token)
            length++;
        status = length ? tz_array_create(&array, TZ_DTYPE_F64, 1, &length, error)
                        : tz_error_set(error, TZ_SHAPE, path, "has no numbers");
    }
    if (status != TZ_OK)
        goto cleanup;
    reader r = {path, text, text + bytes, 1};
    status = parse_all(&r, array->data, length, &count, error);
    if (status != TZ_OK)
        goto cleanup;
    if (count != length) {
        char grid[TZ_SHAPE_TEXT_SIZE];
        status = tz_error_set(error, TZ_SHAPE, path,
                              "has %" PRId64 " numbers, the grid (%s) needs %" PRId64, count,
                              tz_shape_text(grid, dims, shape), length);
        goto cleanup;
    }
    *out = array;
    array = NULL;
cleanup:
    tz_array_destroy(array);
    free(text);
    return status;
}
