/* Arrays and pictures: .npy, .npz, .vti, tables and .png, also within gzip. */
#include "output/format/npy.h"
#include "output/format/png.h"
#include "tests/fuzz/fuzz.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static bool is_same(const tz_array *a, const tz_array *b)
{
    return a->dtype == b->dtype && a->dims == b->dims &&
           memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
           memcmp(a->data, b->data,
                  (size_t)tz_shape_count(a->dims, a->shape) * tz_dtype_size(a->dtype)) == 0;
}

/* ---- .npy ------------------------------------------------------------------------------------ */

static const char npy_words[] =
    "'descr': '<f4'|'descr': '>i8'|'fortran_order': True|'fortran_order': False|"
    "'shape': (3, 5)|'shape': (), |'<f2'|'b1'|'>u2'|'<c8'|[('a', '<f4')]|(3, 0)|(2, 3, 4, 5)"
    "|(9223372036854775807,)|True|{|}|'|\\|4L|\x93NUMPY|\n";

/* A file of each type in 1 to 3 dimensions; then of other orders and versions, as NumPy writes
 * them. */
static bool npy_seed(int index, const char *path)
{
    static const struct other {
        const char *header;
        int version, bytes;
    } others[] = {{"{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4), }", 1, 48},
                  {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 4), }", 1, 192},
                  {"{'descr': '<f2', 'fortran_order': True, 'shape': (5, 3), }", 2, 30},
                  {"{'descr': '>f2', 'fortran_order': False, 'shape': (7,), }", 3, 14},
                  {"{'descr': '>i8', 'fortran_order': True, 'shape': (1, 6), }", 2, 48},
                  {"{'shape': (2L, 2L), 'descr': '|b1', 'fortran_order': False}", 1, 4}};
    const int64_t shape[] = {5, 3, 2};
    tz_array *array;
    if (index < TZ_DTYPE_COUNT) {
        if (tz_array_create(&array, (tz_dtype)index, 1 + index % 3, shape, NULL) != TZ_OK)
            return false;
        for (int64_t i = 0; i < tz_shape_count(array->dims, shape); i++)
            tz_array_set(array, i, (double)(index == TZ_DTYPE_BOOL ? i % 2 : i));
        const tz_status status =
            tz_format_save(&tz_format_npy, path, array, "data", NULL, NULL, NULL);
        tz_array_destroy(array);
        return status == TZ_OK;
    }
    index -= TZ_DTYPE_COUNT;
    if (index >= (int)(sizeof others / sizeof *others))
        return false;
    const struct other *o = &others[index];
    const size_t length = strlen(o->header) + 1;
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    fprintf(file, "\x93NUMPY%c%c%c%c", o->version, 0, (int)length, 0);
    if (o->version > 1)
        fwrite("\0", 1, 2, file);
    fprintf(file, "%s\n", o->header);
    for (int i = 0; i < o->bytes; i++)
        fputc(o->header[12] == 'b' ? i % 2 : i, file);
    return fclose(file) == 0;
}

/* Make the stated length of the header right, and the size of the file that of its shape. */
static void npy_mend(fuzz_bytes *b, uint64_t *random)
{
    const size_t start = b->size > 6 && b->data[6] > 1 ? 12 : 10;
    unsigned char *end = b->size > start ? memchr(b->data + start, '\n', b->size - start) : NULL;
    if (!end)
        return;
    const size_t length = (size_t)(end - b->data) + 1 - start;
    b->data[8] = (unsigned char)length;
    b->data[9] = (unsigned char)(length >> 8);
    if (start == 12)
        b->data[10] = b->data[11] = 0;
    char header[256] = "";
    memcpy(header, b->data + start, length < sizeof header ? length : sizeof header - 1);
    const char *shape = strstr(header, "'shape': ("), *type = strstr(header, "'descr': '");
    long extent[3] = {1, 1, 1};
    if (!shape || !type || strlen(type) < 14 ||
        sscanf(shape + 10, "%ld%*[,L ]%ld%*[,L ]%ld", &extent[0], &extent[1], &extent[2]) < 1)
        return;
    size_t bytes = type[12] >= '1' && type[12] <= '8' ? (size_t)(type[12] - '0') : 1;
    for (int d = 0; d < 3; d++)
        bytes = extent[d] > 0 && extent[d] < 1000 ? bytes * (size_t)extent[d] : FUZZ_BYTES_MAX;
    const size_t whole = start + length + bytes;
    if (bytes >= FUZZ_BYTES_MAX || whole > FUZZ_BYTES_MAX)
        return;
    for (size_t i = b->size; i < whole; i++)
        b->data[i] = (unsigned char)fuzz_random(random);
    b->size = whole;
}

