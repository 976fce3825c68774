/* The table of formats, and its look-ups. */
#include "output/format/format.h"

#include "base/file.h"
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ROW(NAME) &tz_format_##NAME,
const tz_format *const tz_formats[] = {TZ_FORMATS(ROW) NULL};
#undef ROW

const char *tz_format_ending(const tz_format *format, tz_format_use use)
{
    const bool there[] = {
        [TZ_TO_SAVE] = format->begin, [TZ_TO_READ] = format->read, [TZ_TO_SHOW] = format->info,
        [TZ_TO_DRAW] = format->draw,  [TZ_TO_FILM] = format->film, [TZ_TO_REPORT] = format->whole};
    return !there[use]                               ? NULL
           : use == TZ_TO_SAVE && format->needs_list ? format->list_suffix
                                                     : format->suffix;
}

const tz_format *tz_format_of_file(const char *name, tz_format_use use)
{
    const char *end = strrchr(name, '.');
    const bool any_case = use == TZ_TO_READ || use == TZ_TO_SHOW;
    for (const tz_format *const *f = tz_formats; end && *f; f++) {
        const char *ending = tz_format_ending(*f, use);
        if (ending && (any_case ? strcasecmp : strcmp)(end, ending) == 0)
            return *f;
    }
    return NULL;
}

const tz_format *tz_format_of_packed(const char *path)
{
    char name[PATH_MAX];
    const size_t length = strlen(path);
    const bool packed = length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
    snprintf(name, sizeof name, "%.*s", (int)(packed ? length - 3 : length), path);
    return tz_format_of_file(name, TZ_TO_READ);
}

/* ---- Files of others ------------------------------------------------------------------------- */

/* By bytes at a place of theirs: what they are, and what to do. */
#define NUMPY "save its array as .npy (numpy.save)"
#define AS_PNG "save it as PNG"
#define NETCDF "is a NetCDF file: convert it to NetCDF-4, which is HDF5 (nccopy -k nc4 IN OUT.h5)"
#define SEGY "is a SEG-Y file: save its traces as .npy (segyio and numpy.save)"
#define NETPBM "is a picture of Netpbm: save it as PNG (pnmtopng)"
#define AT(PLACE, BYTES, WHAT)                                                                     \
    {                                                                                              \
        PLACE, sizeof BYTES - 1, BYTES, WHAT                                                       \
    }
