/* core/backend/cuda against stand-ins for the driver and NVML: devices, memory, streams, energy. */
#include "test_cuda_support.h"

#include "calibrate/cuda_bench.h"
#include "tests/made_up_clock.h"

/* ---- Opening --------------------------------------------------------------------------------- */

FAKE_TEST(a_device_is_described)
{
    tz_cuda *cuda = opened();
    const tz_cuda_device *device = tz_cuda_device_of(cuda);
    assert_string_equal(device->name, "Fake GPU A");
    assert_string_equal(device->bus_id, "0000:10:00.0");
    assert_int_equal(device->major * 10 + device->minor, 90);
    assert_int_equal(device->memory_bytes, 1 << 30);
    assert_int_equal(device->l2_bytes, 50 << 20);
    assert_int_equal(device->multiprocessors, 132);
    assert_int_equal(device->shared_bytes, 227 << 10);
    assert_int_equal(device->shared_reserved_bytes, 1024);
    assert_int_equal(device->multiprocessor_shared_bytes, 228 << 10);
    assert_int_equal(device->multiprocessor_registers, 65536);
    assert_int_equal(device->multiprocessor_threads, 2048);
    assert_int_equal(device->multiprocessor_blocks, 32);
    assert_int_equal(device->clock_khz, 1980000);
    assert_int_equal(device->memory_clock_khz, 3201000);
    assert_int_equal(device->memory_bus_bits, 6144);
    assert_true(device->cooperative);
    assert_false(device->time_limit);
    tz_cuda_close(cuda);
}

