/* NumPy's .npy files. Fields take large arrays from them piece by piece. */
#include "output/format/npy.h"

#include "base/file.h"
#include "base/number.h"
#include "output/format/format.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MAX_BYTES = 1 << 20, PIECE_ELEMENTS = 1 << 18 };

/* ---- Headers --------------------------------------------------------------------------------- */

/* Reads the dictionary. */
typedef struct parser {
    const char *path;
    const char *start, *p, *end;
    tz_npy_facts *header;
    int64_t numpy_shape[TZ_DIMS_MAX]; /* as written: slowest first in C order */
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
    tz_npy_facts *h = s->header;
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
    tz_npy_facts *h = s->header;
    h->dims = 0;
    if (!take(s, '('))
        return malformed(s, "the shape must be a tuple");
    while (!take(s, ')')) {
        int64_t extent = 0;
        const tz_status status = parse_extent(s, &extent);
        if (status != TZ_OK)
            return status;
        if (h->dims < TZ_DIMS_MAX)
            s->numpy_shape[h->dims] = extent;
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
    tz_npy_facts *h = s->header;
    if (h->dims < 1 || h->dims > TZ_DIMS_MAX)
        return tz_error_set(s->error, TZ_SHAPE, s->path,
                            "has %d dimensions; 1 to 3 are read, so reshape it", h->dims);
    for (int d = 0; d < TZ_DIMS_MAX; d++) {
        h->shape[d] = d < h->dims ? s->numpy_shape[h->dims - 1 - d] : 1;
        if (h->shape[d] == 0)
            return tz_error_set(s->error, TZ_SHAPE, s->path, "the array is empty (an extent is 0)");
    }
    h->count = tz_shape_count(h->dims, h->shape);
    if (h->count < 0)
        return tz_error_set(s->error, TZ_FORMAT, s->path,
                            "the shape in the header is too large for any file");
    return TZ_OK;
}

static tz_status check_size(const parser *s, int64_t end)
{
    const tz_npy_facts *h = s->header;
    const int64_t wanted = h->count * (int64_t)h->item_bytes, has = end - h->data_offset;
    if (has == wanted)
        return TZ_OK;
    return tz_error_set(s->error, TZ_FORMAT, s->path,
                        "%s: expects %" PRId64 " bytes of data, has %" PRId64,
                        has < wanted ? "truncated" : "over-long", wanted, has);
}

/* Read and check the header of an array from byte `begin` of a file on, and that there is as much
 * data up to byte `end` as it states. */
static tz_status read_header(FILE *stream, const char *path, int64_t begin, int64_t end,
                             tz_npy_facts *header, tz_error *error)
{
    unsigned char lead[12];
    char *text = NULL;
    tz_status status = TZ_OK;
    memset(header, 0, sizeof *header);
    if (fseeko(stream, (off_t)begin, SEEK_SET) != 0)
        return tz_error_set_errno(error, errno, path, "cannot read");
    if (fread(lead, 1, 10, stream) != 10 || memcmp(lead, "\x93NUMPY", 6) != 0)
        return tz_error_set(error, TZ_FORMAT, path,
                            "not a .npy file: it does not begin with \\x93NUMPY");
    if (lead[6] < 1 || lead[6] > 3)
        return tz_error_set(error, TZ_UNSUPPORTED, path,
                            ".npy version %d.%d is not read; save as version 1.0", lead[6],
                            lead[7]);
    int64_t length = lead[8] | lead[9] << 8;
    header->data_offset = begin + 10;
    if (lead[6] > 1) {
        header->data_offset = begin + 12;
        if (fread(lead + 10, 1, 2, stream) != 2)
            lead[10] = lead[11] = 0xFF; /* longer than any file: refused below */
        length |= (int64_t)lead[10] << 16 | (int64_t)lead[11] << 24;
    }
    if (header->data_offset + length > end)
        return tz_error_set(error, TZ_FORMAT, path,
                            "truncated: the header claims %" PRId64 " bytes, the file has %" PRId64,
                            length, end - begin);
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
    parser s = {.path = path,
                .start = text,
                .p = text,
                .end = text + length,
                .header = header,
                .error = error};
    status = parse_dict(&s);
    if (status == TZ_OK)
        status = check_shape(&s);
    if (status == TZ_OK)
        status = check_size(&s, end);
cleanup:
    free(text);
    return status;
}

/* A version 1.0 header, magic included, padded to a multiple of 64 bytes; its size. */
static size_t make_header(char text[256], tz_dtype dtype, int dims, const int64_t *shape)
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

/* ---- Reading --------------------------------------------------------------------------------- */

struct tz_npy_file {
    int descriptor;
    char *path;
    tz_npy_facts header;
    void *raw,
        *cells; /* of a piece: as the file has it, and in order. NULL until they are needed */
};

/* Make a file of the facts and the descriptor of a stream, which is closed in any case. */
static tz_status make_file(tz_npy_file **out, FILE *stream, const char *path,
                           const tz_npy_facts *facts, tz_error *error)
{
    tz_npy_file *file = calloc(1, sizeof *file);
    tz_status status = TZ_OK;
    *out = NULL;
    if (!file || !(file->path = strdup(path)))
        status = tz_error_set(error, TZ_MEMORY, path, "not enough memory to open the file");
    if (file) {
        file->header = *facts;
        file->descriptor = -1;
    }
    if (status == TZ_OK && (file->descriptor = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0)) < 0)
        status = tz_error_set_errno(error, errno, path, "cannot open");
    fclose(stream);
    if (status == TZ_OK)
        *out = file;
    else
        tz_npy_close(file);
    return status;
}

