/* Files of fields on a grid, and their lists: .vti and .pvd, raw numbers and .xdmf, .h5. What .vti
 * and .xdmf say and hold is read by cli/run_series_tests.sh, by the published formats. */
#include "tests/support.h"

#include "output/format/format.h"

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
