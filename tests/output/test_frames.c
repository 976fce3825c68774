/* Colour maps, averaging, canvas, colour bar, PNG writer. */
#include "tests/output/pictures.h"
#include "tests/support.h"

#include "output/format/png.h"
#include "output/frame/axes.h"
#include "output/frame/canvas.h"
#include "output/frame/frame.h"
#include "output/frame/image.h"

TEST(colours_are_read_and_mixed)
{
    uint8_t colours[3][3];
    tz_colormap map;
    assert_true(tz_colour_parse("#000", colours[0]));
    assert_true(tz_colour_parse("#fA0", colours[1]));
    assert_true(tz_colour_parse("#01fe80", colours[2]));
    assert_memory_equal(colours[1], ((uint8_t[]){255, 170, 0}), 3);
    assert_memory_equal(colours[2], ((uint8_t[]){1, 254, 128}), 3);
    static const char *const wrong[] = {"",      "#",       "000",      "#00",
                                        "#0000", "#00000g", "#0000000", "red"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(tz_colour_parse(wrong[i], colours[0]));
    tz_colormap_mix(colours, 2, &map);
    assert_memory_equal(map.rgb[0], colours[0], 3);
    assert_memory_equal(map.rgb[255], colours[1], 3);
    assert_memory_equal(map.rgb[51], ((uint8_t[]){51, 34, 0}), 3);
    tz_colormap_mix(colours, 3, &map);
    assert_memory_equal(map.rgb[255], colours[2], 3);
    assert_in_range(map.rgb[128][0], 252, 255);
}

SCRATCH_TEST(colormaps_match_the_published_colours)
{
    static const struct anchor {
        const char *name;
        int at;
        int rgb[3];
    } anchors[] = {
        {"viridis", 0, {68, 1, 84}},
        {"viridis", 32, {71, 45, 123}},
        {"viridis", 64, {59, 82, 139}},
        {"viridis", 96, {44, 114, 142}},
        {"viridis", 128, {33, 145, 140}},
        {"viridis", 160, {40, 174, 128}},
        {"viridis", 192, {94, 201, 98}},
        {"viridis", 224, {173, 220, 48}},
        {"viridis", 255, {253, 231, 37}},
        {"inferno", 0, {0, 0, 4}},
        {"magma", 0, {0, 0, 4}},
        {"magma", 64, {81, 18, 124}},
        {"magma", 128, {183, 55, 121}},
        {"magma", 192, {252, 137, 97}},
        {"magma", 255, {252, 253, 191}},
        {"cividis", 0, {0, 34, 78}},
        {"cividis", 64, {67, 78, 108}},
        {"cividis", 128, {125, 124, 120}},
        {"cividis", 192, {188, 174, 108}},
        {"cividis", 255, {254, 232, 56}},
        {"twilight", 0, {226, 217, 226}},
        {"twilight", 64, {98, 117, 186}},
        {"twilight", 128, {48, 20, 54}},
        {"twilight", 192, {179, 88, 82}},
        {"twilight", 255, {226, 217, 226}},
        {"categories", 36, {230, 159, 0}},
        {"categories", 255, {204, 121, 167}},
        {"inferno", 32, {33, 12, 74}},
        {"inferno", 64, {87, 16, 110}},
        {"inferno", 96, {138, 34, 106}},
        {"inferno", 128, {188, 55, 84}},
        {"inferno", 160, {228, 90, 49}},
        {"inferno", 192, {249, 142, 9}},
        {"inferno", 224, {249, 203, 53}},
        {"inferno", 255, {252, 255, 164}},
        {"gray", 0, {0, 0, 0}},
        {"gray", 77, {77, 77, 77}},
        {"gray", 255, {255, 255, 255}},
    };
    tz_colormap map, reversed;
    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++) {
        assert_ok(tz_colormap_find(anchors[i].name, &map, &failure));
        for (int c = 0; c < 3; c++)
            assert_in_range(map.rgb[anchors[i].at][c] + 3 - anchors[i].rgb[c], 0, 6);
    }
    static const char *const names[] = {"viridis", "inferno", "gray",     "balance",
                                        "magma",   "cividis", "twilight", "categories"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s_r", names[k]);
        assert_ok(tz_colormap_find(names[k], &map, &failure));
        assert_ok(tz_colormap_find(name, &reversed, &failure));
        assert_string_equal(reversed.name, name);
        for (int i = 0; i < 256; i++)
            assert_memory_equal(map.rgb[i], reversed.rgb[255 - i], 3);
    }
    check_error(tz_colormap_find("virdis", &map, &failure), TZ_UNKNOWN, "",
                "did you mean 'viridis'?");
    check_error(tz_colormap_find("qqq", &map, &failure), TZ_UNKNOWN, "", "known: viridis, inferno");
    assert_int_equal(tz_colormap_index(0.5, 0, 1), 128);
    assert_int_equal(tz_colormap_index(-INFINITY, 0, 1), 0);
    assert_int_equal(tz_colormap_index(INFINITY, 0, 1), 255);
    assert_int_equal(tz_colormap_index(NAN, 0, 1), -1);
    assert_int_equal(tz_colormap_index(1, -1.7e308, 1.7e308), 128);
    assert_int_equal(tz_colormap_index(3, 3, 3), 128);
}

