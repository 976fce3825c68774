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

TEST(rows_are_loaded_ahead)
{
    static const struct {
        const char *stencil;
        int precision, height, vector, shared_bytes, ahead;
    } known[] = {
        {"star2d1r", TZ_SINGLE, 8, 4, 0, 6},
        {"star2d1r", TZ_DOUBLE, 9, 4, 0, 6},
        {"hotspot", TZ_SINGLE, 12, 4, 0, 6},
        {"hotspot", TZ_SINGLE, 12, 4, 99 << 10, 3}, /* room for fewer than twelve warps */
        {"star2d1r", TZ_SINGLE, 8, 4, 99 << 10, 6},
        {"lbm", TZ_SINGLE, 2, 4, 0, 2}, /* ten fields */
        {"life", -1, 4, 8, 0, 3},
        {"star2d1r", TZ_SINGLE, 1, 4, 0, 0}, /* loaded where they are needed */
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tz_problem problem;
        make_problem(known[k].stencil, known[k].precision, 8192, 8192, 1, &problem);
        const tz_plan given = {.height = known[k].height, .vector = known[k].vector};
        const tz_plan plan = planned(&problem, given, known[k].shared_bytes);
        if (plan.ahead != known[k].ahead)
            fail_msg("%s, %d bytes: %d rows ahead, not %d", known[k].stencil, known[k].shared_bytes,
                     plan.ahead, known[k].ahead);
        tz_problem_clear(&problem);
    }
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

static int group_of(const tz_problem *problem, const tz_plan *plan)
{
    rows_design d;
    assert_true(rows_design_make(&d, problem, plan));
    return d.group;
}

/* With two warps a scheduler more levels take a static row together than with three. Such plans are
 * candidates where that makes a difference. */
TEST(static_rows_are_taken_by_groups)
{
    enum { MAX = 256 };
    static tz_plan plans[MAX];
    tz_problem problem;
    make_problem("hotspot", TZ_SINGLE, 8192, 8192, 1, &problem);
    const tz_plan three = planned(&problem, (tz_plan){.height = 12, .vector = 4}, 0);
    const tz_plan two = planned(&problem, (tz_plan){.height = 12, .vector = 4, .blocks = 4}, 0);
    assert_true(three.blocks == 6 && group_of(&problem, &three) < 6);
    assert_int_equal(group_of(&problem, &two), 12);
    int count = 0, found[13] = {0};
    const tz_plan given = {.family = "stream"};
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL));
    for (int k = 0; k < count; k++)
        if (plans[k].height <= 12 && plans[k].blocks == 4)
            found[plans[k].height]++;
    assert_true(found[12] == 1 && found[8] == 1 && found[1] == 0 && found[2] == 0);
    tz_problem_clear(&problem);
    make_problem("star2d1r", TZ_SINGLE, 8192, 8192, 1, &problem);
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL));
    for (int k = 0; k < count; k++)
        assert_int_not_equal(plans[k].blocks, 4);
    tz_problem_clear(&problem);
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

/* With one field, blocks have 12 warps whose lanes have three rows, or eight whose lanes have four
 * or three, if registers and shared memory allow it and lanes then have eight cells; else 16 warps
 * and two rows, as with several fields. */
TEST(lanes_have_as_many_rows_as_registers_allow)
{
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
        make_problem(known[k].stencil, known[k].precision, 768, 768 + known[k].more, 64, &problem);
        assert_ok(tz_cuda_plan(&problem, &less, &plan, &failure));
        assert_int_equal(plan.warps, known[k].warps);
        assert_int_equal(plan.tile[1] + 2 * plan.height,
                         32 / plan.lanes * plan.warps * known[k].rows);
        tz_problem_clear(&problem);
    }
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
