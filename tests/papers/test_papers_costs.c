/* calibrate --costs on a made-up GPU: its instructions cost what this file says, and its warps
 * compute as equations 3 to 5 say, with numbers that are then found. */
#include "base/file.h"
#include "calibrate/cuda.h"
#include "model/papers/costs.h"
#include "model/papers/luo2011.h"
#include "model/papers/papers.h"
#include "tests/backend/cuda/test_cuda_support.h"

#include <math.h>

enum { BASE_CLOCKS = 5, ADDRESS_CLOCKS = 7, CYCLES_OF_CALL = 40 };

static tz_luo2011_gpu made_up;

static tz_model_device h200(void)
{
    tz_model_device device;
    char *text;
    size_t length;
    assert_ok(tz_file_read(TZ_TEST_MODEL_DIR "/devices/h200.txt", TZ_MODEL_RECORD_BYTES_MAX, &text,
                           &length, &failure));
    assert_ok(tz_model_device_parse("h200", text, length, &device, &failure));
    free(text);
    return device;
}

/* Clocks of a step of row i of the table: whole numbers, all different. */
static double clocks_of_row(size_t i)
{
    return 4 + (double)i;
}

/* A kernel as its text describes it. */
typedef struct probe {
    char cost[256]; /* of TZ__PROBE_COST */
    int additions;  /* of TZ__PROBE_PERIODS */
    struct probe *before;
} probe;

static probe *last_probe; /* launches may still need any of them */

static const void *prepare(fake_cuda_launch *launch)
{
    probe *p = calloc(1, sizeof *p);
    int kind = 0, steps = 0;
    assert_non_null(p);
    p->before = last_probe;
    last_probe = p;
    assert_int_equal(
        sscanf(strstr(launch->source, "#define TZ_PROBE "), "#define TZ_PROBE %d", &kind), 1);
    assert_int_equal(
        sscanf(strstr(launch->source, "#define TZ_STEPS "), "#define TZ_STEPS %d", &steps), 1);
    if (kind == TZ__PROBE_COST)
        sscanf(strstr(launch->source, "#define TZ_COST "), "#define TZ_COST \"%255[^\"\n]",
               p->cost);
    else
        p->additions = steps;
    assert_true(kind == TZ__PROBE_COST ? steps == TZ__COST_STEPS : kind == TZ__PROBE_PERIODS);
    launch->argument_bytes = sizeof(uint32_t *); /* cycles */
    return p;
}

static double cycles_of_steps(const char *text)
{
    size_t count;
    const tz__cost *costs = tz__costs_table(&count);
    double clocks = BASE_CLOCKS;
    for (size_t i = 0; *text && i < count; i++) {
        const char *without = costs[i].without;
        if (strcmp(costs[i].text, text) == 0)
            clocks += clocks_of_row(i) * costs[i].instructions + (without ? ADDRESS_CLOCKS : 0);
        else if (without && strcmp(without, text) == 0 && clocks == BASE_CLOCKS)
            clocks += ADDRESS_CLOCKS;
    }
    assert_true(!*text || clocks > BASE_CLOCKS);
    return TZ__COST_TIMES * clocks;
}

static double cycles_of_periods(const fake_cuda_launch *launch, int additions)
{
    const double active = launch->threads / 32.0 * launch->grid[0] / made_up.multiprocessors;
    const double of_warp = tz_luo2011_warp_bandwidth(4, 4, made_up.latency);
    tz_luo2011_period p = {.computation =
                               (additions + 1) * made_up.costs.clocks[TZ_LUO2011_ADD][1][1],
                           .memory = made_up.latency,
                           .mpd = tz_luo2011_mpd(&made_up, active, of_warp, false)};
    const double share = p.computation / (p.computation + p.memory);
    p.type = tz_luo2011_type(p.computation, p.memory, p.computation, p.memory);
    tz_luo2011_period_time(&p, active, tz_luo2011_cpd(&made_up, share, active), p.memory, p.mpd);
    return TZ__PERIODS * p.time;
}

