/* roofs on GPUs, with made-up work: what stays in the second level, and which numbers are
 * needed. */
#include "model_support.h"

#include "model/constants.h"

static const char *const records[] = {"h200", "h100-80gb-hbm3"};
enum { RECORDS = sizeof records / sizeof *records };

/* Bytes through memory of a stage whose arrays take `share` of the second level. */
static double moved(const tz_model_device *device, double share)
{
    tz_model_work work = some_work();
    work.resident_bytes = share * device->l2_bytes.value;
    const tz_model_prediction p = predicted(&work, device);
    return detail_of(&p, "memory_bytes");
}

/* Both records: whether a grid stays may not depend on a number that one of them lacks. */
TEST(small_grids_stay_in_the_second_level)
{
    const tz_model_work work = some_work();
    const double all = work.read_bytes + work.write_bytes;
    for (int k = 0; k < RECORDS; k++) {
        const tz_model_device device = device_named(records[k]);
        assert_true(moved(&device, 0.1) == 0 && moved(&device, 0.55) == 0);
        assert_close(moved(&device, 0.9), all, 1e-12);
        assert_close(moved(&device, 50), all, 1e-12);
        assert_close(moved(&device, 0.5 * (TZ_FIT_KEPT_ALL + TZ_FIT_KEPT_NONE)), 0.5 * all, 1e-9);
        /* Less memory takes less time where memory bounds it. */
        tz_model_work small = work;
        small.parts[0].steps = 40;
        tz_model_work large = small;
        small.resident_bytes = 0.5 * device.l2_bytes.value;
        large.resident_bytes = 1.2 * device.l2_bytes.value;
        assert_true(predicted(&small, &device).time_s < 0.9 * predicted(&large, &device).time_s);
    }
}

TEST(missing_numbers_are_named)
{
    const tz_model_work work = some_work();
    const struct {
        size_t member;
        const char *key;
    } rows[] = {{offsetof(tz_model_device, l2_bytes), "l2"},
                {offsetof(tz_model_device, alu_rate), "alu_rate"},
                {offsetof(tz_model_device, multiply_rate), "multiply_rate"},
                {offsetof(tz_model_device, shuffle_rate), "shuffle_rate"},
                {offsetof(tz_model_device, copy_bandwidth_bytes_per_s), "copy_bandwidth"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tz_model_device device = device_named("h200");
        memset((char *)&device + rows[k].member, 0, sizeof(tz_model_number));
        tz_model_prediction p = {0};
        assert_int_equal(tz_roofs_predict(&work, &device, &p, &failure), TZ_UNSUPPORTED);
        assert_non_null(strstr(failure.message, rows[k].key));
    }
}

/* What blocks hand each other stays in the second level like a grid does. The rest goes to memory
 * and back. */
TEST(slots_may_not_fit_the_second_level)
{
    for (int k = 0; k < RECORDS; k++) {
        const tz_model_device device = device_named(records[k]);
        const double room = TZ_FIT_KEPT_ALL * device.l2_bytes.value;
        tz_model_work work = some_work();
        const tz_model_prediction none = predicted(&work, &device);
        work.slots_bytes = 0.99 * room;
        const tz_model_prediction fits = predicted(&work, &device);
        work.slots_bytes = room + 1e7;
        const tz_model_prediction late = predicted(&work, &device);
        assert_true(fits.stage_s == none.stage_s);
        assert_close(late.stage_s - none.stage_s, 2e7 / device.copy_bandwidth_bytes_per_s.value,
                     1e-9);
        assert_close(detail_of(&late, "memory_bytes") - detail_of(&none, "memory_bytes"), 2e7,
                     1e-9);
    }
}
