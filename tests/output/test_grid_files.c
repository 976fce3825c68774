/* Files of fields on a grid, and their lists: .vti and .pvd, raw numbers and .xdmf, .h5. What .vti
 * and .xdmf say and hold is read by cli/run_series_tests.sh, by the published formats. */
#include "tests/support.h"

#include "output/format/format.h"
#include "output/format/hdf5.h"

enum { NX = 2, NY = 3, NZ = 2, CELLS = NX * NY * NZ };
static const float heat[CELLS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t alive[CELLS] = {1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1};
static const double wave[CELLS] = {0.5, -1, 3e300, 0, 1, 2, 3, 4, 5, 6, 7, 8};
static const tz_grid_field fields[] = {
    {"temp", "K", TZ_DTYPE_F32}, {"alive", "", TZ_DTYPE_BOOL}, {"wave", NULL, TZ_DTYPE_F64}};

static tz_grid make_grid(int64_t step)
{
    const int64_t shape[] = {NX, NY, NZ};
    const double spacing[] = {0.5, 0.25, 0.1}, origin[] = {-1, 2, 1e-9};
    tz_grid grid = tz_grid_of(3, shape);
    memcpy(grid.spacing, spacing, sizeof spacing);
    memcpy(grid.origin, origin, sizeof origin);
    grid.has_step = true;
    grid.step = step;
    grid.time = 0.1 * (double)step;
    grid.time_unit = "s";
    grid.fields = fields;
    grid.fields_count = sizeof fields / sizeof *fields;
    return grid;
}

/* Write all fields, two cells at a time, in turns. */
static void fill(tz_grid_file *file)
{
    for (int i = 0; i < CELLS; i += 2) {
        assert_ok(tz_grid_file_write(file, 0, heat + i, 2, &failure));
        assert_ok(tz_grid_file_write(file, 1, alive + i, 2, &failure));
        assert_ok(tz_grid_file_write(file, 2, wave + i, 2, &failure));
    }
}

typedef tz_status begin_fn(tz_grid_file **out, const char *path, const tz_grid *grid,
                           tz_error *error);

static char *write_file(begin_fn *begin, const char *path, const tz_grid *grid, size_t *bytes)
{
    tz_grid_file *file;
    assert_ok(begin(&file, path, grid, &failure));
    fill(file);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(tz_grid_file_commit(file, &failure));
    return scratch_slurp(path, bytes);
}

/* Fail unless the tags of an XML text match; stops at "<AppendedData". */
static void check_xml(const char *text)
{
    char open[16][64];
    int depth = 0;
    assert_true(strncmp(text, "<?xml version=\"1.0\"?>\n", 22) == 0);
    for (const char *at = strchr(text + 22, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (strncmp(at, "<AppendedData", 13) == 0)
            return;
        const size_t length = strcspn(at + 1 + (at[1] == '/'), " />");
        if (at[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strlen(open[depth]), length);
            assert_memory_equal(open[depth], at + 2, length);
        } else if (end[-1] != '/') {
            assert_true(depth < 16 && length < sizeof open[0]);
            snprintf(open[depth++], sizeof open[0], "%.*s", (int)length, at + 1);
        }
        int quotes = 0;
        for (const char *c = at; c < end; c++)
            quotes += *c == '"';
        assert_int_equal(quotes % 2, 0);
    }
    assert_int_equal(depth, 0);
}

static void check_same(const void *found, size_t k)
{
    static const void *const data[] = {heat, alive, wave};
    static const size_t bytes[] = {sizeof heat, sizeof alive, sizeof wave};
    assert_memory_equal(found, data[k], bytes[k]);
}

SCRATCH_TEST(bad_grids_are_refused)
{
    tz_grid_file *file;
    tz_grid grid = make_grid(0);
    const char *path = scratch_path(*state, "g.vti");
    assert_ok(tz_format_vti.begin(&file, path, &grid, &failure));
    fill(file);
    check_error(tz_grid_file_write(file, 1, alive, 1, &failure), TZ_SHAPE, "g.vti",
                "more elements");
    tz_grid_file_abort(file);
    assert_ok(tz_format_vti.begin(&file, path, &grid, &failure));
    check_error(tz_grid_file_commit(file, &failure), TZ_SHAPE, "g.vti", "field 0 has 0");
    grid.fields_count = 0;
    check_error(tz_format_vti.begin(&file, path, &grid, &failure), TZ_USAGE, "g.vti",
                "at least one field");
    const tz_grid_field twins[] = {{"a", "", TZ_DTYPE_F32}, {"a", "", TZ_DTYPE_F64}};
    grid.fields = twins;
    grid.fields_count = 2;
    check_error(tz_format_xdmf.begin(&file, path, &grid, &failure), TZ_USAGE, "g.vti",
                "two fields are named 'a'");
    assert_int_equal(scratch_count(*state), 0);
}

SCRATCH_TEST(flat_grids_have_no_thickness_in_vtk)
{
    const int64_t shape[] = {CELLS};
    const tz_grid_field field = {"a<b>&\"c\"", "", TZ_DTYPE_F32};
    tz_grid grid = tz_grid_of(1, shape);
    tz_grid_file *file;
    size_t bytes;
    grid.fields = &field;
    grid.fields_count = 1;
    const char *path = scratch_path(*state, "l.vti");
    assert_ok(tz_format_vti.begin(&file, path, &grid, &failure));
    assert_ok(tz_grid_file_write(file, 0, heat, CELLS, &failure));
    assert_ok(tz_grid_file_commit(file, &failure));
    char *text = scratch_slurp(path, &bytes);
    check_xml(text);
    assert_non_null(
        strstr(text, "WholeExtent=\"0 12 0 0 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\""));
    assert_non_null(strstr(text, "Name=\"a&#60;b&#62;&#38;&#34;c&#34;\""));
    assert_null(strstr(text, "TimeValue"));
}

/* ---- Series ---------------------------------------------------------------------------------- */

SCRATCH_TEST(pvd_lists_files_with_times)
{
    size_t bytes;
    scratch *s = *state;
    for (int64_t step = 0; step <= 30; step += 10) {
        const tz_grid grid = make_grid(step);
        char name[40];
        snprintf(name, sizeof name, "a&b-%06d.vti", (int)step);
        assert_ok(tz_format_vti.list(scratch_path(s, "a.pvd"), name, &grid, &failure));
        char *text = scratch_slurp(s->path, &bytes);
        check_xml(text); /* whole after each */
    }
    /* A run that goes on from step 15 writes step 20 again. */
    tz_grid grid = make_grid(20);
    grid.time = NAN;
    assert_ok(tz_format_vti.list(s->path, "a&b-000020.vti", &grid, &failure));
    char *text = scratch_slurp(s->path, &bytes);
    assert_string_equal(
        text, "<?xml version=\"1.0\"?>\n"
              "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
              "<Collection>\n"
              "<DataSet file=\"a&#38;b-000000.vti\" timestep=\"0\" group=\"\" part=\"0\"/>\n"
              "<DataSet file=\"a&#38;b-000010.vti\" timestep=\"1\" group=\"\" part=\"0\"/>\n"
              "<DataSet file=\"a&#38;b-000020.vti\" timestep=\"20\" group=\"\" part=\"0\"/>\n"
              "</Collection>\n"
              "</VTKFile>\n");
    text[bytes - 3] = 'x';
    scratch_file(s, "a.pvd", text, bytes);
    check_error(tz_format_vti.list(s->path, "b.vti", &grid, &failure), TZ_FORMAT, "a.pvd",
                "another program has changed it");
    assert_int_equal(scratch_count(s), 1);
}

SCRATCH_TEST(xdmf_lists_frames)
{
    scratch *s = *state;
    char name[64];
    size_t bytes;
    scratch_path(s, "f.xdmf");
    for (int64_t step = 3; step < 7; step++) {
        const tz_grid grid = make_grid(step);
        snprintf(name, sizeof name, "f-%06d.%s", (int)step, step == 3 ? "raw" : "h5");
        assert_ok(tz_format_xdmf.list(s->path, name, &grid, &failure));
    }
    /* Frames that are written again replace the later ones. */
    const tz_grid again = make_grid(5);
    assert_ok(tz_format_xdmf.list(s->path, "f-000005.h5", &again, &failure));
    char *text = scratch_slurp(s->path, &bytes);
    check_xml(text);
    assert_non_null(strstr(text, "<Time Value=\"0.30000000000000004\"/>"));
    assert_null(strstr(text, "f-000006"));
    assert_non_null(strstr(text, "f-000003.raw"));
    assert_non_null(strstr(text, " Format=\"HDF\">f-000005.h5:/alive</DataItem>"));
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

/* Open the library, or skip. */
static tz_hdf5 need_library(void)
{
    tz_hdf5 h5;
    if (tz__hdf5_open(&h5, NULL, &failure) != TZ_OK)
        skip_test("no HDF5 library on this machine");
    h5.quiet(0, NULL, NULL);
    return h5;
}

static void read_note(const tz_hdf5 *h5, tz_h5_id object, const char *name, const char *type,
                      void *out)
{
    const tz_h5_id note = h5->note_open(object, name, 0);
    assert_true(note >= 0);
    assert_true(h5->note_read(note, tz__hdf5_constant(h5, type), out) >= 0);
    h5->note_close(note);
}

SCRATCH_TEST(hdf5_holds_fields_and_attributes)
{
    tz_hdf5 h5 = need_library();
    scratch *s = *state;
    static const char *const types[] = {"H5T_NATIVE_FLOAT_g", "H5T_NATIVE_UINT8_g",
                                        "H5T_NATIVE_DOUBLE_g"};
    const tz_grid grid = make_grid(3);
    size_t first, second;
    char *a = write_file(tz_format_hdf5.begin, scratch_path(s, "f.h5"), &grid, &first);
    char *b = write_file(tz_format_hdf5.begin, scratch_path(s, "g.h5"), &grid, &second);
    assert_int_equal(first, second);
    assert_memory_equal(a, b, first);
    assert_int_equal(scratch_count(s), 2);
    const tz_h5_id file = h5.file_open(scratch_path(s, "f.h5"), 0, 0);
    assert_true(file >= 0);
    for (size_t k = 0; k < 3; k++) {
        double found[CELLS];
        tz_h5_size extents[3];
        const tz_h5_id data = h5.data_open(file, fields[k].name, 0);
        assert_true(data >= 0);
        const tz_h5_id space = h5.data_space(data);
        assert_int_equal(h5.space_extents(space, extents, NULL), 3);
        assert_true(extents[0] == NZ && extents[1] == NY && extents[2] == NX);
        assert_true(h5.data_read(data, tz__hdf5_constant(&h5, types[k]), 0, 0, 0, found) >= 0);
        check_same(found, k);
        const tz_h5_id unit = h5.note_open(data, "unit", 0);
        assert_int_equal(unit >= 0, k == 0);
        if (unit >= 0)
            h5.note_close(unit);
        h5.space_close(space);
        h5.data_close(data);
    }
    double numbers[3];
    int64_t step = 0;
    read_note(&h5, file, "step", "H5T_NATIVE_INT64_g", &step);
    assert_int_equal(step, 3);
    read_note(&h5, file, "time", "H5T_NATIVE_DOUBLE_g", numbers);
    assert_true(numbers[0] == grid.time);
    read_note(&h5, file, "spacing", "H5T_NATIVE_DOUBLE_g", numbers);
    assert_memory_equal(numbers, grid.spacing, sizeof numbers);
    read_note(&h5, file, "origin", "H5T_NATIVE_DOUBLE_g", numbers);
    assert_memory_equal(numbers, grid.origin, sizeof numbers);
    h5.file_close(file);
    tz__hdf5_close(&h5);
}

SCRATCH_TEST(hdf5_is_atomic_and_says_why_not)
{
    tz_hdf5 h5 = need_library();
    tz_grid_file *file;
    tz_grid grid = make_grid(0);
    const char *path = scratch_path(*state, "f.h5");
    tz__hdf5_close(&h5);
    assert_ok(tz_format_hdf5.begin(&file, path, &grid, &failure));
    assert_int_not_equal(access(path, F_OK), 0);
    tz_grid_file_abort(file);
    assert_int_equal(scratch_count(*state), 0);
    /* A name that is no dataset's. */
    const tz_grid_field odd = {"a/b", "", TZ_DTYPE_F32};
    grid.fields = &odd;
    grid.fields_count = 1;
    check_error(tz_format_hdf5.begin(&file, path, &grid, &failure), TZ_BACKEND, "f.h5",
                "libhdf5 refuses a field: ");
    assert_null(file);
    assert_int_equal(scratch_count(*state), 0);
    scratch_text(*state, "f.h5", "mine");
    check_error(tz_format_hdf5.begin(&file, path, &grid, &failure), TZ_IO, "f.h5", "exists");
}

SCRATCH_TEST(hdf5_names_the_package_that_is_missing)
{
    static const char *const none[] = {"libhdf5-no-such.so.1", NULL};
    static const char *const other[] = {"libm.so.6", NULL};
    tz_hdf5 h5;
    check_error(tz__hdf5_open(&h5, none, &failure), TZ_UNSUPPORTED, "",
                "apt-get install hdf5-tools");
    tz__hdf5_close(&h5);
    check_error(tz__hdf5_open(&h5, other, &failure), TZ_UNSUPPORTED, "libm.so.6",
                "it has no H5open");
    tz__hdf5_close(&h5);
    char text[256] = "";
    tz_format_hdf5.describe(text, sizeof text);
    assert_non_null(strstr(text, "HDF5"));
    assert_int_equal(strncmp(text, "HDF5 files need", 15) == 0,
                     tz_format_hdf5.check(&tz_format_hdf5, &failure) != TZ_OK);
}
