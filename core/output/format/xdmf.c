/* XDMF: a list of frames as XML (.xdmf), for ParaView and VisIt, with the numbers beside it, in raw
 * files (.raw) or HDF5's (hdf5.c). The fields of a raw file follow each other, x fastest, without a
 * header; the list says where each is, and its type and byte order.
 * Source: "XDMF Model and Format", version 3; what is used is the same in version 2. */
#include "base/number.h"
#include "base/text.h"
#include "output/format/format.h"
#include <inttypes.h>
#include <string.h>

/* NumberType and Precision of a type. */
static void put_type(FILE *stream, tz_dtype dtype)
{
    const bool real = dtype == TZ_DTYPE_F32 || dtype == TZ_DTYPE_F64;
    const bool is_signed = dtype == TZ_DTYPE_I8 || dtype == TZ_DTYPE_I16 || dtype == TZ_DTYPE_I32 ||
                           dtype == TZ_DTYPE_I64;
    const size_t size = tz_dtype_size(dtype);
    const char *name = real        ? "Float"
                       : size == 1 ? (is_signed ? "Char" : "UChar")
                       : is_signed ? "Int"
                                   : "UInt";
    fprintf(stream, "NumberType=\"%s\" Precision=\"%zu\"", name, size);
}

/* The extents, slowest axis first. An axis that the grid lacks has one cell: readers of version 2
 * fail without, and turn two-dimensional grids. */
static void put_dimensions(FILE *stream, const tz_grid *grid, bool points)
{
    fputs("Dimensions=\"", stream);
    for (int d = TZ_DIMS_MAX - 1; d >= 0; d--)
        fprintf(stream, "%" PRId64 "%s", grid->shape[d] + points, d > 0 ? " " : "\"");
}

/* Three numbers, slowest axis first; `other` for axes that the grid lacks. */
static void put_vector(FILE *stream, const tz_grid *grid, const double *values, double other)
{
    char number[TZ_NUMBER_SIZE];
    fputs("<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">",
          stream);
    for (int d = TZ_DIMS_MAX - 1; d >= 0; d--)
        fprintf(stream, "%s%s", tz_number_format(number, d < grid->dims ? values[d] : other),
                d > 0 ? " " : "");
    fputs("</DataItem>\n", stream);
}

static void put_field(FILE *stream, const tz_grid *grid, const char *name, size_t k, int64_t at)
{
    const tz_grid_field *field = &grid->fields[k];
    const char *suffix = strrchr(name, '.');
    const bool hdf5 = suffix && strcmp(suffix, ".h5") == 0;
    fputs("<Attribute Name=\"", stream);
    tz_text_xml(stream, field->name);
    fputs("\" AttributeType=\"Scalar\" Center=\"Cell\">\n<DataItem ", stream);
    put_dimensions(stream, grid, false);
    fputc(' ', stream);
    put_type(stream, field->dtype);
    if (hdf5)
        fputs(" Format=\"HDF\">", stream);
    else
        fprintf(stream, " Format=\"Binary\" Endian=\"%s\" Seek=\"%" PRId64 "\">",
                __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "Little" : "Big", at);
    tz_text_xml(stream, name);
    if (hdf5) {
        fputs(":/", stream);
        tz_text_xml(stream, field->name);
    }
    fputs("</DataItem>\n</Attribute>\n", stream);
}

/* The numbers are in a .raw file or, if its name ends in ".h5", HDF5's. Without a step a frame
 * has no time. */
static tz_status list(const char *path, const char *name, const tz_grid *grid, tz_error *error)
{
    static const tz_series_frame frame = {
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n"
        "<Grid Name=\"frames\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
        "</Grid>\n</Domain>\n</Xdmf>\n"};
    char time[TZ_NUMBER_SIZE];
    tz_series_entry entry;
    int64_t at = 0;
    const tz_status status = tz_series_begin(&entry, error);
    if (status != TZ_OK)
        return status;
    fputs("<Grid Name=\"", entry.stream);
    tz_text_xml(entry.stream, name);
    fputs("\" GridType=\"Uniform\">\n", entry.stream);
    tz_series_mark(&entry);
    if (grid->y_up)
        fputs("<!-- y points up: the first row is the last one of the grid -->\n", entry.stream);
    if (grid->has_step)
        fprintf(entry.stream, "<Time Value=\"%s\"/>\n", tz_number_format(time, tz_grid_when(grid)));
    fputs("<Topology TopologyType=\"3DCoRectMesh\" ", entry.stream);
    put_dimensions(entry.stream, grid, true);
    fputs("/>\n<Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n", entry.stream);
    put_vector(entry.stream, grid, grid->origin, 0);
    put_vector(entry.stream, grid, grid->spacing, grid->spacing[0]);
    fputs("</Geometry>\n", entry.stream);
    for (size_t k = 0; k < grid->fields_count; k++) {
        put_field(entry.stream, grid, name, k, at);
        at +=
            tz_shape_count(grid->dims, grid->shape) * (int64_t)tz_dtype_size(grid->fields[k].dtype);
    }
    fputs("</Grid>\n", entry.stream);
    return tz_series_add(path, &frame, &entry, error);
}

const tz_format tz_format_xdmf = {
    .name = "xdmf",
    .content = TZ_CONTENT_GRID,
    .suffix = ".raw",
    .doc = "The same as bare numbers, `NAME-000100.raw`, which `NAME.xdmf` describes.",
    .begin = tz__grid_file_open,
    .list_suffix = ".xdmf",
    .list = list,
    .needs_list = true,
};
