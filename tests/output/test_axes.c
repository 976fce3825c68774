/* Axes, logarithmic scales and sections of pictures. */
#include "tests/support.h"

#include "output/format/number.h"
#include "output/frame/font.h"
#include "output/frame/frame.h"
#include "output/frame/ticks.h"

static const uint8_t *pixel(const tz_image *image, int x, int y)
{
    return image->data + 3 * (y * image->width + x);
}

static void logarithmic_ticks_are_powers(void **state)
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
static void logarithms_are_drawn(void **state)
{
    tz_array *array = NULL;
    const int64_t shape[] = {6, 1, 1};
    assert_ok(tz_array_create(&array, TZ_DTYPE_F64, 2, shape, &failure));
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
    assert_ok(tz_frame_read_array(frame, array, -1, &failure));
    assert_ok(tz_frame_image(frame, &image, &failure));
    static const int wanted[] = {0, 128, 255, 0, 0, 255};
    for (int i = 0; i < 6; i++)
        assert_int_equal(pixel(image, i, 0)[0], wanted[i]);
    assert_int_equal(pixel(image, 5, 0)[1], 0); /* NaN is magenta */
    tz_image_destroy(image);
    tz_frame_destroy(frame);
    tz_array_destroy(array);
}

TEST_MAIN(NULL, NULL, TEST(logarithmic_ticks_are_powers), TEST(logarithms_are_drawn))
