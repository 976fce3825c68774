/* Numbers as plain text, for reading. */
#include "output/format/format.h"

#include "base/file.h"
#include "base/number.h"

#include <ctype.h>
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

/* The numbers of a text in a row, or of a shape. */
static tz_status parse_numbers(const reader *from, int dims, const int64_t *shape, tz_array **out,
                               tz_error *error)
{
    const char *path = from->path;
    tz_array *array = NULL;
    int64_t count = 0, length = 0;
    tz_status status = TZ_OK;
    if (dims > 0) {
        status = tz_array_create(&array, TZ_DTYPE_F64, dims, shape, error);
        length = status == TZ_OK ? tz_shape_count(dims, shape) : 0;
    } else {
        /* Counting first is cheap compared with parsing, and makes an array of the exact size. */
        reader counter = *from;
        for (size_t token; (token = next_token(&counter)) > 0; counter.p += token)
            length++;
        status = length ? tz_array_create(&array, TZ_DTYPE_F64, 1, &length, error)
                        : tz_error_set(error, TZ_SHAPE, path, "has no numbers");
    }
    if (status != TZ_OK)
        goto cleanup;
    reader r = *from;
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
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Numbers in lines, as they come. */
typedef struct table {
    double *values;
    size_t count, room;
    char separator; /* 0: not known yet; ' ': blanks */
    int64_t columns, rows, planes;
    int64_t plane_rows; /* of the plane that is read */
} table;

/* A cell of a line: [text, text + length) without blanks around it. */
typedef struct cell {
    const char *text;
    size_t length;
} cell;

/* What separates the cells of a line: the first of these that it has outside quotes. */
static char separator_of(const char *p, const char *end)
{
    bool quoted = false;
    char found = ' ';
    for (; p < end; p++) {
        quoted ^= *p == '"';
        if (!quoted && *p == ';')
            return ';';
        if (!quoted && (*p == '\t' || (*p == ',' && found == ' ')))
            found = *p;
    }
    return found;
}

/* The next cell from *p on, which moves behind it. False: the line has no more. A separator at the
 * end of a line has no cell behind it. */
static bool next_cell(const char **p, const char *end, char separator, cell *out)
{
    const char *s = *p;
    while (s < end && is_space(*s) && (separator == ' ' || *s != separator))
        s++;
    if (s == end)
        return false;
    const char *q = s;
    if (*s == '"') {
        const char *close = memchr(s + 1, '"', (size_t)(end - s - 1));
        q = close ? close + 1 : end;
    }
    while (q < end && *q != separator && !(separator == ' ' && is_space(*q)))
        q++;
    *p = q < end ? q + 1 : end;
    while (q > s && is_space(q[-1]))
        q--;
    if (q - s >= 2 && *s == '"' && q[-1] == '"') {
        s++;
        q--;
    }
    *out = (cell){s, (size_t)(q - s)};
    return true;
}

/* A number, also with a decimal comma where cells have ';' between them. */
static bool to_number(const cell *c, char separator, double *value)
{
    char text[64];
    const char *comma = separator == ';' ? memchr(c->text, ',', c->length) : NULL;
    if (!comma || c->length >= sizeof text)
        return tz_number_parse(c->text, c->length, value) &&
               !(isinf(*value) && isdigit((unsigned char)c->text[c->length - 1]));
    memcpy(text, c->text, c->length);
    text[comma - c->text] = '.';
    return tz_number_parse(text, c->length, value);
}

static tz_status add_number(const reader *r, table *t, double value, tz_error *error)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 256;
        double *values = realloc(t->values, room * sizeof *values);
        if (!values)
            return tz_error_set(error, TZ_MEMORY, r->path, "not enough memory for its numbers");
        t->values = values;
        t->room = room;
    }
    t->values[t->count++] = value;
    return TZ_OK;
}

