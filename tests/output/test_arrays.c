/* Arrays in files: .npy, .npz, raw numbers, text, tables, .vti, gzip. */
#include "tests/support.h"

#include "output/format/format.h"
#include "output/format/npy.h"
#include <zlib.h>

/* A .npy file of version `major` with this dictionary and data. */
static const char *make_npy(scratch *s, int major, const char *dictionary, const void *data,
                            size_t bytes)
{
    static char file[8192];
    const size_t length = strlen(dictionary) + 1, lead = major == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)major;
    file[7] = 0;
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    file[10] = file[11] = 0;
    memcpy(file + lead, dictionary, length - 1);
    file[lead + length - 1] = '\n';
    memcpy(file + lead + length, data, bytes);
    return scratch_file(s, "a.npy", file, lead + length + bytes);
}

static void check_npy(scratch *s, int major, const char *dictionary, const void *data, size_t bytes,
                      tz_dtype dtype, int64_t nx, int64_t ny, const double *values)
{
    tz_array *array = NULL;
    const tz_status status =
        tz_npy_read(make_npy(s, major, dictionary, data, bytes), &array, &failure);
    if (status != TZ_OK)
        fail_msg("%s: %s", dictionary, failure.message);
    assert_int_equal(array->dtype, dtype);
    assert_int_equal(array->shape[0], nx);
    assert_int_equal(array->shape[1], ny);
    for (int64_t i = 0; i < nx * ny; i++)
        if (tz_array_get(array, i) != values[i])
            fail_msg("%s: element %d is %g", dictionary, (int)i, tz_array_get(array, i));
    tz_array_destroy(array);
}

#define DICT(descr, order, shape)                                                                  \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

