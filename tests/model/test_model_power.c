/* Power: energies add up, the clock of a long run obeys the limit, and without numbers nothing is
 * claimed. */
#include "model_support.h"

#include "model/constants.h"
#include "model/power.h"

static const double EXPONENT = 3;

static tz_power_demand computing(void)
{
    return (tz_power_demand){.core_j = 0.6,
                             .memory_j = 0.05,
                             .base_w = 150,
                             .time_s = 1e-3,
                             .compute_s = 0.95e-3,
                             .memory_s = 0.2e-3};
}

TEST(the_clock_obeys_the_limit)
{
    const tz_power_demand d = computing();
    tz_power_answer a;
    double seconds;
    /* 150 W and 0.65 J a millisecond. */
    assert_close(tz_power_at(&d, EXPONENT, 1, &seconds), 800, 1e-12);
    assert_close(seconds, 1e-3, 1e-12);
    tz_power_settle(&d, EXPONENT, 900, &a);
    assert_true(a.share == 1 && a.sustained_s == d.time_s);
    assert_close(a.watts, 800, 1e-12);
    tz_power_settle(&d, EXPONENT, 800, &a); /* just met */
    assert_true(a.share == 1 && a.sustained_s == d.time_s);
    tz_power_settle(&d, EXPONENT, 799.99, &a);
    assert_true(a.share < 1 && a.share > 0.9999 && a.sustained_s > d.time_s);
    double before = 1;
    for (double limit = 790; limit > 250; limit -= 20) {
        tz_power_settle(&d, EXPONENT, limit, &a);
        assert_true(a.share < before);
        before = a.share;
        assert_close(tz_power_at(&d, EXPONENT, a.share, &seconds), limit, 1e-4);
        assert_close(a.sustained_s, seconds, 1e-12);
        assert_close(a.watts, 800, 1e-12); /* at the full clock, always */
        /* Nearly all of it computing: as much slower as the clock is lower. */
        assert_close(a.sustained_s - d.time_s, d.compute_s / a.share - d.compute_s, 1e-3);
    }
    /* No clock is low enough: the lowest that is looked at. */
    tz_power_settle(&d, EXPONENT, 10, &a);
    assert_close(a.share, 0.2, 1e-5);
}

/* ---- From counts ----------------------------------------------------------------------------- */

static tz_model_device some_device(void)
{
    tz_model_device d = device_named("h200");
    set(&d.power_limit_w, 700);
    set(&d.power_idle_w, 120);
    set(&d.power_active_w, 190);
    memset(&d.power_exponent, 0, sizeof d.power_exponent);
    set(&d.energy_fp32_j, 400e-12);
    set(&d.energy_fp64_j, 900e-12);
    set(&d.energy_integer_j, 300e-12);
    set(&d.energy_shuffle_j, 700e-12);
    set(&d.energy_shared_j, 600e-12);
    set(&d.energy_l2_j, 20e-12);
    set(&d.energy_memory_j, 60e-12);
    return d;
}

static tz_model_work mixed_work(void)
{
    tz_model_work w = some_work();
    w.registers = 64;
    w.parts[0].step.of[TZ_WORK_FP64] = 3;
    w.parts[0].step.of[TZ_WORK_LOGIC] = 7;
    w.parts[0].once.of[TZ_WORK_INTEGER] = 1000;
    w.parts[0].spills = 2;
    w.pairs_bytes = 1e8;
    return w;
}

