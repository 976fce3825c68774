/* How a grid is divided among devices of unequal speed, by records that are made up. */
#include "backend/slabs/cut.h"
#include "calibrate/records.h"
#include "predict/workload.h"
#include "tests/registry.h"

typedef struct machine {
    tz_model_device slow, fast;
    tz_problem problem;
} machine;

static void twice(tz_model_number *number)
{
    number->value *= 2;
}

static void read_machine(machine *m, const char *record, const char *stencil, int64_t n)
{
    const tz_simulation_config config = {
        .registry = registry, .stencil = stencil, .dims = 2, .extent = {n, n, 1}, .precision = -1};
    const tz_stencil *s;
    memset(m, 0, sizeof *m);
    assert_ok(tz_device_find(record, &m->slow, &failure));
    m->fast = m->slow;
    twice(&m->fast.clock_hz);
    twice(&m->fast.copy_bandwidth_bytes_per_s);
    twice(&m->fast.read_bandwidth_bytes_per_s);
    twice(&m->fast.core_copy_bandwidth_bytes_per_s);
    twice(&m->fast.core_read_bandwidth_bytes_per_s);
    twice(&m->fast.l2_bandwidth_bytes_per_s);
    assert_ok(tz_registry_find(registry, stencil, &s, NULL, &failure));
    assert_ok(tz_problem_resolve(&m->problem, s, &config, &failure));
}

static tz_devices devices_of(int count)
{
    tz_devices devices = {.count = count, .apart = true};
    for (int i = 0; i < count; i++) {
        devices.of[i].share = 1.0;
        devices.of[i].threads = 1;
    }
    return devices;
}

static const char *const cpu = TZ_TEST_SOURCE_DIR "/predict/cpu.txt";
static const char *const gpu = TZ_TEST_MODEL_DIR "/devices/h200.txt";

static void check_two_kinds(const char *record, const tz_backend *backend)
{
    machine m;
    tz_devices devices = devices_of(3);
    tz_cut cut;
    read_machine(&m, record, "star2d1r", 4000);
    const tz_share_of own[] = {{"A", &m.slow}, {"B", &m.fast}, {"A", &m.fast}};
    tz_shares_find(&devices, backend, &m.problem, own, NULL);
    assert_int_equal(devices.how, TZ_SHARES_PREDICTED);
    assert_true(devices.of[0].share == devices.of[2].share); /* a name is a kind */
    assert_true(devices.of[1].share == 1.0);
    assert_in_range((int)(100 * devices.of[0].share), 40, 85);
    assert_ok(tz_cut_make(&cut, &m.problem, &devices, &failure));
    assert_int_equal(cut.at[3], 4000);
    assert_true(cut.at[2] - cut.at[1] > cut.at[1] + 200);
    assert_true(llabs(cut.at[1] - (cut.at[3] - cut.at[2])) <= 1);
    tz_problem_clear(&m.problem);
}

TEST(faster_devices_get_more)
{
    check_two_kinds(cpu, &tz_backend_cpu);
    check_two_kinds(gpu, &tz_backend_cuda);
}

TEST(threads_of_a_cpu_count)
{
    machine m;
    tz_devices devices = devices_of(2);
    read_machine(&m, cpu, "hotspot", 2000);
    const tz_share_of own[] = {{"A", &m.slow}, {"A", &m.slow}};
    devices.apart = false;
    devices.of[1].threads = 2;
    tz_shares_find(&devices, &tz_backend_cpu, &m.problem, own, NULL);
    assert_int_equal(devices.how, TZ_SHARES_PREDICTED);
    assert_true(devices.of[0].share < 0.8 && devices.of[1].share == 1.0);
    /* Those of a GPU only compile. */
    devices = devices_of(2);
    devices.of[1].threads = 2;
    tz_shares_find(&devices, &tz_backend_cuda, &m.problem, own, NULL);
    assert_int_equal(devices.how, TZ_SHARES_EQUAL);
    tz_problem_clear(&m.problem);
}

TEST(shares_stay_equal)
{
    machine m;
    tz_devices devices = devices_of(2);
    read_machine(&m, cpu, "hotspot", 2000);
    /* Two that are alike need no record. */
    const tz_share_of alike[] = {{"A", NULL}, {"A", &m.fast}};
    tz_shares_find(&devices, &tz_backend_cpu, &m.problem, alike, NULL);
    assert_int_equal(devices.how, TZ_SHARES_EQUAL);
    assert_true(devices.of[0].share == 1.0 && devices.of[1].share == 1.0);
    const tz_share_of unknown[] = {{"A", &m.slow}, {"B", NULL}};
    tz_shares_find(&devices, &tz_backend_cpu, &m.problem, unknown, NULL);
    assert_int_equal(devices.how, TZ_SHARES_UNKNOWN);
    assert_true(devices.of[0].share == 1.0 && devices.of[1].share == 1.0);
    const tz_share_of other[] = {{"A", &m.slow}, {"B", &m.fast}};
    devices.of[0].given = true;
    devices.of[0].share = 5.0;
    tz_shares_find(&devices, &tz_backend_cpu, &m.problem, other, NULL);
    assert_int_equal(devices.how, TZ_SHARES_GIVEN);
    assert_true(devices.of[0].share == 5.0 && devices.of[1].share == 1.0);
    tz_problem_clear(&m.problem);
    /* Two slabs of 24 rows have room for ghost zones of 24 iterations; one by speed has less. */
    read_machine(&m, cpu, "hotspot", 48);
    devices = devices_of(2);
    tz_shares_find(&devices, &tz_backend_cpu, &m.problem, other, NULL);
    assert_int_equal(devices.how, TZ_SHARES_THIN);
    assert_true(devices.of[0].share == 1.0 && devices.of[1].share == 1.0);
    tz_problem_clear(&m.problem);
}

TEST_GROUP(open_plugins, close_plugins)
