/* Schedulers of a multiprocessor: loops whose pace can be worked out by hand. */
#include "model_support.h"

#include "model/scheduler_device.h"

enum { LONG = 64, FULL_WARPS = 64, NONE = 7 };

static tz_scheduler scheduler(void)
{
    const tz_model_device d = device_named("h200");
    tz_scheduler s;
    assert_ok(tz_scheduler_of(&d, &s, &failure));
    return s;
}

static tz_trace_instruction plain(int class)
{
    return (tz_trace_instruction){
        .class = (uint8_t) class, .stall = 1, .sets = NONE, .frees = NONE};
}

static void fill(tz_trace_instruction *trace, int count, tz_trace_instruction one)
{
    for (int k = 0; k < count; k++)
        trace[k] = one;
}

static tz_schedule run(const tz_scheduler *s, const tz_trace_instruction *trace, int count,
                       int block_warps, int blocks)
{
    tz_schedule out;
    assert_ok(tz_schedule_run(s, trace, count, block_warps, blocks, &out, &failure));
    assert_true(out.clocks > 0.0 && out.issued > 0.0 && out.issued <= 1.0 + 1e-9);
    double sum = out.issued * 4.0 / (block_warps * blocks);
    for (int k = 0; k < TZ_ROUNDS_WAITS; k++) {
        assert_true(out.waits[k] >= 0.0);
        sum += out.waits[k];
    }
    /* A warp issues or waits. */
    assert_true(fabs(sum - 1.0) < 0.05);
    return out;
}

static void near(double is, double should, double within)
{
    if (!(fabs(is / should - 1.0) <= within))
        fail_msg("%g is not %g within %g %%", is, should, 100.0 * within);
}

TEST(a_chain_takes_its_stalls)
{
    const tz_scheduler s = scheduler();
    tz_trace_instruction trace[LONG];
    fill(trace, LONG, plain(TZ_WORK_INTEGER));
    for (int k = 0; k < LONG; k++)
        trace[k].stall = 4;
    near(run(&s, trace, LONG, 1, 1).clocks, 4.0 * LONG, 1e-3);
    assert_true(run(&s, trace, LONG, 1, 1).waits[TZ_ROUNDS_LATENCY] > 0.7);
    /* Each shuffle waits for the result of the one before it. */
    fill(trace, LONG, plain(TZ_WORK_SHUFFLE));
    for (int k = 0; k < LONG; k++) {
        trace[k].sets = 0;
        trace[k].waits = 1;
    }
    near(run(&s, trace, LONG, 1, 1).clocks, s.shuffle_wait * LONG, 1e-2);
    assert_true(run(&s, trace, LONG, 1, 1).waits[TZ_ROUNDS_SHUFFLE] > 0.8);
    for (int k = 0; k < LONG; k++)
        trace[k].class = TZ_WORK_SHARED_READ;
    near(run(&s, trace, LONG, 1, 1).clocks, s.shared_wait * LONG, 1e-2);
}

