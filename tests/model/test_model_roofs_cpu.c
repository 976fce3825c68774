/* roofs on a CPU: times computed by hand, and limits. */
#include "model_support.h"

#include "model/constants.h"
#include "model/roofs.h"

/* Round numbers: 1 GHz, a load a cycle, two where it crosses; 64 B a cycle at L1, half of it at L2,
 * an eighth at L3, a sixteenth from memory, where writing costs as much as reading. */
static tz_model_device device(void)
{
    tz_model_device d = {.name = "round"};
    set(&d.clock_hz, 1e9);
    set(&d.cores, 2);
    set(&d.vector_bytes, 64);
    set(&d.issue_rate, 4);
    set(&d.fp32_rate, 1);
    set(&d.fp64_rate, 1);
    set(&d.logic_rate, 2);
    set(&d.load_rate, 1);
    set(&d.unaligned_load_rate, 0.5);
    set(&d.store_rate, 1);
    set(&d.l2_bytes, 1e6);
    set(&d.l3_bytes, 1e7);
    set(&d.l1_bandwidth_bytes_per_s, 64e9);
    set(&d.l2_bandwidth_bytes_per_s, 32e9);
    set(&d.l3_bandwidth_bytes_per_s, 2 * 8e9);
    set(&d.read_bandwidth_bytes_per_s, 2 * 4e9);
    set(&d.copy_bandwidth_bytes_per_s, 2 * 4e9);
    set(&d.core_read_bandwidth_bytes_per_s, 4e9);
    set(&d.core_copy_bandwidth_bytes_per_s, 4e9);
    set(&d.span_s, 1e-7);
    set(&d.fork_s, 1e-5);
    return d;
}

/* A million vectors of 16 cells on one thread: 5 loads of which 2 cross, 4 additions, 1 store. */
static tz_model_work work(void)
{
    tz_model_work w = {.kind = TZ_WORK_CPU,
                       .height = 4,
                       .cells = 16e6,
                       .redundancy = 1,
                       .parts_count = 1,
                       .workers = 1,
                       .slowest = 1,
                       .vector_bytes = 64};
    w.parts[0] = (tz_work_part){
        .name = "inner", .warps = 1, .steps = 1e6, .shared_wavefronts = 7, .slots = 9};
    w.parts[0].step.of[TZ_WORK_FP32] = 4;
    w.parts[0].step.of[TZ_WORK_READ] = 5;
    w.parts[0].step.of[TZ_WORK_WRITE] = 1;
    return w;
}

static tz_model_prediction predict(const tz_model_work *w, const tz_model_device *d)
{
    const tz_model_prediction p = predicted(w, d);
    assert_close(p.stage_s, p.time_s * w->height, 1e-12);
    assert_int_equal(p.height, w->height);
    return p;
}

TEST(test_units_of_a_core_work_side_by_side)
{
    const tz_model_device d = device();
    tz_model_work w = work();
    assert_close(predict(&w, &d).stage_s, 7e-3, 1e-12); /* 3 loads at 1, 2 at 2 */
    w.parts[0].step.of[TZ_WORK_FP32] = 9;
    assert_close(predict(&w, &d).stage_s, 9e-3, 1e-12);
    w.parts[0].slots = 48;
    assert_close(predict(&w, &d).stage_s, 12e-3, 1e-12);
    w.parts[0].step.of[TZ_WORK_WRITE] = 20;
    assert_close(predict(&w, &d).stage_s, 20e-3, 1e-12);
    w.parts[0].step.of[TZ_WORK_LOGIC] = 42;
    assert_close(predict(&w, &d).stage_s, 21e-3, 1e-12);
    /* Slots unknown: one for each instruction. */
    w.parts[0].slots = 0;
    w.parts[0].step.of[TZ_WORK_CONTROL] = 100 - 9 - 5 - 20 - 42;
    assert_close(predict(&w, &d).stage_s, 25e-3, 1e-12);
}

