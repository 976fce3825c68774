/* Axes, logarithmic scales and sections of pictures. */
#include "tests/output/pictures.h"
#include "tests/registry.h"
#include "tests/support.h"

#include "base/number.h"
#include "output/frame/axes.h"
#include "output/frame/frame.h"
#include "output/frame/image.h"
#include "sim/fields.h"

TEST(logarithmic_ticks_are_powers)
{
    static const struct range {
        double lo, hi;
        int most, count;
        const char *first, *last;
        double first_at, last_at;
    } cases[] = {
        {-8, 0, 10, 9, "10⁻⁸", "10⁰", 1e-8, 1},         {-8.3, 0.9, 10, 9, "10⁻⁸", "10⁰", 1e-8, 1},
        {-20, 0, 6, 6, "10⁻²⁰", "10⁰", 1e-20, 1},       {0, 3, 6, 4, "1", "1000", 1, 1000},
        {-2, 0, 12, 7, "0.01", "1", 0.01, 1},           {-9, -8, 8, 4, "10⁻⁹", "10⁻⁸", 1e-9, 1e-8},
        {-8.6, -8, 8, 2, "5×10⁻⁹", "10⁻⁸", 5e-9, 1e-8}, {5, 17, 7, 7, "10⁵", "10¹⁷", 1e5, 1e17},
        {2, 2, 7, 1, "100", "100", 100, 100},
    };
    tz_ticks ticks;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_ticks_make_log(&ticks, cases[i].lo, cases[i].hi, cases[i].most);
        const int last = ticks.count - 1;
        assert_int_equal(ticks.count, cases[i].count);
        assert_in_range(ticks.count, 1, cases[i].most);
        assert_string_equal(ticks.labels[0], cases[i].first);
        for (int k = 0; k <= last; k++) {
            /* Inside, and what the label says, where that can be read as a number. */
            assert_true(ticks.values[k] >= cases[i].lo - 1e-8);
            assert_true(ticks.values[k] <= cases[i].hi + 1e-8);
            char *end;
            const double value = strtod(ticks.labels[k], &end);
            if (*end == '\0')
                assert_true(fabs(log10(value) - ticks.values[k]) < 1e-8);
        }
        assert_string_equal(ticks.labels[last], cases[i].last);
        assert_true(fabs(ticks.values[0] - log10(cases[i].first_at)) < 1e-8);
        assert_true(fabs(ticks.values[last] - log10(cases[i].last_at)) < 1e-8);
    }
    tz_ticks_make_log(&ticks, NAN, 1, 6);
    assert_int_equal(ticks.count, 0);
    tz_ticks_make_log(&ticks, -INFINITY, 1, 6);
    assert_int_equal(ticks.count, 0);
    for (double lo = -320; lo < 308; lo += 0.37)
        for (double hi = lo; hi < 308; hi += 17.3) {
            tz_ticks_make_log(&ticks, lo, hi, 7);
            assert_in_range(ticks.count, hi > lo + 1 ? 1 : 0, 8);
        }
    char power[TZ_NUMBER_SIZE];
    assert_string_equal(tz_number_power(power, -307), "10⁻³⁰⁷");
    assert_int_equal(tz_font_width("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", 1), 10 * 3 + 3 + 10);
}