tz_status tz_npy_open_part(tz_npy_file **out, FILE *stream, const char *path, int64_t begin,
                           int64_t end, tz_error *error)
{
    tz_npy_facts facts;
    *out = NULL;
    const tz_status status = read_header(stream, path, begin, end, &facts, error);
    if (status == TZ_OK)
        return make_file(out, stream, path, &facts, error);
    fclose(stream);
    return status;
}

tz_status tz_npy_open(tz_npy_file **out, const char *path, tz_error *error)
{
    FILE *stream;
    size_t bytes;
    *out = NULL;
    const tz_status status = tz_file_stream(path, &stream, &bytes, error);
    return status ? status : tz_npy_open_part(out, stream, path, 0, (int64_t)bytes, error);
}

/* Are the numbers of the facts in a file of `bytes`? Completes the facts. */
static tz_status check_bare(const char *path, tz_npy_facts *f, int64_t bytes, tz_error *error)
{
    const bool whole = f->data_offset < 0;
    f->data_offset = whole ? 0 : f->data_offset;
    f->item_bytes = f->half ? 2 : tz_dtype_size(f->dtype);
    const int64_t size = (int64_t)f->item_bytes, has = bytes - f->data_offset;
    const char *type = f->half ? "float16" : tz_dtype_name(f->dtype);
    char shape[TZ_SHAPE_TEXT_SIZE];
    if (has <= 0)
        return tz_error_set(error, TZ_SHAPE, path,
                            "has %" PRId64 " bytes, and no number from byte %" PRId64 " on", bytes,
                            f->data_offset);
    if (f->dims == 0 && has % size != 0)
        return tz_error_set(error, TZ_SHAPE, path,
                            "has %" PRId64 " bytes from byte %" PRId64
                            " on, which is no whole number of %s",
                            has, f->data_offset, type);
    if (f->dims == 0) {
        f->dims = 1;
        f->shape[0] = has / size;
        f->shape[1] = f->shape[2] = 1;
    }
    f->count = tz_shape_count(f->dims, f->shape);
    if (f->count < 0)
        return tz_error_set(error, TZ_SHAPE, path, "the shape is too large for any file");
    if (f->count > has / size || (whole && f->count != has / size) || (whole && has % size != 0)) {
        const bool more = f->count * size < has;
        char hint[128] = "";
        if (more)
            snprintf(hint, sizeof hint,
                     ": offset = 0 takes the first ones, offset = %" PRId64
                     " the last ones, behind a header",
                     has - f->count * size);
        return tz_error_set(error, TZ_SHAPE, path,
                            "has %" PRId64 " bytes from byte %" PRId64
                            " on, and %s %s need%s %" PRId64 "%s",
                            has, f->data_offset, tz_shape_text(shape, f->dims, f->shape), type,
                            f->count == 1 ? "s" : "", f->count * size, hint);
    }
    return TZ_OK;
}

tz_status tz_npy_open_bare(tz_npy_file **out, const char *path, const tz_npy_facts *facts,
                           tz_error *error)
{
    FILE *stream;
    size_t bytes;
    tz_npy_facts checked = *facts;
    *out = NULL;
    tz_status status = tz_file_stream(path, &stream, &bytes, error);
    if (status)
        return status;
    status = check_bare(path, &checked, (int64_t)bytes, error);
    if (status == TZ_OK)
        return make_file(out, stream, path, &checked, error);
    fclose(stream);
    return status;
}