static tz_status npy_read(const char *path, tz_error *error)
{
    tz_array *array = NULL, *again = NULL;
    tz_npy_facts facts = {0};
    tz_npy_mapping map = {0};
    tz_npy_file *file = NULL;
    const tz_status status = tz_npy_read(path, &array, error);
    const tz_status opened = tz_npy_open(&file, path, NULL);
    tz_status mapped = opened;
    if (opened == TZ_OK)
        facts = *tz_npy_file_facts(file);
    if (opened == TZ_OK)
        mapped = tz_npy_map(file, &map, NULL);
    tz_npy_close(file);
    if (status != opened)
        fuzz_wrong("tz_npy_read gives %d, tz_npy_open %d", (int)status, (int)opened);
    if (status != TZ_OK)
        return status;
    if (mapped != TZ_OK && mapped != TZ_UNSUPPORTED)
        fuzz_wrong("tz_npy_map gives %d", (int)mapped);
    const tz_array view = {facts.dtype,
                           facts.dims,
                           {facts.shape[0], facts.shape[1], facts.shape[2]},
                           (void *)map.data};
    if (mapped == TZ_OK && facts.dtype != TZ_DTYPE_BOOL && !is_same(&view, array))
        fuzz_wrong("tz_npy_map and tz_npy_read differ");
    if (mapped == TZ_OK)
        tz_npy_unmap(&map);
    const char *copy = fuzz_beside(path, "copy.npy");
    if (tz_format_save(&tz_format_npy, copy, array, "data", NULL, NULL, error) != TZ_OK ||
        tz_npy_read(copy, &again, error) != TZ_OK)
        fuzz_wrong("it cannot be written and read again: %s", error->message);
    if (!is_same(array, again))
        fuzz_wrong("it is another array when it is read again");
    tz_array_destroy(array);
    tz_array_destroy(again);
    return TZ_OK;
}

const fuzz_reader fuzz_npy = {.name = "npy",
                              .file = "input.npy",
                              .weight = 80,
                              .least_passed = 40,
                              .base_bytes = 1 << 19, /* buffers of files that are written */
                              .bytes_per_byte = 8,
                              .words = npy_words,
                              .seed = npy_seed,
                              .mend = npy_mend,
                              .read = npy_read};

/* ---- .npz, .vti, tables ---------------------------------------------------------------------- */

/* A reader of small arrays. Those that are accepted are the same when they are written as .vti and
 * read again; those with more than one array are asked for the one named "v". */
static tz_status small_read(const tz_format *format, const char *path, tz_error *error)
{
    tz_format_reading reading = {.dims = 0}, again = {.dims = 0};
    tz_status status = format->read(path, &reading, error);
    if (status == TZ_USAGE) {
        reading.field = "v";
        status = format->read(path, &reading, error);
    }
    if (status != TZ_OK)
        return status;
    const char *copy = fuzz_beside(path, "copy.vti");
    if (tz_format_save(&tz_format_vti, copy, reading.array, "data", NULL, NULL, error) != TZ_OK ||
        tz_format_vti.read(copy, &again, error) != TZ_OK)
        fuzz_wrong("it cannot be written and read again: %s", error->message);
    again.array->dtype = reading.array->dtype == TZ_DTYPE_BOOL ? TZ_DTYPE_BOOL : again.array->dtype;
    if (!is_same(reading.array, again.array))
        fuzz_wrong("it is another array when it is read again");
    tz_array_destroy(reading.array);
    tz_array_destroy(again.array);
    return TZ_OK;
}

