#include "output/format/npy.h"

#include "base/file.h"
#include "output/format/npy_header.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE_ELEMENTS = 1 << 18 };

struct tz_npy_file {
    int descriptor;
    char *path;
    tz__npy_header header;
    tz_npy_facts facts;
    void *raw,
        *cells; /* of a piece: as the file has it, and in order. NULL until they are needed */
};

/* ---- Opening --------------------------------------------------------------------------------- */

tz_status tz_npy_open(tz_npy_file **out, const char *path, tz_error *error)
{
    *out = NULL;
    FILE *stream = NULL;
    tz_npy_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to open the file");
    }
    tz__npy_header *h = &file->header;
    file->descriptor = -1;
    tz_status status = tz_file_stream(path, &stream, NULL, error);
    if (status == TZ_OK)
        status = tz__npy_header_read(stream, path, h, error);
    if (status == TZ_OK && (file->descriptor = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0)) < 0)
        status = tz_error_set_errno(error, errno, path, "cannot open");
    if (stream)
        fclose(stream);
    if (status != TZ_OK) {
        tz_npy_close(file);
        return status;
    }
    file->facts = (tz_npy_facts){.dtype = h->dtype,
                                 .half = h->half,
                                 .swapped = h->swapped,
                                 .fortran = h->fortran,
                                 .dims = h->dims,
                                 .data_offset = h->data_offset};
    memcpy(file->facts.shape, h->shape, sizeof h->shape);
    *out = file;
    return TZ_OK;
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
    return &file->facts;
}

tz_status tz_npy_inspect(const char *path, tz_npy_facts *facts, tz_error *error)
{
    tz_npy_file *file;
    const tz_status status = tz_npy_open(&file, path, error);
    if (status != TZ_OK)
        return status;
    *facts = file->facts;
    tz_npy_close(file);
    return TZ_OK;
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
    const off_t begin = (off_t)(file->header.data_offset + first * (int64_t)size);
    for (size_t used = 0; used < bytes;) {
        const ssize_t got =
            pread(file->descriptor, (char *)file->raw + used, bytes - used, begin + (off_t)used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tz_error_set_errno(error, errno, file->path, "cannot read");
        if (got == 0)
            return tz_error_set(error, TZ_FORMAT, file->path, "truncated while it was being read");
        used += (size_t)got;
    }
    return TZ_OK;
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
    const tz__npy_header *h = &file->header;
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
    const tz__npy_header *h = &file->header;
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
    const tz__npy_header *h = &file->header;
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
