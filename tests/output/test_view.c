/* Isometric views of volumes. */
#include "tests/support.h"

#include "output/frame/view.h"

enum { N = 8 };

static tz_plane *view(const float *values, int nx, int ny, int nz, const tz_solid_view *how)
{
    tz_plane *plane;
    const tz_volume volume = {nx, ny, nz, values};
    assert_ok(tz_view_draw(&plane, &volume, how, &failure));
    assert_non_null(plane->shades);
    return plane;
}

static float shade(const tz_plane *p, double x, double y)
{
    return p->shades[(size_t)(y * p->ny) * (size_t)p->nx + (size_t)(x * p->nx)];
}

/* One cell is a hexagon with three faces. */
TEST(a_cell_shows_three_faces)
{
    const float solid = 1;
    tz_plane *p = view(&solid, 1, 1, 1,
                       &(tz_solid_view){.level = 1, .by_height = true, .hi = 1, .cell_width = 100});
    assert_int_equal(p->nx, 142);
    assert_int_equal(p->ny, 164);
    assert_true(tz_view_extent(1, 1, 1, 100) > 163 && tz_view_extent(1, 1, 1, 100) < 164);
    const float top = shade(p, 0.5, 0.25), low_left = shade(p, 0.25, 0.6),
                low_right = shade(p, 0.75, 0.6);
    assert_true(top > low_left && top > low_right && low_left != low_right);
    assert_true(low_left > 0 && low_right > 0);
    assert_true(shade(p, 0.02, 0.02) == TZ_SHADE_OUTSIDE);
    assert_true(shade(p, 0.98, 0.98) == TZ_SHADE_OUTSIDE);
    /* The hexagon has 3 faces of 100 x 100, foreshortened by 1/sqrt(3). */
    int inside = 0;
    for (int i = 0; i < p->nx * p->ny; i++)
        inside += p->shades[i] > 0;
    assert_in_range(inside, 17000, 17600);
    tz_plane_destroy(p);
}

TEST(an_empty_volume_shows_its_walls)
{
    float values[N * N * N] = {0};
    values[5] = NAN;
    const tz_solid_view how = {.level = 0.5, .by_height = true, .hi = 1, .cell_width = 10};
    tz_plane *p = view(values, N, N, N, &how);
    int walls[5] = {0};
    for (int i = 0; i < p->nx * p->ny; i++) {
        assert_true(p->shades[i] < 0);
        walls[(int)-p->shades[i]]++;
    }
    for (int k = 1; k <= 4; k++)
        assert_true(walls[k] > p->nx * p->ny / 8);
    /* The floor is below, one wall left, one right. */
    assert_true(shade(p, 0.5, 0.75) == TZ_SHADE_WALL_Z);
    assert_true(shade(p, 0.25, 0.4) != shade(p, 0.75, 0.4));
    tz_plane_destroy(p);
}

/* In the middle of the picture lies the diagonal from the corner (N, N, N) to (0, 0, 0). */
TEST(near_cells_hide_far_ones)
{
    float values[N * N * N] = {0};
    const tz_solid_view how = {.level = 0.5, .lo = 0, .hi = 1, .cell_width = 10};
    float before = 0;
    for (int k = 0; k < N; k++) {
        values[(k * N + k) * N + k] = (float)(k + 1);
        tz_plane *p = view(values, N, N, N, &how);
        const size_t middle = (size_t)(p->ny / 2) * (size_t)p->nx + (size_t)(p->nx / 2);
        assert_true(p->values[middle] == k + 1);
        tz_plane_destroy(p);
        tz_plane *lit = view(
            values, N, N, N,
            &(tz_solid_view){.level = 0.5, .by_height = true, .lo = 2, .hi = 6, .cell_width = 10});
        assert_true(fabs(lit->values[middle] - (2 + 4 * (k + 0.5) / N)) < 1e-12);
        /* The nearer, the brighter. */
        assert_true(lit->shades[middle] > before);
        before = lit->shades[middle];
        tz_plane_destroy(lit);
    }
}

/* A ray through any pixel sees the first solid cell on it: compared with a search in small
 * steps. */
static void check_rays(bool cut)
{
    float values[3 * 5 * 4] = {0};
    uint32_t random = 7;
    for (int i = 0; i < 60; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = random >> 24 < 60 ? (float)(i + 1) : 0;
    }
    const tz_solid_view how = {.level = 0.5, .cut = cut, .hi = 1, .cell_width = 9};
    tz_plane *p = view(values, 3, 5, 4, &how);
    int differ = 0;
    for (int j = 0; j < p->ny; j++)
        for (int i = 0; i < p->nx; i++) {
            const double x = (i + 0.5 - p->nx / 2.0) / 9, y = (p->ny / 2.0 - j - 0.5) / 9;
            double seen = 0;
            for (double t = -8; t < 8 && seen == 0; t += 0.004) {
                const double at[3] = {1.5 - x / sqrt(2) - y / sqrt(6) - t / sqrt(3),
                                      2.5 + x / sqrt(2) - y / sqrt(6) - t / sqrt(3),
                                      2.0 + 2 * y / sqrt(6) - t / sqrt(3)};
                if (cut && at[0] >= 1 && at[1] >= 2 && at[2] >= 2)
                    continue;
                if (at[0] >= 0 && at[0] < 3 && at[1] >= 0 && at[1] < 5 && at[2] >= 0 && at[2] < 4)
                    seen = values[((int)at[2] * 5 + (int)at[1]) * 3 + (int)at[0]];
            }
            const size_t k = (size_t)j * (size_t)p->nx + (size_t)i;
            differ += (p->shades[k] > 0 ? p->values[k] : 0) != seen;
        }
    assert_true(differ < p->nx * p->ny / 100); /* rays along edges */
    tz_plane_destroy(p);
    check_error(tz_view_draw(&p, &(tz_volume){3, 5, 4, values}, &(tz_solid_view){.cell_width = 1e5},
                             &failure),
                TZ_RANGE, "", "too large");
}

TEST(rays_meet_the_first_cell)
{
    check_rays(false);
}

TEST(rays_pass_what_is_cut)
{
    check_rays(true);
}

/* In the middle of a full cube that is cut, the eye sees the cell beside the centre. */
TEST(a_cut_shows_the_inside)
{
    float values[N * N * N];
    for (int i = 0; i < N * N * N; i++)
        values[i] = (float)(i + 1);
    tz_solid_view how = {.level = 0.5, .cut = true, .hi = N * N * N, .cell_width = 10};
    tz_plane *p = view(values, N, N, N, &how);
    const size_t middle = (size_t)(p->ny / 2) * (size_t)p->nx + (size_t)(p->nx / 2);
    const int inner = N / 2 - 1, outer = N / 2;
    bool found = false;
    for (int a = 0; a < 3; a++) { /* the ray lies on the edge of three cells */
        const int x = a == 0 ? inner : outer, y = a == 1 ? inner : outer,
                  z = a == 2 ? inner : outer;
        found = found || p->values[middle] == (z * N + y) * N + x + 1;
    }
    assert_true(found || p->values[middle] == (inner * N + inner) * N + inner + 1);
    /* Its three faces are lit as those of a cell: the one below most, the others unlike. */
    const float floor_below = shade(p, 0.5, 0.6);
    const float left = shade(p, 0.4, 0.45), right = shade(p, 0.6, 0.45);
    assert_true(floor_below > 1.1f * left && floor_below > 1.1f * right);
    assert_true(left > 0 && right > 0 && fabsf(left - right) > 0.05f);
    tz_plane_destroy(p);
}