static void put_number(unsigned char *p, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(value >> 8 * i);
}

/* An archive of one array, stored, or of two, deflated; or one within gzip. */
static bool npz_seed(int index, const char *path)
{
    static fuzz_bytes npy, zip;
    unsigned char list[256], packed[4096];
    const int arrays = index == 1 ? 2 : 1;
    const char *part = fuzz_beside(path, "part.npy");
    if (index > 2 || !npy_seed(index + 4, part))
        return false;
    FILE *file = fopen(part, "rb");
    npy.size = file ? fread(npy.data, 1, sizeof npy.data, file) : 0;
    if (file)
        fclose(file);
    z_stream z = {.next_in = npy.data,
                  .avail_in = (uInt)npy.size,
                  .next_out = packed,
                  .avail_out = sizeof packed};
    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    const unsigned char *data = arrays > 1 ? packed : npy.data;
    const size_t bytes = arrays > 1 ? z.total_out : npy.size;
    size_t listed = 0;
    zip.size = 0;
    for (int k = 0; k < arrays; k++) {
        unsigned char *p = list + listed, *local = zip.data + zip.size;
        memset(p, 0, 51);
        memcpy(p, "PK\1\2\24\0\24\0", 8);
        put_number(p + 10, arrays > 1 ? 8 : 0, 2);
        put_number(p + 16, crc32(0, npy.data, (uInt)npy.size), 4);
        put_number(p + 20, bytes, 4);
        put_number(p + 24, npy.size, 4);
        put_number(p + 28, 5, 2);
        put_number(p + 42, zip.size, 4);
        memcpy(p + 46, k ? "v.npy" : "u.npy", 5);
        memcpy(local, "PK\3\4", 4);
        memcpy(local + 4, p + 6, 26);
        memcpy(local + 30, p + 46, 5);
        memcpy(local + 35, data, bytes);
        zip.size += 35 + bytes;
        listed += 51;
    }
    const size_t at = zip.size;
    memcpy(zip.data + at, list, listed);
    unsigned char *end = zip.data + at + listed;
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    put_number(end + 10, (size_t)arrays, 2);
    put_number(end + 12, listed, 4);
    put_number(end + 16, at, 4);
    zip.size = at + listed + 22;
    if (index < 2) {
        fuzz_write(path, zip.data, zip.size);
        return true;
    }
    gzFile gz = gzopen(path, "wb");
    return gz && gzwrite(gz, zip.data, (unsigned)zip.size) > 0 && gzclose(gz) == Z_OK;
}

/* The list lies where its record says, and checksums of stored members are right. */
static void npz_mend(fuzz_bytes *b, uint64_t *random)
{
    (void)random;
    const unsigned char *list = memmem(b->data, b->size, "PK\1\2", 4),
                        *end = memmem(b->data, b->size, "PK\5\6", 4);
    if (!list || !end || end < list || (size_t)(end - b->data) + 22 > b->size)
        return;
    put_number(b->data + (end - b->data) + 12, (size_t)(end - list), 4);
    put_number(b->data + (end - b->data) + 16, (size_t)(list - b->data), 4);
}

static tz_status npz_read(const char *path, tz_error *error)
{
    return small_read(&tz_format_npz, path, error);
}

const fuzz_reader fuzz_npz = {.name = "npz",
                              .file = "input.npz",
                              .weight = 50,
                              .least_passed = 20,
                              .base_bytes = 1 << 20,
                              .bytes_per_byte = 1032 * 4,
                              .words =
                                  "PK\1\2|PK\3\4|PK\5\6|PK\6\7|u.npy|v.npy|\1\020|'<f4'|(3, 5)",
                              .seed = npz_seed,
                              .mend = npz_mend,
                              .read = npz_read};

