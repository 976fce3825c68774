/* How the resident family cuts grids. The search skips most cuts, but must not skip the best. Knobs
 * that a plan gives narrow the search. */
#include "backend/cuda/family/resident/design.h"
#include "backend/cuda/family/work.h"
#include "sim/simulation.h"
#include "sim/state.h"
#include "tests/registry.h"

#include <math.h>

static const struct {
    const char *stencil;
    int64_t extent[TZ_AXES];
    int precision;
    const char *boundary;
} cases[] = {
    {"star2d1r", {1024, 1024, 1}, TZ_SINGLE, "clamp"},
    {"star2d1r", {1000, 700, 1}, TZ_DOUBLE, "periodic"},
    {"box2d2r", {512, 900, 1}, TZ_SINGLE, "fixed"},
    {"hotspot", {1024, 1024, 1}, TZ_DOUBLE, "clamp"},
    {"poisson", {64, 64, 1}, TZ_SINGLE, "fixed"},
    {"life", {4096, 4096, 1}, -1, "periodic"},
    {"pathfinder", {100000, 1, 1}, -1, "clamp"},
    {"star3d1r", {96, 96, 96}, TZ_SINGLE, "mirror"},
    {"star3d2r", {64, 80, 48}, TZ_DOUBLE, "clamp"},
    {"box3d1r", {128, 128, 128}, TZ_SINGLE, "clamp"},
    {"box3d1r", {128, 128, 128}, TZ_DOUBLE, "clamp"}, /* does not fit */
    {"cell", {100, 100, 100}, -1, "fixed"},
    {"cell", {256, 256, 256}, -1, "fixed"},
};

static const tz_limits h200 = {132, 227 << 10};

static tz_simulation *create(const char *stencil, const int64_t extent[TZ_AXES], int precision,
                             const char *boundary_x, const char *boundary_y)
{
    tz_simulation_config config = {.registry = registry,
                                   .stencil = stencil,
                                   .precision = precision,
                                   .boundary = {boundary_x, boundary_y, boundary_y},
                                   .backend = "reference",
                                   .threads = 1,
                                   .dry = true};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        config.extent[axis] = extent[axis];
        config.dims = extent[axis] > 1 ? axis + 1 : config.dims;
    }
    tz_simulation *simulation = NULL;
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    return simulation;
}

static tz_simulation *make(size_t c)
{
    return create(cases[c].stencil, cases[c].extent, cases[c].precision, cases[c].boundary,
                  cases[c].boundary);
}

static int count_resident(const tz_problem *problem, const tz_plan *given)
{
    enum { MAX = 128 };
    static tz_plan plans[MAX];
    const tz_place place = {.threads = 1};
    int count = 0, resident = 0;
    assert_ok(tz_cuda_candidates(problem, &place, given, plans, MAX, &count, &failure));
    for (int k = 0; k < count; k++)
        resident += strcmp(plans[k].family, "resident") == 0;
    return resident;
}

/* Large bricks in three dimensions compile too slowly to be chosen by default; small ones do not.
 */
TEST(test_lengthy_text_is_not_chosen)
{
    const size_t last = sizeof cases / sizeof *cases - 1;
    for (int large = 0; large < 2; large++) {
        tz_simulation *simulation = make(last - 1 + (size_t)large);
        const tz_problem *problem = &simulation->problem;
        tz_plan own = {.height = 2}, free = {.height = 0};
        tz_plan named = {.height = 2, .family = "resident"};
        tz_resident design;
        assert_true(tz_resident_design(problem, &h200, &own, &design));
        assert_int_equal(tz_resident_is_lengthy(problem, &design), large);
        assert_int_equal(count_resident(problem, &free) > 0, !large);
        assert_true(count_resident(problem, &named) >= 1);
        assert_ok(tz_cuda_plan(problem, &h200, &own, &failure));
        assert_string_equal(own.family, large ? "stream" : "resident");
        tz_simulation_destroy(simulation);
    }
}

static int gather_of(const char *stencil, const int64_t extent[TZ_AXES], int height, int precision,
                     const char *boundary_x, const char *boundary_y, int multiprocessors)
{
    const tz_plan plan = {.height = height};
    const tz_limits limits = {multiprocessors, 227 << 10};
    tz_simulation *simulation = create(stencil, extent, precision, boundary_x, boundary_y);
    tz_resident d;
    tz_resident_exchange e;
    assert_true(tz_resident_design(&simulation->problem, &limits, &plan, &d));
    tz_resident_ways(&simulation->problem, &d, &e);
    if (d.gather > 0) /* all requests, and no round for nothing */
        assert_int_equal(tz_resident_rounds(&d, &e) - 1,
                         (int)((e.requests - 1.0) / ((double)d.warps * d.gather)));
    tz_simulation_destroy(simulation);
    return d.gather;
}

/* Of large bricks few threads have ghost cells, but these have many. The first five are the
 * executor's cases of such kernels (tests.cmake). */
TEST(test_large_bricks_gather)
{
    static const struct {
        const char *stencil;
        int64_t extent[TZ_AXES];
        int height, precision;
        const char *boundary[2];
        int multiprocessors;
        bool gathers;
    } all[] = {
        {"star2d1r", {400, 300, 1}, 8, TZ_DOUBLE, {"mirror", "mirror"}, 6, true},
        {"star2d1r", {400, 300, 1}, 8, TZ_DOUBLE, {"periodic", "periodic"}, 9, true},
        {"box2d2r", {300, 310, 1}, 2, TZ_DOUBLE, {"fixed", "clamp"}, 6, true},
        {"life", {3001, 300, 1}, 4, -1, {"fixed", "fixed"}, 6, true},
        {"grayscott", {160, 150, 1}, 1, TZ_SINGLE, {"clamp", "periodic"}, 11, true},
        {"star2d1r", {2048, 2048, 1}, 4, TZ_SINGLE, {"clamp", "clamp"}, 132, true},
        {"hotspot", {1500, 1500, 1}, 4, TZ_SINGLE, {"clamp", "clamp"}, 132, true},
        {"grayscott", {1024, 1024, 1}, 1, TZ_SINGLE, {"periodic", "periodic"}, 132, true},
        {"star2d1r", {1024, 1024, 1}, 8, TZ_SINGLE, {"clamp", "clamp"}, 132, false},
        {"star2d1r", {512, 512, 1}, 8, TZ_SINGLE, {"clamp", "clamp"}, 132, false},
        {"star3d1r", {128, 128, 128}, 1, TZ_SINGLE, {"clamp", "clamp"}, 132, false},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if ((gather_of(all[k].stencil, all[k].extent, all[k].height, all[k].precision,
                       all[k].boundary[0], all[k].boundary[1], all[k].multiprocessors) > 0) !=
            all[k].gathers)
            fail_msg("case %d, %s", (int)k, all[k].stencil);
}

TEST_GROUP(open_plugins, close_plugins)