TEST(more_warps_take_longer_and_do_more)
{
    const tz_scheduler s = scheduler();
    tz_trace_instruction trace[LONG];
    for (int k = 0; k < LONG; k++) {
        trace[k] = plain(k % 8 == 0   ? TZ_WORK_SHUFFLE
                         : k % 3 == 0 ? TZ_WORK_INTEGER
                                      : TZ_WORK_FP64);
        trace[k].stall = (uint8_t)(1 + k % 4);
        trace[k].sets = k % 8 == 0 ? 0 : NONE;
        trace[k].waits = k % 8 == 5 ? 1 : 0;
    }
    tz_rounds r;
    assert_ok(tz_schedule_rounds(&s, trace, LONG, 2, 32, &r, &failure));
    assert_true(r.count > 5 && r.warps[0] == 2.0 && r.warps[r.count - 1] == FULL_WARPS);
    for (int k = 1; k < r.count; k++) {
        assert_true(r.clocks[k] >= r.clocks[k - 1]);
        /* The clocks of a warp do not grow with the number of warps, except by chance. */
        assert_true(r.clocks[k] / r.warps[k] <= 1.03 * r.clocks[k - 1] / r.warps[k - 1]);
    }
    near(tz_rounds_clocks(&r, r.warps[2]), r.clocks[2], 1e-12);
    near(tz_rounds_clocks(&r, 0.5 * (r.warps[2] + r.warps[3])), 0.5 * (r.clocks[2] + r.clocks[3]),
         1e-12);
    near(tz_rounds_clocks(&r, 2.0 * FULL_WARPS), 2.0 * r.clocks[r.count - 1], 1e-12);
    near(tz_rounds_clocks(&r, 0.5), r.clocks[0], 1e-12);
    assert_int_equal(tz_rounds_near(&r, r.warps[3] + 0.1), 3);
    /* With all registers there are two warps a scheduler. */
    tz_rounds few;
    assert_ok(tz_schedule_rounds(&s, trace, LONG, 2, 255, &few, &failure));
    assert_true(few.warps[few.count - 1] == 8.0);
    /* A tenth of one loop's steps and nine of another's. */
    tz_rounds mixed = few;
    for (int k = 0; k < few.count; k++)
        few.clocks[k] *= 2.0;
    tz_rounds_blend(&mixed, 0.1, &few, 0.9);
    near(mixed.clocks[1], (0.1 + 1.8) * few.clocks[1] / 2.0, 1e-9);
    tz_rounds none = {0};
    assert_true(tz_rounds_clocks(&none, 8.0) == 0.0 && tz_rounds_near(&none, 8.0) == -1);
    tz_rounds_blend(&none, 1.0, &few, 0.5);
    near(none.clocks[0], 0.5 * few.clocks[0], 1e-12);
}

TEST(long_code_is_fetched)
{
    const tz_scheduler s = scheduler();
    assert_true(tz_scheduler_fetch_clocks(&s, 0.99 * s.near_text.bytes, false) == 0.0);
    const double near_cache = tz_scheduler_fetch_clocks(&s, 0.9 * s.far_text.bytes, false);
    assert_true(tz_scheduler_fetch_clocks(&s, 0.9 * s.far_text.bytes, true) == 0.0);
    assert_true(near_cache > 0.0 &&
                near_cache == tz_scheduler_fetch_clocks(&s, s.far_text.bytes, false));
    assert_true(tz_scheduler_fetch_clocks(&s, 1.2 * s.far_text.bytes, false) > near_cache);
    assert_true(tz_scheduler_fetch_clocks(&s, 9.0 * s.far_text.bytes, false) ==
                tz_scheduler_fetch_clocks(&s, 2.0 * s.far_text.bytes, false));
    const int count = (int)(2.0 * s.far_text.bytes / 16.0);
    tz_trace_instruction *trace = malloc((size_t)count * sizeof *trace);
    assert_non_null(trace);
    fill(trace, count, plain(TZ_WORK_FP32));
    const double fits = run(&s, trace, count / 2, 2, 4).clocks;
    assert_true(run(&s, trace, count, 2, 4).clocks > 2.5 * fits);
    free(trace);
}

TEST(what_is_no_loop_is_refused)
{
    const tz_scheduler s = scheduler();
    tz_schedule out;
    tz_trace_instruction one = plain(TZ_WORK_FP32);
    check_error(tz_schedule_run(&s, &one, 0, 2, 1, &out, &failure), TZ_RANGE, "", "0 instructions");
    assert_int_equal(tz_schedule_run(&s, &one, 1, 0, 1, &out, &failure), TZ_RANGE);
    assert_int_equal(tz_schedule_run(&s, &one, 1, 2, 0, &out, &failure), TZ_RANGE);
    assert_int_equal(tz_schedule_run(&s, &one, 1, 16, 5, &out, &failure), TZ_RANGE);
    one.class = TZ_WORK_CLASSES;
    assert_int_equal(tz_schedule_run(&s, &one, 1, 2, 1, &out, &failure), TZ_RANGE);
    one = plain(TZ_WORK_FP32);
    one.waits = 64;
    assert_int_equal(tz_schedule_run(&s, &one, 1, 2, 1, &out, &failure), TZ_RANGE);
    const tz_model_device old = device_named("gtx280");
    tz_scheduler none;
    assert_int_equal(tz_scheduler_of(&old, &none, &failure), TZ_UNSUPPORTED);
}