static bool vti_seed(int index, const char *path)
{
    const int64_t shape[] = {5, 3, 2};
    tz_array *array;
    if (index >= TZ_DTYPE_COUNT ||
        tz_array_create(&array, (tz_dtype)index, 1 + index % 3, shape, NULL) != TZ_OK)
        return false;
    for (int64_t i = 0; i < tz_shape_count(array->dims, shape); i++)
        tz_array_set(array, i, (double)(i % 2));
    tz_grid_file *file;
    const tz_grid_field fields[] = {{.name = "u", .dtype = array->dtype},
                                    {.name = "v", .dtype = array->dtype}};
    tz_grid grid = tz_grid_of(array->dims, shape);
    grid.fields = fields;
    grid.fields_count = index % 2 ? 2 : 1;
    grid.y_up = index % 4 == 3;
    tz_status status = tz_format_vti.begin(&file, path, &grid, NULL);
    for (size_t k = 0; status == TZ_OK && k < grid.fields_count; k++)
        status = tz_grid_file_write(file, k, array->data, tz_shape_count(array->dims, shape), NULL);
    tz_array_destroy(array);
    return status == TZ_OK && tz_grid_file_commit(file, NULL) == TZ_OK;
}

static tz_status vti_read(const char *path, tz_error *error)
{
    return small_read(&tz_format_vti, path, error);
}

const fuzz_reader fuzz_vti = {
    .name = "vti",
    .file = "input.vti",
    .weight = 50,
    .least_passed = 40,
    .base_bytes = 3 << 20,
    .bytes_per_byte = 16,
    .words = "Extent=\"0 5 0 3 0 2\"|Extent=\"0 0 0 0 0 0\"|offset=\"0\"|UInt32|UInt64|Float64|"
             "BigEndian|<DataArray|<PointData>|</CellData>|<AppendedData|encoding=\"raw\">\n_|"
             "NumberOfComponents=\"1\"|&#38;|Name=\"v\"|>|<!-- |compressor",
    .seed = vti_seed,
    .read = vti_read};

static const char *const csv_texts[] = {"x,y,\"z, w\"\n1,2,3\n4,5,6\n\n7,8,9\n1,2,3\n",
                                        "# a\n1;2,5;3\r\n4;5;6;\r\n",
                                        "\xef\xbb\xbf"
                                        "1\t2\n3\t4\n",
                                        "1 2 3\n 4 5 6\n",
                                        "a\n1\n2\n3\n",
                                        NULL};

static tz_status csv_read(const char *path, tz_error *error)
{
    return small_read(&tz_format_csv, path, error);
}

const fuzz_reader fuzz_csv = {.name = "csv",
                              .file = "input.csv",
                              .weight = 50,
                              .least_passed = 60,
                              .base_bytes = 1 << 20,
                              .bytes_per_byte = 64,
                              .words = ",|;|\t|\n|\n\n|\r\n|\"|1.5|nan|inf|x|#|-|1e5| ,",
                              .texts = csv_texts,
                              .read = csv_read};

/* ---- .png ------------------------------------------------------------------------------------ */

static const char png_words[] =
    "IHDR|IDAT|IEND|PLTE|tEXt|zTXt|iTXt|tRNS|gAMA|sBIT|bKGD|iCCP|eXIf|acTL|Scale|"
    "\x89PNG\r\n\x1a\n";

