/* The work of families, and its time by roofs. No GPU; without NVRTC the tests that compile are
 * skipped. */
#include "tests/archetypes.h"
#include "work_support.h"

/* ---- Families -------------------------------------------------------------------------------- */

static double warps_of(const tz_model_work *work)
{
    double warps = 0.0;
    for (int p = 0; p < work->parts_count; p++)
        warps += work->parts[p].warps;
    return warps;
}

/* A star of five points is five operations a cell: four additions and products of a lane's cells.
 */
TEST(rows_do_what_their_text_says)
{
    tz_problem problem;
    tz_plan plan = {.height = 4, .family = "stream"};
    tz_model_work work, again, estimate;
    make_problem("star2d1r", TZ_SINGLE, 4096, 4096, 1, &problem);
    planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work);
    assert_false(work.estimated);
    assert_true(work.cells == 4.0 * 4096 * 4096);
    assert_true(work.read_bytes == 4.0 * 4096 * 4096 && work.write_bytes == work.read_bytes);
    assert_true(work.parts_count >= 2);
    assert_true(work.parts[0].step.of[TZ_WORK_FP32] == 4.0 * 5 * plan.vector);
    assert_true(work.parts[0].step.of[TZ_WORK_SHUFFLE] == 4.0 * 2);
    assert_true(work.redundancy > 1.0 && work.redundancy < 2.0);
    assert_true(work.ghost_bytes > 0.0 && work.ghost_bytes < work.read_bytes);
    assert_true(warps_of(&work) <= work.blocks * work.threads / 32 + 0.5);
    assert_true(work.registers > 32 && work.registers <= 168);
    /* The second count reads the first from the cache. */
    work_of(&problem, &plan, TZ_EFFORT_CACHED, &again);
    assert_memory_equal(&again, &work, sizeof work);
    /* Higher and not compiled: a level does about as much as the known levels. */
    plan = (tz_plan){.height = 7, .family = "stream"};
    planned_work(&problem, &plan, TZ_EFFORT_CACHED, &estimate);
    assert_true(estimate.estimated);
    work_of(&problem, &plan, TZ_EFFORT_COMPILE, &work);
    assert_false(work.estimated);
    assert_true(fabs(estimate.parts[0].step.of[TZ_WORK_FP32] / work.parts[0].step.of[TZ_WORK_FP32] -
                     1.0) < 0.05);
    assert_true(abs(estimate.registers - work.registers) <= 32);
    tz_problem_clear(&problem);
}

/* No pass reads what st writes: its image alone is loaded. */
TEST(fields_that_are_not_read_are_not_loaded)
{
    const double cells = 128.0 * 128 * 128;
    tz_plan stream = {.height = 1, .family = "stream"}, direct = {.height = 1, .family = "direct"};
    tz_model_work work = work_for("st", TZ_SINGLE, 128, 128, 128, &stream, TZ_EFFORT_COMPILE);
    const tz_work_mix *step = &work.parts[0].step;
    assert_true(work.read_bytes == 4.0 * cells && work.write_bytes == 6 * 4.0 * cells);
    assert_true(step->of[TZ_WORK_COPY] == 0.0 && step->of[TZ_WORK_SHARED_READ] == 0.0);
    /* Six fields of a lane's two rows; differences of all three axes at each of its cells. */
    assert_true(step->of[TZ_WORK_WRITE] == 6.0 * 2);
    assert_in_range(step->of[TZ_WORK_FP32], 9 * 2 * stream.vector, 12 * 2 * stream.vector);
    work = work_for("st", TZ_SINGLE, 128, 128, 128, &direct, TZ_EFFORT_COMPILE);
    step = &work.parts[0].step;
    assert_true(work.read_bytes == 4.0 * cells && work.write_bytes == 6 * 4.0 * cells);
    assert_true(step->of[TZ_WORK_WRITE] == 6.0 && step->of[TZ_WORK_SHARED_READ] == 0.0);
    assert_in_range(1000 * step->of[TZ_WORK_READ], 6000, 10000);
}

TEST(candidates_keep_what_is_given)
{
    tz_plan plans[256];
    tz_problem problem;
    int count = 0;
    make_problem("hotspot", TZ_SINGLE, 1024, 1024, 1, &problem);
    tz_plan given = {0};
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, 256, &count, NULL));
    assert_in_range(count, 10, 100);
    static const char *const families[] = {"stream", "direct", "resident"};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        int found = 0;
        for (int k = 0; k < count; k++)
            found += strcmp(plans[k].family, families[f]) == 0;
        assert_true(found > 0);
    }
    given = (tz_plan){.height = 3, .vector = 4, .family = "stream"};
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, 256, &count, NULL));
    assert_true(count >= 1);
    for (int k = 0; k < count; k++)
        assert_true(plans[k].height == 3 && plans[k].vector == 4 &&
                    strcmp(plans[k].family, "stream") == 0);
    tz_problem_clear(&problem);
}