SCRATCH_TEST(ranges_skip_what_is_not_finite)
{
    const float values[] = {NAN, 3, -2, INFINITY, 7, -INFINITY};
    const int64_t whole[] = {-5, 9};
    tz_range range = {0};
    tz_range_add(&range, TZ_DTYPE_F32, values, 1);
    assert_true(range.lo == 0 && range.hi == 0 && range.others == 1);
    tz_range_add(&range, TZ_DTYPE_F32, values + 1, 5);
    assert_true(range.lo == -2 && range.hi == 7 && range.finite == 3 && range.others == 3);
    tz_range_add(&range, TZ_DTYPE_I64, whole, 2);
    assert_true(range.lo == -5 && range.hi == 9);
}

SCRATCH_TEST(averages_are_exact)
{
    tz_plane *plane;
    /* 5 x 3 to 2 x ...: too small to reduce for its aspect, so only the limits act. */
    tz_array *array = make_array(TZ_DTYPE_F64, 2, 5, 3, 1);
    for (int i = 0; i < 15; i++)
        tz_array_set(array, i, i % 5);
    assert_ok(tz_plane_from_array(&plane, array, (tz_slice){2, 0}, 2, 2, &failure));
    assert_int_equal(plane->nx, 2);
    assert_int_equal(plane->ny, 2);
    for (int j = 0; j < 2; j++) {
        assert_true(fabs(plane->values[2 * j] - (0 + 1 + 0.5 * 2) / 2.5) < 1e-12);
        assert_true(fabs(plane->values[2 * j + 1] - (0.5 * 2 + 3 + 4) / 2.5) < 1e-12);
    }
    tz_plane_destroy(plane);
    tz_array_set(array, 4, NAN);
    assert_ok(tz_plane_from_array(&plane, array, (tz_slice){2, 0}, 2, 2, &failure));
    assert_true(isnan(plane->values[1]) && !isnan(plane->values[0]) && !isnan(plane->values[3]));
    tz_plane_destroy(plane);
    /* The mean survives an awkward ratio, and the aspect as well. */
    array = make_array(TZ_DTYPE_F32, 2, 1000, 700, 1);
    double sum = 0, reduced = 0;
    for (int64_t i = 0; i < 700000; i++) {
        tz_array_set(array, i, (double)(i * 7919 % 1009));
        sum += (double)(i * 7919 % 1009);
    }
    assert_ok(tz_plane_from_array(&plane, array, (tz_slice){2, 0}, 333, 333, &failure));
    assert_int_equal(plane->nx, 333);
    assert_int_equal(plane->ny, 233);
    for (int i = 0; i < 333 * 233; i++)
        reduced += plane->values[i];
    assert_true(fabs(reduced / (333 * 233) - sum / 700000) < 1e-9);
    tz_plane_destroy(plane);
    /* A field of 10^5 x 100 stays readable: 64 rows, not 1. */
    array = make_array(TZ_DTYPE_U8, 2, 100000, 100, 1);
    assert_ok(tz_plane_from_array(&plane, array, (tz_slice){2, 0}, 500, 500, &failure));
    assert_int_equal(plane->nx, 500);
    assert_int_equal(plane->ny, 64);
    tz_plane_destroy(plane);
    tz_reducer *reducer = NULL;
    double values[8];
    const float row[4] = {1, 2, 3, 4};
    check_error(tz_reducer_create(&reducer, 4, 2, 4, 4, NULL, values, &failure), TZ_RANGE, "",
                "4 x 2 cells cannot be averaged down to 4 x 4 values");
    assert_ok(tz_reducer_create(&reducer, 4, 2, 4, 2, NULL, values, &failure));
    assert_ok(tz_reducer_add(reducer, TZ_DTYPE_F32, row, 1, &failure));
    check_error(tz_reducer_finish(reducer, &failure), TZ_SHAPE, "", "1 of its field's 2 rows");
}

