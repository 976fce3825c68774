/* The work of kernels of the papers' families. Their bits: cases.txt. */
#include "tests/backend/cuda/work_support.h"

/* Blocks at the border do more, and a small grid's are dealt out unevenly; each load of a tile's
 * loop is waited for. */
TEST(tiles_have_borders)
{
    tz_plan plan = {.height = 2, .family = "tile"};
    tz_model_work work = work_for("star2d1r", TZ_SINGLE, 1024, 1024, 1, &plan, TZ_EFFORT_COMPILE);
    assert_int_equal(work.parts_count, 2);
    const tz_work_part *inner = &work.parts[0], *border = &work.parts[1];
    /* 16 x 32 blocks of 8 warps; of 132 multiprocessors with four each some have three that are at
     * the border, and hardly one has four. */
    assert_true(inner->warps == 14.0 * 30 * 8 && border->warps == (512.0 - 14 * 30) * 8);
    assert_true(inner->busiest_warps == 8.0 && border->busiest_warps == 24.0);
    assert_true(tz_work_mix_sum(&border->step) > 1.5 * tz_work_mix_sum(&inner->step));
    /* 68 x 36 elements: ten rounds of 256 threads. */
    assert_true(inner->once.of[TZ_WORK_READ] > 9.0 && inner->once.of[TZ_WORK_READ] <= 11.0);
    assert_true(inner->once_waits >= 1.0 && inner->once_waits <= 10.0);
    work = work_for("star2d1r", TZ_SINGLE, 8192, 8192, 1, &plan, TZ_EFFORT_COMPILE);
    assert_true(work.parts[0].busiest_warps == 0.0 && work.parts[1].busiest_warps == 0.0);
}

/* No pass reads what st writes: tiles compute without reading shared memory. */
TEST(tiles_that_are_not_read_are_not_loaded)
{
    tz_plan plan = {.height = 1, .family = "tile"};
    const tz_model_work work = work_for("st", TZ_SINGLE, 128, 128, 128, &plan, TZ_EFFORT_COMPILE);
    const tz_work_mix *step = &work.parts[0].step;
    assert_true(step->of[TZ_WORK_SHARED_READ] == 0.0);
    /* A cell of a pass. Warps of which all lanes are outside the tile skip it. */
    assert_in_range(1000 * step->of[TZ_WORK_SHARED_WRITE], 3000, 6000);
    assert_in_range(1000 * step->of[TZ_WORK_READ], 3000, 6000);
}

/* They take part where a plan names them, and nowhere else. */
TEST(they_are_named)
{
    static const char *const families[] = {"tile", "block"};
    static tz_plan plans[256];
    tz_problem problem;
    int count = 0;
    make_problem("hotspot", TZ_SINGLE, 1024, 1024, 1, &problem);
    tz_plan given = {0};
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, 256, &count, NULL));
    for (int k = 0; k < count; k++)
        assert_true(strcmp(plans[k].family, "tile") != 0 && strcmp(plans[k].family, "block") != 0);
    for (int f = 0; f < 2; f++) {
        strcpy(given.family, families[f]);
        assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, 256, &count, NULL));
        assert_true(count > 0);
        for (int k = 0; k < count; k++)
            assert_string_equal(plans[k].family, families[f]);
        given = (tz_plan){.height = 1, .unroll = 2};
        strcpy(given.family, families[f]);
        assert_true(tz_cuda_plan(&problem, &limits, &given, &failure) != TZ_OK);
        given = (tz_plan){0};
    }
    tz_problem_clear(&problem);
}

TEST_GROUP(set_up, tear_down)