TEST(test_lines_add_to_the_ports)
{
    const tz_model_device d = device();
    tz_model_work w = work();
    w.near_reads = 64e6; /* a line a vector: 2 cycles, one more than in the first level */
    assert_close(predict(&w, &d).stage_s, 8e-3, 1e-12);
    w.near_writes = 64e6;
    assert_close(predict(&w, &d).stage_s, 9e-3, 1e-12);
    w.parts[0].step.of[TZ_WORK_FP32] = 8; /* hides all but one cycle */
    assert_close(predict(&w, &d).stage_s, 9e-3, 1e-12);
    w.parts[0].step.of[TZ_WORK_FP32] = 15;
    assert_close(predict(&w, &d).stage_s, 15e-3, 1e-12);
}

/* Rows that were timed: their loads and stores are counted, and what remains hides lines. */
TEST(test_measured_rows_count)
{
    const tz_model_device d = device();
    tz_model_work w = work();
    w.loops_s = 9e-3; /* 7 of these on the ports */
    assert_close(predict(&w, &d).stage_s, 9e-3, 1e-12);
    assert_int_equal(predict(&w, &d).notes.count, 0);
    assert_non_null(strstr(predict(&w, &d).limit_text, "measured rows"));
    w.rows_s = 1e-3;
    w.near_reads = 64e6; /* 1 ms more, hidden */
    assert_close(predict(&w, &d).stage_s, 10e-3, 1e-12);
    w.near_writes = 3 * 64e6;
    assert_close(predict(&w, &d).stage_s, 12e-3, 1e-12);
    w.near_writes = 0;
    w.loops_s = 5e-3; /* less than counted: all of it on the ports */
    assert_close(predict(&w, &d).stage_s, 7e-3, 1e-12);
    w.workers = 2;
    w.slowest = 1.5;
    assert_close(predict(&w, &d).stage_s, 1.5 * 3.5e-3, 1e-12);
    /* Others are marked. */
    w.loops_s = 0;
    assert_non_null(strstr(predict(&w, &d).notes.text[0], "not measured"));
}

TEST(test_rings_beyond_l2_come_from_l3)
{
    const tz_model_device d = device();
    tz_model_work w = work();
    w.near_reads = w.ring_reads = 64e6;
    w.ring_bytes = 1e6; /* as large as L2: half of it is missed */
    assert_close(predict(&w, &d).stage_s, (7 + 0.5 * 1 + 0.5 * 7) * 1e-3, 1e-4);
    w.ring_bytes = 5e6; /* half of L3: little is lost there yet */
    assert_close(predict(&w, &d).stage_s, (7 + 1 + 6 * 25.0 / 26) * 1e-3, 3e-2);
    w.ring_bytes = 1e7; /* all of L3: half of them come from memory */
    assert_close(predict(&w, &d).stage_s, (7 + 1 + 0.5 * 6 + 0.5 * 14) * 1e-3, 1e-2);
    w.workers = 2; /* two threads' rings of that size: all of them */
    assert_close(predict(&w, &d).stage_s, 0.5 * (7 + 1 + 14) * 1e-3, 3e-2);
    w.workers = 1;
    w.ring_bytes = 1e9;
    const tz_model_prediction far = predict(&w, &d);
    assert_close(far.stage_s, (7 + 1 + 14) * 1e-3, 1e-4);
    assert_int_equal(far.limit, TZ_MODEL_MEMORY);
    assert_non_null(strstr(far.limit_text, "do not fit L3"));
    w.ring_bytes = 4e6;
    w.parts[0].steps = 1e5;
    const tz_model_prediction p = predict(&w, &d);
    assert_int_equal(p.limit, TZ_MODEL_MEMORY);
    assert_non_null(strstr(p.limit_text, "rings of"));
}

