/* Which cell a read outside the grid gets, side by side: the definition that backends follow. */
#include "stencil/problem.h"
#include "tests/unit.h"

static int64_t map(tz_boundary low, tz_boundary high, int64_t coordinate, int64_t extent)
{
    const tz_boundary sides[2] = {low, high};
    return tz_boundary_map(sides, coordinate, extent);
}

TEST(test_inside_is_itself)
{
    for (int low = 0; low < TZ_BOUNDARIES; low++)
        for (int high = 0; high < TZ_BOUNDARIES; high++)
            for (int64_t x = 0; x < 5; x++)
                assert_int_equal(map((tz_boundary)low, (tz_boundary)high, x, 5), x);
}

TEST(test_each_side_has_its_rule)
{
    assert_int_equal(map(TZ_CLAMP, TZ_FIXED, -3, 5), 0);
    assert_int_equal(map(TZ_CLAMP, TZ_FIXED, 5, 5), -2);
    assert_int_equal(map(TZ_FIXED, TZ_CLAMP, -1, 5), -1);
    assert_int_equal(map(TZ_FIXED, TZ_CLAMP, 7, 5), 4);
    assert_int_equal(map(TZ_FIXED, TZ_FIXED, -1, 5), -1);
    assert_int_equal(map(TZ_FIXED, TZ_FIXED, 5, 5), -2);
    assert_int_equal(map(TZ_MIRROR, TZ_CLAMP, -2, 5), 2);
    assert_int_equal(map(TZ_CLAMP, TZ_MIRROR, 6, 5), 2);
    assert_int_equal(map(TZ_PERIODIC, TZ_PERIODIC, -11, 5), 4);
    assert_int_equal(map(TZ_PERIODIC, TZ_PERIODIC, 10, 5), 0);
}

/* A reflection may take a read past the other side. */
TEST(test_mirrors_run_over_the_other_side)
{
    assert_int_equal(map(TZ_MIRROR, TZ_FIXED, -3, 3), -2);
    assert_int_equal(map(TZ_MIRROR, TZ_CLAMP, -4, 3), 2);
    assert_int_equal(map(TZ_FIXED, TZ_MIRROR, 5, 3), -1);
    assert_int_equal(map(TZ_CLAMP, TZ_MIRROR, 8, 3), 0);
    assert_int_equal(map(TZ_MIRROR, TZ_MIRROR, -5, 3), 1);
    assert_int_equal(map(TZ_MIRROR, TZ_MIRROR, 7, 3), 1);
    assert_int_equal(map(TZ_MIRROR, TZ_MIRROR, 1000000001, 2), 1);
    assert_int_equal(map(TZ_MIRROR, TZ_FIXED, -1, 1), -2);
    assert_int_equal(map(TZ_CLAMP, TZ_MIRROR, 1, 1), 0);
    assert_int_equal(map(TZ_MIRROR, TZ_MIRROR, -7, 1), 0);
}

TEST(test_names)
{
    char text[TZ_BOUNDARY_TEXT_SIZE];
    assert_string_equal(tz_boundary_text((tz_boundary[]){TZ_CLAMP, TZ_CLAMP}, text), "clamp");
    assert_string_equal(tz_boundary_text((tz_boundary[]){TZ_MIRROR, TZ_FIXED}, text),
                        "mirror:fixed");
}
