/* Contour lines, marks and outlines on pictures. */
#include "tests/output/pictures.h"
#include "tests/support.h"

#include "output/frame/canvas.h"

enum { OVERLAY_N = 40, OVERLAY_ZOOM = 8 };
static const uint8_t ring_white[3] = {255, 255, 255};

/* Draw OVERLAY_N x OVERLAY_N values without colours: all pixels are black but for lines and
 * marks. */
static tz_image *draw_plane(tz_plane *plane, const tz_overlay *overlay)
{
    static const uint8_t black[2][3];
    tz_colormap map;
    tz_image *image;
    tz_colormap_mix(black, 2, &map);
    const tz_canvas_options options = {
        .map = &map, .zoom_to = OVERLAY_N * OVERLAY_ZOOM, .overlay = *overlay};
    const tz_plane *const planes[] = {plane};
    assert_ok(tz_canvas_draw(&image, planes, 1, &options, &failure));
    return image;
}

static tz_image *draw_overlay(const tz_array *array, const tz_overlay *overlay)
{
    tz_plane *plane;
    assert_ok(tz_plane_from_array(&plane, array, (tz_slice){2, 0}, 1024, 1024, &failure));
    tz_image *image = draw_plane(plane, overlay);
    tz_plane_destroy(plane);
    assert_int_equal(image->width, OVERLAY_N * OVERLAY_ZOOM);
    return image;
}

static tz_array *make_values(double value(double x, double y))
{
    tz_array *array = make_array(TZ_DTYPE_F64, 2, OVERLAY_N, OVERLAY_N, 1);
    for (int y = 0; y < OVERLAY_N; y++)
        for (int x = 0; x < OVERLAY_N; x++)
            tz_array_set(array, (int64_t)y * OVERLAY_N + x, value(x, y));
    return array;
}

static double distance(double x, double y)
{
    return hypot(x - 20, y - 18);
}

/* The place of a pixel's middle, in cells. */
static double cell_of(int pixel_number)
{
    return (pixel_number + 0.5) / OVERLAY_ZOOM - 0.5;
}

TEST(contour_lines_lie_at_their_values)
{
    tz_array *array = make_values(distance);
    const tz_overlay overlay = {.contours_count = 2, .contours = {5, 11.5}};
    tz_image *image = draw_overlay(array, &overlay);
    const double width = 1.2 / OVERLAY_ZOOM; /* in cells */
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            const double at = distance(cell_of(x), cell_of(y));
            const double away = fmin(fabs(at - 5), fabs(at - 11.5));
            /* A chord between two cells' middles is up to 0.03 cells inside of the circle. */
            if (pixel(image, x, y)[0] > 0)
                assert_true(away < width + 0.13);
            if (away < 0.02)
                assert_true(pixel(image, x, y)[0] > 100);
        }
    tz_image_destroy(image);
}

TEST(marks_surround_the_extremes)
{
    tz_array *array = make_values(distance);
    tz_array_set(array, 5 * OVERLAY_N + 7, 1e3);
    tz_array_set(array, 30 * OVERLAY_N + 3, INFINITY);
    for (int greatest = 0; greatest < 2; greatest++) {
        tz_image *image =
            draw_overlay(array, &(tz_overlay){.mark_min = !greatest, .mark_max = greatest});
        const double x0 = greatest ? 7 : 20, y0 = greatest ? 5 : 18;
        const double radius = OVERLAY_N * OVERLAY_ZOOM / 60.0 / OVERLAY_ZOOM;
        int drawn = 0;
        for (int y = 0; y < image->height; y++)
            for (int x = 0; x < image->width; x++) {
                const double away = hypot(cell_of(x) - x0, cell_of(y) - y0);
                if (memcmp(pixel(image, x, y), ring_white, 3) == 0) {
                    drawn++;
                    assert_true(fabs(away - radius) < 0.3);
                }
            }
        assert_in_range(drawn, 12, 60);
        tz_image_destroy(image);
    }
    /* Nothing finite: nothing is marked. */
    array = make_values(distance);
    for (int i = 0; i < OVERLAY_N * OVERLAY_N; i++)
        tz_array_set(array, i, NAN);
    tz_image *image = draw_overlay(array, &(tz_overlay){.mark_min = true, .mark_max = true});
    for (int i = 0; i < image->width * image->height; i++)
        assert_int_equal(image->data[3 * i + 1], 0);
    tz_image_destroy(image);
}

static double distance_to_segment(double x, double y, tz_overlay_point a, tz_overlay_point b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    const double t = square > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / square : 0;
    const double s = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - a.x - s * dx, y - a.y - s * dy);
}

