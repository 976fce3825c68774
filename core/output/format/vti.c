/* ParaView's ImageData (.vti): named cell data on a regular grid, for ParaView and VisIt; and
 * .pvd, a list of such files with their times.
 *
 * XML with the numbers appended raw, each array after a UInt64 byte count. Cells run x fastest,
 * in the order of the arrays; VTK's y axis points up, so row 0 is at the bottom there, unless
 * y_up turns the rows. A 2-D grid has no thickness there ("0 nx 0 ny 0 0"). "TimeValue" is what
 * readers of VTK take for the time. Source: "VTK File Formats", XML, ImageData; ParaView Data
 * (PVD) File Format. */
#include "base/number.h"
#include "output/format/format.h"
#include <inttypes.h>

static const char *const byte_order =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian";

static void put_extent(FILE *stream, const char *key, const tz_grid *grid)
{
    fprintf(stream, " %s=\"", key);
    for (int d = 0; d < TZ_DIMS_MAX; d++)
        fprintf(stream, "%s0 %" PRId64, d ? " " : "", d < grid->dims ? grid->shape[d] : 0);
    fputc('"', stream);
}

static void put_numbers(FILE *stream, const char *key, const double *values)
{
    char x[TZ_NUMBER_SIZE], y[TZ_NUMBER_SIZE], z[TZ_NUMBER_SIZE];
    fprintf(stream, " %s=\"%s %s %s\"", key, tz_number_format(x, values[0]),
            tz_number_format(y, values[1]), tz_number_format(z, values[2]));
}

static void put_facts(FILE *stream, const tz_grid *grid)
{
    char time[TZ_NUMBER_SIZE];
    if (!grid->has_step)
        return;
    fprintf(stream,
            "<FieldData>\n"
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%s</DataArray>\n"
            "<DataArray type=\"Int64\" Name=\"Step\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%" PRId64 "</DataArray>\n"
            "</FieldData>\n",
            tz_number_format(time, tz_grid_when(grid)), grid->step);
}

static void put_xml(FILE *stream, const tz_grid_file *file, const tz_grid *grid)
{
    int64_t offset = 0;
    fprintf(stream,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<ImageData",
            byte_order);
    put_extent(stream, "WholeExtent", grid);
    put_numbers(stream, "Origin", grid->origin);
    put_numbers(stream, "Spacing", grid->spacing);
    fputs(">\n", stream);
    if (grid->y_up)
        fputs("<!-- y points up: the first row is the last one of the grid -->\n", stream);
    put_facts(stream, grid);
    fputs("<Piece", stream);
    put_extent(stream, "Extent", grid);
    fputs(">\n<PointData/>\n<CellData Scalars=\"", stream);
    tz__xml_put(stream, grid->fields[0].name);
    fputs("\">\n", stream);
    for (size_t k = 0; k < grid->fields_count; k++) {
        fprintf(stream, "<DataArray type=\"%s\" Name=\"", tz_vtk_type(grid->fields[k].dtype));
        tz__xml_put(stream, grid->fields[k].name);
        fprintf(stream, "\" format=\"appended\" offset=\"%" PRId64 "\"/>\n", offset);
        offset += 8 + tz__grid_file_bytes(file, k);
    }
    fputs("</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_", stream);
}

static tz_status begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error)
{
    *out = NULL;
    tz_grid_file *file;
    tz_status status = tz__grid_file_open(&file, path, grid, error);
    if (status != TZ_OK)
        return status;
    FILE *stream = tz__grid_file_stream(file);
    put_xml(stream, file, grid);
    int64_t offset = (int64_t)ftello(stream);
    for (size_t k = 0; k < grid->fields_count && status == TZ_OK; k++) {
        const uint64_t bytes = (uint64_t)tz__grid_file_bytes(file, k);
        status = tz__grid_file_put(file, offset, &bytes, sizeof bytes, error);
        file->columns[k].offset = offset + 8;
        offset += 8 + (int64_t)bytes;
    }
    file->end = "\n</AppendedData>\n</VTKFile>\n";
    if (status != TZ_OK) {
        tz_grid_file_abort(file);
        return status;
    }
    *out = file;
    return TZ_OK;
}

/* ---- Series ---------------------------------------------------------------------------------- */

static tz_status list(const char *path, const char *name, const tz_grid *grid, tz_error *error)
{
    char head[256], time[TZ_NUMBER_SIZE];
    tz_series_entry entry;
    snprintf(head, sizeof head,
             "<?xml version=\"1.0\"?>\n"
             "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"%s\">\n<Collection>\n",
             byte_order);
    const tz_series_frame frame = {head, "</Collection>\n</VTKFile>\n"};
    const tz_status status = tz_series_begin(&entry, error);
    if (status != TZ_OK)
        return status;
    fputs("<DataSet file=\"", entry.stream);
    tz__xml_put(entry.stream, name);
    fputc('"', entry.stream);
    tz_series_mark(&entry);
    fprintf(entry.stream, " timestep=\"%s\" group=\"\" part=\"0\"/>\n",
            tz_number_format(time, tz_grid_when(grid)));
    return tz_series_add(path, &frame, &entry, error);
}

const tz_format tz_format_vti = {
    .name = "vti",
    .content = TZ_CONTENT_GRID,
    .suffix = ".vti",
    .doc = "One field, or several, `tz.vti { \"a\", \"b\" }`, as a VTK image for ParaView. "
           "Opening `NAME.pvd` shows the whole run, also while it goes on.",
    .begin = begin,
    .list_suffix = ".pvd",
    .list = list,
};