/* A slice of an array as a picture. */
static tz_status draw(tz_image **image, const tz_array *array, const tz_canvas_options *options,
                      tz_error *error)
{
    tz_plane *plane = NULL;
    assert_int_equal(tz_plane_from_array(&plane, array, (tz_slice){2, 0}, 1024, 1024, error),
                     TZ_OK);
    const tz_plane *const planes[] = {plane};
    const tz_status status = tz_canvas_draw(image, planes, 1, options, error);
    tz_plane_destroy(plane);
    return status;
}

/* Two cells of 1000 x 800: maxima keep them, and a region that follows has them in its middle. */
SCRATCH_TEST(regions_and_maxima_show_single_cells)
{
    const int64_t shape[] = {1000, 800};
    tz_array *array;
    tz_frame *frame;
    assert_ok(tz_array_create(&array, TZ_DTYPE_U8, 2, shape, &failure));
    tz_array_set(array, 700 * 1000 + 601, 1);
    tz_array_set(array, 720 * 1000 + 641, 3);
    const struct {
        tz_look look;
        int nx, ny, x, y;
    } cases[] = {
        {{.size = 100, .greatest = true}, 100, 80, 64, 72},
        {{.size = 100,
          .greatest = true,
          .regions_count = 1,
          .regions = {{.low = {500, 0}, .high = {700, 0}}}},
         64,
         100,
         45,
         90},
        {{.regions_count = 1, .regions = {{.low = {640, 719}, .high = {650, 729}}}}, 10, 10, 1, 1},
        {{.regions_count = 1, .follows = true, .regions = {{.low = {0, 0}, .high = {60, 40}}}},
         60,
         40,
         641 - 591,
         720 - 690},
        {{.regions_count = 1, .follows = true, .regions = {{.high = {0, 300}}}}, 640, 300, -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(tz_frame_create(&frame, &cases[i].look, &failure));
        assert_ok(tz_look_check_region(&cases[i].look, 2, shape, &failure));
        assert_ok(tz_frame_read_array(frame, array, (tz_slice){2, 0}, &failure));
        const tz_plane *plane = frame->planes[0];
        if (cases[i].x >= 0) {
            assert_int_equal(plane->nx, cases[i].nx);
            assert_int_equal(plane->ny, cases[i].ny);
            if (plane->values[cases[i].y * plane->nx + cases[i].x] != 3)
                fail_msg("case %zu", i);
        }
        tz_frame_destroy(frame);
    }
    check_error(tz_look_check_region(&cases[2].look, 2, (int64_t[]){645, 800, 1}, &failure),
                TZ_RANGE, "", "'region' ends at x = 650, and the grid at 645");
    check_error(tz_look_check_region(&cases[0].look, 3, shape, &failure), TZ_UNSUPPORTED, "",
                "'reduce' is for 2-D grids; this one is 3-D");
    tz_array_destroy(array);
}

SCRATCH_TEST(canvas_draws_values)
{
    tz_colormap map;
    tz_image *image;
    tz_array *array = make_array(TZ_DTYPE_F64, 2, 4, 3, 1);
    for (int i = 0; i < 12; i++)
        tz_array_set(array, i, i);
    tz_array_set(array, 5, NAN);
    assert_ok(tz_colormap_find("gray", &map, &failure));
    tz_canvas_options options = {.map = &map, .zoom_to = 43};
    assert_ok(draw(&image, array, &options, &failure));
    assert_int_equal(image->width, 40);
    assert_int_equal(image->height, 30);
    const uint8_t magenta[] = {255, 0, 255}, white[] = {255, 255, 255}, black[] = {0, 0, 0};
    assert_memory_equal(pixel(image, 15, 15), magenta, 3);
    assert_memory_equal(pixel(image, 0, 0), black, 3);
    assert_memory_equal(pixel(image, 39, 29), white, 3);
    tz_image_destroy(image);
    options.lo = 2;
    options.hi = 4;
    options.zoom_to = 0;
    assert_ok(draw(&image, array, &options, &failure));
    assert_memory_equal(pixel(image, 1, 0), black, 3);
    assert_memory_equal(pixel(image, 2, 2), white, 3);
    tz_image_destroy(image);
    static const tz_overlay_point points[] = {{0, 0}, {1, 1}, {1, 2}};
    options.overlay = (tz_overlay){.path = points, .path_count = 3, .path_rgb = {255, 0, 0}};
    options.zoom_to = 400;
    assert_ok(draw(&image, array, &options, &failure));
    const uint8_t red[] = {255, 0, 0};
    assert_memory_equal(pixel(image, 50, 50), red, 3);
    assert_true(pixel(image, 150, 200)[0] == 255 && pixel(image, 150, 200)[1] < 100);
    assert_memory_not_equal(pixel(image, 250, 200), red, 3);
    tz_image_destroy(image);
    options = (tz_canvas_options){.gray16 = true};
    assert_ok(draw(&image, array, &options, &failure));
    const uint16_t *wide = (const uint16_t *)(const void *)image->data;
    for (int i = 0; i < 12; i++)
        assert_true(i == 5
                        ? wide[i] == 0
                        : fabs(image->offset + image->scale * wide[i] - i) <= 0.5 * image->scale);
    tz_image_destroy(image);
    options.colorbar = true;
    check_error(draw(&image, array, &options, &failure), TZ_USAGE, "", "16-bit");
    options = (tz_canvas_options){.map = &map, .lo = 1, .hi = 0};
    check_error(draw(&image, array, &options, &failure), TZ_RANGE, "", "range");
    options = (tz_canvas_options){0};
    check_error(draw(&image, array, &options, &failure), TZ_USAGE, "", "colour map");
}

SCRATCH_TEST(montages_show_every_slice)
{
    enum { SLICES = 6 };
    tz_colormap map;
    tz_image *image;
    tz_plane *planes[SLICES];
    tz_array *array = make_array(TZ_DTYPE_U8, 3, 10, 8, SLICES);
    for (int i = 0; i < 480; i++)
        tz_array_set(array, i, i / 80);
    for (int k = 0; k < SLICES; k++)
        assert_ok(tz_plane_from_array(&planes[k], array, (tz_slice){2, k}, 1024, 1024, &failure));
    assert_ok(tz_colormap_find("gray", &map, &failure));
    const tz_canvas_options options = {.map = &map};
    assert_ok(tz_canvas_draw(&image, (const tz_plane *const *)planes, SLICES, &options, &failure));
    assert_int_equal(image->width, 21);
    assert_int_equal(image->height, 26);
    for (int k = 0; k < SLICES; k++)
        assert_int_equal(pixel(image, k % 2 * 11, k / 2 * 9)[0], k * 51);
    assert_int_equal(pixel(image, 10, 0)[0], 255);
    tz_image_destroy(image);
    for (int k = 0; k < SLICES; k++)
        tz_plane_destroy(planes[k]);
    /* Fewer tiles than slices: evenly chosen ones. */
    assert_int_equal(tz_canvas_tile_slice(0, 2, SLICES), 1);
    assert_int_equal(tz_canvas_tile_slice(1, 2, SLICES), 4);
    tz_plane *plane;
    check_error(tz_plane_from_array(&plane, array, (tz_slice){2, SLICES}, 1024, 1024, &failure),
                TZ_RANGE, "", "no slice 6");
}

SCRATCH_TEST(ticks_are_round)
{
    static const struct range {
        double lo, hi;
        int most, count, exponent;
        const char *first, *last;
    } cases[] = {
        {0, 1, 6, 6, 0, "0.0", "1.0"},
        {323.1, 357.2, 8, 7, 0, "325", "355"},
        {-0.93, 0.93, 10, 9, 0, "-0.8", "0.8"},
        {-3e-6, 3e-6, 7, 7, -6, "-3", "3"},
        {0, 2.5e9, 6, 6, 9, "0.0", "2.5"},
        {1e6, 1e6 + 10, 6, 6, 6, "1.000000", "1.000010"},
        {5, 5, 6, 1, 0, "5", "5"},
        {0, 0, 6, 1, 0, "0", "0"},
        {0.001, 0.002, 2, 2, 0, "0.001", "0.002"},
    };
    tz_ticks ticks;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_ticks_make(&ticks, cases[i].lo, cases[i].hi, cases[i].most);
        assert_int_equal(ticks.count, cases[i].count);
        assert_string_equal(ticks.labels[0], cases[i].first);
        assert_string_equal(ticks.labels[ticks.count - 1], cases[i].last);
        assert_int_equal(ticks.exponent, cases[i].exponent);
    }
    tz_ticks_make(&ticks, NAN, 1, 6);
    assert_int_equal(ticks.count, 0);
    tz_ticks_make(&ticks, -1.7e308, 1.7e308, 6);
    assert_true(ticks.count >= 1);
    tz_ticks_make(&ticks, 0, 5e-324, 6);
    assert_true(ticks.count <= 6);
}