void tz_npy_close(tz_npy_file *file)
{
    if (!file)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->raw);
    free(file->cells);
    free(file->path);
    free(file);
}

const tz_npy_facts *tz_npy_file_facts(const tz_npy_file *file)
{
    return &file->header;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static bool is_turned(const tz_npy_file *file)
{
    return file->header.fortran && file->header.dims > 1;
}

/* How an array is cut, by axes in the order of the file: the first one runs fastest. */
typedef struct cut {
    int64_t extent[TZ_DIMS_MAX], length[TZ_DIMS_MAX], count[TZ_DIMS_MAX];
} cut;

/* A piece has several of an axis only if it has all of those before: it is contiguous. */
static cut make_cut(const tz_npy_file *file, int dims, const int64_t *shape)
{
    cut c;
    int64_t room = PIECE_ELEMENTS;
    for (int axis = 0; axis < TZ_DIMS_MAX; axis++) {
        const int64_t n = axis >= dims ? 1 : is_turned(file) ? shape[dims - 1 - axis] : shape[axis];
        c.extent[axis] = n;
        c.length[axis] = n < room ? n : room;
        c.count[axis] = (n + c.length[axis] - 1) / c.length[axis];
        room = n <= room ? room / n : 1;
    }
    return c;
}

int64_t tz_npy_pieces(const tz_npy_file *file, int dims, const int64_t *shape)
{
    const cut c = make_cut(file, dims, shape);
    return c.count[0] * c.count[1] * c.count[2];
}

static tz_status read_raw(tz_npy_file *file, int64_t first, int64_t count, tz_error *error)
{
    const size_t size = file->header.item_bytes, bytes = (size_t)count * size;
    const int64_t begin = file->header.data_offset + first * (int64_t)size;
    if (tz_file_get(file->descriptor, file->raw, bytes, begin) == bytes)
        return TZ_OK;
    return errno ? tz_error_set_errno(error, errno, file->path, "cannot read")
                 : tz_error_set(error, TZ_FORMAT, file->path, "truncated while it was being read");
}

static void swap_bytes(void *data, size_t item_bytes, int64_t count)
{
    if (item_bytes == 2) {
        uint16_t *v = data;
        for (int64_t i = 0; i < count; i++)
            v[i] = __builtin_bswap16(v[i]);
    } else if (item_bytes == 4) {
        uint32_t *v = data;
        for (int64_t i = 0; i < count; i++)
            v[i] = __builtin_bswap32(v[i]);
    } else if (item_bytes == 8) {
        uint64_t *v = data;
        for (int64_t i = 0; i < count; i++)
            v[i] = __builtin_bswap64(v[i]);
    }
}

static float half_to_float(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    float v;
    if (exponent == 31)
        v = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        v = ldexpf((float)mantissa, -24);
    else
        v = ldexpf((float)(mantissa | 1024), exponent - 25);
    return half & 0x8000 ? -v : v;
}

/* The first index runs fastest in `from`, the last one in `to`. The extents are those of `from`. */
static void turn(void *to, const void *from, size_t item_bytes, const int64_t *extent)
{
    enum { BLOCK = 64 };
    const int64_t n0 = extent[0], n1 = extent[1], n2 = extent[2];
    char *out = to;
    const char *in = from;
    /* Copy square blocks, which stay in cache on both sides. */
    for (int64_t a0 = 0; a0 < n0; a0 += BLOCK)
        for (int64_t b = 0; b < n1; b++)
            for (int64_t c0 = 0; c0 < n2; c0 += BLOCK)
                for (int64_t a = a0; a < n0 && a < a0 + BLOCK; a++)
                    for (int64_t c = c0; c < n2 && c < c0 + BLOCK; c++)
                        memcpy(out + (size_t)((a * n1 + b) * n2 + c) * item_bytes,
                               in + (size_t)((c * n1 + b) * n0 + a) * item_bytes, item_bytes);
}

/* Make `count` elements in file->raw, in x-first order, what they are in memory; returns them. */
static void *convert(tz_npy_file *file, int64_t count)
{
    if (file->header.dtype == TZ_DTYPE_BOOL)
        for (int64_t i = 0; i < count; i++)
            ((uint8_t *)file->raw)[i] = ((uint8_t *)file->raw)[i] != 0;
    if (!file->header.half)
        return file->raw;
    for (int64_t i = 0; i < count; i++)
        ((float *)file->cells)[i] = half_to_float(((uint16_t *)file->raw)[i]);
    return file->cells;
}

static void swap_buffers(tz_npy_file *file)
{
    void *cells = file->cells;
    file->cells = file->raw;
    file->raw = cells;
}

static tz_status need_buffers(tz_npy_file *file, tz_error *error)
{
    const tz_npy_facts *h = &file->header;
    const bool two = is_turned(file) || h->half;
    const size_t size = tz_dtype_size(h->dtype); /* an element as the file has it is no larger */
    const size_t count = h->count < PIECE_ELEMENTS ? (size_t)h->count : PIECE_ELEMENTS;
    const size_t bytes = (count * size + 63) & ~(size_t)63;
    if (!file->raw)
        file->raw = aligned_alloc(64, bytes);
    if (!file->cells && two)
        file->cells = aligned_alloc(64, bytes);
    return file->raw && (file->cells || !two)
               ? TZ_OK
               : tz_error_set(error, TZ_MEMORY, file->path, "not enough memory to read the array");
}

tz_status tz_npy_read_piece(tz_npy_file *file, int dims, const int64_t *shape, int64_t k,
                            tz_npy_piece *out, tz_error *error)
{
    const cut c = make_cut(file, dims, shape);
    int64_t at[TZ_DIMS_MAX], extent[TZ_DIMS_MAX], count = 1;
    for (int axis = 0; axis < TZ_DIMS_MAX; axis++) {
        at[axis] = k % c.count[axis] * c.length[axis];
        k /= c.count[axis];
        extent[axis] =
            c.extent[axis] - at[axis] < c.length[axis] ? c.extent[axis] - at[axis] : c.length[axis];
        count *= extent[axis];
    }
    tz_status status = need_buffers(file, error);
    if (status == TZ_OK)
        status = read_raw(file, at[0] + c.extent[0] * (at[1] + c.extent[1] * at[2]), count, error);
    if (status != TZ_OK)
        return status;
    if (file->header.swapped)
        swap_bytes(file->raw, file->header.item_bytes, count);
    *out = (tz_npy_piece){.cells = {.dtype = file->header.dtype, .dims = dims}};
    for (int axis = 0; axis < TZ_DIMS_MAX; axis++) {
        const int from = is_turned(file) && axis < dims ? dims - 1 - axis : axis;
        out->at[axis] = at[from];
        out->cells.shape[axis] = extent[from];
    }
    if (is_turned(file)) {
        /* Of two axes, the second is the last one. */
        const int64_t three[] = {extent[0], dims > 2 ? extent[1] : 1, extent[dims - 1]};
        turn(file->cells, file->raw, file->header.item_bytes, three);
        swap_buffers(file);
    }
    out->cells.data = convert(file, count);
    return TZ_OK;
}

/* ---- At once --------------------------------------------------------------------------------- */

static void place(tz_array *array, const tz_npy_piece *piece)
{
    const size_t size = tz_dtype_size(array->dtype);
    const int64_t *n = piece->cells.shape, *at = piece->at;
    const char *from = piece->cells.data;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++, from += (size_t)n[0] * size) {
            const int64_t to =
                at[0] + array->shape[0] * (at[1] + y + array->shape[1] * (at[2] + z));
            memcpy((char *)array->data + (size_t)to * size, from, (size_t)n[0] * size);
        }
}