/* On a logarithmic scale a decade has as many colours as the next one. */
TEST(logarithms_are_drawn)
{
    tz_array *array = make_array(TZ_DTYPE_F64, 2, 6, 1, 1);
    static const double values[] = {1e-4, 1e-2, 1, 0, -3, NAN};
    for (int i = 0; i < 6; i++)
        tz_array_set(array, i, values[i]);
    tz_look look = {.bits = 8, .log = true, .zoom = 1, .bar = true};
    tz_frame *frame;
    tz_image *image;
    strcpy(look.map, "gray");
    tz_look_take_range(&look, -3, 1);
    assert_true(look.low == 1e-6 && look.high == 1);
    tz_look_take_range(&look, 0, 0);
    assert_true(look.low == 0.1 && look.high == 1);
    tz_look_take_range(&look, 1e-4, 1);
    assert_true(look.low == 1e-4 && look.high == 1);
    look.bar = false;
    assert_ok(tz_frame_create(&frame, &look, &failure));
    assert_ok(tz_frame_read_array(frame, array, (tz_slice){2, -1}, &failure));
    assert_ok(tz_frame_image(frame, &image, &failure));
    static const int wanted[] = {0, 128, 255, 0, 0, 255};
    for (int i = 0; i < 6; i++)
        assert_int_equal(pixel(image, i, 0)[0], wanted[i]);
    assert_int_equal(pixel(image, 5, 0)[1], 0); /* NaN is magenta */
    tz_image_destroy(image);
    tz_frame_destroy(frame);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

enum { SLICE_NX = 11, SLICE_NY = 7, SLICE_NZ = 5 };

static double cell_value(int64_t x, int64_t y, int64_t z)
{
    return (double)(x + 100 * y + 10000 * z);
}

static tz_array *make_cells(void)
{
    tz_array *array = make_array(TZ_DTYPE_F64, 3, SLICE_NX, SLICE_NY, SLICE_NZ);
    for (int64_t z = 0, i = 0; z < SLICE_NZ; z++)
        for (int64_t y = 0; y < SLICE_NY; y++)
            for (int64_t x = 0; x < SLICE_NX; x++, i++)
                tz_array_set(array, i, cell_value(x, y, z));
    return array;
}

/* Across x a picture shows y to the right and z upwards, across y x and z, across z x and y
 * downwards. */
static void check_slice(const tz_plane *plane, int axis, int64_t at)
{
    static const int widths[] = {SLICE_NY, SLICE_NX, SLICE_NX};
    static const int heights[] = {SLICE_NZ, SLICE_NZ, SLICE_NY};
    assert_int_equal(plane->nx, widths[axis]);
    assert_int_equal(plane->ny, heights[axis]);
    for (int j = 0; j < plane->ny; j++)
        for (int i = 0; i < plane->nx; i++) {
            const int up = SLICE_NZ - 1 - j;
            const double wanted = axis == 0   ? cell_value(at, i, up)
                                  : axis == 1 ? cell_value(i, at, up)
                                              : cell_value(i, j, at);
            assert_true(plane->values[j * plane->nx + i] == wanted);
        }
}

TEST(slices_go_across_each_axis)
{
    tz_array *array = make_cells();
    tz_simulation *simulation = NULL;
    const tz_simulation_config config = {.registry = registry,
                                         .stencil = "star3d1r",
                                         .dims = 3,
                                         .extent = {SLICE_NX, SLICE_NY, SLICE_NZ},
                                         .precision = TZ_DOUBLE,
                                         .backend = "reference",
                                         .threads = 1};
    const tz_look look = {.bits = 8};
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    assert_ok(tz_simulation_write_array(simulation, 0, array, NULL, "", &failure));
    for (int axis = 0; axis < 3; axis++)
        for (int64_t at = -1; at < array->shape[axis]; at++)
            for (int from = 0; from < 2; from++) {
                tz_frame *frame;
                assert_ok(tz_frame_create(&frame, &look, &failure));
                const tz_slice slice = {axis, at};
                if (from == 0)
                    assert_ok(tz_frame_read_array(frame, array, slice, &failure));
                else
                    assert_ok(tz_frame_read(frame, simulation, 0, slice, &failure));
                assert_int_equal(frame->planes_count, at < 0 ? array->shape[axis] : 1);
                for (int k = 0; k < frame->planes_count; k++)
                    check_slice(frame->planes[k], axis, at < 0 ? k : at);
                tz_frame_destroy(frame);
            }
    /* A mean of cells stays where the cells are. */
    tz_plane *plane;
    assert_ok(tz_plane_from_array(&plane, array, (tz_slice){0, 3}, 3, 1, &failure));
    assert_int_equal(plane->ny, 1);
    assert_true(fabs(plane->values[1] - cell_value(3, 3, 2)) < 1e-9);
    tz_plane_destroy(plane);
    check_error(tz_plane_from_array(&plane, array, (tz_slice){1, SLICE_NY}, 9, 9, &failure),
                TZ_RANGE, "", "no slice 7");
    tz_simulation_destroy(simulation);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

TEST(axes_have_prefixes_and_cells)
{
    tz_axis axis;
    tz_axis_make(&axis, 'x', 400, 8, "m", 3200, false);
    assert_true(axis.first == 0 && axis.last == 3200);
    assert_string_equal(axis.unit, "m");
    tz_axis_make(&axis, 'x', 400, 80, "m", 32000, false);
    assert_true(axis.last == 32);
    assert_string_equal(axis.unit, "km");
    tz_axis_make(&axis, 'y', 160, 1e-4, "m", 0.016, true);
    assert_true(fabs(axis.first - 16) < 1e-9 && axis.last == 0);
    assert_string_equal(axis.unit, "mm");
    tz_axis_make(&axis, 'y', 2, 1e-12, "m", 2e-12, false);
    assert_string_equal(axis.unit, "nm");
    tz_axis_make(&axis, 'y', 7, 0, "", 0, false);
    assert_true(axis.first == -0.5 && axis.last == 6.5);
    tz_axis_make(&axis, 'y', 7, 2, "ly", 14, false);
    assert_true(axis.last == 14);
    assert_string_equal(axis.unit, "ly");
}

/* Lengths of y begin at row 0, the upper edge, or with y upwards at the lower one; cells are
 * rows. */
TEST(y_begins_at_an_edge)
{
    static const struct {
        tz_y_from y;
        bool of_chip, outlined, upwards;
    } cases[] = {{TZ_Y_AUTO, false, false, false},
                 {TZ_Y_AUTO, true, false, true},
                 {TZ_Y_AUTO, false, true, true},
                 {TZ_Y_DOWN, true, true, false},
                 {TZ_Y_UP, false, false, true}};
    const int64_t shape[] = {4, 8, 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_look look = {
            .bits = 8, .axes = true, .y = cases[i].y, .spacing_count = 1, .spacing = {0.5}};
        tz_frame *frame;
        look.overlay.outlines_count = cases[i].outlined;
        for (int counted = 0; counted < 2; counted++) {
            look.spacing_count = counted ? 0 : 1;
            assert_ok(tz_frame_create(&frame, &look, &failure));
            tz_frame_set_axes(frame, 2, shape, 2, (double[]){1, 1, 1}, NULL, cases[i].of_chip);
            const bool upwards = cases[i].upwards && !counted;
            assert_true((frame->axes[1].first > frame->axes[1].last) == upwards);
            assert_true(counted || fmin(frame->axes[1].first, frame->axes[1].last) == 0);
            assert_true(frame->axes[0].first < frame->axes[0].last);
            tz_frame_destroy(frame);
        }
    }
}

TEST_GROUP(open_plugins, close_plugins)
