/* The plans of streams: of rows in 2-D, of planes in 3-D. */
#include "backend/cuda/family/rows/design.h"
#include "work_support.h"

/* A plan of the family with the limits of an H200, or with so many bytes of shared memory. */
static tz_plan planned(const tz_problem *problem, tz_plan plan, int shared_bytes)
{
    tz_limits room = limits;
    if (shared_bytes > 0)
        room.shared_bytes = shared_bytes;
    strcpy(plan.family, "stream");
    if (tz_cuda_plan(problem, &room, &plan, &failure))
        fail_msg("%s: %s", problem->stencil->id, failure.message);
    return plan;
}

/* Strips have every column once. Those between the ends lie in the grid with their ghost zones,
 * which may end between two packets of a lane; at the ends lanes begin at multiples of their
 * columns. */
TEST(strips_cover_rows)
{
    static const struct {
        const char *stencil;
        tz_precision precision;
        int height, vector, swap, ghost, side;
    } known[] = {{"star2d1r", TZ_DOUBLE, 9, 4, ROWS_NO_SWAP, 10, 12},
                 {"star2d1r", TZ_DOUBLE, 8, 4, ROWS_NO_SWAP, 8, 8},
                 {"star2d2r", TZ_DOUBLE, 3, 4, ROWS_NO_SWAP, 6, 8},
                 {"star2d1r", TZ_SINGLE, 3, 8, ROWS_NO_SWAP, 4, 8},
                 {"star2d1r", TZ_DOUBLE, 9, 4, 0, 12, 12},
                 {"star2d1r", TZ_SINGLE, 9, 4, 0, 12, 12},
                 {"star2d1r", TZ_DOUBLE, 9, 2, 0, 10, 10}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (int64_t nx = 256; nx < 1500; nx += nx < 300 ? 1 : 37) {
            tz_problem problem;
            tz_cuda_shape shape;
            const tz_cuda_family *family;
            const int lane = known[k].vector, width = 32 * lane;
            make_problem(known[k].stencil, known[k].precision, nx, 900, 1, &problem);
            const tz_plan given = {
                .height = known[k].height, .vector = lane, .swap = known[k].swap};
            const tz_plan plan = planned(&problem, given, 0);
            assert_ok(tz_cuda_family_find("stream", &problem, &family, NULL));
            assert_ok(family->shape(&problem, &limits, &plan, 4, 900, &shape, NULL));
            assert_int_equal(plan.tile[0], width - 2 * known[k].ghost);
            const int strips = shape.geometry[0], left = shape.geometry[1],
                      right = shape.geometry[2];
            int64_t at = 0;
            for (int i = 0; i < strips; i++) {
                const bool side = i < left || i >= strips - right;
                const int ghost = side ? known[k].side : known[k].ghost;
                assert_true(at < nx);
                if (side)
                    assert_int_equal((at - ghost) % lane, 0);
                else
                    assert_true(at >= ghost && at - ghost + width <= nx);
                at += width - 2 * ghost;
            }
            assert_true(at >= nx && left >= 1 && right >= 1);
            tz_problem_clear(&problem);
        }
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* Tiles of planes may have 16 lanes a row. Both kinds are candidates, and the default is the one of
 * which fewer cover the grid. A tile that is asked for keeps rows of 32 lanes. */
TEST(tiles_of_planes_are_wide_or_square)
{
    enum { MAX = 256 };
    static tz_plan plans[MAX];
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
        make_problem("star3d1r", known[k].precision, known[k].nx, known[k].ny, 64, &problem);
        assert_ok(tz_cuda_plan(&problem, &limits, &plan, &failure));
        assert_int_equal(plan.lanes, known[k].lanes);
        /* Planes take longer to arrive than a step. */
        assert_true(plan.ahead >= 2);
        tz_problem_clear(&problem);
    }
    tz_problem problem;
    make_problem("star3d1r", TZ_SINGLE, 768, 768, 768, &problem);
    for (int lanes = 0; lanes <= 32; lanes += 16) {
        const tz_plan given = {.lanes = lanes, .family = "stream"};
        int count = 0, wide = 0, square = 0, earlier = 0;
        assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL));
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
    assert_ok(tz_cuda_plan(&problem, &limits, &plan, &failure));
    assert_true(plan.tile[0] == 120 && plan.tile[1] == 24);
    plan = (tz_plan){.height = 4, .vector = 4, .lanes = 16, .family = "stream"};
    assert_ok(tz_cuda_plan(&problem, &limits, &plan, &failure));
    assert_true(plan.tile[0] == 56 && plan.tile[1] == 56);
    plan = (tz_plan){.height = 4, .lanes = 20, .family = "stream"};
    check_error(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_RANGE, "",
                "lanes is 20; use 16 or 32");
    plan = (tz_plan){.height = 1, .lanes = 16, .family = "direct"};
    check_error(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED, "",
                "takes 'lanes', in 3-D; this is \"direct\"");
    tz_problem_clear(&problem);
    make_problem("cell", -1, 256, 64, 64, &problem);
    plan = (tz_plan){.height = 1, .lanes = 16, .family = "stream"};
    check_error(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED, "",
                "rows of bits take 32 lanes");
    tz_problem_clear(&problem);
}

/* TZ_RACECHECK changes the text of kernels, so that they are not taken for others in the cache. */
TEST(racecheck_has_kernels_of_its_own)
{
    tz_problem problem;
    tz_plan plan = {.height = 2, .family = "stream"};
    char *source[2];
    make_problem("star3d1r", TZ_SINGLE, 128, 128, 64, &problem);
    assert_ok(tz_cuda_plan(&problem, &limits, &plan, &failure));
    for (int set = 0; set < 2; set++) {
        assert_int_equal(set ? setenv("TZ_RACECHECK", "1", 1) : unsetenv("TZ_RACECHECK"), 0);
        assert_ok(tz_cuda_source(&problem, &limits, &plan, &source[set], &failure));
        assert_non_null(
            strstr(source[set], set ? "#define TZ_RACECHECK 1\n" : "#define TZ_RACECHECK 0\n"));
    }
    unsetenv("TZ_RACECHECK");
    free(source[0]);
    free(source[1]);
    tz_problem_clear(&problem);
}

TEST_GROUP(set_up, tear_down)