SCRATCH_TEST(npy_reads_every_layout)
{
    static const double six[] = {1, 2, 3, 4, 5, 6};
    const int16_t little[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
    const unsigned char big[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
    const unsigned char big_columns[] = {0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6};
    const uint16_t half[] = {0x3C00, 0x4000, 0x4200, 0xC400, 0x0001, 0x7C00};
    const double halves[] = {1, 2, 3, -4, ldexp(1, -24), INFINITY};
    const uint16_t half_columns[] = {0x3C00, 0xC400, 0x4000, 0x0001, 0x4200, 0x7C00};
    const unsigned char flags[] = {1, 0, 7}, ones[] = {1, 0, 1};
    const double truth[] = {1, 0, 1};
    check_npy(*state, 1, DICT("<i2", "False", "(2, 3)"), little, 12, TZ_DTYPE_I16, 3, 2, six);
    check_npy(*state, 2, DICT("<i2", "False", "(2, 3)"), little, 12, TZ_DTYPE_I16, 3, 2, six);
    check_npy(*state, 3, DICT("=u2", "False", "(2,3)"), little, 12, TZ_DTYPE_U16, 3, 2, six);
    check_npy(*state, 1, DICT(">i2", "False", "(2L, 3L)"), big, 12, TZ_DTYPE_I16, 3, 2, six);
    check_npy(*state, 1, DICT("<i2", "True", "(2, 3)"), columns, 12, TZ_DTYPE_I16, 3, 2, six);
    check_npy(*state, 1, DICT(">i2", "True", "(2, 3)"), big_columns, 12, TZ_DTYPE_I16, 3, 2, six);
    check_npy(*state, 1, DICT("<f2", "False", "(6,)"), half, 12, TZ_DTYPE_F32, 6, 1, halves);
    check_npy(*state, 1, DICT("<f2", "True", "(2, 3)"), half_columns, 12, TZ_DTYPE_F32, 3, 2,
              halves);
    check_npy(*state, 1, DICT("|b1", "False", "(3,)"), flags, 3, TZ_DTYPE_BOOL, 3, 1, truth);
    check_npy(*state, 1, "{ \"shape\":(3,) ,\"fortran_order\":False,\"descr\":\"|u1\"}", ones, 3,
              TZ_DTYPE_U8, 3, 1, truth);
}

SCRATCH_TEST(npy_refuses_bad_files)
{
    static const struct bad {
        const char *dictionary, *message;
        tz_status status;
        size_t bytes;
    } cases[] = {
        {DICT("<f4", "False", "(4, 3)"), "truncated: expects 48 bytes of data, has 24", TZ_FORMAT,
         24},
        {DICT("<f4", "False", "(2, 2)"), "over-long: expects 16 bytes of data, has 24", TZ_FORMAT,
         24},
        {DICT("<f4", "False", "(-2, 3)"), "negative extent", TZ_FORMAT, 24},
        {DICT("<f4", "False", "(0, 3)"), "empty", TZ_SHAPE, 0},
        {DICT("<f4", "False", "(4611686018427387904, 4)"), "too large", TZ_FORMAT, 24},
        {DICT("<f4", "False", "(99999999999999999999,)"), "too large", TZ_FORMAT, 24},
        {DICT("<f4", "False", "(1000000000, 1000000000)"), "truncated", TZ_FORMAT, 24},
        {DICT("<f4", "False", "()"), "0 dimensions", TZ_SHAPE, 4},
        {DICT("<f4", "False", "(1, 1, 2, 3)"), "4 dimensions", TZ_SHAPE, 24},
        {DICT("<f4", "False", "(2; 3)"), "',' or ')'", TZ_FORMAT, 24},
        {DICT("<f4", "False", "(x,)"), "integer is expected", TZ_FORMAT, 24},
        {DICT("<f4", "Maybe", "(6,)"), "True or False", TZ_FORMAT, 24},
        {DICT("<c8", "False", "(3,)"), "'<c8'", TZ_TYPE, 24},
        {DICT("|O", "False", "(3,)"), "'|O'", TZ_TYPE, 24},
        {DICT("<U3", "False", "(2,)"), "'<U3'", TZ_TYPE, 24},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "structured", TZ_TYPE,
         24},
        {"{'descr': '<f4', 'shape': (6,)}", "must all be there", TZ_FORMAT, 24},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}", "repeated key", TZ_FORMAT, 24},
        {"{'descr': '<f4", "not closed", TZ_FORMAT, 24},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x", "follows", TZ_FORMAT, 24},
        {"", "'{' is expected", TZ_FORMAT, 24},
    };
    const char zeros[24] = {0};
    tz_array *array;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = make_npy(*state, 1, cases[i].dictionary, zeros, cases[i].bytes);
        const tz_status status = tz_npy_read(path, &array, &failure);
        check_error_of(status, cases[i].status, &failure, "a.npy", cases[i].message);
        assert_null(array);
    }
    check_error(tz_npy_read(scratch_text(*state, "b.npy", "hello, world"), &array, &failure),
                TZ_FORMAT, "b.npy", "not a .npy file");
    check_error(tz_npy_read(scratch_file(*state, "c.npy", "\x93NUMPY\x01\x00\xFF\x7F{", 11), &array,
                            &failure),
                TZ_FORMAT, "c.npy", "header claims 32767 bytes");
    check_error(tz_npy_read(scratch_file(*state, "d.npy", "\x93NUMPY\x02\x00\x01\x00", 10), &array,
                            &failure),
                TZ_FORMAT, "d.npy", "truncated");
    check_error(tz_npy_read(scratch_file(*state, "e.npy", "\x93NUMPY\x09\x00\x01\x00", 10), &array,
                            &failure),
                TZ_UNSUPPORTED, "e.npy", "version 9.0");
    check_error(tz_npy_read(scratch_path(*state, "none.npy"), &array, &failure), TZ_IO, "none.npy",
                "No such file");
    check_error(tz_npy_read(((scratch *)*state)->directory, &array, &failure), TZ_IO, "",
                "not a regular file");
}