/* A picture of each kind that PNG knows, with compressed and other texts. */
static void write_foreign(FILE *file, int kind, int depth, bool interlaced)
{
    unsigned char row[8 * 9] = {0};
    png_colorp palette = calloc(16, sizeof *palette);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_text texts[] = {
        {.compression = PNG_TEXT_COMPRESSION_zTXt, .key = "a", .text = "compressed text"},
        {.compression = PNG_ITXT_COMPRESSION_zTXt, .key = "b", .text = "\xc3\xa9"}};
    png_init_io(png, file);
    png_set_IHDR(png, info, 9, 5, depth, kind,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (kind == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, depth < 4 ? 1 << depth : 16);
    png_set_gAMA(png, info, 0.45);
    png_set_text(png, info, texts, 2);
    png_write_info(png, info);
    for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
        for (int y = 0; y < 5; y++) {
            memset(row, kind == PNG_COLOR_TYPE_PALETTE ? 0 : 37 * y, sizeof row);
            png_write_row(png, row);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(palette);
}

static bool png_seed(int index, const char *path)
{
    static const struct {
        int kind, depth;
    } foreign[] = {{PNG_COLOR_TYPE_GRAY, 1},      {PNG_COLOR_TYPE_GRAY, 4},
                   {PNG_COLOR_TYPE_GRAY, 16},     {PNG_COLOR_TYPE_PALETTE, 1},
                   {PNG_COLOR_TYPE_PALETTE, 8},   {PNG_COLOR_TYPE_RGB, 16},
                   {PNG_COLOR_TYPE_RGBA, 8},      {PNG_COLOR_TYPE_GRAY_ALPHA, 16},
                   {PNG_COLOR_TYPE_RGB_ALPHA, 16}};
    const png_size_t kinds = sizeof foreign / sizeof *foreign;
    const tz_image_note notes[] = {{"Step", "12"}, {"Title", "W\xc3\xa4rme"}};
    tz_image *image;
    if (index <= TZ_PIXEL_INDEX8) {
        if (tz_image_create(&image, (tz_pixel)index, 13, 7, NULL) != TZ_OK)
            return false;
        for (int i = 0; i < 13 * 7 * tz_pixel_bytes(image->pixel); i++)
            image->data[i] = (uint8_t)(i * 5);
        image->scale = 1;
        const tz_status status = tz_png_write(path, image, notes, 2, NULL);
        tz_image_destroy(image);
        return status == TZ_OK;
    }
    index -= TZ_PIXEL_INDEX8 + 1;
    if ((size_t)index >= 2 * kinds)
        return false;
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    write_foreign(file, foreign[(size_t)index % kinds].kind, foreign[(size_t)index % kinds].depth,
                  (size_t)index >= kinds);
    return fclose(file) == 0;
}

/* Make lengths fit the file, and all checksums right. */
static void png_mend(fuzz_bytes *b, uint64_t *random)
{
    for (size_t at = 8; at + 12 <= b->size;) {
        unsigned char *p = b->data + at;
        size_t length = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (length > b->size - at - 12) {
            length = b->size - at - 12;
            const uint32_t swapped = __builtin_bswap32((uint32_t)length);
            if (fuzz_below(random, 8) == 0)
                return;
            memcpy(p, &swapped, 4);
        }
        const uint32_t sum = __builtin_bswap32((uint32_t)crc32(0, p + 4, (uInt)length + 4));
        memcpy(p + 8 + length, &sum, 4);
        at += length + 12;
    }
}

static tz_status png_read(const char *path, tz_error *error)
{
    tz_array *array = NULL;
    tz_png_facts facts;
    tz_error other = {.code = TZ_OK};
    const tz_status status = tz_png_read(path, TZ_PNG_GREY, &array, NULL, error);
    for (int channel = TZ_PNG_RED; status == TZ_OK && channel <= TZ_PNG_ALPHA; channel++) {
        tz_array *part = NULL;
        const tz_status partly = tz_png_read(path, (tz_png_channel)channel, &part, NULL, &other);
        if (partly != TZ_OK && channel != TZ_PNG_ALPHA)
            fuzz_wrong("tz_png_read refuses a channel: %s", other.message);
        tz_array_destroy(part);
    }
    const tz_status told = tz_png_read_text(path, &facts, &other);
    if (told != TZ_OK && other.message[0] == '\0')
        fuzz_wrong("tz_png_read_text: no message");
    if (status == TZ_OK && told != TZ_OK)
        fuzz_wrong("tz_png_read accepts what tz_png_read_text refuses: %s", other.message);
    if (status == TZ_OK && (array->shape[0] != facts.width || array->shape[1] != facts.height))
        fuzz_wrong("tz_png_read and tz_png_read_text differ in the size");
    if (told == TZ_OK)
        tz_png_facts_clear(&facts);
    tz_array_destroy(array);
    return status;
}

const fuzz_reader fuzz_png = {
    .name = "png",
    .file = "input.png",
    .weight = 80,
    .least_passed = 14,
    .base_bytes = 1 << 20,
    .bytes_per_byte =
        1032 * 40, /* what deflate reaches, one bit as red, green, blue, alpha and a number */
    .words = png_words,
    .seed = png_seed,
    .mend = png_mend,
    .read = png_read};
