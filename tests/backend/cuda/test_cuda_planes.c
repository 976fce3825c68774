/* The plans of streams of planes, in 3-D. */
#include "work_support.h"

/* Tiles of planes may have 16 lanes a row. Both kinds are candidates, and the default is the one of which fewer cover
 * the grid. A tile that is asked for keeps rows of 32 lanes. */
static void tiles_of_planes_are_wide_or_square(void **state)
{
    enum { MAX = 256 };
    static tz_plan plans[MAX];
    const suite *s = *state;
    const tz_place place = {.device = &s->device};
    const tz_limits limits = tz_place_limits(&place);
    static const struct {
        int64_t nx, ny;
        tz_precision precision;
        int64_t tile[2];
        int lanes;
    } known[] = {{768, 768, TZ_SINGLE, {0, 0}, 16},    {120, 48, TZ_SINGLE, {0, 0}, 32},
                 {56, 56, TZ_SINGLE, {0, 0}, 16},      {768, 768, TZ_DOUBLE, {0, 0}, 32},
                 {768, 768, TZ_SINGLE, {120, 24}, 32}, {768, 768, TZ_SINGLE, {56, 56}, 32}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tz_problem problem;
        tz_plan plan = {.height = 4,
                        .vector = known[k].precision == TZ_SINGLE && !known[k].tile[0] ? 4 : 0,
                        .tile = {known[k].tile[0], known[k].tile[1]},
                        .family = "stream"};
        make_problem(s, "star3d1r", known[k].precision, known[k].nx, known[k].ny, 64, &problem);
        assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_OK);
        assert_int_equal(plan.lanes, known[k].lanes);
        /* Planes take longer to arrive than a step. */
        assert_true(plan.ahead >= 2);
        tz_problem_clear(&problem);
    }
    tz_problem problem;
    make_problem(s, "star3d1r", TZ_SINGLE, 768, 768, 768, &problem);
    for (int lanes = 0; lanes <= 32; lanes += 16) {
        const tz_plan given = {.lanes = lanes, .family = "stream"};
        int count = 0, wide = 0, square = 0, earlier = 0;
        assert_int_equal(
            tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL), TZ_OK);
        for (int k = 0; k < count; k++) {
            wide += plans[k].lanes == 32;
            square += plans[k].lanes == 16;
            earlier += plans[k].height == 4 && plans[k].warps == 8 && plans[k].ahead == 3;
        }
        assert_true((wide > 5) == (lanes != 16) && (square > 5) == (lanes != 32));
        assert_int_equal(earlier, lanes != 32);
    }
    /* 128 x 32 and 64 x 64 cells, without the four that are lost on each side. */
    tz_plan plan = {.height = 4, .vector = 4, .lanes = 32, .family = "stream"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_OK);
    assert_true(plan.tile[0] == 120 && plan.tile[1] == 24);
    plan = (tz_plan){.height = 4, .vector = 4, .lanes = 16, .family = "stream"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_OK);
    assert_true(plan.tile[0] == 56 && plan.tile[1] == 56);
    plan = (tz_plan){.height = 4, .lanes = 20, .family = "stream"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_RANGE);
    assert_non_null(strstr(failure.message, "lanes is 20; use 16 or 32"));
    plan = (tz_plan){.height = 1, .lanes = 16, .family = "direct"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "takes 'lanes', in 3-D; this is \"direct\""));
    tz_problem_clear(&problem);
    make_problem(s, "cell", -1, 256, 64, 64, &problem);
    plan = (tz_plan){.height = 1, .lanes = 16, .family = "stream"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "rows of bits take 32 lanes"));
    tz_problem_clear(&problem);
}

/* With one field, blocks have 12 warps whose lanes have three rows, or eight whose lanes have four or three, if registers
 * and shared memory allow it and lanes then have eight cells; else 16 warps and two rows, as with several
 * fields. */
static void lanes_have_as_many_rows_as_registers_allow(void **state)
{
    const suite *s = *state;
    const tz_place place = {.device = &s->device};
    const tz_limits limits = tz_place_limits(&place);
    static const struct {
        const char *stencil;
        tz_precision precision;
        int height, given, shared_bytes, warps, rows, more; /* rows of the grid beyond 768 */
    } known[] = {{"star3d1r", TZ_SINGLE, 4, 0, 0, 8, 4, 0},
                 {"star3d1r", TZ_DOUBLE, 4, 0, 0, 8, 4, 0},
                 {"box3d1r", TZ_SINGLE, 3, 0, 0, 8, 3, 0},
                 {"box3d1r", TZ_DOUBLE, 3, 0, 0, 16, 2, 0},
                 {"star3d1r", TZ_DOUBLE, 3, 12, 0, 12, 3, 0},
                 {"star3d1r", TZ_DOUBLE, 4, 12, 0, 12, 2, 0},
                 {"star3d1r", TZ_SINGLE, 4, 16, 0, 16, 2, 0},
                 {"star3d1r", TZ_SINGLE, 4, 0, 131072, 8, 3, 0},
                 {"hotspot3d", TZ_SINGLE, 3, 0, 0, 16, 2, 0},
                 {"hotspot3d", TZ_SINGLE, 3, 8, 0, 8, 2, 0},
                 /* The grid ends between two rows of a lane. */
                 {"star3d1r", TZ_DOUBLE, 4, 0, 0, 16, 2, 2},
                 {"star3d1r", TZ_DOUBLE, 4, 8, 0, 8, 4, 2}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tz_problem problem;
        tz_plan plan = {.height = known[k].height, .warps = known[k].given, .family = "stream"};
        tz_limits less = limits;
        if (known[k].shared_bytes > 0)
            less.shared_bytes = known[k].shared_bytes;
        make_problem(s, known[k].stencil, known[k].precision, 768, 768 + known[k].more, 64,
                     &problem);
        assert_int_equal(tz_cuda_plan(&problem, &less, &plan, &failure), TZ_OK);
        assert_int_equal(plan.warps, known[k].warps);
        assert_int_equal(plan.tile[1] + 2 * plan.height,
                         32 / plan.lanes * plan.warps * known[k].rows);
        tz_problem_clear(&problem);
    }
}

/* TZ_RACECHECK changes the text of kernels, so that they are not taken for others in the cache. */
static void racecheck_has_kernels_of_its_own(void **state)
{
    const suite *s = *state;
    const tz_place place = {.device = &s->device};
    const tz_limits limits = tz_place_limits(&place);
    tz_problem problem;
    tz_plan plan = {.height = 2, .family = "stream"};
    char *source[2];
    make_problem(s, "star3d1r", TZ_SINGLE, 128, 128, 64, &problem);
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_OK);
    for (int set = 0; set < 2; set++) {
        assert_int_equal(set ? setenv("TZ_RACECHECK", "1", 1) : unsetenv("TZ_RACECHECK"), 0);
        assert_int_equal(tz_cuda_source(&problem, &limits, &plan, &source[set], &failure), TZ_OK);
        assert_non_null(
            strstr(source[set], set ? "#define TZ_RACECHECK 1\n" : "#define TZ_RACECHECK 0\n"));
    }
    unsetenv("TZ_RACECHECK");
    free(source[0]);
    free(source[1]);
    tz_problem_clear(&problem);
}

TEST_MAIN(set_up, tear_down, TEST(tiles_of_planes_are_wide_or_square),
          TEST(lanes_have_as_many_rows_as_registers_allow), TEST(racecheck_has_kernels_of_its_own))