static const struct {
    size_t at, length;
    const char *bytes, *what;
} strangers[] = {
    AT(0, "\xff\xd8\xff", "is a JPEG picture: " AS_PNG),
    AT(0, "GIF8", "is a GIF picture: " AS_PNG),
    AT(0, "II*", "is a TIFF picture: save it as PNG, 8 or 16 bits, or as .npy (numpy.save)"),
    AT(0, "MM\0*", "is a TIFF picture: save it as PNG, 8 or 16 bits, or as .npy (numpy.save)"),
    AT(0, "II+", "is a BigTIFF picture: save it as .npy (numpy.save)"),
    AT(0, "MM\0+", "is a BigTIFF picture: save it as .npy (numpy.save)"),
    AT(8, "WEBP", "is a WebP picture: " AS_PNG),
    AT(4, "ftyp", "is a film or picture of the MP4 family: save a frame as PNG"),
    AT(0, "v/1\1", "is an OpenEXR picture: save it as .npy (numpy.save)"),
    AT(0, "#?RADIANCE", "is a Radiance picture: save it as .npy (numpy.save)"),
    AT(0, "<svg", "is an SVG drawing: " AS_PNG),
    AT(0, "P1\n", NETPBM),
    AT(0, "P2\n", NETPBM),
    AT(0, "P3\n", NETPBM),
    AT(0, "P4\n", NETPBM),
    AT(0, "P5\n", NETPBM),
    AT(0, "P6\n", NETPBM),
    AT(0, "Pf\n", "is a PFM picture: tz.read's 'type' reads its numbers behind a header"),
    AT(0, "PF\n", "is a PFM picture in colours: " AS_PNG),
    AT(0, "PK\5\6", "is an empty zip file"),
    AT(0, "BZh", "is compressed by bzip2: decompress it first (bunzip2)"),
    AT(0,
       "\xfd"
       "7zXZ",
       "is compressed by xz: decompress it first (unxz)"),
    AT(0, "\x28\xb5\x2f\xfd", "is compressed by zstd: decompress it first (unzstd)"),
    AT(0, "\x04\x22\x4d\x18", "is compressed by lz4: decompress it first (unlz4)"),
    AT(0, "7z\xbc\xaf", "is a 7z archive: unpack it first"),
    AT(0, "Rar!", "is a RAR archive: unpack it first"),
    AT(257, "ustar", "is a tar archive: unpack it first (tar -xf)"),
    AT(0, "MATLAB 5.0",
       "is a MATLAB file: save it by save -v7.3 as .h5, or by scipy.io.loadmat and numpy.save as "
       ".npy"),
    AT(0, "CDF\1", NETCDF),
    AT(0, "CDF\2", NETCDF),
    AT(0, "CDF\5", NETCDF),
    AT(0, "\x0e\x03\x13\x01", "is an HDF4 file: convert it to HDF5 (h4toh5)"),
    AT(0, "GRIB", "is a GRIB file: " NUMPY),
    AT(0, "SIMPLE  =", "is a FITS file: save its array as .npy (astropy.io.fits and numpy.save)"),
    AT(0, "\xc3\xf1\x40", SEGY),
    AT(0, "\xc3\x40\xf1", SEGY),
    AT(0, "\xc3\xf0\xf1", SEGY),
    AT(0, "C 1 ", SEGY),
    AT(0, "C01 ", SEGY),
    AT(128, "DICM", "is a DICOM picture: save its array as .npy (pydicom and numpy.save)"),
    AT(344, "n+1", "is a NIfTI file: save its array as .npy (nibabel and numpy.save)"),
    AT(0, "NRRD000", "is an NRRD file: tz.read's 'type' and 'offset' read its numbers"),
    AT(0, "ObjectType", "is a MetaImage header: tz.read's 'type' reads the .raw file beside it"),
    AT(0, "# vtk DataFile", "is a legacy file of VTK: save it as .vti with raw appended data"),
    AT(0, "ply\n", "is a PLY mesh, not an array"),
    AT(0, "PAR1", "is a Parquet table: save it as CSV"),
    AT(0, "ARROW1", "is an Arrow table: save it as CSV"),
    AT(0, "SQLite format 3", "is an SQLite database: save its table as CSV"),
    AT(0, "\x80\4\x95", "is a pickle of Python: save its array by numpy.save"),
    AT(0, "\x80\5\x95", "is a pickle of Python: save its array by numpy.save"),
    AT(0, "\x80\3", "is a pickle of Python: save its array by numpy.save"),
    AT(0, "\xd0\xcf\x11\xe0", "is a document of an older Office: save the table as CSV"),
    AT(0, "%PDF", "is a PDF document: save its table as CSV"),
    AT(0, "<!DOCTYPE", "is a web page: the download may have failed"),
    AT(0, "<!doctype", "is a web page: the download may have failed"),
    AT(0, "<html", "is a web page: the download may have failed"),
    AT(0, "version https://git-lfs", "is a pointer of Git LFS: fetch the file (git lfs pull)"),
    AT(0, "{\\rtf", "is a document (RTF): save the table as CSV"),
    AT(0,
       "\x7f"
       "ELF",
       "is a program or library, not an array"),
    AT(0, "[[", "looks like JSON: give the lists to tz.array as Lua tables, or save them as CSV"),
    AT(0, "{\"", "looks like JSON: save its numbers as CSV"),
    AT(0, "#MCell", "is a pattern of MCell: open it in Golly, and save it as .rle"),
    AT(0, "-- ", "is a script (Lua), not an array"),
    AT(0, "3D version", "is a pattern of Golly in space: list its cells in a text or .npy"),
};

/* What the first bytes of a file are, if not what Trapeze reads. */
static const char *stranger(const char *first, size_t got)
{
    if (got > 16 && memcmp(first, "BM", 2) == 0 && memcmp(first + 6, "\0\0\0\0", 4) == 0)
        return "is a BMP picture: " AS_PNG;
    for (size_t k = 0; k < sizeof strangers / sizeof *strangers; k++)
        if (strangers[k].at + strangers[k].length <= got &&
            memcmp(first + strangers[k].at, strangers[k].bytes, strangers[k].length) == 0)
            return strangers[k].what;
    return NULL;
}

