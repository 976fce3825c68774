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

/* Plans whose lanes have two packets of a row are candidates with swaps and without. Others have
 * none. */
TEST(lanes_need_not_swap)
{
    enum { MAX = 256 };
    static tz_plan plans[MAX];
    tz_problem problem;
    tz_model_work work[2];
    int count = 0, with = 0, without = 0;
    const tz_plan given = {.vector = 8, .family = "stream"};
    make_problem("box2d1r", TZ_SINGLE, 4096, 4096, 1, &problem);
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL));
    for (int k = 0; k < count; k++) {
        assert_true(plans[k].swap == 0 || plans[k].swap == 2);
        with += plans[k].swap == 0 && plans[k].height > 1;
        without += plans[k].swap == 2 && plans[k].height > 1;
    }
    assert_true(with > 5 && with == without);
    /* A swap is four shuffles and some moves a step more. */
    for (int k = 0; k < 2; k++) {
        tz_plan plan = {.height = 4, .vector = 8, .swap = k + 1, .family = "stream"};
        planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work[k]);
    }
    const tz_work_mix *swaps = &work[0].parts[0].step, *keeps = &work[1].parts[0].step;
    assert_float_equal(swaps->of[TZ_WORK_SHUFFLE] - keeps->of[TZ_WORK_SHUFFLE], 4.0, 0.01);
    assert_true(swaps->of[TZ_WORK_MOVE] > keeps->of[TZ_WORK_MOVE] + 4.0);
    tz_plan plan = {.height = 4, .vector = 4, .swap = 2, .family = "stream"};
    check_error(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED, "",
                "leave 'swap' out");
    plan = (tz_plan){.height = 1, .swap = 1, .family = "direct"};
    check_error(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED, "",
                "takes 'swap', in 2-D");
    tz_problem_clear(&problem);
}

/* ---- The model ------------------------------------------------------------------------------- */

/* Four multiprocessors with room for one block. The first that is free takes the next block. */
TEST(blocks_follow_one_another)
{
    tz_model_device d = device;
    d.sm_count.value = 4.0;
    tz_model_work w = some_work();
    w.threads = 32;
    w.shared_bytes = (int)d.shared_per_sm_bytes.value * 2 / 3; /* one block at a time */
    w.read_bytes = w.write_bytes = w.ghost_bytes = w.ahead_bytes = 0.0;
    w.read_bytes = 1.0;
    w.parts[1] = w.parts[0];
    w.parts_count = 2;
    w.parts[1].steps = 3.0 * w.parts[0].steps; /* about three times as long */
    const struct {
        tz_work_run runs[2];
        int count;
        double blocks, longs; /* the busiest multiprocessor: blocks, and long ones among them */
    } cases[] = {
        {{{0, 4.0}}, 1, 1.0, 0.0},           {{{0, 5.0}}, 1, 2.0, 0.0},
        {{{1, 1.0}, {0, 9.0}}, 2, 3.0, 0.0}, /* one has the long block, three share the others */
        {{{0, 9.0}, {1, 1.0}}, 2, 3.0, 1.0}, /* the long one begins last */
        {{{1, 4.0}, {0, 4.0}}, 2, 2.0, 1.0},
    };
    double one[2];
    for (int p = 0; p < 2; p++) {
        w.runs[0] = (tz_work_run){p, 1.0};
        w.runs_count = 1;
        w.blocks = w.parts[p].warps = 1.0;
        w.parts[1 - p].warps = 1e-9;
        one[p] = stage_of(&w, &d);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        w.blocks = w.parts[0].warps = w.parts[1].warps = 0.0;
        w.runs_count = cases[k].count;
        for (int r = 0; r < cases[k].count; r++) {
            w.runs[r] = cases[k].runs[r];
            w.blocks += w.runs[r].blocks;
            w.parts[w.runs[r].part].warps += w.runs[r].blocks;
        }
        const double want = (cases[k].blocks - cases[k].longs) * one[0] + cases[k].longs * one[1];
        const double got = stage_of(&w, &d);
        if (fabs(got / want - 1.0) > 0.1)
            fail_msg("case %zu: %g s, of %g", k, got, want);
    }
}

TEST(more_work_takes_longer)
{
    const tz_model_work base = some_work();
    const double time = stage_of(&base, &device);
    tz_model_work w = base;
    w.parts[0].step.of[TZ_WORK_FP32] *= 2;
    assert_true(stage_of(&w, &device) > 1.3 * time);
    w = base;
    w.read_bytes *= 32;
    assert_true(stage_of(&w, &device) > 1.5 * time);
    w = base;
    w.registers = 255;
    assert_true(stage_of(&w, &device) >= time);
    w = base;
    w.syncs = 10;
    assert_true(stage_of(&w, &device) > time);
    tz_model_device d = device;
    d.copy_bandwidth_bytes_per_s.value *= 2;
    d.l2_bandwidth_bytes_per_s.value *= 2;
    assert_true(stage_of(&base, &d) < time);
    d = device;
    d.sm_count.value *= 2;
    assert_true(stage_of(&base, &d) < time);
    /* Half the arithmetic in double precision: its unit is the roof. */
    w = base;
    w.parts[0].step.of[TZ_WORK_FP64] = 160;
    w.parts[0].step.of[TZ_WORK_FP32] = 0;
    assert_true(stage_of(&w, &device) > time);
}

TEST(occupancy_is_the_devices)
{
    tz_model_work w = {.threads = 64, .registers = 121};
    char why[96];
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, why, sizeof why), 8);
    assert_string_equal(why, "registers limit a multiprocessor to 16 warps");
    w.registers = 169;
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, NULL, 0), 4);
    w = (tz_model_work){.threads = 512, .registers = 32, .shared_bytes = 100 << 10};
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, why, sizeof why), 2);
    assert_string_equal(why, "shared memory limits a multiprocessor to 32 warps");
    w = (tz_model_work){.threads = 1024, .registers = 16};
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, why, sizeof why), 2);
    w = (tz_model_work){.threads = 1024, .registers = 255};
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, NULL, 0), 0);
}

TEST(what_is_missing_is_named)
{
    tz_model_device d = device;
    tz_model_work w = some_work();
    tz_model_prediction p = {0};
    d.l2_latency_s.known = false;
    check_error(tz_roofs_predict(&w, &d, &p, &failure), TZ_UNSUPPORTED, "", "l2_latency");
    w.registers = 255;
    w.threads = 1024;
    assert_int_equal(tz_roofs_predict(&w, &device, &p, &failure), TZ_RANGE);
    w = some_work();
    w.height = 0;
    assert_int_equal(tz_roofs_predict(&w, &device, &p, &failure), TZ_RANGE);
}

/* On an H100 in single precision: measured on 27 November 2026 (docs/notes/gpu-kernels.md), within
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
