#include "output/format/vti.h"

#include "base/atomic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct column {
    int64_t offset;  /* of its first element, in bytes from the file's start */
    int64_t written; /* elements */
    size_t item_bytes;
} column;

struct tz_vti_writer {
    tz_atomic_file *file;
    int64_t count; /* elements a field */
    int64_t at;    /* the stream's position */
    size_t field_count;
    column columns[];
};

static const char *type_name(tz_dtype dtype)
{
    static const char *const names[] = {"UInt8",  "Int8",  "UInt8",  "Int16",   "UInt16", "Int32",
                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    return names[dtype];
}

static void put_escaped(FILE *stream, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '&' || c == '<' || c == '>' || c == '"')
            fprintf(stream, "&#%d;", c);
        else
            fputc(c < 32 ? ' ' : c, stream);
    }
}

static void put_extent(FILE *stream, const char *key, int dims, const int64_t *shape)
{
    fprintf(stream, " %s=\"", key);
    for (int d = 0; d < 3; d++)
        fprintf(stream, "%s0 %" PRId64, d ? " " : "", d < dims ? shape[d] : 0);
    fputc('"', stream);
}

static void put_xml(FILE *stream, const tz_vti_writer *writer, int dims, const int64_t *shape,
                    const tz_vti_field *fields)
{
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    fprintf(stream,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<ImageData",
            little ? "LittleEndian" : "BigEndian");
    put_extent(stream, "WholeExtent", dims, shape);
    fputs(" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n<Piece", stream);
    put_extent(stream, "Extent", dims, shape);
    fputs(">\n<PointData/>\n<CellData Scalars=\"", stream);
    put_escaped(stream, fields[0].name);
    fputs("\">\n", stream);
    int64_t offset = 0;
    for (size_t k = 0; k < writer->field_count; k++) {
        fprintf(stream, "<DataArray type=\"%s\" Name=\"", type_name(fields[k].dtype));
        put_escaped(stream, fields[k].name);
        fprintf(stream, "\" format=\"appended\" offset=\"%" PRId64 "\"/>\n", offset);
        offset += 8 + writer->count * (int64_t)writer->columns[k].item_bytes;
    }
    fputs("</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_", stream);
}

static tz_status seek(tz_vti_writer *writer, int64_t at, tz_error *error)
{
    if (writer->at == at)
        return TZ_OK;
    if (fseeko(tz_atomic_stream(writer->file), (off_t)at, SEEK_SET) != 0)
        return tz_error_set_errno(error, errno, tz_atomic_path(writer->file), "cannot write");
    writer->at = at;
    return TZ_OK;
}

static tz_status put(tz_vti_writer *writer, int64_t at, const void *data, size_t bytes,
                     tz_error *error)
{
    tz_status status = seek(writer, at, error);
    if (status == TZ_OK)
        status = tz_atomic_write(writer->file, data, bytes, error);
    writer->at += (int64_t)bytes;
    return status;
}

static tz_status check(const char *path, int dims, const int64_t *shape, const tz_vti_field *fields,
                       size_t field_count, tz_error *error)
{
    if (dims < 1 || dims > TZ_DIMS_MAX || tz_shape_count(dims, shape) < 0)
        return tz_error_set(error, TZ_RANGE, path, "cannot write a grid of this shape");
    if (field_count == 0)
        return tz_error_set(error, TZ_USAGE, path, "a .vti file needs at least one field");
    for (size_t k = 0; k < field_count; k++) {
        if (!fields[k].name || !fields[k].name[0])
            return tz_error_set(error, TZ_USAGE, path, "field %zu has no name", k);
        for (size_t j = 0; j < k; j++)
            if (strcmp(fields[j].name, fields[k].name) == 0)
                return tz_error_set(error, TZ_USAGE, path, "two fields are named '%s'",
                                    fields[k].name);
    }
    return TZ_OK;
}

tz_status tz_vti_write_begin(tz_vti_writer **out, const char *path, int dims, const int64_t *shape,
                             const tz_vti_field *fields, size_t field_count, tz_error *error)
{
    *out = NULL;
    tz_status status = check(path, dims, shape, fields, field_count, error);
    if (status != TZ_OK)
        return status;
    tz_vti_writer *writer = calloc(1, sizeof *writer + field_count * sizeof(column));
    if (!writer)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to write the fields");
    status = tz_atomic_open(&writer->file, path, false, error);
    if (status != TZ_OK) {
        free(writer);
        return status;
    }
    writer->count = tz_shape_count(dims, shape);
    writer->field_count = field_count;
    for (size_t k = 0; k < field_count; k++)
        writer->columns[k].item_bytes = tz_dtype_size(fields[k].dtype);
    FILE *stream = tz_atomic_stream(writer->file);
    put_xml(stream, writer, dims, shape, fields);
    int64_t offset = writer->at = (int64_t)ftello(stream);
    for (size_t k = 0; k < field_count && status == TZ_OK; k++) {
        const uint64_t bytes = (uint64_t)writer->count * writer->columns[k].item_bytes;
        status = put(writer, offset, &bytes, sizeof bytes, error);
        writer->columns[k].offset = offset + 8;
        offset += 8 + (int64_t)bytes;
    }
    if (status != TZ_OK) {
        tz_vti_write_abort(writer);
        return status;
    }
    *out = writer;
    return TZ_OK;
}

tz_status tz_vti_write_slab(tz_vti_writer *writer, size_t k, const void *data, int64_t count,
                            tz_error *error)
{
    column *c = &writer->columns[k];
    if (k >= writer->field_count || count < 0 || count > writer->count - c->written)
        return tz_error_set(error, TZ_SHAPE, tz_atomic_path(writer->file),
                            "more elements than field %zu holds (%" PRId64 ")", k, writer->count);
    const int64_t at = c->offset + c->written * (int64_t)c->item_bytes;
    c->written += count;
    return put(writer, at, data, (size_t)count * c->item_bytes, error);
}

tz_status tz_vti_write_commit(tz_vti_writer *writer, tz_error *error)
{
    static const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
    tz_status status = TZ_OK;
    for (size_t k = 0; k < writer->field_count && status == TZ_OK; k++) {
        if (writer->columns[k].written != writer->count)
            status = tz_error_set(error, TZ_SHAPE, tz_atomic_path(writer->file),
                                  "field %zu has %" PRId64 " elements, the grid needs %" PRId64, k,
                                  writer->columns[k].written, writer->count);
    }
    if (status == TZ_OK) {
        const column *last = &writer->columns[writer->field_count - 1];
        const int64_t end = last->offset + writer->count * (int64_t)last->item_bytes;
        status = put(writer, end, tail, sizeof tail - 1, error);
    }
    if (status == TZ_OK)
        status = tz_atomic_commit(writer->file, error);
    else
        tz_atomic_abort(writer->file);
    free(writer);
    return status;
}

void tz_vti_write_abort(tz_vti_writer *writer)
{
    if (!writer)
        return;
    tz_atomic_abort(writer->file);
    free(writer);
}