static void run(const fake_cuda_launch *launch)
{
    const probe *p = launch->entry;
    uint32_t *cycles;
    memcpy(&cycles, launch->argument, sizeof cycles);
    const double all =
        p->additions > 0 ? cycles_of_periods(launch, p->additions) : cycles_of_steps(p->cost);
    for (int k = 0; k < launch->grid[0]; k++)
        cycles[k] = (uint32_t)(all + CYCLES_OF_CALL);
}

static tz_cuda *opened_to_run(void)
{
    fake_cuda_named_runs *runs;
    tz_cuda *cuda = opened();
    void *symbol = dlsym(library, "fake_cuda_run_named");
    assert_non_null(symbol);
    memcpy(&runs, &symbol, sizeof runs);
    runs(prepare, run);
    return cuda;
}

FAKE_TEST(costs_and_degrees_are_found)
{
    static const double known[][3] = {{3, 11, 80}, {6, 30, 400}, {2, 0, 30}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t count;
        const tz__cost *costs = tz__costs_table(&count);
        const tz_calibration how = {.seconds = 1};
        tz_model_device device = h200(), before = device;
        tz_cuda *cuda = opened_to_run();
        made_up.latency = device.memory_latency_s.value * device.clock_hz.value;
        made_up.bandwidth = device.memory_bandwidth_bytes_per_s.value / device.clock_hz.value;
        made_up.multiprocessors = 132;
        made_up.warps_max = 64;
        made_up.a = known[k][0];
        made_up.b = known[k][1];
        made_up.c = 0.5;
        made_up.d = known[k][2];
        for (size_t i = 0; i < count; i++)
            if (costs[i].number == offsetof(tz_model_device, add_float_register))
                made_up.costs.clocks[TZ_LUO2011_ADD][1][1] = clocks_of_row(i);
        assert_ok(tz_cuda_calibrate_part(&device, cuda, &tz_cuda_part_costs, &how, &failure));
        tz_cuda_close(cuda);
        for (size_t i = 0; i < count; i++) {
            const tz_model_number *n =
                (const tz_model_number *)(const void *)((const char *)&device + costs[i].number);
            if (!n->known || fabs(n->value - clocks_of_row(i)) > 1e-9 ||
                !strstr(n->source, "10000 times"))
                fail_msg("%s: %g, not %g (%s)", costs[i].what, n->value, clocks_of_row(i),
                         n->source);
        }
        if (fabs(device.cpd_a.value - made_up.a) > 0.05 * made_up.a ||
            fabs(device.cpd_b.value - made_up.b) > 1 ||
            fabs(device.cpd_d.value - made_up.d) > 0.05 * made_up.d)
            fail_msg("a, b, d are %g, %g, %g, not %g, %g, %g (%s)", device.cpd_a.value,
                     device.cpd_b.value, device.cpd_d.value, made_up.a, made_up.b, made_up.d,
                     device.cpd_a.source);
        assert_true(device.cpd_c.value == 0.5);
        assert_true(device.issue_rate.value == before.issue_rate.value);
        /* The record reads back. */
        static char text[TZ_MODEL_DEVICE_TEXT_SIZE];
        tz_model_device again;
        tz_luo2011_gpu gpu;
        assert_ok(tz_model_device_text(&device, text, &failure));
        assert_ok(tz_model_device_parse("again", text, strlen(text), &again, &failure));
        assert_ok(tz_luo2011_gpu_of(&again, &gpu, NULL, &failure));
        assert_true(gpu.a == device.cpd_a.value && gpu.b == device.cpd_b.value);
    }
}

FAKE_TEST(a_fault_leaves_the_record)
{
    const tz_calibration how = {.seconds = 1};
    tz_model_device device = h200(), before = device;
    tz_cuda *cuda = opened_to_run();
    fault("cuLaunchKernel:1:20");
    assert_int_equal(tz_cuda_calibrate_part(&device, cuda, &tz_cuda_part_costs, &how, &failure),
                     TZ_BACKEND);
    fault(NULL);
    tz_cuda_close(cuda);
    assert_memory_equal(&device, &before, sizeof device);
}

static int close_all(void **state)
{
    const int status = close_fake(state);
    while (last_probe) {
        probe *p = last_probe;
        last_probe = p->before;
        free(p);
    }
    return status;
}

TEST_GROUP(open_fake, close_all)
