/* The plans of streams of rows, in 2-D. */
#include "backend/cuda/family/rows/design.h"
#include "work_support.h"

/* A plan of the family with the limits of an H200, or with so many bytes of shared memory. */
static tz_plan planned(const suite *s, const tz_problem *problem, tz_plan plan, int shared_bytes)
{
    const tz_place place = {.device = &s->device};
    tz_limits limits = tz_place_limits(&place);
    if (shared_bytes > 0)
        limits.shared_bytes = shared_bytes;
    strcpy(plan.family, "stream");
    if (tz_cuda_plan(problem, &limits, &plan, &failure))
        fail_msg("%s: %s", problem->stencil->id, failure.message);
    return plan;
}

static void rows_are_loaded_ahead(void **state)
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
        make_problem(*state, known[k].stencil, known[k].precision, 8192, 8192, 1, &problem);
        const tz_plan given = {.height = known[k].height, .vector = known[k].vector};
        const tz_plan plan = planned(*state, &problem, given, known[k].shared_bytes);
        if (plan.ahead != known[k].ahead)
            fail_msg("%s, %d bytes: %d rows ahead, not %d", known[k].stencil, known[k].shared_bytes,
                     plan.ahead, known[k].ahead);
        tz_problem_clear(&problem);
    }
}

/* Strips have every column once. Those between the ends lie in the grid with their ghost zones, which may end between
 * two packets of a lane; at the ends lanes begin at multiples of their columns. */
static void strips_cover_rows(void **state)
{
    const suite *s = *state;
    const tz_place place = {.device = &s->device};
    const tz_limits limits = tz_place_limits(&place);
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
            make_problem(s, known[k].stencil, known[k].precision, nx, 900, 1, &problem);
            const tz_plan given = {
                .height = known[k].height, .vector = lane, .swap = known[k].swap};
            const tz_plan plan = planned(s, &problem, given, 0);
            assert_int_equal(tz_cuda_family_find("stream", &problem, &family, NULL), TZ_OK);
            assert_int_equal(family->shape(&problem, &limits, &plan, 4, 900, &shape, NULL), TZ_OK);
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

/* With two warps a scheduler more levels take a static row together than with three. Such plans are candidates where
 * that makes a difference, and their estimates are from plans of the same kind. */
static void static_rows_are_taken_by_groups(void **state)
{
    enum { MAX = 256 };
    static tz_plan plans[MAX];
    const suite *s = *state;
    const tz_place place = {.device = &s->device};
    const tz_limits limits = tz_place_limits(&place);
    tz_problem problem;
    make_problem(s, "hotspot", TZ_SINGLE, 8192, 8192, 1, &problem);
    const tz_plan three = planned(s, &problem, (tz_plan){.height = 12, .vector = 4}, 0);
    const tz_plan two = planned(s, &problem, (tz_plan){.height = 12, .vector = 4, .blocks = 4}, 0);
    assert_true(three.blocks == 6 && group_of(&problem, &three) < 6);
    assert_int_equal(group_of(&problem, &two), 12);
    tz_plan other;
    assert_true(tz_cuda_plan_with_height(&problem, &limits, &two, 10, &other));
    assert_true(other.blocks == 4 && other.height == 10);
    assert_true(tz_cuda_plan_with_height(&problem, &limits, &three, 3, &other));
    assert_true(other.blocks != 6);
    int count = 0, found[13] = {0};
    const tz_plan given = {.family = "stream"};
    assert_int_equal(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL),
                     TZ_OK);
    for (int k = 0; k < count; k++)
        if (plans[k].height <= 12 && plans[k].blocks == 4)
            found[plans[k].height]++;
    assert_true(found[12] == 1 && found[8] == 1 && found[1] == 0 && found[2] == 0);
    tz_problem_clear(&problem);
    make_problem(s, "star2d1r", TZ_SINGLE, 8192, 8192, 1, &problem);
    assert_int_equal(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL),
                     TZ_OK);
    for (int k = 0; k < count; k++)
        assert_int_not_equal(plans[k].blocks, 4);
    tz_problem_clear(&problem);
}

TEST_MAIN(set_up, tear_down, TEST(rows_are_loaded_ahead), TEST(strips_cover_rows),
          TEST(static_rows_are_taken_by_groups))