/* Loops of 2-D kernels are shortened where their code is long and few moves are added. */
TEST(long_loops_are_shortened)
{
    tz_problem problem;
    tz_plan plan = {.height = 6, .vector = 4, .family = "stream"};
    make_problem("grayscott", TZ_SINGLE, 4096, 4096, 1, &problem);
    assert_true(plan_for(&problem, &plan));
    const tz_plan before = plan;
    assert_int_equal(plan.unroll, 0);
    double bytes = 19000.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_true(tz_plan_equal(&plan, &before));
    /* Three steps of 500 instructions; two of them, with moves, have less than 18 KB. */
    bytes = 3 * 16 * 500.0;
    assert_true(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_int_equal(plan.unroll, 2);
    assert_true(bytes > 2 * 16 * 500.0 && bytes < 19968.0);
    bytes = 3 * 16 * 500.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_true(bytes == 3 * 16 * 500.0);
    plan.unroll = 0;
    assert_true(tz_plan_equal(&plan, &before));
    /* Steps of few instructions would be mostly moves. */
    plan = (tz_plan){.height = 12, .vector = 4, .family = "stream"};
    assert_true(plan_for(&problem, &plan));
    bytes = 21000.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_int_equal(plan.unroll, 0);
    /* The kernel has what the plan says. */
    tz_model_work work;
    plan = (tz_plan){.height = 2, .vector = 4, .unroll = 1, .family = "stream"};
    double text[3] = {0};
    for (; plan.unroll <= 2; plan.unroll++) {
        planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work);
        text[plan.unroll] = work.parts[0].loop_bytes;
    }
    assert_true(text[2] > 1.5 * text[1] && text[2] < 2.5 * text[1]);
    tz_problem_clear(&problem);
    /* Others have no such loops. */
    make_problem("life", -1, 4096, 4096, 1, &problem);
    plan = (tz_plan){.height = 4, .family = "stream"};
    assert_true(plan_for(&problem, &plan));
    bytes = 30000.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    plan = (tz_plan){.height = 1, .unroll = 2, .family = "resident"};
    assert_true(tz_cuda_plan(&problem, &limits, &plan, &failure) != TZ_OK);
    tz_problem_clear(&problem);
    make_problem("star3d1r", TZ_SINGLE, 128, 128, 128, &problem);
    plan = (tz_plan){.height = 2, .unroll = 2, .family = "stream"};
    check_error(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED, "",
                "in 2-D; this is \"stream\" in 3-D");
    tz_problem_clear(&problem);
}

/* ---- The model ------------------------------------------------------------------------------- */

/* On an H100 in single precision: measured on 27 November 2026 (docs/log/gpu-kernels.md), within
 * 15 %. */
TEST(measured_speeds_are_near)
{
    static const struct {
        const char *stencil;
        int precision, height;
        int64_t extent[TZ_AXES];
        int ahead, lanes;
        double gcells;
    } known[] = {
        {"star2d1r", TZ_SINGLE, 1, {16384, 16384, 1}, 0, 0, 318},
        {"star2d1r", TZ_SINGLE, 12, {16384, 16384, 1}, 0, 0, 3755},
        {"poisson", TZ_SINGLE, 1, {16384, 16384, 1}, 0, 0, 218},
        {"star3d1r", TZ_SINGLE, 4, {768, 768, 768}, 1, 32, 957},
    };
    const tz_model_device h100 = device_named("h100-80gb-hbm3");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].height > 1 && !is_complete()) /* 10 s of NVRTC; test_cuda_counts has such */
            continue;
        const int64_t *n = known[k].extent;
        tz_plan plan = {.height = known[k].height,
                        .ahead = known[k].ahead,
                        .lanes = known[k].lanes,
                        .family = "stream"};
        const tz_model_work work = work_for(known[k].stencil, known[k].precision, n[0], n[1], n[2],
                                            &plan, TZ_EFFORT_COMPILE);
        const double rate = work.cells / stage_of(&work, &h100) * 1e-9;
        if (fabs(rate / known[k].gcells - 1.0) > 0.15)
            fail_msg("%s h %d: %.0f GCells/s predicted, %.0f measured", known[k].stencil,
                     known[k].height, rate, known[k].gcells);
    }
}

TEST_GROUP(set_up, tear_down)