FAKE_TEST(what_cannot_be_opened_says_why)
{
    need_fake();
    static const struct {
        const char *fault;
        tz_status status;
        const char *message;
    } cases[] = {
        {"cuInit:803", TZ_BACKEND, "restart the machine after a driver update"},
        {"cuInit:802", TZ_BACKEND, "nvidia-fabricmanager"},
        {"cuInit:3", TZ_BACKEND, "--backend cpu: CUDA_ERROR_OF_A_FAKE 3 (text of a fake)"},
        {"cuDeviceGetName:999", TZ_BACKEND, "the driver lost the GPU"},
        {"cuDevicePrimaryCtxRetain:46", TZ_BACKEND, "held by another process"},
        {"cuDevicePrimaryCtxRetain:2", TZ_MEMORY, "not enough GPU memory"},
        {"cuCtxSetCurrent:201", TZ_BACKEND, "cannot use the GPU"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tz_cuda *cuda = (tz_cuda *)&cuda;
        fault(cases[k].fault);
        check_error(tz_cuda_open(&cuda, 0, &failure), cases[k].status, "", cases[k].message);
        assert_null(cuda);
        assert_int_equal(seen->contexts, 0);
    }
    fault(NULL);
    tz_cuda *cuda;
    check_error(tz_cuda_open(&cuda, 1, &failure), TZ_BACKEND, "", "there is no GPU 1: 1 found");
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    check_error(tz_cuda_open(&cuda, 0, &failure), TZ_BACKEND, "", "no NVIDIA GPU");
    assert_false(tz_cuda_available());
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    assert_true(tz_cuda_available());
    assert_ok(tz_cuda_open(&cuda, 2, &failure));
    assert_string_equal(tz_cuda_device_of(cuda)->name, "Fake GPU C");
    tz_cuda_close(cuda);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

FAKE_TEST(full_memory_is_reported_in_numbers)
{
    setenv("FAKE_CUDA_MEMORY", "2147483648", 1);
    tz_cuda *cuda = opened();
    tz_cu_pointer x, y = 1;
    void *pinned = &pinned;
    assert_ok(tz_cuda_allocate(cuda, &x, 1 << 20, &failure));
    check_error(tz_cuda_allocate(cuda, &y, (size_t)3 << 30, &failure), TZ_MEMORY, "",
                "on Fake GPU A: 3221225472 bytes (3.00 GiB) asked for, 2146435072 (2.00 GiB) free");
    assert_int_equal(y, 0);
    fault("cuMemHostAlloc:2");
    check_error(tz_cuda_host_allocate(cuda, &pinned, 4096, &failure), TZ_MEMORY, "",
                "to pin 4096 bytes");
    assert_null(pinned);
    fault("cuMemcpyHtoD_v2:1");
    check_error(tz_cuda_upload(cuda, x, "abcd", 4, &failure), TZ_BACKEND, "",
                "cannot copy 4 bytes to the GPU: CUDA_ERROR_OF_A_FAKE 1");
    fault("cuStreamSynchronize:1"); /* what the driver reports while the copy is awaited */
    check_error(tz_cuda_upload(cuda, x, "abcd", 4, &failure), TZ_BACKEND, "",
                "cannot copy 4 bytes to the GPU: CUDA_ERROR_OF_A_FAKE 1");
    fault(NULL);
    assert_ok(tz_cuda_upload(cuda, x, "abcd", 4, &failure)); /* refusals leave everything usable */
    tz_cuda_free(cuda, x);
    tz_cuda_close(cuda);
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* What graphs do: test_cuda_asynchronous.c. Begun and dropped; waiting in between is refused, and
 * so is a graph on the default stream; one that cannot be made leaves nothing. */
FAKE_TEST(graphs_may_be_refused)
{
    tz_cuda *cuda = opened();
    tz_cuda_queue *stream;
    tz_cuda_graph *graph = (tz_cuda_graph *)&graph;
    assert_ok(tz_cuda_queue_create(cuda, &stream, &failure));
    assert_ok(tz_cuda_graph_begin(cuda, stream, &failure));
    check_error(tz_cuda_queue_wait(cuda, stream, &failure), TZ_BACKEND, "",
                "waiting for the GPU failed");
    assert_ok(tz_cuda_graph_end(cuda, stream, NULL, &failure));
    assert_int_equal(seen->noted + seen->graphs, 0);
    check_error(tz_cuda_graph_begin(cuda, NULL, &failure), TZ_BACKEND, "", "begin a graph");
    assert_ok(tz_cuda_graph_begin(cuda, stream, &failure));
    fault("cuGraphInstantiateWithFlags:2");
    check_error(tz_cuda_graph_end(cuda, stream, &graph, &failure), TZ_MEMORY, "",
                "not enough GPU memory");
    assert_null(graph);
    assert_int_equal(seen->noted, 0);
    fault(NULL);
    tz_cuda_graph_destroy(cuda, NULL);
    tz_cuda_queue_destroy(cuda, stream);
    tz_cuda_close(cuda);
}

/* ---- Energy ------------------------------------------------------------------------ */

FAKE_TEST(energy_is_counted_or_says_why_not)
{
    tz_cuda *cuda = opened();
    tz_cuda_energy *energy = NULL;
    double before, after;
    assert_ok(tz_cuda_energy_open(&energy, tz_cuda_device_of(cuda), &failure));
    assert_ok(tz_cuda_energy_read(energy, &before, &failure));
    assert_ok(tz_cuda_energy_read(energy, &after, &failure));
    assert_true(before > 1000 && after - before > 1.49 && after - before < 1.51);
    setenv("FAKE_NVML_FAULT", "nvmlDeviceGetTotalEnergyConsumption:15", 1);
    check_error(tz_cuda_energy_read(energy, &after, &failure), TZ_UNSUPPORTED, "",
                "the GPU's energy cannot be read (NVML: text of a fake, 15)");
    tz_cuda_energy_close(energy);
    tz_cuda_energy_close(NULL);
    static const char *const cases[][2] = {
        {"nvmlInit_v2:9", "the driver is not loaded"},
        {"nvmlInit_v2:18", "NVML does not start"},
        {"nvmlDeviceGetHandleByPciBusId_v2:6", "does not find the GPU by its bus id"},
        {"nvmlDeviceGetTotalEnergyConsumption:3", "this GPU counts no energy"}};
    for (int k = 0; k < 4; k++) {
        setenv("FAKE_NVML_FAULT", cases[k][0], 1);
        check_error(tz_cuda_energy_open(&energy, tz_cuda_device_of(cuda), &failure), TZ_UNSUPPORTED,
                    "", cases[k][1]);
        assert_null(energy);
    }
    tz_cuda_close(cuda);
}

FAKE_TEST(clocks_say_what_holds_them)
{
    tz_cuda *cuda = opened();
    tz_cuda_energy *energy = NULL;
    tz_clock_facts clock;
    double watts;
    assert_ok(tz_cuda_energy_open(&energy, tz_cuda_device_of(cuda), &failure));
    assert_ok(tz_cuda_energy_clock(energy, &clock, &failure));
    assert_true(clock.hz == 1.98e9 && !clock.for_power && !clock.for_heat);
    static const struct {
        const char *reasons;
        bool for_power, for_heat;
    } cases[] = {{"0x1", false, false}, /* idle */
                 {"0x2", false, false}, /* set by a user */
                 {"0x4", true, false},  {"0x80", true, false}, {"0x20", false, true},
                 {"0x40", false, true}, {"0x8", true, false},  {"0x24", true, true}};
    setenv("FAKE_NVML_CLOCK", "1335", 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        setenv("FAKE_NVML_REASONS", cases[k].reasons, 1);
        assert_ok(tz_cuda_energy_clock(energy, &clock, &failure));
        assert_true(clock.hz == 1.335e9);
        assert_int_equal(clock.for_power, cases[k].for_power);
        assert_int_equal(clock.for_heat, cases[k].for_heat);
    }
    assert_ok(tz_cuda_energy_limit(energy, &watts, &failure));
    assert_true(watts == 700);
    static const char *const faults[] = {"nvmlDeviceGetClockInfo:3",
                                         "nvmlDeviceGetCurrentClocksThrottleReasons:3"};
    for (int k = 0; k < 2; k++) {
        setenv("FAKE_NVML_FAULT", faults[k], 1);
        check_error(tz_cuda_energy_clock(energy, &clock, &failure), TZ_UNSUPPORTED, "",
                    "the GPU's clock cannot be read (NVML: Not Supported, 3)");
        assert_true(clock.hz == 0);
    }
    setenv("FAKE_NVML_FAULT", "nvmlDeviceGetEnforcedPowerLimit:3", 1);
    check_error(tz_cuda_energy_limit(energy, &watts, &failure), TZ_UNSUPPORTED, "",
                "the GPU's power limit cannot be read");
    tz_cuda_energy_close(energy);
    tz_cuda_close(cuda);
}

static char remarked[512];

static void keep_remark(void *context, const char *text)
{
    snprintf(remarked, sizeof remarked, "%s", text);
}

/* Energies with the stand-in, whose power does not depend on the kernels. */
static void measure_energies(tz_cuda *cuda, tz_model_device *record)
{
    const tz_calibration how = {.seconds = 1, .remark = keep_remark};
    tz__bench b = {.cuda = cuda,
                   .gpu = tz_cuda_device_of(cuda),
                   .calibration = &how,
                   .record = record,
                   .error = &failure,
                   .clock_hz = 1.98e9};
    memset(record, 0, sizeof *record);
    remarked[0] = '\0';
    assert_ok(tz__bench_open(&b));
    const tz_status status = tz__measure_energy(&b);
    if (status)
        fail_msg("%d: %s", status, failure.message);
    tz__bench_close(&b);
}

FAKE_TEST(energies_are_measured_or_left_out)
{
    static tz_model_device record;
    tz_cuda *cuda = opened();
    setenv("FAKE_NVML_WATTS", "250", 1);
    /* A launch takes no time here: only the looks at the clock count. */
    made_up_clock.is_in_use = true;
    made_up_clock.step_s = 1e-3;
    measure_energies(cuda, &record);
    assert_string_equal(remarked, "");
    assert_true(record.power_limit_w.value == 700);
    /* A look is late by up to a step of the counter, 20 ms in half a second. */
    assert_true(fabs(record.power_idle_w.value - 250) < 25);
    assert_true(fabs(record.power_active_w.value - 250) < 25);
    const tz_model_number *const energies[] = {&record.energy_fp32_j,    &record.energy_fp64_j,
                                               &record.energy_integer_j, &record.energy_shuffle_j,
                                               &record.energy_shared_j,  &record.energy_memory_j};
    for (size_t k = 0; k < sizeof energies / sizeof *energies; k++) {
        assert_true(energies[k]->known && energies[k]->value >= 0);
        assert_non_null(strstr(energies[k]->source, "1.98 GHz"));
    }
    assert_false(record.power_exponent.known); /* nothing was held back */
    /* Without a counter, or with a constant one: no number, and a reason. */
    setenv("FAKE_NVML_WATTS", "0", 1);
    measure_energies(cuda, &record);
    assert_non_null(
        strstr(remarked, "gets no numbers of power: the GPU's counter of energy hardly"));
    assert_false(record.power_limit_w.known || record.power_idle_w.known);
    setenv("FAKE_NVML_FAULT", "nvmlInit_v2:9", 1);
    measure_energies(cuda, &record);
    assert_non_null(strstr(remarked, "gets no numbers of power: the driver is not loaded"));
    assert_false(record.power_limit_w.known || record.energy_fp32_j.known);
    made_up_clock.is_in_use = false;
    tz_cuda_close(cuda);
}

TEST_GROUP(open_fake, close_fake)
