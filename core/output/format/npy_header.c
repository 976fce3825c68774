#include "output/format/npy_header.h"

#include "output/format/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER_MAX_BYTES = 1 << 20 };

/* Reads the dictionary. */
typedef struct parser {
    const char *path;
    const char *start, *p, *end;
    tz__npy_header *header;
    bool has_descr, has_order, has_shape;
    tz_error *error;
} parser;

static tz_status malformed(const parser *s, const char *what)
{
    return tz_error_set(s->error, TZ_FORMAT, s->path,
                        "malformed .npy header at its character %td: %s", s->p - s->start + 1,
                        what);
}

static void skip_space(parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || (*s->p >= '\t' && *s->p <= '\r')))
        s->p++;
}

static bool take(parser *s, char c)
{
    skip_space(s);
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool take_word(parser *s, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(s->end - s->p) < length || memcmp(s->p, word, length) != 0)
        return false;
    s->p += length;
    return true;
}

/* A quoted string without escapes: its text and length. */
static tz_status parse_string(parser *s, const char **text, size_t *length)
{
    skip_space(s);
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
        return malformed(s, "a quoted string is expected");
    const char quote = *s->p;
    const char *close = memchr(s->p + 1, quote, (size_t)(s->end - s->p - 1));
    if (!close)
        return malformed(s, "a string is not closed");
    *text = s->p + 1;
    *length = (size_t)(close - *text);
    s->p = close + 1;
    return TZ_OK;
}

static tz_status parse_descr(parser *s)
{
    const char *text;
    size_t length;
    char quoted[64];
    skip_space(s);
    if (s->p < s->end && (*s->p == '[' || *s->p == '(' || *s->p == '{'))
        return tz_error_set(s->error, TZ_TYPE, s->path,
                            "structured dtypes are not read; save one plain numeric field");
    tz_status status = parse_string(s, &text, &length);
    if (status != TZ_OK)
        return status;
    tz_token_quote(quoted, sizeof quoted, text, length);
    char order = '=';
    const char *code = text;
    size_t code_length = length;
    if (length && strchr("<>=|", text[0])) {
        order = text[0];
        code++;
        code_length--;
    }
    tz__npy_header *h = s->header;
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    h->half = code_length == 2 && memcmp(code, "f2", 2) == 0;
    h->dtype = TZ_DTYPE_COUNT;
    if (h->half)
        h->dtype = TZ_DTYPE_F32;
    else if (code_length == 1 && *code == '?')
        h->dtype = TZ_DTYPE_BOOL;
    for (int d = 0; d < TZ_DTYPE_COUNT; d++) {
        if (code_length == 2 && memcmp(code, tz_dtype_code((tz_dtype)d), 2) == 0)
            h->dtype = (tz_dtype)d;
    }
    if (h->dtype == TZ_DTYPE_COUNT)
        return tz_error_set(s->error, TZ_TYPE, s->path,
                            "dtype %s is not read; save as bool, int8-64, uint8-64 or float16-64",
                            quoted);
    h->item_bytes = h->half ? 2 : tz_dtype_size(h->dtype);
    h->swapped = h->item_bytes > 1 && ((order == '<' && !little) || (order == '>' && little));
    return TZ_OK;
}

static tz_status parse_order(parser *s)
{
    skip_space(s);
    if (take_word(s, "True"))
        s->header->fortran = true;
    else if (take_word(s, "False"))
        s->header->fortran = false;
    else
        return malformed(s, "fortran_order must be True or False");
    return TZ_OK;
}

static tz_status parse_extent(parser *s, int64_t *extent)
{
    int64_t n = 0;
    skip_space(s);
    if (s->p < s->end && *s->p == '-')
        return malformed(s, "a negative extent in the shape");
    const char *first = s->p;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        if (n > (INT64_MAX - 9) / 10)
            return malformed(s, "an extent in the shape is too large");
        n = n * 10 + (*s->p - '0');
    }
    if (s->p == first)
        return malformed(s, "an integer is expected in the shape");
    if (s->p < s->end && *s->p == 'L') /* Python 2 wrote long integers like this: 3L */
        s->p++;
    *extent = n;
    return TZ_OK;
}

static tz_status parse_shape(parser *s)
{
    tz__npy_header *h = s->header;
    h->dims = 0;
    if (!take(s, '('))
        return malformed(s, "the shape must be a tuple");
    while (!take(s, ')')) {
        int64_t extent = 0;
        const tz_status status = parse_extent(s, &extent);
        if (status != TZ_OK)
            return status;
        if (h->dims < TZ_DIMS_MAX)
            h->numpy_shape[h->dims] = extent;
        h->dims++;
        if (take(s, ','))
            continue;
        if (!take(s, ')'))
            return malformed(s, "',' or ')' is expected in the shape");
        break;
    }
    return TZ_OK;
}

