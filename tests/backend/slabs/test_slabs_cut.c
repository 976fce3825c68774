/* How a grid is cut into slabs. */
#include "backend/slabs/cut.h"
#include "stencil/stencil.h"
#include "tests/registry.h"

static tz_problem problem;
static tz_cut cut;

static void use(const char *id, int64_t nx, int64_t ny, int64_t nz, const char *boundary)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    tz_problem_clear(&problem);
    assert_ok(tz_registry_find(registry, id, &stencil, &plugin, &failure));
    const tz_simulation_config config = {.dims = stencil->dims,
                                         .precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1,
                                         .extent = {nx, ny, nz},
                                         .boundary = {boundary, boundary, boundary}};
    assert_ok(tz_problem_resolve(&problem, stencil, &config, &failure));
}

static tz_devices devices;

static tz_status make(int count, const double *shares)
{
    devices = (tz_devices){.count = count};
    for (int i = 0; i < count; i++)
        devices.of[i].share = shares ? shares[i] : 1.0;
    return tz_cut_make(&cut, &problem, &devices, &failure);
}

TEST(test_equal)
{
    use("star2d2r", 9, 103, 1, "clamp");
    for (int count = 1; count <= 64; count++) {
        assert_ok(make(count, NULL));
        int64_t widest = 0;
        for (int i = 0; i < count; i++) {
            const int64_t thick = cut.at[i + 1] - cut.at[i];
            assert_true(thick == 103 / count || thick == 103 / count + 1);
            widest = thick > widest ? thick : widest;
        }
        assert_int_equal(cut.at[0], 0);
        assert_int_equal(cut.at[count], 103);
        assert_int_equal(cut.thinnest, 103 / count);
        const int slowest = tz_cut_slowest(&cut, &problem, &devices, 0);
        assert_int_equal(cut.at[slowest + 1] - cut.at[slowest], widest);
        assert_int_equal(tz_cut_ghost(&cut, 0, 3), count > 1 ? 6 : 0);
        assert_int_equal(tz_cut_ghost(&cut, 1, 3), count > 1 ? 6 : 0);
        assert_int_equal(tz_cut_ghost(&cut, 1, 0), 0);
    }
}

/* With ghost zones, a slab between two others is slower than one at the edge of the grid. */
TEST(test_slowest)
{
    static const double shares[] = {2.0, 1.0, 1.0};
    use("star2d1r", 9, 120, 1, "clamp");
    assert_ok(make(3, NULL));
    assert_int_equal(tz_cut_slowest(&cut, &problem, &devices, 0), 0);
    assert_int_equal(tz_cut_slowest(&cut, &problem, &devices, 8), 1);
    assert_ok(make(3, shares));
    assert_int_equal(tz_cut_slowest(&cut, &problem, &devices, 8), 1);
    use("star2d1r", 9, 120, 1, "periodic");
    assert_ok(make(3, shares));
    assert_int_equal(tz_cut_slowest(&cut, &problem, &devices, 8), 1);
}

TEST(test_shares)
{
    static const double shares[] = {1.0, 2.5, 0.5};
    use("star2d1r", 9, 80, 1, "clamp");
    assert_ok(make(3, shares));
    assert_int_equal(cut.at[1], 20);
    assert_int_equal(cut.at[2], 70);
    assert_int_equal(cut.at[3], 80);
    assert_int_equal(cut.thinnest, 10);
    static const double extremes[] = {1e6, 1e-6};
    check_error(make(2, extremes), TZ_RANGE, "devices", "2 devices are too many for a grid of 80");
}

/* In 1-D a slab begins where a segment of reductions does. */
TEST(test_lines)
{
    use("pathfinder", 3 * 4096 + 5, 1, 1, "clamp");
    assert_ok(make(3, NULL));
    assert_int_equal(cut.at[1], 4096);
    assert_int_equal(cut.at[2], 8192);
    assert_int_equal(cut.at[3], 3 * 4096 + 5);
    use("pathfinder", 4096, 1, 1, "clamp");
    check_error(make(2, NULL), TZ_RANGE, "devices", "each needs at least 4096");
}

/* What a refusal recommends is possible, and the next smaller is not. */
TEST(test_depth)
{
    static const double shares[] = {1.0, 3.0};
    use("star2d2r", 9, 100, 1, "clamp");
    assert_ok(make(4, NULL));
    assert_int_equal(tz_cut_exchange_max(&cut), 12);
    assert_ok(tz_cut_check(&cut, &problem, 12, &failure));
    check_error(tz_cut_check(&cut, &problem, 13, &failure), TZ_RANGE, "devices",
                "the ghost zone of 13 iterations has 26 rows, and the thinnest of 4 slabs has 25: "
                "use at most 3 devices, a grid of at least 104 rows, or exchange after at most 12");
    assert_ok(make(3, NULL));
    assert_ok(tz_cut_check(&cut, &problem, 13, &failure));
    use("star2d2r", 9, 104, 1, "clamp");
    assert_ok(make(4, NULL));
    assert_ok(tz_cut_check(&cut, &problem, 13, &failure));
    use("star2d2r", 9, 103, 1, "clamp");
    assert_ok(make(4, NULL));
    check_error(tz_cut_check(&cut, &problem, 13, &failure), TZ_RANGE, "devices", "104 rows");
    use("star2d2r", 9, 40, 1, "clamp");
    assert_ok(make(2, shares));
    check_error(tz_cut_check(&cut, &problem, 6, &failure), TZ_RANGE, "devices",
                "use more equal shares, a grid of at least 48 rows, or exchange after at most 5");
    use("star2d2r", 9, 48, 1, "clamp");
    assert_ok(make(2, shares));
    assert_ok(tz_cut_check(&cut, &problem, 6, &failure));
    use("star2d2r", 9, 3, 1, "clamp");
    assert_ok(make(2, NULL));
    check_error(tz_cut_check(&cut, &problem, 1, &failure), TZ_RANGE, "devices",
                "has 1: use at most 1 device, a grid of at least 4 rows");
    check_error(make(4, NULL), TZ_RANGE, "devices", "4 devices are too many for a grid of 3 rows");
}

static int close_problem(void **state)
{
    tz_problem_clear(&problem);
    return close_plugins(state);
}

TEST_GROUP(open_plugins, close_problem)