tz_status tz_npy_read_all(tz_npy_file *file, tz_array **out, tz_error *error)
{
    const tz_npy_facts *h = &file->header;
    tz_array *array;
    *out = NULL;
    tz_status status = tz_array_create(&array, h->dtype, h->dims, h->shape, error);
    if (status != TZ_OK)
        return status;
    const int64_t pieces = tz_npy_pieces(file, h->dims, h->shape);
    for (int64_t k = 0; status == TZ_OK && k < pieces; k++) {
        tz_npy_piece piece;
        status = tz_npy_read_piece(file, h->dims, h->shape, k, &piece, error);
        if (status == TZ_OK)
            place(array, &piece);
    }
    if (status != TZ_OK)
        tz_array_destroy(array);
    else
        *out = array;
    return status;
}

tz_status tz_npy_read(const char *path, tz_array **out, tz_error *error)
{
    tz_npy_file *file;
    *out = NULL;
    tz_status status = tz_npy_open(&file, path, error);
    if (status != TZ_OK)
        return status;
    status = tz_npy_read_all(file, out, error);
    tz_npy_close(file);
    return status;
}

tz_status tz_npy_map(const tz_npy_file *file, tz_npy_mapping *out, tz_error *error)
{
    const tz_npy_facts *h = &file->header;
    memset(out, 0, sizeof *out);
    int long_axes = 0;
    for (int d = 0; d < h->dims; d++)
        long_axes += h->shape[d] > 1;
    if (h->half || h->swapped || (h->fortran && long_axes > 1) ||
        h->data_offset % (int64_t)h->item_bytes != 0)
        return tz_error_set(error, TZ_UNSUPPORTED, file->path,
                            "cannot be mapped (byte order, Fortran order, float16 or "
                            "alignment); read it instead");
    const size_t bytes = (size_t)h->data_offset + (size_t)h->count * h->item_bytes;
    void *base = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (base == MAP_FAILED)
        return tz_error_set_errno(error, errno, file->path, "cannot map");
    *out =
        (tz_npy_mapping){.data = (const char *)base + h->data_offset, .base = base, .bytes = bytes};
    return TZ_OK;
}

