/* The work of stages outside a steady step, and its time: starts, borders, exchanges. */
#include "model/constants.h"
#include "work_support.h"

/* Adjacent lanes copy and store adjacent packets, except in grids shorter than a strip. There a
 * lane with several packets loads and stores them one after the other, and asks twice for each
 * sector of the second level. Without swaps it only stores so. A ghost zone that begins within a
 * sector costs nothing. */
TEST(sectors_are_asked_for_twice)
{
    static const struct {
        int64_t columns;
        int height, vector, swap;
        bool stores_apart, loads_apart;
    } known[] = {{4096, 2, 4, 0, false, false}, {4096, 1, 4, 0, false, false},
                 {4096, 2, 8, 0, false, false}, {4096, 2, 8, 1, false, false},
                 {4096, 2, 8, 2, true, false},  {200, 2, 8, 0, true, true}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tz_plan plan = {.height = known[k].height,
                        .vector = known[k].vector,
                        .swap = known[k].swap,
                        .family = "stream"};
        const tz_model_work work =
            work_for("star2d1r", TZ_SINGLE, known[k].columns, 4096, 1, &plan, TZ_EFFORT_COMPILE);
        const double loaded = work.read_bytes + work.ghost_bytes;
        assert_true(work.pairs_bytes == (known[k].stores_apart ? work.write_bytes : 0.0));
        assert_true(work.half_bytes == (known[k].loads_apart ? loaded : 0.0));
    }
}

static tz_model_work resident(const char *id, int precision, int64_t nx, int64_t ny, int64_t nz,
                              int height, int warps)
{
    tz_plan plan = {.height = height, .warps = warps, .family = "resident"};
    return work_for(id, precision, nx, ny, nz, &plan, TZ_EFFORT_COMPILE);
}

/* Grids on chip load their ghost cells in batches. */
TEST(exchanges_go_in_batches)
{
    tz_model_work work = resident("star2d1r", TZ_SINGLE, 1024, 1024, 1, 2, 0);
    assert_true(work.cooperative && work.syncs == TZ_FIT_RESIDENT_SYNC);
    assert_true(work.stages_per_launch > 100.0);
    /* Whole sectors, sent and received, that hold at least the grid's ghost cells: four in each. */
    const double sectors = work.ghost_bytes / 32.0;
    assert_true(fmod(sectors, work.blocks) == 0.0);
    assert_true(sectors >= 2.0 * (work.redundancy - 1.0) * 1024 * 1024 / 4.0);
    assert_true(sectors <= 8.0 * (work.redundancy - 1.0) * 1024 * 1024 / 4.0);
    const tz_model_work high = resident("star2d1r", TZ_SINGLE, 1024, 1024, 1, 4, 0);
    assert_true(high.ghost_bytes > work.ghost_bytes);
    /* A brick of a few cells takes one batch, whose wait is the exchange's own. Large bricks leave
     * few registers for what is on its way: each batch waits for the second level, unless all
     * threads gather the ghost cells. */
    const double gathered = 1.0 + TZ_FIT_RESIDENT_BATCH * (TZ_FIT_RESIDENT_GATHERED_TIME - 1.0);
    work = resident("star2d1r", TZ_SINGLE, 512, 512, 1, 1, 8);
    assert_true(work.parts[0].once_waits >= 1.0 && work.parts[0].once_waits < gathered);
    work = resident("star2d1r", TZ_SINGLE, 1800, 1800, 1, 1, 16);
    assert_true(work.parts[0].once_waits > gathered && work.parts[0].once_waits < 3.0 * gathered);
    work = resident("star3d1r", TZ_SINGLE, 150, 150, 150, 1, 16);
    assert_true(work.parts[0].once_waits > 3.0 * gathered);
    /* Two threads hold the ghost cells of a row. */
    work = resident("pathfinder", -1, 100000, 1, 1, 2, 0);
    assert_true(work.syncs == TZ_FIT_RESIDENT_SYNC && work.parts[0].waits == 1.0 &&
                work.streamed_bytes > 0.0);
}

/* Only the first and the last chunks of strips run the code of the grid's ends, so the others do
 * not fetch it; one more chunk or two may run it for a few steps. So of two grids the larger one
 * hardly takes less time. */
TEST(few_warps_fetch_the_code_of_the_ends)
{
    tz_plan plan = {.height = 9, .vector = 4, .family = "stream"};
    double before = 0.0;
    for (int64_t n = 1700; n <= 2000; n += 100) {
        const tz_model_work work =
            work_for("star2d1r", TZ_SINGLE, n, n, 1, &plan, TZ_EFFORT_COMPILE);
        assert_string_equal(work.parts[0].name, "inner");
        assert_string_equal(work.parts[1].name, "first");
        assert_true(work.parts[0].text_bytes < 0.5 * work.parts[1].text_bytes);
        const double time = stage_of(&work, &device);
        assert_true(time > 0.98 * before);
        before = time;
    }
}

