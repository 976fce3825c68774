/* Arrays in files: .npy, text. */
#include "tests/support.h"

#include "output/format/format.h"
#include "output/format/npy.h"

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
