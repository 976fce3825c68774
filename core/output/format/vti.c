/* ParaView's ImageData (.vti): named cell data on a regular grid, for ParaView and VisIt; and
 * .pvd, a list of such files with their times.
 *
 * XML with the numbers appended raw, each array after a UInt64 byte count. Cells run x fastest,
 * in the order of the arrays; VTK's y axis points up, so row 0 is at the bottom there, unless
 * y_up turns the rows. A 2-D grid has no thickness there ("0 nx 0 ny 0 0"). "TimeValue" is what
 * readers of VTK take for the time. Source: "VTK File Formats", XML, ImageData; ParaView Data
 * (PVD) File Format. */
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "output/format/format.h"
#include "output/format/npy.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const byte_order =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian";

static const char turned[] = "<!-- y points up: the first row is the last one of the grid -->";

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
        fprintf(stream, "%s\n", turned);
    put_facts(stream, grid);
    fputs("<Piece", stream);
    put_extent(stream, "Extent", grid);
    fputs(">\n<PointData/>\n<CellData Scalars=\"", stream);
    tz_text_xml(stream, grid->fields[0].name);
    fputs("\">\n", stream);
    for (size_t k = 0; k < grid->fields_count; k++) {
        fprintf(stream, "<DataArray type=\"%s\" Name=\"", tz_vtk_type(grid->fields[k].dtype));
        tz_text_xml(stream, grid->fields[k].name);
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
    tz_text_xml(entry.stream, name);
    fputc('"', entry.stream);
    tz_series_mark(&entry);
    fprintf(entry.stream, " timestep=\"%s\" group=\"\" part=\"0\"/>\n",
            tz_number_format(time, tz_grid_when(grid)));
    return tz_series_add(path, &frame, &entry, error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

enum { XML_MAX = 1 << 20 };

/* An open file. What is not "ImageData with raw appended data" is refused. */
typedef struct image {
    const char *path;
    tz_error *error;
    char *xml;          /* up to the appended data; owned */
    int64_t data, size; /* offsets of the first appended byte, and of the file's end */
    bool wide;          /* byte counts have 64 bits */
    bool swapped;
    int64_t low[TZ_DIMS_MAX], high[TZ_DIMS_MAX]; /* of points */
} image;

static tz_status malformed(const image *i, const char *what)
{
    return tz_error_set(i->error, TZ_FORMAT, i->path, "malformed .vti: %s", what);
}

static tz_status other(const image *i, const char *what)
{
    return tz_error_set(i->error, TZ_UNSUPPORTED, i->path,
                        "%s: what is read has raw appended data without a compressor, as tz.vti "
                        "writes it (in VTK: SetDataModeToAppended, EncodeAppendedDataOff, "
                        "SetCompressorTypeToNone)",
                        what);
}

/* The value of an attribute of the tag at `tag`, up to its '>'; NULL: it has none. Is not
 * terminated. */
static const char *attribute(const char *tag, const char *key, size_t *length)
{
    const char *end = strchr(tag, '>');
    const size_t size = strlen(key);
    for (const char *p = tag; end && (p = strstr(p, key)) && p < end; p += size) {
        const char *q = p + size;
        if ((p[-1] != ' ' && p[-1] != '\n' && p[-1] != '\t') || *q != '=' ||
            (q[1] != '"' && q[1] != '\''))
            continue;
        const char *close = strchr(q + 2, q[1]);
        if (!close || close > end)
            return NULL;
        *length = (size_t)(close - q - 2);
        return q + 2;
    }
    return NULL;
}

static bool has_attribute(const char *tag, const char *key, const char *value)
{
    size_t length;
    const char *text = attribute(tag, key, &length);
    return text && length == strlen(value) && memcmp(text, value, length) == 0;
}

/* Read a text with XML's escapes; it is cut to `size`. */
static void take_name(const char *tag, char *out, size_t size)
{
    static const struct {
        const char *escape, *text;
    } known[] = {{"&amp;", "&"}, {"&lt;", "<"},  {"&gt;", ">"},  {"&quot;", "\""},
                 {"&#38;", "&"}, {"&#60;", "<"}, {"&#62;", ">"}, {"&#34;", "\""}};
    size_t length = 0, used = 0;
    const char *p = attribute(tag, "Name", &length), *end = p ? p + length : p;
    while (p && p < end && used + 1 < size) {
        const char *text = NULL;
        for (size_t k = 0; !text && k < sizeof known / sizeof *known; k++)
            if (strncmp(p, known[k].escape, strlen(known[k].escape)) == 0) {
                text = known[k].text;
                p += strlen(known[k].escape);
            }
        out[used++] = text ? *text : *p++;
    }
    out[used] = '\0';
}

/* The header, and where the data begin. */
static tz_status read_xml(image *i, FILE *stream)
{
    i->xml = malloc(XML_MAX + 1);
    if (!i->xml)
        return tz_error_set(i->error, TZ_MEMORY, i->path, "not enough memory to read it");
    const size_t got = fread(i->xml, 1, XML_MAX, stream);
    i->xml[got] = '\0'; /* what follows the header may hold zeros: strstr() ends there */
    const char *root = strstr(i->xml, "<VTKFile");
    if (!root)
        return tz_error_set(i->error, TZ_FORMAT, i->path, "is XML, but no file of VTK");
    if (has_attribute(root, "type", "Collection"))
        return tz_error_set(i->error, TZ_FORMAT, i->path,
                            "is a list of files: read one of the .vti files that it names");
    if (!has_attribute(root, "type", "ImageData"))
        return tz_error_set(i->error, TZ_FORMAT, i->path,
                            "is a file of VTK, but no ImageData: save it as .vti");
    i->wide = has_attribute(root, "header_type", "UInt64");
    i->swapped = !has_attribute(root, "byte_order", byte_order);
    size_t length;
    if (attribute(root, "compressor", &length))
        return other(i, "its data is compressed");
    char *appended = strstr(i->xml, "<AppendedData");
    if (!appended)
        return other(i, "its data is within the XML");
    if (!has_attribute(appended, "encoding", "raw"))
        return other(i, "its data is in base64");
    const char *mark = strchr(appended, '>');
    mark = mark ? strchr(mark, '_') : NULL;
    if (!mark)
        return malformed(i, "the appended data does not begin");
    i->data = mark + 1 - i->xml;
    *appended = '\0';
    return TZ_OK;
}

static tz_status read_extents(image *i)
{
    const char *tag = strstr(i->xml, "<ImageData"), *piece = strstr(i->xml, "<Piece");
    size_t length = 0, other_length = 0;
    const char *whole = tag ? attribute(tag, "WholeExtent", &length) : NULL;
    const char *part = piece ? attribute(piece, "Extent", &other_length) : NULL;
    if (!whole || !part ||
        sscanf(whole, "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64, &i->low[0],
               &i->high[0], &i->low[1], &i->high[1], &i->low[2], &i->high[2]) != 6)
        return malformed(i, "its extents are missing");
    if (length != other_length || memcmp(whole, part, length) != 0 || strstr(piece + 1, "<Piece"))
        return other(i, "it has several pieces");
    for (int d = 0; d < TZ_DIMS_MAX; d++)
        if (i->low[d] < -(INT64_C(1) << 40) || i->high[d] > INT64_C(1) << 40 ||
            i->high[d] < i->low[d])
            return malformed(i, "its extents are wrong");
    return TZ_OK;
}

/* The array of that name, or the only one; *points: it has values of points. */
static tz_status choose(const image *i, const char *field, const char **out, bool *points)
{
    char name[160], names[160] = "";
    size_t count = 0, used = 0;
    const char *cells = strstr(i->xml, "<CellData"),
               *end = cells ? strstr(cells, "</CellData") : NULL;
    for (const char *tag = i->xml; (tag = strstr(tag, "<DataArray")); tag++) {
        const bool in_cells = cells && tag > cells && (!end || tag < end);
        const char *meta = strstr(tag, "</FieldData");
        if (meta) /* facts of the file, such as its time */
            continue;
        take_name(tag, name, sizeof name);
        if (!field || strcmp(field, name) == 0) {
            *out = tag;
            *points = !in_cells;
        }
        if (used < sizeof names - 1)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", count ? ", " : "",
                                     name);
        count++;
    }
    if (count == 0)
        return tz_error_set(i->error, TZ_FORMAT, i->path, "has no arrays");
    if (!*out)
        return tz_error_set(i->error, TZ_UNKNOWN, i->path, "has no array '%.60s'; it has %s", field,
                            names);
    return field || count == 1
               ? TZ_OK
               : tz_error_set(i->error, TZ_USAGE, i->path, "has %zu arrays, %s: 'field' takes one",
                              count, names);
}

/* What the array is, and where. */
static tz_status describe(const image *i, const char *tag, bool points, FILE *stream,
                          tz_npy_facts *out)
{
    size_t length = 0;
    unsigned char count[8];
    const char *offset = attribute(tag, "offset", &length);
    *out = (tz_npy_facts){.dtype = TZ_DTYPE_COUNT, .swapped = i->swapped};
    for (int d = TZ_DTYPE_COUNT - 1; d > TZ_DTYPE_BOOL; d--)
        if (has_attribute(tag, "type", tz_vtk_type((tz_dtype)d)))
            out->dtype = (tz_dtype)d;
    if (out->dtype == TZ_DTYPE_COUNT)
        return malformed(i, "the type of an array is not known");
    if (attribute(tag, "NumberOfComponents", &length) &&
        !has_attribute(tag, "NumberOfComponents", "1"))
        return other(i, "the array has several components");
    if (!has_attribute(tag, "format", "appended") || !offset || *offset < '0' || *offset > '9')
        return other(i, "the array's data is within the XML");
    for (int d = 0; d < TZ_DIMS_MAX; d++) {
        const int64_t n = i->high[d] - i->low[d];
        out->shape[d] = points ? n + 1 : n > 0 ? n : 1;
        out->dims = n > 0 || d == 0 ? d + 1 : out->dims;
    }
    const int64_t at = strtoll(offset, NULL, 10), head = i->wide ? 8 : 4;
    if (at > i->size - i->data - head)
        return malformed(i, "truncated: an array is behind its end");
    if (fseeko(stream, (off_t)(i->data + at), SEEK_SET) != 0 ||
        fread(count, 1, (size_t)head, stream) != (size_t)head)
        return tz_error_set_errno(i->error, errno, i->path, "cannot read");
    uint64_t bytes = 0;
    const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != i->swapped;
    for (int k = 0; k < head; k++)
        bytes = bytes << 8 | count[little ? head - 1 - k : k];
    const int64_t cells = tz_shape_count(out->dims, out->shape);
    if (cells < 0 || bytes != (uint64_t)cells * tz_dtype_size(out->dtype))
        return malformed(i, "an array's size is not that of its extents");
    out->data_offset = i->data + at + head;
    return TZ_OK;
}

static tz_status read_image(const char *path, tz_format_reading *reading, tz_error *error)
{
    FILE *stream;
    size_t bytes = 0;
    tz_npy_facts facts;
    tz_npy_file *file;
    const char *tag = NULL;
    bool points = false;
    tz_status status = tz_file_stream(path, &stream, &bytes, error);
    if (status != TZ_OK)
        return status;
    image i = {.path = path, .error = error, .size = (int64_t)bytes};
    status = read_xml(&i, stream);
    if (status == TZ_OK)
        status = read_extents(&i);
    if (status == TZ_OK)
        status = choose(&i, reading->field, &tag, &points);
    if (status == TZ_OK)
        status = describe(&i, tag, points, stream, &facts);
    const bool y_up = status == TZ_OK && strstr(i.xml, turned);
    free(i.xml);
    fclose(stream);
    if (status == TZ_OK)
        status = tz_npy_open_bare(&file, path, &facts, error);
    if (status != TZ_OK)
        return status;
    return y_up ? tz_npy_take_turned(file, reading, error) : tz_npy_take(file, reading, error);
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
    .magic = "<?xml",
    .read_doc = "an array of a VTK image with raw appended data, as `tz.vti` writes it",
    .reads = TZ_READS_FIELD,
    .read = read_image,
};