/* A blank line, or the end of the file: the plane ends. */
static tz_status end_plane(const reader *r, table *t, tz_error *error)
{
    if (t->plane_rows == 0)
        return TZ_OK;
    if (t->planes > 0 && t->plane_rows * t->planes != t->rows - t->plane_rows)
        return tz_error_set_line(error, TZ_SHAPE, r->path, (int)r->line,
                                 "the %" PRId64 " lines before it are a plane, as blank lines say, "
                                 "and those before have %" PRId64,
                                 t->plane_rows, (t->rows - t->plane_rows) / t->planes);
    t->planes++;
    t->plane_rows = 0;
    return TZ_OK;
}

/* A line of cells. Before the first line of numbers, lines without numbers are titles. */
static tz_status take_line(const reader *r, const char *end, table *t, tz_error *error)
{
    const char separator = t->rows > 0 ? t->separator : separator_of(r->p, end);
    const size_t before = t->count;
    const char *p = r->p;
    tz_status status = TZ_OK;
    cell c, bad = {NULL, 0};
    double value;
    while (status == TZ_OK && next_cell(&p, end, separator, &c)) {
        if (to_number(&c, separator, &value))
            status = add_number(r, t, value, error);
        else if (!bad.text)
            bad = c;
    }
    const int64_t columns = (int64_t)(t->count - before);
    if (status != TZ_OK || (t->rows == 0 && columns == 0))
        return status;
    if (bad.text && bad.length == 0)
        return tz_error_set_line(error, TZ_FORMAT, r->path, (int)r->line,
                                 "a cell is empty; write nan where there is no number");
    if (bad.text)
        return bad_token(&(reader){r->path, bad.text, bad.text + bad.length, r->line}, bad.length,
                         tz_number_parse(bad.text, bad.length, &value) ? "too large"
                                                                       : "not a decimal number",
                         error);
    if (t->rows > 0 && columns != t->columns)
        return tz_error_set_line(error, TZ_SHAPE, r->path, (int)r->line,
                                 "has %" PRId64 " number%s, the lines before have %" PRId64,
                                 columns, columns == 1 ? "" : "s", t->columns);
    t->separator = separator;
    t->columns = columns;
    t->rows++;
    t->plane_rows++;
    return TZ_OK;
}

static tz_status parse_table(const reader *from, table *t, tz_error *error)
{
    tz_status status = TZ_OK;
    for (reader r = *from; status == TZ_OK && r.p < r.end; r.line++) {
        const char *newline = memchr(r.p, '\n', (size_t)(r.end - r.p)),
                   *end = newline ? newline : r.end, *next = newline ? newline + 1 : r.end;
        const char *comment = memchr(r.p, '#', (size_t)(end - r.p));
        const char *p = r.p;
        while (p < end && is_space(*p))
            p++;
        if (p == end)
            status = end_plane(&r, t, error);
        else if (comment != p)
            status = take_line(&r, comment ? comment : end, t, error);
        r.p = next;
        if (status == TZ_OK && r.p == r.end)
            status = end_plane(&r, t, error);
    }
    return status;
}

/* The array of a table: of the shape that its lines have, or of the one that is wanted. */
static tz_status table_array(const char *path, const table *t, tz_format_reading *reading,
                             tz_error *error)
{
    int64_t shape[TZ_DIMS_MAX] = {t->columns, t->planes ? t->rows / t->planes : 0, t->planes};
    int dims = t->planes > 1 ? 3 : t->rows > 1 ? 2 : 1;
    if (t->columns == 1) { /* a list of numbers, one a line */
        dims = 1;
        shape[0] = t->rows;
        shape[1] = shape[2] = 1;
    }
    if (t->rows == 0)
        return tz_error_set(error, TZ_SHAPE, path, "has no numbers");
    if (reading->dims > 0) {
        char has[TZ_SHAPE_TEXT_SIZE], wanted[TZ_SHAPE_TEXT_SIZE];
        const bool row = dims == 1 || reading->order || reading->shape[0] == shape[0];
        if (!row || tz_shape_count(reading->dims, reading->shape) != (int64_t)t->count)
            return tz_error_set(error, TZ_SHAPE, path, "has %s numbers in its lines, 'shape' is %s",
                                tz_shape_text(has, dims, shape),
                                tz_shape_text(wanted, reading->dims, reading->shape));
        dims = reading->dims;
        memcpy(shape, reading->shape, sizeof shape);
    }
    const tz_status status = tz_array_create(&reading->array, TZ_DTYPE_F64, dims, shape, error);
    if (status == TZ_OK)
        memcpy(reading->array->data, t->values, t->count * sizeof *t->values);
    return status;
}