TEST(test_arrays_come_from_where_they_fit)
{
    const tz_model_device d = device();
    tz_model_work w = work();
    w.near_reads = w.read_bytes = 64e6;
    w.near_writes = w.write_bytes = 64e6;
    w.resident_bytes = 1e2;
    assert_close(predict(&w, &d).stage_s, 9e-3, 1e-4);
    w.resident_bytes = 1e12;
    assert_close(predict(&w, &d).stage_s, (7 + 2 * 15) * 1e-3, 1e-4);
    assert_int_equal(predict(&w, &d).limit, TZ_MODEL_MEMORY);
    w.resident_bytes = 1e7; /* as large as L3: half from there, and 1 % from L2 */
    const double away2 = 100.0 / 101, away3 = away2 / 2;
    assert_close(predict(&w, &d).stage_s,
                 (7 + 2 * (1 * (1 - away2) + 7 * (away2 - away3) + 15 * away3)) * 1e-3, 1e-9);
    /* Data that is read once comes from memory. */
    w = work();
    w.near_reads = w.streamed_bytes = 64e6;
    assert_close(predict(&w, &d).stage_s, (7 + 15) * 1e-3, 1e-9);
}

TEST(test_threads_share_what_is_shared)
{
    const tz_model_device d = device();
    tz_model_work w = work();
    w.workers = 2;
    w.forks = 1;
    assert_close(predict(&w, &d).stage_s, 3.5e-3 + 1e-5, 1e-12);
    w.slowest = 1.5;
    assert_close(predict(&w, &d).stage_s, 1.5 * 3.5e-3 + 1e-5, 1e-12);
    w.slowest = 1;
    w.near_reads = 64e6;
    assert_close(predict(&w, &d).stage_s, 4e-3 + 1e-5, 1e-12); /* each core has an L2 */
    w.read_bytes = 64e6;
    w.resident_bytes = 1e12;
    assert_close(predict(&w, &d).stage_s, 0.5 * (7 + 15) * 1e-3 + 1e-5, 1e-4);
    /* One core cannot have all of the memory's bandwidth. */
    tz_model_device alone = d;
    set(&alone.core_read_bandwidth_bytes_per_s, 2e9);
    assert_close(predict(&w, &alone).stage_s, 0.5 * (7 + 31) * 1e-3 + 1e-5, 1e-4);
}

TEST(test_a_better_machine_is_never_slower)
{
    tz_model_device d = device();
    tz_model_work w = work();
    set(&d.memory_latency_s, 1e-7);
    w.starts = 1e3;
    w.near_reads = 3e8, w.near_writes = 1e8, w.ring_reads = 1e8, w.ring_writes = 1e8;
    w.ring_bytes = 2e6, w.read_bytes = 64e6, w.write_bytes = 64e6, w.resident_bytes = 3e7;
    w.rows = 1e5;
    w.spans = 1e4, w.forks = 1, w.workers = 2, w.slowest = 1.1;
    const double before = predict(&w, &d).stage_s;
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (size_t k = 0; k < count; k++) {
        tz_model_device better = d;
        tz_model_number *number = (tz_model_number *)(void *)((char *)&better + keys[k].offset);
        if (keys[k].quantity == TZ_MODEL_TEXT || !number->known || number == &better.vector_bytes ||
            number == &better.cores || number == &better.l1_bandwidth_bytes_per_s ||
            number == &better.load_rate)
            continue;
        number->value *= keys[k].quantity == TZ_MODEL_TIME ? 0.5 : 2;
        if (predict(&w, &better).stage_s > before * (1 + 1e-12))
            fail_msg("twice the %s is slower", keys[k].name);
    }
}

TEST(test_what_cannot_be_predicted)
{
    tz_model_prediction out;
    tz_model_device d = device();
    tz_model_work w = work();
    d.store_rate.known = false;
    check_error(tz_roofs_predict(&w, &d, &out, &failure), TZ_UNSUPPORTED, "", "store_rate");
    d = device();
    w.workers = 0;
    assert_int_equal(tz_roofs_predict(&w, &d, &out, &failure), TZ_RANGE);
    w = work();
    w.parts_count = 0;
    assert_int_equal(tz_roofs_predict(&w, &d, &out, &failure), TZ_RANGE);
    w = work();
    w.height = 0;
    assert_int_equal(tz_roofs_predict(&w, &d, &out, &failure), TZ_RANGE);
}