TEST(counts_become_watts)
{
    const tz_model_device device = some_device();
    tz_model_work work = mixed_work();
    const tz_model_prediction p = predicted(&work, &device);
    tz_power_demand d;
    assert_true(tz_power_count(&work, &device, &p, &d));
    const double a_step = TZ_FIT_POWER_ARITHMETIC * (160 * 400e-12 + 3 * 900e-12) +
                          (30 + 7) * 300e-12 + 16 * 700e-12 +
                          TZ_FIT_POWER_SHARED * (8 + 2) * 600e-12;
    const double instructions = 20000 * (400 * a_step + 1000 * 300e-12) / 8;
    /* Bursts that are written in parts take time, and no energy is known for them. */
    const double far = detail_of(&p, "memory_bytes") / 8;
    const double near = detail_of(&p, "l2_bytes") / 8;
    assert_true(far < detail_of(&p, "memory_roof") * device.copy_bandwidth_bytes_per_s.value);
    assert_close(near, (8e8 + 4e7) / 8, 1e-6);
    assert_close(d.core_j, instructions + fmax(0, near - far) * 20e-12, 1e-9);
    assert_close(d.memory_j, TZ_FIT_POWER_MEMORY * far * 60e-12, 1e-9);
    assert_close(d.base_w, 190, 1e-12);
    assert_close(p.power_w, 190 + (d.core_j + d.memory_j) / p.time_s, 1e-9);
    assert_close(p.power_limit_w, 700, 1e-12);
    /* Stores of spilt registers go through the second level. */
    tz_power_demand spilt;
    work.parts[0].spilt_stores = 1;
    assert_true(tz_power_count(&work, &device, &p, &spilt));
    assert_close(spilt.core_j - d.core_j, 20000 * 400 * 128 * 20e-12 / 8, 1e-9);
    work.parts[0].spilt_stores = 0;
    /* The same, in the text. */
    char text[120];
    assert_true(tz_power_text(&p, text, sizeof text));
    assert_true(tz_power_time(&p) == p.sustained_s && p.sustained_s >= p.time_s);
    assert_true(p.sustained_hz <= device.clock_hz.value);
    if (p.power_w > 700)
        assert_non_null(strstr(text, " W of 700: a long run is held to "));
    /* Far more than the limit, and far less. */
    tz_model_device hungry = device;
    hungry.energy_fp32_j.value *= 3;
    const tz_model_prediction slow = predicted(&work, &hungry);
    assert_true(slow.power_w > 700 && slow.sustained_s > 1.05 * slow.time_s);
    assert_true(slow.time_s == p.time_s && slow.sustained_hz < 0.95 * device.clock_hz.value);
    assert_true(tz_power_text(&slow, text, sizeof text));
    assert_non_null(strstr(text, " W of 700: a long run is held to "));
    assert_non_null(strstr(text, " GHz, "));
    /* Half of the multiprocessors idle: less is drawn whatever runs. */
    work.blocks = 66;
    const tz_model_prediction few = predicted(&work, &device);
    assert_true(tz_power_count(&work, &device, &few, &d));
    assert_close(d.base_w, 155, 1e-12);
    hungry.power_limit_w.value = 1e5;
    const tz_model_prediction free_run = predicted(&work, &hungry);
    assert_true(free_run.sustained_s == free_run.time_s);
    assert_true(tz_power_text(&free_run, text, sizeof text));
    assert_null(strstr(text, "long run"));
    /* The record's exponent counts. */
    hungry = device;
    hungry.energy_fp32_j.value *= 3;
    set(&hungry.power_exponent, 4.5);
    work = mixed_work();
    assert_true(predicted(&work, &hungry).sustained_s < slow.sustained_s);
}

TEST(without_numbers_nothing_is_claimed)
{
    const tz_model_work work = mixed_work();
    const size_t members[] = {
        offsetof(tz_model_device, power_limit_w),    offsetof(tz_model_device, power_idle_w),
        offsetof(tz_model_device, power_active_w),   offsetof(tz_model_device, energy_fp32_j),
        offsetof(tz_model_device, energy_fp64_j),    offsetof(tz_model_device, energy_integer_j),
        offsetof(tz_model_device, energy_shuffle_j), offsetof(tz_model_device, energy_shared_j),
        offsetof(tz_model_device, energy_l2_j),      offsetof(tz_model_device, energy_memory_j)};
    char text[120] = "before";
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        tz_model_device device = some_device();
        assert_true(tz_power_known(&device));
        memset((char *)&device + members[k], 0, sizeof(tz_model_number));
        assert_false(tz_power_known(&device));
        const tz_model_prediction p = predicted(&work, &device);
        assert_true(p.power_w == 0 && p.power_limit_w == 0 && p.sustained_s == 0 &&
                    p.sustained_hz == 0);
        assert_true(tz_power_time(&p) == p.time_s && p.time_s > 0);
        assert_false(tz_power_text(&p, text, sizeof text));
        assert_string_equal(text, "");
    }
}
