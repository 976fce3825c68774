/* Numbers as plain text, for reading. */
#include "output/format/format.h"

#include "base/file.h"
#include "base/number.h"

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

/* Files that are no list of numbers, by their first bytes: what they are, and what to do. */
static tz_status refuse_other(const char *path, const char *text, size_t bytes, tz_error *error)
{
    static const struct {
        const char *begin, *what;
    } known[] = {
        {"PK\3\4", "is a zip file, as .npz is: save its array as .npy (numpy.save)"},
        {"\x1f\x8b", "is compressed by gzip: decompress it first (gunzip)"},
        {"\xff\xd8\xff", "is a JPEG picture: save it as PNG"},
        {"GIF8", "is a GIF picture: save it as PNG"},
        {"II*", "is a TIFF picture: save it as PNG"},
        {"\x89HDF", "is an HDF5 file: save its array as .npy (numpy.save)"},
        {"<?xml", "is XML, as .vti is: save its array as .npy (numpy.save)"},
        {"<VTKFile", "is a file of VTK: save its array as .npy (numpy.save)"},
        {"#Life 1.0", "is a pattern in the format Life 1.05 or 1.06: save it as .rle"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (bytes >= strlen(known[k].begin) &&
            memcmp(text, known[k].begin, strlen(known[k].begin)) == 0)
            return tz_error_set(error, TZ_FORMAT, path, "%s", known[k].what);
    return TZ_OK;
}

static const char *why_not(const reader *r, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)r->p[i] < ' ')
            return "no number, and the file is no text: save raw numbers as .npy (numpy.save)";
    return memchr(r->p, ',', length) || memchr(r->p, ';', length)
               ? "not a decimal number: numbers are separated by white space, without commas"
               : "not a decimal number";
}

/* Count the numbers, and store those that fit. */
static tz_status parse_all(reader *r, double *values, int64_t room, int64_t *count, tz_error *error)
{
    *count = 0;
    for (size_t length; (length = next_token(r)) > 0; r->p += length) {
        double value;
        if (!tz_number_parse(r->p, length, &value))
            return bad_token(r, length, why_not(r, length), error);
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
    tz_status status = tz_file_read_text(path, (size_t)INT64_MAX / 16, &text, &bytes, error);
    if (status == TZ_OK)
        status = refuse_other(path, text, bytes, error);
    if (status != TZ_OK)
        goto cleanup;
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

static tz_status read_numbers(const char *path, tz_format_reading *reading, tz_error *error)
{
    const tz_status status =
        tz_text_read(path, reading->dims, reading->shape, &reading->array, error);
    return status == TZ_OK && reading->order
               ? tz_array_reorder(&reading->array, reading->order, error)
               : status;
}

const tz_format tz_format_text = {.name = "text",
                                  .suffix = ".txt",
                                  .read_doc = "numbers between blanks, as is any other file",
                                  .reads = TZ_READS_ORDER,
                                  .read = read_numbers};