TEST(bars_fit_round_the_picture)
{
    tz_colormap map;
    tz_image *image, *framed;
    static const int sizes[][2] = {{1, 1}, {40, 30}, {256, 256}, {512, 512}, {1024, 3}, {3, 700}};
    assert_ok(tz_colormap_find("viridis", &map, &failure));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const tz_colorbar bar = {.map = &map,
                                 .lo = -1,
                                 .hi = 1,
                                 .log = i % 2,
                                 .unit = "W/m\xC2\xB2",
                                 .caption = "a caption that is far too long for a small picture"};
        assert_ok(tz_image_create(&image, TZ_PIXEL_RGB8, sizes[i][0], sizes[i][1], &failure));
        assert_ok(tz_colorbar_attach(&framed, image, &bar, &failure));
        assert_true(framed->width > sizes[i][0] && framed->height > sizes[i][1]);
        tz_image_destroy(framed);
        tz_image_destroy(image);
    }
    assert_int_equal(tz_font_width("", 1), 0);
    assert_int_equal(tz_font_width("00", 2), 22);
    assert_int_equal(tz_font_width("\xC2\xB0"
                                   "C",
                                   1),
                     tz_font_width("\xC2\xB0", 1) + 6);
    assert_int_equal(tz_font_width("\xE4\xBD\xA0", 1), tz_font_width("?", 1));
    assert_int_equal(tz_font_width("\xC3", 1), tz_font_width("?", 1));
}