/* Does a file begin so? That of HDF5 may have bytes of others before it, a text has comments. */
static bool begins(const char *first, size_t got, const char *magic)
{
    enum { BLOCK = 512 };
    const size_t size = strlen(magic);
    const char *at = first, *end = first + got, *newline;
    while (at < end && *at == '#' && (newline = memchr(at, '\n', (size_t)(end - at))))
        at = newline + 1;
    return (size < got && memcmp(first, magic, size) == 0) ||
           (size < (size_t)(end - at) && memcmp(at, magic, size) == 0) ||
           (BLOCK + size < got && memcmp(first + BLOCK, magic, size) == 0);
}

tz_status tz_format_to_read(const char *path, const tz_format **out, tz_error *error)
{
    char first[1024];
    FILE *file;
    const tz_status status = tz_file_stream(path, &file, NULL, error);
    *out = NULL;
    if (status != TZ_OK)
        return status;
    const size_t got = fread(first, 1, sizeof first, file);
    fclose(file);
    const char *what = stranger(first, got);
    if (what)
        return tz_error_set(error, TZ_FORMAT, path, "%s", what);
    *out = tz_format_of_packed(path);
    for (const tz_format *const *f = tz_formats; (!*out || *out == &tz_format_text) && *f; f++)
        if ((*f)->read && (*f)->magic && begins(first, got, (*f)->magic))
            *out = *f;
    if (!*out)
        *out = &tz_format_text;
    return TZ_OK;
}

const tz_format *tz_format_find(const char *name)
{
    for (const tz_format *const *f = tz_formats; *f; f++)
        if (((*f)->doc || (*f)->begin) && strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

/* "a, b or c": item `i` of `count`. */
static void append(char text[256], const char *item, size_t i, size_t count)
{
    const size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", item);
}

const char *tz_format_endings(tz_format_use use, unsigned mask, char text[256])
{
    size_t count = 0, i = 0;
    text[0] = '\0';
    for (int pass = 0; pass < 2; pass++)
        for (const tz_format *const *f = tz_formats; *f; f++) {
            const char *ending = tz_format_ending(*f, use);
            if (!ending || (mask && !((*f)->reads & mask)))
                continue;
            if (pass == 0)
                count++;
            else
                append(text, ending, i++, count);
        }
    return text;
}

const char *tz_format_names(char text[256])
{
    size_t count = 0, i = 0;
    text[0] = '\0';
    for (const tz_format *const *f = tz_formats; *f; f++)
        count += (*f)->begin != NULL;
    for (const tz_format *const *f = tz_formats; *f; f++)
        if ((*f)->begin)
            append(text, (*f)->name, i++, count);
    return text;
}

bool tz_format_is_one_file(const tz_format *format)
{
    return format->content == TZ_CONTENT_TABLE || format->content == TZ_CONTENT_MOVIE;
}

bool tz_format_is_picture(const tz_format *format)
{
    return format->content == TZ_CONTENT_PICTURE || format->content == TZ_CONTENT_MOVIE;
}

static tz_status write_file(const tz_format *format, const char *path, const tz_array *array,
                            const tz_grid *grid, tz_error *error)
{
    tz_grid_file *file = NULL;
    tz_status status = format->begin(&file, path, grid, error);
    if (status == TZ_OK)
        status = tz_grid_file_write(file, 0, array->data, tz_shape_count(array->dims, array->shape),
                                    error);
    if (status == TZ_OK)
        return tz_grid_file_commit(file, error);
    tz_grid_file_abort(file);
    return status;
}

tz_status tz_format_save(const tz_format *format, const char *path, const tz_array *array,
                         const char *field, const char *rule, char data[256], tz_error *error)
{
    const tz_grid_field described = {.name = field, .dtype = array->dtype};
    tz_grid grid = tz_grid_of(array->dims, array->shape);
    grid.fields = &described;
    grid.fields_count = 1;
    grid.rule = rule;
    if (data)
        data[0] = '\0';
    if (!format->needs_list)
        return write_file(format, path, array, &grid, error);
    char beside[PATH_MAX + 8];
    if (access(path, F_OK) == 0)
        return tz_error_set(error, TZ_IO, path, "the file exists already and is not overwritten");
    snprintf(beside, sizeof beside, "%.*s%s", (int)(strlen(path) - strlen(format->list_suffix)),
             path, format->suffix);
    tz_status status = write_file(format, beside, array, &grid, error);
    if (status != TZ_OK)
        return status;
    const char *slash = strrchr(beside, '/');
    snprintf(data, 256, "%.255s", slash ? slash + 1 : beside);
    return format->list(path, data, &grid, error);
}