static tz_status parse_dict(parser *s)
{
    if (!take(s, '{'))
        return malformed(s, "'{' is expected");
    while (!take(s, '}')) {
        const char *key;
        size_t length;
        tz_status status = parse_string(s, &key, &length);
        if (status != TZ_OK)
            return status;
        if (!take(s, ':'))
            return malformed(s, "':' is expected");
        if (length == 5 && memcmp(key, "descr", 5) == 0 && !s->has_descr) {
            status = parse_descr(s);
            s->has_descr = true;
        } else if (length == 13 && memcmp(key, "fortran_order", 13) == 0 && !s->has_order) {
            status = parse_order(s);
            s->has_order = true;
        } else if (length == 5 && memcmp(key, "shape", 5) == 0 && !s->has_shape) {
            status = parse_shape(s);
            s->has_shape = true;
        } else {
            status = malformed(s, "an unknown or repeated key");
        }
        if (status != TZ_OK)
            return status;
        if (take(s, ','))
            continue;
        if (!take(s, '}'))
            return malformed(s, "',' or '}' is expected");
        break;
    }
    skip_space(s);
    if (s->p != s->end)
        return malformed(s, "text follows the dictionary");
    if (!s->has_descr || !s->has_order || !s->has_shape)
        return malformed(s, "'descr', 'fortran_order' and 'shape' must all be there");
    return TZ_OK;
}

static tz_status check_shape(parser *s)
{
    tz__npy_header *h = s->header;
    if (h->dims < 1 || h->dims > TZ_DIMS_MAX)
        return tz_error_set(s->error, TZ_SHAPE, s->path,
                            "has %d dimensions; 1 to 3 are read, so reshape it", h->dims);
    for (int d = 0; d < TZ_DIMS_MAX; d++) {
        h->shape[d] = d < h->dims ? h->numpy_shape[h->dims - 1 - d] : 1;
        if (h->shape[d] == 0)
            return tz_error_set(s->error, TZ_SHAPE, s->path, "the array is empty (an extent is 0)");
    }
    h->count = tz_shape_count(h->dims, h->shape);
    if (h->count < 0)
        return tz_error_set(s->error, TZ_FORMAT, s->path,
                            "the shape in the header is too large for any file");
    return TZ_OK;
}

static tz_status check_size(const parser *s, int64_t file_bytes)
{
    const tz__npy_header *h = s->header;
    const int64_t wanted = h->count * (int64_t)h->item_bytes, has = file_bytes - h->data_offset;
    if (has == wanted)
        return TZ_OK;
    return tz_error_set(s->error, TZ_FORMAT, s->path,
                        "%s: expects %" PRId64 " bytes of data, has %" PRId64,
                        has < wanted ? "truncated" : "over-long", wanted, has);
}

tz_status tz__npy_header_read(FILE *stream, const char *path, tz__npy_header *header,
                              tz_error *error)
{
    unsigned char lead[12];
    struct stat facts;
    char *text = NULL;
    tz_status status = TZ_OK;
    memset(header, 0, sizeof *header);
    if (fstat(fileno(stream), &facts) != 0 || !S_ISREG(facts.st_mode))
        return tz_error_set(error, TZ_IO, path, "cannot read: not a regular file");
    if (fread(lead, 1, 10, stream) != 10 || memcmp(lead, "\x93NUMPY", 6) != 0)
        return tz_error_set(error, TZ_FORMAT, path,
                            "not a .npy file: it does not begin with \\x93NUMPY");
    if (lead[6] < 1 || lead[6] > 3)
        return tz_error_set(error, TZ_UNSUPPORTED, path,
                            ".npy version %d.%d is not read; save as version 1.0", lead[6],
                            lead[7]);
    int64_t length = lead[8] | lead[9] << 8;
    header->data_offset = 10;
    if (lead[6] > 1) {
        header->data_offset = 12;
        if (fread(lead + 10, 1, 2, stream) != 2)
            lead[10] = lead[11] = 0xFF; /* longer than any file: refused below */
        length |= (int64_t)lead[10] << 16 | (int64_t)lead[11] << 24;
    }
    if (header->data_offset + length > (int64_t)facts.st_size)
        return tz_error_set(error, TZ_FORMAT, path,
                            "truncated: the header claims %" PRId64 " bytes, the file has %" PRId64,
                            length, (int64_t)facts.st_size);
    if (length > HEADER_MAX_BYTES)
        return tz_error_set(error, TZ_FORMAT, path, "a header of %" PRId64 " bytes is too long",
                            length);
    header->data_offset += length;
    text = malloc((size_t)length + 1);
    if (!text)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for the header");
    if (fread(text, 1, (size_t)length, stream) != (size_t)length) {
        status = tz_error_set_errno(error, errno, path, "cannot read");
        goto cleanup;
    }
    parser s = {path, text, text, text + length, header, false, false, false, error};
    status = parse_dict(&s);
    if (status == TZ_OK)
        status = check_shape(&s);
    if (status == TZ_OK)
        status = check_size(&s, (int64_t)facts.st_size);
cleanup:
    free(text);
    return status;
}

size_t tz__npy_header_write(char text[256], tz_dtype dtype, int dims, const int64_t *shape)
{
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const char order = tz_dtype_size(dtype) == 1 ? '|' : little ? '<' : '>';
    char tuple[80];
    size_t used = 0;
    for (int d = dims - 1; d >= 0; d--)
        used += (size_t)snprintf(tuple + used, sizeof tuple - used, "%" PRId64 "%s", shape[d],
                                 d           ? ", "
                                 : dims == 1 ? ","
                                             : "");
    memset(text, ' ', 256);
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    const int body =
        snprintf(text + 10, 246, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                 order, tz_dtype_code(dtype), tuple);
    text[10 + body] = ' ';
    const size_t total = (10 + (size_t)body + 1 + 63) / 64 * 64;
    text[total - 1] = '\n';
    text[8] = (char)((total - 10) & 0xFF);
    text[9] = (char)((total - 10) >> 8);
    return total;
}