SCRATCH_TEST(frames_are_the_same_each_time)
{
    tz_image *image;
    tz_array *back;
    size_t bytes, again;
    char one[800];
    const tz_image_note texts[] = {{"Step", "7"}};
    assert_ok(tz_image_create(&image, TZ_PIXEL_GRAY8, 100, 50, &failure));
    for (int i = 0; i < 5000; i++)
        image->data[i] = (uint8_t)(i * 31);
    snprintf(one, sizeof one, "%s", scratch_path(*state, "1.png"));
    assert_ok(tz_png_write(one, image, texts, 1, &failure));
    assert_ok(tz_png_write(scratch_path(*state, "2.png"), image, texts, 1, &failure));
    char *a = scratch_slurp(one, &bytes), *b = scratch_slurp(((scratch *)*state)->path, &again);
    assert_int_equal(bytes, again);
    assert_memory_equal(a, b, bytes);
    assert_null(strstr(a, "tIME"));
    assert_ok(tz_png_read(one, TZ_PNG_GREY, &back, NULL, &failure));
    assert_memory_equal(back->data, image->data, 5000);
    tz_array_destroy(back);
    check_error(tz_png_write(one, image, texts, 1, &failure), TZ_IO, "1.png", "exists");
    const tz_image_note wrong[] = {{" key", "x"}};
    check_error(tz_png_write(one, image, wrong, 1, &failure), TZ_USAGE, "1.png", "key");
    check_error(tz_png_write(scratch_path(*state, "no/1.png"), image, NULL, 0, &failure), TZ_IO,
                "no/1.png", "No such file");
    tz_image_destroy(image);
    /* 16 bits keep their order. */
    assert_ok(tz_image_create(&image, TZ_PIXEL_GRAY16, 2, 1, &failure));
    ((uint16_t *)(void *)image->data)[0] = 0x1234;
    assert_ok(tz_png_write(scratch_path(*state, "w.png"), image, NULL, 0, &failure));
    assert_ok(tz_png_read(((scratch *)*state)->path, TZ_PNG_GREY, &back, NULL, &failure));
    assert_int_equal(((uint16_t *)back->data)[0], 0x1234);
    tz_array_destroy(back);
    tz_image_destroy(image);
    assert_int_equal(scratch_count(*state), 3);
}