/* Work outside the steps of a loop. */
TEST(starts_take_their_time)
{
    tz_model_work base = some_work();
    base.read_bytes = base.write_bytes = base.ghost_bytes = base.resident_bytes = 1e5;
    base.ahead_bytes = 0.0;
    base.blocks = 400;
    base.parts[0].warps = 800;
    const double time = stage_of(&base, &device);
    tz_model_work w = base;
    w.half_bytes = 1e9;
    assert_true(stage_of(&w, &device) > 1.5 * time);
    /* Cold code, once a launch. */
    w = base;
    w.parts[0].text_bytes = 1e5;
    const double cold = stage_of(&w, &device);
    assert_true(cold > time);
    w.stages_per_launch = 1000;
    w.parts[0].text_bytes = 0.0;
    const double warm = stage_of(&w, &device);
    w.parts[0].text_bytes = 1e5;
    assert_true(fabs(stage_of(&w, &device) - warm - (cold - time) / 1000) < 1e-3 * cold);
    /* Loads without prefetch, and each synchronisation of blocks. */
    w = base;
    w.parts[0].waits = 1.0;
    assert_true(stage_of(&w, &device) > 1.05 * time);
    w = base;
    w.syncs = 3.0;
    assert_true(fabs(stage_of(&w, &device) - time - 3.0 * device.neighbour_sync_s.value) < 1e-12);
    /* One multiprocessor has more of the long warps than the others. */
    w = base;
    w.parts_count = 2;
    w.parts[1] = w.parts[0];
    w.parts[1].step.of[TZ_WORK_FP32] *= 3;
    w.parts[0].warps = 700;
    w.parts[1].warps = 100;
    const double even = stage_of(&w, &device);
    w.parts[0].busiest_warps = 4;
    w.parts[1].busiest_warps = 4;
    const double some = stage_of(&w, &device);
    w.parts[0].busiest_warps = 0;
    w.parts[1].busiest_warps = 8;
    assert_true(some > even && stage_of(&w, &device) > some);
}

/* Where the warps of a block meet in each step, they wait for fewer of the other blocks' transfers,
 * but computing and memory hide each other less. The barrier itself takes next to nothing here. */
TEST(blocks_that_meet_wait_together)
{
    tz_model_work w = some_work();
    w.ahead_bytes = w.parts[0].bytes; /* one step */
    w.parts[0].steps = 10;            /* little latency beside the transfers */
    const double alone = stage_of(&w, &device);
    w.parts[0].step.of[TZ_WORK_BARRIER] = 1e-9;
    assert_true(stage_of(&w, &device) < 0.9 * alone);
    /* Far ahead, with as much to compute as to move. */
    w.ahead_bytes = 1000 * w.parts[0].bytes;
    w.parts[0].step.of[TZ_WORK_BARRIER] = 0.0;
    for (double low = 0, high = 1e4; high - low > 1e-3;) {
        const double middle = w.parts[0].step.of[TZ_WORK_FP32] = (low + high) / 2;
        const tz_model_prediction p = predicted(&w, &device);
        *(detail_of(&p, "compute_roof") > detail_of(&p, "memory_roof") ? &high : &low) = middle;
    }
    const double hidden = stage_of(&w, &device);
    w.parts[0].step.of[TZ_WORK_BARRIER] = 1e-9;
    assert_true(stage_of(&w, &device) > 1.05 * hidden);
}

/* Stores in pairs: a separated pair is written twice. More warps separate more pairs. */
TEST(pairs_come_apart)
{
    tz_model_work w = some_work();
    w.resident_bytes = 1e9;
    const double none = stage_of(&w, &device);
    w.pairs_bytes = w.write_bytes;
    w.parts[0].apart = 0.0;
    const double together = stage_of(&w, &device);
    w.parts[0].apart = 1.0;
    const double apart = stage_of(&w, &device);
    assert_true(none <= together && together < apart);
    w.parts[0].step.of[TZ_WORK_SHUFFLE] = 0.0;
    w.parts[0].step.of[TZ_WORK_FP32] = 8.0;
    w.parts[0].shared_wavefronts = 0.1;
    const double alone[2] = {(w.parts[0].apart = 0.0, stage_of(&w, &device)),
                             (w.parts[0].apart = 1.0, stage_of(&w, &device))};
    w.parts[0].shared_wavefronts = 20.0;
    const double crowded[2] = {(w.parts[0].apart = 0.0, stage_of(&w, &device)),
                               (w.parts[0].apart = 1.0, stage_of(&w, &device))};
    assert_true(crowded[1] / crowded[0] < alone[1] / alone[0]);
}

TEST_GROUP(set_up, tear_down)