void tz_npy_unmap(tz_npy_mapping *map)
{
    if (map->base)
        munmap(map->base, map->bytes);
    memset(map, 0, sizeof *map);
}

/* ---- The format ------------------------------------------------------------------------------ */

/* Elements as they are behind a header: version 1.0, C order, data at a multiple of 64 bytes. */
static tz_status begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error)
{
    char header[256];
    *out = NULL;
    tz_grid_file *file;
    tz_status status = tz__grid_file_open(&file, path, grid, error);
    if (status != TZ_OK)
        return status;
    const size_t bytes = make_header(header, grid->fields[0].dtype, grid->dims, grid->shape);
    status = tz__grid_file_put(file, 0, header, bytes, error);
    file->columns[0].offset = (int64_t)bytes;
    if (status != TZ_OK) {
        tz_grid_file_abort(file);
        return status;
    }
    *out = file;
    return TZ_OK;
}

tz_status tz_npy_take(tz_npy_file *file, tz_format_reading *reading, tz_error *error)
{
    enum { LARGE_BYTES = 64 << 20 };
    const tz_npy_facts *facts = &file->header;
    const int64_t count = tz_shape_count(facts->dims, facts->shape);
    if (count >= LARGE_BYTES / (int64_t)tz_dtype_size(facts->dtype)) {
        reading->file = file;
        return TZ_OK;
    }
    const tz_status status = tz_npy_read_all(file, &reading->array, error);
    tz_npy_close(file);
    return status;
}

tz_status tz_npy_take_turned(tz_npy_file *file, tz_format_reading *reading, tz_error *error)
{
    const tz_status status = tz_npy_read_all(file, &reading->array, error);
    tz_npy_close(file);
    if (status == TZ_OK)
        tz_array_turn_rows(reading->array);
    return status;
}

static tz_status read_array(const char *path, tz_format_reading *reading, tz_error *error)
{
    tz_npy_file *file;
    const tz_status status = tz_npy_open(&file, path, error);
    return status ? status : tz_npy_take(file, reading, error);
}

static tz_status put_info(const char *path, tz_facts *out, tz_error *error)
{
    tz_npy_file *file;
    const tz_status status = tz_npy_open(&file, path, error);
    if (status != TZ_OK)
        return status;
    const tz_npy_facts facts = file->header;
    tz_npy_close(file);
    tz_facts_part(out, 0, "%s", path);
    FILE *shape = tz_fact(out, "shape");
    for (int axis = 0; axis < facts.dims; axis++)
        fprintf(shape, "%s%" PRId64, axis > 0 ? " x " : "", facts.shape[axis]);
    fprintf(shape, " (x first)");
    tz_fact_text(out, "numbers", "%s%s%s%s", tz_dtype_name(facts.dtype),
                 facts.half ? ", stored in half precision" : "",
                 facts.swapped ? ", bytes swapped" : "", facts.fortran ? ", Fortran order" : "");
    return TZ_OK;
}

const tz_format tz_format_npy = {
    .name = "npy",
    .content = TZ_CONTENT_ARRAY,
    .suffix = ".npy",
    .doc = "The field as a NumPy array, with the values' type.",
    .begin = begin,
    .magic = "\x93NUMPY",
    .read_doc = "a NumPy array",
    .read = read_array,
    .info = put_info,
};
