#include "output/format/npy.h"

#include "base/atomic.h"
#include "base/file.h"
#include "output/format/npy_header.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct tz_npy_writer {
    tz_atomic_file *file;
    size_t item_bytes;
    int64_t wanted, written; /* elements */
};

static tz_status open_header(const char *path, FILE **stream, tz__npy_header *header,
                             tz_error *error)
{
    tz_status status = tz_file_stream(path, stream, NULL, error);
    if (status != TZ_OK)
        return status;
    status = tz__npy_header_read(*stream, path, header, error);
    if (status != TZ_OK) {
        fclose(*stream);
        *stream = NULL;
    }
    return status;
}

tz_status tz_npy_inspect(const char *path, tz_npy_facts *facts, tz_error *error)
{
    FILE *stream;
    tz__npy_header h;
    const tz_status status = open_header(path, &stream, &h, error);
    if (status != TZ_OK)
        return status;
    fclose(stream);
    *facts = (tz_npy_facts){.dtype = h.dtype,
                            .half = h.half,
                            .swapped = h.swapped,
                            .fortran = h.fortran,
                            .dims = h.dims,
                            .data_offset = h.data_offset};
    memcpy(facts->shape, h.shape, sizeof h.shape);
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

/* Fortran order to C order: the first index runs fastest in `from`, the last one in `to`. */
static void transpose(void *to, const void *from, size_t item_bytes, const tz__npy_header *h)
{
    enum { BLOCK = 64 };
    const int64_t n0 = h->dims == 3 ? h->numpy_shape[0] : 1;
    const int64_t n1 = h->numpy_shape[h->dims - 2], n2 = h->numpy_shape[h->dims - 1];
    char *out = to;
    const char *in = from;
    /* Copy square blocks, which stay in cache on both sides. */
    for (int64_t c = 0; c < n0; c++)
        for (int64_t b0 = 0; b0 < n1; b0 += BLOCK)
            for (int64_t a0 = 0; a0 < n2; a0 += BLOCK)
                for (int64_t b = b0; b < n1 && b < b0 + BLOCK; b++)
                    for (int64_t a = a0; a < n2 && a < a0 + BLOCK; a++)
                        memcpy(out + (size_t)((c * n1 + b) * n2 + a) * item_bytes,
                               in + (size_t)((a * n1 + b) * n0 + c) * item_bytes, item_bytes);
}

tz_status tz_npy_read(const char *path, tz_array **out, tz_error *error)
{
    *out = NULL;
    FILE *stream;
    tz__npy_header h;
    tz_array *array = NULL;
    void *raw = NULL;
    tz_status status = open_header(path, &stream, &h, error);
    if (status != TZ_OK)
        return status;
    status = tz_array_create(&array, h.dtype, h.dims, h.shape, error);
    if (status != TZ_OK)
        goto cleanup;
    const bool transposes = h.fortran && h.dims > 1;
    void *data = array->data;
    if (transposes) {
        raw = malloc((size_t)h.count * h.item_bytes);
        if (!raw) {
            status = tz_error_set(error, TZ_MEMORY, path, "the array does not fit in memory");
            goto cleanup;
        }
        data = raw;
    } else if (h.half) {
        data = (char *)data +
               (size_t)h.count * 2; /* the upper half of the memory; widened in place below */
    }
    errno = 0;
    if (fread(data, h.item_bytes, (size_t)h.count, stream) != (size_t)h.count) {
        status = ferror(stream)
                     ? tz_error_set_errno(error, errno, path, "cannot read")
                     : tz_error_set(error, TZ_FORMAT, path, "truncated while it was being read");
        goto cleanup;
    }
    if (h.swapped)
        swap_bytes(data, h.item_bytes, h.count);
    if (transposes) {
        data = h.half ? (char *)array->data + (size_t)h.count * 2 : array->data;
        transpose(data, raw, h.item_bytes, &h);
    }
    if (h.half) {
        /* Element i is read at byte 2n + 2i and written at 4i: nothing unread is overwritten. */
        for (int64_t i = 0; i < h.count; i++) {
            uint16_t half;
            memcpy(&half, (char *)data + i * 2, 2);
            ((float *)array->data)[i] = half_to_float(half);
        }
    } else if (h.dtype == TZ_DTYPE_BOOL) {
        for (int64_t i = 0; i < h.count; i++)
            ((uint8_t *)data)[i] = ((uint8_t *)data)[i] != 0;
    }
    *out = array;
    array = NULL;
cleanup:
    free(raw);
    tz_array_destroy(array);
    fclose(stream);
    return status;
}

tz_status tz_npy_map(const char *path, tz_npy_mapping *out, tz_error *error)
{
    FILE *stream;
    tz__npy_header h;
    memset(out, 0, sizeof *out);
    tz_status status = open_header(path, &stream, &h, error);
    if (status != TZ_OK)
        return status;
    int long_axes = 0;
    for (int d = 0; d < h.dims; d++)
        long_axes += h.shape[d] > 1;
    if (h.half || h.swapped || (h.fortran && long_axes > 1) ||
        h.data_offset % (int64_t)h.item_bytes != 0) {
        status = tz_error_set(error, TZ_UNSUPPORTED, path,
                              "cannot be mapped (byte order, Fortran order, float16 or "
                              "alignment); read it instead");
        goto cleanup;
    }
    const size_t bytes = (size_t)h.data_offset + (size_t)h.count * h.item_bytes;
    void *base = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
    if (base == MAP_FAILED) {
        status = tz_error_set_errno(error, errno, path, "cannot map");
        goto cleanup;
    }
    *out = (tz_npy_mapping){.dtype = h.dtype,
                            .dims = h.dims,
                            .data = (const char *)base + h.data_offset,
                            .base = base,
                            .bytes = bytes};
    memcpy(out->shape, h.shape, sizeof h.shape);
cleanup:
    fclose(stream);
    return status;
}

void tz_npy_unmap(tz_npy_mapping *map)
{
    if (map->base)
        munmap(map->base, map->bytes);
    memset(map, 0, sizeof *map);
}

tz_status tz_npy_write_begin(tz_npy_writer **out, const char *path, tz_dtype dtype, int dims,
                             const int64_t *shape, tz_error *error)
{
    *out = NULL;
    char header[256];
    const int64_t count = dims < 1 || dims > TZ_DIMS_MAX ? -1 : tz_shape_count(dims, shape);
    if (count < 0)
        return tz_error_set(error, TZ_RANGE, path, "cannot write an array of this shape");
    tz_npy_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to write the array");
    tz_status status = tz_atomic_open(&writer->file, path, false, error);
    if (status != TZ_OK) {
        free(writer);
        return status;
    }
    writer->item_bytes = tz_dtype_size(dtype);
    writer->wanted = count;
    const size_t bytes = tz__npy_header_write(header, dtype, dims, shape);
    status = tz_atomic_write(writer->file, header, bytes, error);
    if (status != TZ_OK) {
        tz_npy_write_abort(writer);
        return status;
    }
    *out = writer;
    return TZ_OK;
}

tz_status tz_npy_write_rows(tz_npy_writer *writer, const void *data, int64_t count, tz_error *error)
{
    if (count < 0 || count > writer->wanted - writer->written)
        return tz_error_set(error, TZ_SHAPE, tz_atomic_path(writer->file),
                            "more elements than the shape holds (%" PRId64 ")", writer->wanted);
    writer->written += count;
    return tz_atomic_write(writer->file, data, (size_t)count * writer->item_bytes, error);
}

tz_status tz_npy_write_commit(tz_npy_writer *writer, tz_error *error)
{
    tz_status status;
    if (writer->written != writer->wanted) {
        status = tz_error_set(error, TZ_SHAPE, tz_atomic_path(writer->file),
                              "%" PRId64 " elements written, the shape needs %" PRId64,
                              writer->written, writer->wanted);
        tz_atomic_abort(writer->file);
    } else {
        status = tz_atomic_commit(writer->file, error);
    }
    free(writer);
    return status;
}

void tz_npy_write_abort(tz_npy_writer *writer)
{
    if (!writer)
        return;
    tz_atomic_abort(writer->file);
    free(writer);
}

tz_status tz_npy_write(const char *path, const tz_array *array, tz_error *error)
{
    tz_npy_writer *writer;
    tz_status status =
        tz_npy_write_begin(&writer, path, array->dtype, array->dims, array->shape, error);
    if (status != TZ_OK)
        return status;
    status =
        tz_npy_write_rows(writer, array->data, tz_shape_count(array->dims, array->shape), error);
    if (status != TZ_OK) {
        tz_npy_write_abort(writer);
        return status;
    }
    return tz_npy_write_commit(writer, error);
}
