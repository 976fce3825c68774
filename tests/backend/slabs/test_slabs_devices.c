/* The text that names the devices of a run. */
#include "backend/slabs/slabs.h"
#include "tests/unit.h"

static tz_devices devices;
static const tz_backend *found;

static tz_status parse(const char *text, const tz_backend *backend, int threads)
{
    return tz_devices_parse(text, backend, threads, &found, &devices, &failure);
}

TEST(test_names)
{
    assert_ok(parse("cpu:3", NULL, 8));
    assert_ptr_equal(found, &tz_backend_cpu);
    assert_int_equal(devices.count, 3);
    assert_int_equal(devices.of[0].threads, 3);
    assert_int_equal(devices.of[1].threads, 3);
    assert_int_equal(devices.of[2].threads, 2);
    assert_ok(parse("  cpu , cpu*2.5,cpu:2*1e-3 ", NULL, 1));
    assert_int_equal(devices.count, 4);
    assert_true(devices.of[0].share == 1.0 && devices.of[1].share == 2.5);
    assert_true(devices.of[2].share == 1e-3 && devices.of[3].share == 1e-3);
    assert_int_equal(devices.of[3].threads, 1);
    assert_ok(parse("reference:2", NULL, 8));
    assert_ptr_equal(found, &tz_backend_reference);
    assert_int_equal(devices.of[0].threads, 1);
    assert_ok(parse("cpu", &tz_backend_cpu, 5));
    assert_int_equal(devices.count, 1);
    assert_int_equal(devices.of[0].threads, 5);
    assert_ok(parse("cpu:64", NULL, 2));
    assert_int_equal(devices.count, TZ_DEVICES_MAX);
    for (int i = 0; i < TZ_DEVICES_MAX; i++)
        assert_int_equal(devices.of[i].threads, 1);
}

TEST(test_refused)
{
    static const char *const wrong[] = {
        "",
        " ",
        ",",
        "cpu,",
        ",cpu",
        "cpu:",
        "cpu:0",
        "cpu:-1",
        "cpu:65",
        "cpu:2:3",
        "cpu:1.5",
        "cpu:2x",
        ":2",
        "*2",
        "cpu*",
        "cpu*0",
        "cpu*-1",
        "cpu*nan",
        "cpu*inf",
        "cpu*1e308",
        "cpu*1e-308",
        "cpu*1*",
        "cpu*1*2",
        "0:2",
        "0:2*1",
        "cpu*1x",
        "cpu:99999999999999999999",
        "cpu*1000000000000000000000000000000000000000000000000000000000000000000",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_error(parse(wrong[i], NULL, 4), TZ_RANGE, "devices", "names no devices: use GPU");
    check_error(parse("cpu cpu", NULL, 4), TZ_RANGE, "devices", "separated by commas");
    check_error(parse("cpu;cpu", NULL, 4), TZ_UNKNOWN, "backend", "cpu;cpu");
    check_error(parse("cpo", NULL, 4), TZ_UNKNOWN, "backend", "'cpu'");
    check_error(parse("-1", NULL, 4), TZ_UNKNOWN, "backend", "-1");
    check_error(parse("cuda", NULL, 4), TZ_RANGE, "devices", "GPUs have numbers");
    check_error(parse("cpu:64,cpu", NULL, 4), TZ_RANGE, "devices", "more than 64 slabs");
    check_error(parse("cpu,reference", NULL, 4), TZ_RANGE, "devices", "have the same one");
    check_error(parse("reference", &tz_backend_cpu, 4), TZ_RANGE, "devices", "have the same one");
    check_error(parse("cpu,99", NULL, 4), TZ_RANGE, "devices", "have the same one");
    check_error(parse("99999999999999999999", NULL, 4), TZ_BACKEND, "", "");
}
