/* The model of jumps: sweeps over memory, counted by hand. */
#include "model/constants.h"
#include "model/jump.h"
#include "model_support.h"

static tz_model_jump_time time_of(const tz_model_jump *jump, const tz_model_device *device)
{
    tz_model_jump_time out;
    assert_ok(tz_model_jump_predict(jump, device, &out, &failure));
    return out;
}

TEST(bytes_of_a_gpu)
{
    const tz_model_device h200 = device_named("h200");
    tz_model_jump jump = {
        .axes = 2, .extent = {1024, 512}, .fields = 1, .element_bytes = 4, .is_gpu = true};
    const double cells = 1024 * 512, d = 8 * cells, field = 2 * (d + 4 * cells);
    /* Two periodic axes, the field in and out, the frequencies. */
    tz_model_jump_time time = time_of(&jump, &h200);
    assert_true(time.bytes == 2 * 2 * 2 * d + field + 2 * d);
    const double moving = time.bytes / h200.copy_bandwidth_bytes_per_s.value;
    assert_true(time.seconds > moving && time.seconds < 4 * moving + 1e-3);
    /* A source is transformed once more and read. */
    jump.affine = true;
    tz_model_jump_time more = time_of(&jump, &h200);
    assert_true(more.bytes == time.bytes + 2 * 2 * d + d + 2 * d);
    assert_true(more.memory_bytes > time.memory_bytes);
    jump.affine = false;
    jump.side[0] = TZ_MODEL_CLAMP;
    more = time_of(&jump, &h200);
    assert_true(more.bytes == time.bytes + 2 * 4 * d);
    assert_true(time.memory_bytes == d && more.memory_bytes == 2 * d);
    /* 511 = 7 x 73 is a length for one sweep, 509 is a prime. */
    jump.side[0] = TZ_MODEL_PERIODIC;
    jump.side[1] = TZ_MODEL_MIRROR;
    more = time_of(&jump, &h200);
    assert_true(more.bytes == time.bytes + 2 * 7 * d);
    jump.extent[1] = 510;
    more = time_of(&jump, &h200);
    const double other = 8 * 1024 * 510;
    assert_true(more.bytes > 2 * 2 * other * TZ_FIT_JUMP_FACTOR + 2 * 5 * other);
    /* Lines that are too long take two sweeps. */
    jump = (tz_model_jump){
        .axes = 1, .extent = {16384}, .fields = 2, .element_bytes = 8, .is_gpu = true};
    const double line = 8 * 16384;
    time = time_of(&jump, &h200);
    assert_true(time.bytes == 2 * (2 * 4 * line + 4 * line + 2 * line));
}

TEST(a_cpu_computes_too)
{
    const tz_model_device h200 = device_named("h200");
    tz_model_device cpu = {.name = "cpu", .clock_hz = {.value = 1e9, .known = true}};
    tz_model_jump jump = {
        .axes = 2, .extent = {256, 256}, .fields = 1, .element_bytes = 4, .threads = 1};
    tz_model_jump_time time;
    check_error_of(tz_model_jump_predict(&jump, &cpu, &time, &failure), TZ_UNSUPPORTED, &failure,
                   "cpu", "no 'copy_bandwidth'");
    cpu.copy_bandwidth_bytes_per_s = h200.copy_bandwidth_bytes_per_s;
    time = time_of(&jump, &cpu);
    assert_true(time.operations == 2 * 2 * 2.5 * 8 * 65536);
    jump.threads = 2;
    const tz_model_jump_time half = time_of(&jump, &cpu);
    assert_true(half.seconds < 0.6 * time.seconds && half.seconds > 0.4 * time.seconds);
    cpu.core_copy_bandwidth_bytes_per_s =
        (tz_model_number){.value = 1e8, .known = true}; /* slow memory */
    assert_true(time_of(&jump, &cpu).seconds > half.bytes / 2e8);
    cpu.clock_hz.known = false;
    check_error_of(tz_model_jump_predict(&jump, &cpu, &time, &failure), TZ_UNSUPPORTED, &failure,
                   "cpu", "no 'clock'");
}
