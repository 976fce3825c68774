#include "output/format/npy.h"

#include "base/atomic.h"
#include "output/format/npy_header.h"

#include <inttypes.h>
#include <stdlib.h>

struct tz_npy_writer {
    tz_atomic_file *file;
    size_t header_bytes, item_bytes;
    int64_t wanted, written; /* elements */
};

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
    writer->header_bytes = bytes;
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

tz_atomic_file *tz_npy_write_file(tz_npy_writer *writer, int64_t *offset)
{
    *offset = (int64_t)writer->header_bytes;
    return writer->file;
}

void tz_npy_write_skip(tz_npy_writer *writer)
{
    writer->written = writer->wanted;
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