static tz_status read_table(const reader *from, tz_format_reading *reading, tz_error *error)
{
    table t = {.values = NULL};
    tz_status status = parse_table(from, &t, error);
    if (status == TZ_OK)
        status = table_array(from->path, &t, reading, error);
    free(t.values);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Leave out the first lines. */
static tz_status skip_lines(reader *r, int64_t lines, tz_error *error)
{
    for (int64_t i = 0; i < lines; i++, r->line++) {
        const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
        if (!newline)
            return tz_error_set(error, TZ_SHAPE, r->path, "has fewer lines than 'skip' leaves out");
        r->p = newline + 1;
    }
    return TZ_OK;
}

/* TZ_FORMAT: there are bytes that no text has. */
static tz_status check_text(const reader *r, tz_error *error)
{
    for (const char *p = r->p; p < r->end && p < r->p + 4096; p++)
        if ((unsigned char)*p < '\b' || ((unsigned char)*p > '\r' && (unsigned char)*p < 27))
            return tz_error_set(error, TZ_FORMAT, r->path,
                                "is no text and no format that is known: tz.read's 'type' and "
                                "'shape' read raw numbers, as { type = \"float32\" }");
    return TZ_OK;
}

/* Has the first line with a number cells with ',' or ';' between them? */
static bool has_cells(const reader *from)
{
    reader r = *from;
    const size_t length = next_token(&r);
    return memchr(r.p, ',', length) || memchr(r.p, ';', length) ||
           strcasestr(from->path, ".tsv") != NULL;
}

enum { NUMBERS, TABLE, EITHER };

static tz_status read_text(const char *path, int form, tz_format_reading *reading, tz_error *error)
{
    char *text;
    size_t bytes;
    tz_status status = tz_file_read_text(path, (size_t)INT64_MAX / 16, &text, &bytes, error);
    if (status != TZ_OK)
        return status;
    reader r = {path, text, text + bytes, 1};
    status = check_text(&r, error);
    if (status == TZ_OK)
        status = skip_lines(&r, reading->skip, error);
    if (status == TZ_OK && (form == TABLE || (form == EITHER && has_cells(&r))))
        status = read_table(&r, reading, error);
    else if (status == TZ_OK)
        status = parse_numbers(&r, reading->dims, reading->shape, &reading->array, error);
    free(text);
    return status == TZ_OK && reading->order
               ? tz_array_reorder(&reading->array, reading->order, error)
               : status;
}

tz_status tz_text_read(const char *path, int dims, const int64_t *shape, tz_array **out,
                       tz_error *error)
{
    tz_format_reading reading = {.dims = dims, .shape = shape};
    const tz_status status = read_text(path, NUMBERS, &reading, error);
    *out = reading.array;
    return status;
}

tz_status tz_csv_read(const char *path, tz_format_reading *reading, tz_error *error)
{
    return read_text(path, TABLE, reading, error);
}

static tz_status read_numbers(const char *path, tz_format_reading *reading, tz_error *error)
{
    return read_text(path, EITHER, reading, error);
}

const tz_format tz_format_text = {
    .name = "text",
    .suffix = ".txt",
    .read_doc = "numbers between blanks, as is any other file; with commas or semicolons as .csv",
    .reads = TZ_READS_ORDER | TZ_READS_SKIP,
    .read = read_numbers};