/* What is written is read and mapped: fuzz/readers. */
SCRATCH_TEST(npy_writes_what_numpy_writes)
{
    tz_array *array;
    size_t bytes;
    const int64_t shape[] = {7, 5, 3};
    assert_ok(tz_array_create(&array, TZ_DTYPE_F64, 3, shape, &failure));
    const char *path = scratch_path(*state, "w.npy");
    assert_ok(tz_format_save(&tz_format_npy, path, array, "data", NULL, NULL, &failure));
    check_error(tz_format_save(&tz_format_npy, path, array, "data", NULL, NULL, &failure), TZ_IO,
                "w.npy", "exists");
    tz_array_destroy(array);
    char *text = scratch_slurp(path, &bytes);
    assert_int_equal((bytes - 7 * 5 * 3 * 8) % 64, 0);
    assert_non_null(
        strstr(text + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5, 7), }"));
    assert_int_equal(scratch_count(*state), 1);
}

SCRATCH_TEST(npy_streams_and_maps)
{
    tz_grid_file *writer;
    tz_npy_file *file;
    tz_npy_mapping map;
    const float slab[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t shape[] = {4, 2, 3};
    const tz_grid_field field = {.name = "data", .dtype = TZ_DTYPE_F32};
    tz_grid grid = tz_grid_of(3, shape);
    grid.fields = &field;
    grid.fields_count = 1;
    const char *path = scratch_path(*state, "s.npy");
    assert_ok(tz_format_npy.begin(&writer, path, &grid, &failure));
    for (int z = 0; z < 3; z++)
        assert_ok(tz_grid_file_write(writer, 0, slab, 8, &failure));
    check_error(tz_grid_file_write(writer, 0, slab, 1, &failure), TZ_SHAPE, "s.npy",
                "more elements");
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(tz_grid_file_commit(writer, &failure));
    assert_ok(tz_npy_open(&file, path, &failure));
    assert_ok(tz_npy_map(file, &map, &failure));
    tz_npy_close(file);
    assert_memory_equal(map.data, slab, sizeof slab);
    tz_npy_unmap(&map);
    tz_npy_unmap(&map);
    path = scratch_path(*state, "t.npy");
    assert_ok(tz_format_npy.begin(&writer, path, &grid, &failure));
    check_error(tz_grid_file_commit(writer, &failure), TZ_SHAPE, "t.npy", "has 0 elements");
    assert_ok(tz_format_npy.begin(&writer, path, &grid, &failure));
    tz_grid_file_abort(writer);
    assert_int_equal(scratch_count(*state), 1);
    make_npy(*state, 1, DICT(">f4", "False", "(2,)"), slab, 8);
    assert_ok(tz_npy_open(&file, ((scratch *)*state)->path, &failure));
    check_error(tz_npy_map(file, &map, &failure), TZ_UNSUPPORTED, "a.npy", "read it instead");
    tz_npy_close(file);
}

SCRATCH_TEST(text_reads_numbers)
{
    tz_array *array;
    const int64_t grid[] = {64, 64}, small[] = {3, 2}, five[] = {5};
    static char text[40000];
    const char *path =
        scratch_text(*state, "t.txt", "# head\n 1 -2.5e3\t3.25 # tail\r\n.5\n+7. 323.865780");
    assert_ok(tz_text_read(path, 0, NULL, &array, &failure));
    const double wanted[] = {1, -2500, 3.25, 0.5, 7, 323.865780};
    assert_int_equal(array->shape[0], 6);
    assert_memory_equal(array->data, wanted, sizeof wanted);
    tz_array_destroy(array);
    assert_ok(tz_text_read(path, 2, small, &array, &failure));
    assert_int_equal(array->shape[1], 2);
    tz_array_destroy(array);
    for (int i = 0; i < 4095; i++)
        memcpy(text + 2 * i, "1\n", 2);
    check_error(tz_text_read(scratch_text(*state, "p.txt", text), 2, grid, &array, &failure),
                TZ_SHAPE, "p.txt", "has 4095 numbers, the grid (64 x 64) needs 4096");
    check_error(tz_text_read(scratch_path(*state, "t.txt"), 1, five, &array, &failure), TZ_SHAPE,
                "t.txt", "has 6 numbers, the grid (5) needs 5");
    path = scratch_text(*state, "x.txt", "1 2 # a comment \x1b[0m\n3");
    assert_ok(tz_text_read(path, 0, NULL, &array, &failure));
    tz_array_destroy(array);
}

/* ---- Other files ----------------------------------------------------------------------------- */

/* Read a file as tz.read does. */
static tz_status try_any(const char *path, const char *field, tz_array **out)
{
    const tz_format *format;
    tz_format_reading reading = {.field = field};
    tz_status status = tz_format_to_read(path, &format, &failure);
    if (status == TZ_OK)
        status = format->read(path, &reading, &failure);
    *out = reading.array;
    return status;
}

/* The array is destroyed when the test ends. */
static tz_array *read_any(const char *path, const char *field)
{
    tz_array *array;
    assert_ok(try_any(path, field, &array));
    at_end(tz_array_destroy, array);
    return array;
}

static void refuse_any(const char *path, const char *field, tz_status status, const char *place,
                       const char *message)
{
    tz_array *array;
    check_error(try_any(path, field, &array), status, place, message);
    assert_null(array);
}

static void check_array(const tz_array *array, int dims, int64_t nx, int64_t ny, int64_t nz,
                        const double *values)
{
    assert_int_equal(array->dims, dims);
    assert_int_equal(array->shape[0], nx);
    assert_int_equal(array->shape[1], ny);
    assert_int_equal(array->shape[2], nz);
    for (int64_t i = 0; i < nx * ny * nz; i++)
        if (tz_array_get(array, i) != values[i])
            fail_msg("element %d is %g, not %g", (int)i, tz_array_get(array, i), values[i]);
}

static const double one_to_six[] = {1, 2, 3, 4, 5, 6};

SCRATCH_TEST(raw_numbers)
{
    const unsigned char big[] = "HEAD\0\1\0\2\0\3\0\4\0\5\0\6";
    const char *path = scratch_file(*state, "v.bin", big, 16);
    tz_npy_facts facts = {.dtype = TZ_DTYPE_I16,
                          .swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                          .dims = 2,
                          .shape = {3, 2, 1},
                          .data_offset = 4};
    tz_npy_file *file;
    tz_format_reading reading = {.dims = 0};
    assert_ok(tz_npy_open_bare(&file, path, &facts, &failure));
    assert_ok(tz_npy_take(file, &reading, &failure));
    check_array(reading.array, 2, 3, 2, 1, one_to_six);
    tz_array_destroy(reading.array);
    facts.fortran = true; /* y is the fastest */
    assert_ok(tz_npy_open_bare(&file, path, &facts, &failure));
    assert_ok(tz_npy_take(file, &reading, &failure));
    const double turned[] = {1, 3, 5, 2, 4, 6};
    check_array(reading.array, 2, 3, 2, 1, turned);
    tz_array_destroy(reading.array);
    facts.data_offset = -1;
    check_error(tz_npy_open_bare(&file, path, &facts, &failure), TZ_SHAPE, "v.bin",
                "has 16 bytes from byte 0 on, and 3 x 2 int16 need 12: offset = 0 takes the first "
                "ones, offset = 4 the last ones");
    facts.data_offset = 6;
    check_error(tz_npy_open_bare(&file, path, &facts, &failure), TZ_SHAPE, "v.bin",
                "has 10 bytes from byte 6 on, and 3 x 2 int16 need 12");
    facts.data_offset = 16;
    check_error(tz_npy_open_bare(&file, path, &facts, &failure), TZ_SHAPE, "v.bin", "no number");
    facts.dims = 0;
    facts.data_offset = 3;
    check_error(tz_npy_open_bare(&file, path, &facts, &failure), TZ_SHAPE, "v.bin",
                "no whole number of int16");
    facts.data_offset = 4;
    facts.fortran = false;
    assert_ok(tz_npy_open_bare(&file, path, &facts, &failure));
    assert_ok(tz_npy_take(file, &reading, &failure));
    check_array(reading.array, 1, 6, 1, 1, one_to_six);
    tz_array_destroy(reading.array);
    facts = (tz_npy_facts){.dims = 3, .shape = {INT64_MAX / 4, 9, 9}, .data_offset = 0};
    check_error(tz_npy_open_bare(&file, path, &facts, &failure), TZ_SHAPE, "v.bin",
                "the shape is too large for any file");
}

SCRATCH_TEST(tables)
{
    static const struct {
        const char *name, *text;
        int dims;
        int64_t nx, ny, nz;
    } good[] = {
        {"a.csv", "1,2,3\n4,5,6\n", 2, 3, 2, 1},
        {"a.csv", "\xef\xbb\xbfx (m),\"y, z\",w\r\n\r\n 1 , 2,3\r\n4,5,\"6\",\r\n\r\n", 2, 3, 2, 1},
        {"a.csv", "# head\n\n1;2\n\n3;4 # tail\n\n5,0;6,00\n", 3, 2, 1, 3},
        {"a.csv", "1\t2\t3\n4\t5\t6", 2, 3, 2, 1},
        {"a.csv", "title of two words\n1 2  3\n 4 5 6 \n", 2, 3, 2, 1},
        {"a.csv", "t\n1\n2\n3\n\n4\n5\n6\n", 1, 6, 1, 1},
        {"a.csv", "1,2,3,4,5,6", 1, 6, 1, 1},
        {"a.csv", "1,2\n\n3,4\n\n\n5,6\n", 3, 2, 1, 3},
        {"a.tsv", "1\t2\t3\n4\t5\t6", 2, 3, 2, 1},
        {"a.txt", "1, 2, 3\n4, 5, 6\n", 2, 3, 2, 1},
        {"a.txt", "1 2 3\n4 5 6\n", 1, 6, 1, 1},
    };
    static const struct {
        const char *text, *place, *message;
        tz_status status;
    } bad[] = {
        {"1,2\n3\n", "a.csv:2", "has 1 number, the lines before have 2", TZ_SHAPE},
        {"1,2\n3,4\n\n5,6\n\n", "a.csv:5", "the 1 lines before it are a plane", TZ_SHAPE},
        {"a,b\n1,b\n", "a.csv:2", "'b' is not a decimal number", TZ_FORMAT},
        {"1,,2\n", "a.csv:1", "a cell is empty", TZ_FORMAT},
        {"1,2\nsum,of\n", "a.csv:2", "'sum' is not a decimal number", TZ_FORMAT},
        {"a,b\nc,d\n", "a.csv", "has no numbers", TZ_SHAPE},
        {"1,2;3\n4;5,6,7\n", "a.csv:2", "'5,6,7' is not a decimal number", TZ_FORMAT},
        {"\1\2\3", "a.csv", "is no text", TZ_FORMAT},
        {"", "a.csv", "has no numbers", TZ_SHAPE},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_array(read_any(scratch_text(*state, good[i].name, good[i].text), NULL), good[i].dims,
                    good[i].nx, good[i].ny, good[i].nz, one_to_six);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse_any(scratch_text(*state, "a.csv", bad[i].text), NULL, bad[i].status, bad[i].place,
                   bad[i].message);
    const char *path = scratch_text(*state, "a.csv", "1,2,3\n4,5,6\n");
    const int64_t flat[] = {6, 1, 1}, turned[] = {2, 3, 1};
    tz_format_reading reading = {.dims = 1, .shape = flat};
    check_error(tz_csv_read(path, &reading, &failure), TZ_SHAPE, "a.csv",
                "has 3 x 2 numbers in its lines, 'shape' is 6");
    reading = (tz_format_reading){.dims = 2, .shape = turned, .order = "yx"};
    assert_ok(tz_csv_read(path, &reading, &failure));
    const double columns[] = {1, 4, 2, 5, 3, 6};
    check_array(reading.array, 2, 2, 3, 1, columns);
    tz_array_destroy(reading.array);
    reading = (tz_format_reading){.skip = 1};
    assert_ok(tz_csv_read(path, &reading, &failure));
    check_array(reading.array, 1, 3, 1, 1, one_to_six + 3);
    tz_array_destroy(reading.array);
    reading = (tz_format_reading){.skip = 3};
    check_error(tz_csv_read(path, &reading, &failure), TZ_SHAPE, "a.csv",
                "fewer lines than 'skip'");
}

SCRATCH_TEST(gzip_around_files)
{
    const char *path = scratch_path(*state, "a.csv.gz");
    for (int member = 0; member < 2; member++) { /* one after the other */
        gzFile file = gzopen(path, member ? "ab" : "wb");
        assert_true(gzputs(file, member ? "4,5,6\n" : "1,2,3\n") > 0);
        assert_int_equal(gzclose(file), Z_OK);
    }
    check_array(read_any(path, NULL), 2, 3, 2, 1, one_to_six);
    size_t bytes;
    char *text = scratch_slurp(path, &bytes), kept[256];
    memcpy(kept, text, bytes);
    kept[bytes - 6] ^= 1; /* of the checksum */
    refuse_any(scratch_file(*state, "b.csv.gz", kept, bytes), NULL, TZ_FORMAT, "b.csv.gz",
               "its compressed data is corrupt");
    refuse_any(scratch_file(*state, "b.csv.gz", kept, bytes - 10), NULL, TZ_FORMAT, "b.csv.gz",
               "truncated: its compressed data has no end");
}

/* A member of a zip file: its local header, or its entry in the list. */
static size_t put_member(unsigned char *out, bool in_list, const char *name, int method,
                         const unsigned char *data, size_t bytes, uLong sum, size_t whole,
                         size_t local)
{
    unsigned char *p = out;
    const size_t length = strlen(name);
#define PUT(value, count)                                                                          \
    for (int k = 0; k < (count); k++)                                                              \
    *p++ = (unsigned char)((unsigned long)(value) >> 8 * k)
    memcpy(p, in_list ? "PK\1\2" : "PK\3\4", 4);
    p += 4;
    if (in_list)
        PUT(20, 2);
    PUT(20, 2);
    PUT(0, 2);
    PUT(method, 2);
    PUT(0, 4);
    PUT(sum, 4);
    PUT(bytes, 4);
    PUT(whole, 4);
    PUT(length, 2);
    PUT(0, 2);
    if (in_list) {
        PUT(0, 6);
        PUT(0, 4);
        PUT(0, 2);
        p -= 2;
        PUT(local, 4);
    }
    memcpy(p, name, length);
    p += length;
    if (!in_list) {
        memcpy(p, data, bytes);
        p += bytes;
    }
    return (size_t)(p - out);
}

/* A zip file of arrays "u", stored, and "v", deflated. */
static size_t make_npz(unsigned char *zip, const unsigned char *npy, size_t bytes, int arrays)
{
    unsigned char deflated[4096];
    z_stream z = {.next_in = (unsigned char *)npy,
                  .avail_in = (uInt)bytes,
                  .next_out = deflated,
                  .avail_out = sizeof deflated};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    const uLong sum = crc32(0, npy, (uInt)bytes);
    size_t at = put_member(zip, false, "u.npy", 0, npy, bytes, sum, bytes, 0);
    const size_t second = at;
    if (arrays > 1)
        at += put_member(zip + at, false, "v.npy", 8, deflated, z.total_out, sum, bytes, 0);
    const size_t list = at;
    at += put_member(zip + at, true, "u.npy", 0, NULL, bytes, sum, bytes, 0);
    if (arrays > 1)
        at += put_member(zip + at, true, "v.npy", 8, NULL, z.total_out, sum, bytes, second);
    const size_t length = at - list;
    unsigned char *p = zip + at;
    memcpy(p, "PK\5\6", 4);
    p += 4;
    PUT(0, 4);
    PUT(arrays, 2);
    PUT(arrays, 2);
    PUT(length, 4);
    PUT(list, 4);
    PUT(0, 2);
    return (size_t)(p - zip);
}

SCRATCH_TEST(npz_has_arrays)
{
    static unsigned char zip[8192];
    static const int16_t numbers[] = {1, 2, 3, 4, 5, 6};
    size_t bytes;
    unsigned char *npy = (unsigned char *)scratch_slurp(
        make_npy(*state, 1, DICT("<i2", "False", "(2, 3)"), numbers, 12), &bytes);
    unsigned char copy[1024];
    memcpy(copy, npy, bytes);
    size_t size = make_npz(zip, copy, bytes, 1);
    check_array(read_any(scratch_file(*state, "a.npz", zip, size), NULL), 2, 3, 2, 1, one_to_six);
    check_array(read_any(scratch_file(*state, "a.dat", zip, size), NULL), 2, 3, 2, 1, one_to_six);
    size = make_npz(zip, copy, bytes, 2);
    const char *path = scratch_file(*state, "a.npz", zip, size);
    check_array(read_any(path, "u"), 2, 3, 2, 1, one_to_six);
    check_array(read_any(path, "v"), 2, 3, 2, 1, one_to_six);
    refuse_any(path, NULL, TZ_USAGE, "a.npz", "has 2 arrays, 'u', 'v': 'field' takes one");
    refuse_any(path, "w", TZ_UNKNOWN, "a.npz", "has no array 'w'; it has 'u', 'v'");
    refuse_any(scratch_file(*state, "a.npz", zip, size - 30), NULL, TZ_FORMAT, "a.npz",
               "corrupt zip file: the list at its end is missing");
    refuse_any(scratch_file(*state, "a.npz", zip + 40, size - 40), "u", TZ_FORMAT, "a.npz",
               "corrupt zip file: its list is outside the file");
    zip[size - 22 - 2 * 51 + 16] ^= 1; /* of 'u', which is stored: not looked at */
    zip[size - 22 - 51 + 16] ^= 1;
    refuse_any(scratch_file(*state, "a.npz", zip, size), "v", TZ_FORMAT, "a.npz",
               "a checksum is wrong");
    zip[size - 22 - 51 + 10] = 12;
    refuse_any(scratch_file(*state, "a.npz", zip, size), "v", TZ_UNSUPPORTED, "a.npz",
               "is compressed by method 12");
}

SCRATCH_TEST(vti_is_read)
{
    static const char head[] =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"0.1\" "
        "byte_order=\"BigEndian\">\n<ImageData WholeExtent=\"0 %d 0 2 0 0\" Origin=\"0 0 0\" "
        "Spacing=\"1 1 1\">\n<Piece Extent=\"0 %d 0 2 0 0\">\n<CellData>\n<DataArray "
        "type='%s' Name=\"a &amp; b\" format=\"appended\" offset=\"0\"/>\n</CellData>\n</Piece>\n"
        "</ImageData>\n<AppendedData encoding=\"%s\">\n _";
    static const char data[] = "\0\0\0\14\0\1\0\2\0\3\0\4\0\5\0\6";
    static const struct {
        int columns;
        const char *type, *encoding, *message;
        tz_status status;
    } bad[] = {{4, "Int16", "raw", "an array's size is not that of its extents", TZ_FORMAT},
               {3, "Int17", "raw", "the type of an array is not known", TZ_FORMAT},
               {3, "Int16", "base64", "its data is in base64", TZ_UNSUPPORTED}};
    char text[1024];
    int length = snprintf(text, sizeof text, head, 3, 3, "Int16", "raw");
    memcpy(text + length, data, 16);
    const char *path = scratch_file(*state, "a.vti", text, (size_t)length + 16);
    check_array(read_any(path, NULL), 2, 3, 2, 1, one_to_six);
    check_array(read_any(path, "a & b"), 2, 3, 2, 1, one_to_six);
    refuse_any(path, "a", TZ_UNKNOWN, "a.vti", "has no array 'a'; it has 'a & b'");
    refuse_any(scratch_file(*state, "a.vti", text, (size_t)length + 15), NULL, TZ_SHAPE, "a.vti",
               "need 12");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        length = snprintf(text, sizeof text, head, bad[i].columns, bad[i].columns, bad[i].type,
                          bad[i].encoding);
        memcpy(text + length, data, 16);
        refuse_any(scratch_file(*state, "a.vti", text, (size_t)length + 16), NULL, bad[i].status,
                   "a.vti", bad[i].message);
    }
    refuse_any(scratch_text(*state, "x.dat", "<?xml version=\"1.0\"?><a/>"), NULL, TZ_FORMAT,
               "x.dat", "is XML, but no file of VTK");
    refuse_any(
        scratch_text(*state, "x.pvd", "<?xml version=\"1.0\"?><VTKFile type=\"Collection\">"), NULL,
        TZ_FORMAT, "x.pvd", "is a list of files");
}

SCRATCH_TEST(files_of_others_are_named)
{
    static const struct {
        const char *bytes, *message;
    } cases[] = {{"\xff\xd8\xff\xe0", "is a JPEG picture: save it as PNG"},
                 {"II*", "is a TIFF picture"},
                 {"\xc3\x40\xf1\x40", "is a SEG-Y file"},
                 {"C 1 CLIENT", "is a SEG-Y file"},
                 {"CDF\1", "is a NetCDF file"},
                 {"MATLAB 5.0 MAT-file", "is a MATLAB file"},
                 {"SIMPLE  =   T", "is a FITS file"},
                 {"BZh91", "is compressed by bzip2"},
                 {"# vtk DataFile Version 3.0\n", "is a legacy file of VTK"},
                 {"<!DOCTYPE html>", "is a web page"},
                 {"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"},
                 {"P5\n2 2\n255\n", "is a picture of Netpbm"},
                 {"[[1, 2], [3, 4]]", "looks like JSON"},
                 {"\x80\4\x95", "is a pickle of Python"}};
    static const char *const names[] = {"x.dat", "x.npy", "x.png"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = names[i % 3];
        refuse_any(scratch_text(*state, name, cases[i].bytes), NULL, TZ_FORMAT, name,
                   cases[i].message);
    }
    refuse_any(scratch_file(*state, "x.tif", "MM\0*1234", 8), NULL, TZ_FORMAT, "x.tif",
               "is a TIFF picture");
}

TEST(arrays_get_other_shapes)
{
    tz_array *array, *other;
    const int64_t shape[] = {3, 2}, middle[] = {1, 2}, twice[] = {6, 1};
    const double column[] = {2, 5}, scaled[] = {4, 4, 5, 5, 6, 6}, turned[] = {4, 5, 6, 1, 2, 3};
    assert_ok(tz_array_create(&array, TZ_DTYPE_U16, 2, shape, &failure));
    for (int i = 0; i < 6; i++)
        tz_array_set(array, i, i + 1);
    assert_ok(tz_array_fit(array, TZ_FIT_CROP, middle, &other, &failure));
    check_array(other, 2, 1, 2, 1, column);
    tz_array_destroy(other);
    assert_ok(tz_array_fit(array, TZ_FIT_SCALE, twice, &other, &failure));
    check_array(other, 2, 6, 1, 1, scaled);
    tz_array_destroy(other);
    tz_array_turn_rows(array);
    check_array(array, 2, 3, 2, 1, turned);
    tz_array_destroy(array);
}