/* Two parts: what is not finite lies between. */
TEST(paths_join_their_points)
{
    static const tz_overlay_point points[] = {{2, 3},   {30.5, 8}, {30.5, 8.01}, {5, 35},
                                              {NAN, 0}, {39, 39},  {20, 38}};
    static const int parts[][2] = {{0, 3}, {5, 6}};
    tz_array *array = make_values(distance);
    tz_image *image = draw_overlay(
        array, &(tz_overlay){.path = points, .path_count = 7, .path_rgb = {255, 255, 255}});
    const double half = 0.5 * 1.6 / OVERLAY_ZOOM, soft = 0.6 / OVERLAY_ZOOM;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            double away = INFINITY;
            for (int p = 0; p < 2; p++)
                for (int k = parts[p][0]; k < parts[p][1]; k++)
                    away = fmin(away, distance_to_segment(cell_of(x), cell_of(y), points[k],
                                                          points[k + 1]));
            /* A point that is skipped lies half a pixel away at most. */
            if (away > half + soft + 0.5 / OVERLAY_ZOOM)
                assert_int_equal(pixel(image, x, y)[0], 0);
            if (away < half - soft)
                assert_int_equal(pixel(image, x, y)[0], 255);
        }
    tz_image_destroy(image);
    const tz_overlay inside = {.path = points, .path_count = 4},
                     hole = {.path = points + 4, .path_count = 1};
    assert_ok(tz_overlay_check_path(&inside, 32, 36, &failure));
    check_error(tz_overlay_check_path(&inside, 31, 36, &failure), TZ_RANGE, "",
                "path[2] is at (30.5, 8), outside the grid of 31 x 36");
    check_error(tz_overlay_check_path(&hole, 31, 36, &failure), TZ_RANGE, "", "path[1]");
}

TEST(lines_lie_between_cells)
{
    tz_array *array = make_values(distance);
    const tz_overlay overlay = {.grid_lines = true};
    tz_image *image = draw_overlay(array, &overlay);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            const bool line = (x > 0 && x % OVERLAY_ZOOM == 0) || (y > 0 && y % OVERLAY_ZOOM == 0);
            assert_int_equal(pixel(image, x, y)[0], line ? 40 : 0);
        }
    /* Not between smaller cells, and not between means. */
    tz_image_destroy(image);
    for (int k = 0; k < 4; k++) {
        double values[45 * 45] = {0};
        const int n = k == 1 ? 45 : 40; /* 45: of 7 pixels */
        tz_plane plane = {n, n, n + (k == 2), n + (k == 3), values, NULL, {0}};
        bool drawn = false;
        image = draw_plane(&plane, &overlay);
        assert_int_equal(image->width, n * (k == 1 ? 7 : TZ_GRID_LINES_ZOOM));
        for (int i = 0; i < 3 * image->width * image->height; i++)
            drawn = drawn || image->data[i] > 0;
        assert_int_equal(drawn, k == 0);
        tz_image_destroy(image);
    }
}

/* A wide unit above, in which a name fits, and a narrow one below, in which it does not. */
TEST(outlines_lie_round_their_units)
{
    tz_array *array = make_values(distance);
    static const tz_overlay overlay = {
        .outlines_count = 2,
        .outlines = {{"core", 0.25, 0.1, 0.75, 0.5}, {"core", 0.25, 0.5, 0.3, 0.9}}};
    tz_image *image = draw_overlay(array, &overlay);
    const int n = OVERLAY_N * OVERLAY_ZOOM;
    int name = 0;
    for (int i = 0; i < 2; i++) {
        const tz_outline *o = &overlay.outlines[i];
        const int left = (int)(o->left * n), right = (int)(o->right * n);
        const int top = (int)(o->top * n), bottom = (int)(o->bottom * n);
        for (int y = top; y < bottom; y++) {
            assert_true(pixel(image, left, y)[0] > 100);
            assert_true(pixel(image, right, y)[0] > 100);
        }
        for (int x = left; x < right; x++) {
            assert_true(pixel(image, x, top)[0] > 100);
            assert_true(pixel(image, x, bottom)[0] > 100);
        }
        for (int y = top + 4; y < bottom - 4; y++)
            for (int x = left + 4; x < right - 4; x++)
                if (pixel(image, x, y)[0] > 100) {
                    assert_int_equal(i, 0);
                    assert_true(abs(x - n / 2) < 30 && abs(y - 3 * n / 10) < 10);
                    name++;
                }
    }
    assert_true(name > 20);
    /* Outside of both there is nothing. */
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            if (y < n / 10 - 3 || x < n / 4 - 3 || x > 3 * n / 4 + 3 || y > 9 * n / 10 + 3)
                assert_int_equal(pixel(image, x, y)[0], 0);
    tz_image_destroy(image);
}
