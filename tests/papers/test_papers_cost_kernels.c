/* The kernels that measure costs of instructions, without a GPU: they compile without losing a
 * step, the model charges what they repeat, and they compute the right values on the host. */
#include "model/papers/costs.h"
#include "model/papers/ptx.h"
#include "tests/calibrate/kernels.h"

static char *text_of_cost(const char *ptx)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz__cost_define(ptx, definitions);
    return tz__cost_text(TZ__PROBE_COST, 32, definitions);
}

/* Clocks of a kernel's text if the number at this offset of the record is 1 and all other costs are
 * 0. */
static double clocks_of(const char *ptx, size_t number)
{
    tz_model_device device = {.name = "one"};
    tz_luo2011_gpu gpu;
    tz_ptx *read = NULL;
    tz_ptx_trace trace;
    char *text = NULL, *source = text_of_cost(ptx);
    const tz_ptx_launch launch = {.block = {32, 1, 1}, .grid = {1, 1, 1}, .trips = 1};
#define SET(member, ...) device.member = (tz_model_number){.value = 0, .known = true};
    TZ_MODEL_DEVICE_COST_TABLE(SET)
    TZ_MODEL_DEVICE_COST_ASSUMED_TABLE(SET)
    SET(clock_hz)
    SET(sm_count)
    SET(warp_size)
    SET(blocks_per_sm)
    SET(threads_per_sm_max)
    SET(memory_bandwidth_bytes_per_s)
    SET(memory_latency_s)
#undef SET
    device.clock_hz.value = device.sm_count.value = device.memory_latency_s.value = 1;
    device.warp_size.value = 32;
    device.threads_per_sm_max.value = 1024;
    ((tz_model_number *)((char *)&device + number))->value = 1;
    assert_ok(tz_luo2011_gpu_of(&device, &gpu, NULL, &failure));
    static char *empty; /* PTX of a kernel without a step, compiled once */
    tz_status status = TZ_OK;
    if (*ptx || !empty)
        status = tz_cuda_compile_ptx("compute_80", source, tz_cuda_headers, tz_cuda_headers_count,
                                     &text, &failure);
    free(source);
    if (!status && !*ptx) {
        empty = text ? text : empty;
        text = NULL;
    }
    if (status == TZ_UNSUPPORTED)
        skip_test("%s", failure.message);
    assert_ok(status);
    assert_ok(tz_ptx_read(&read, *ptx ? text : empty, "tz_probe", &failure));
    assert_ok(tz_ptx_run(read, &launch, &gpu.costs, false, &trace, &failure));
    const double clocks = trace.text_computation;
    tz_ptx_trace_clear(&trace);
    tz_ptx_destroy(read);
    free(text);
    return clocks;
}

/* What is repeated for a number of the record is what the model charges that number for. */
TEST(steps_are_what_the_model_charges)
{
    size_t count;
    const tz__cost *costs = tz__costs_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (costs[i].without) { /* a load, which costs by the level that it hits */
            assert_true(clocks_of(costs[i].text, costs[i].number) == 0);
            continue;
        }
        const double more =
            clocks_of(costs[i].text, costs[i].number) - clocks_of("", costs[i].number);
        if (more != TZ__COST_STEPS * costs[i].instructions)
            fail_msg("%s: the model counts %g, not %d", costs[i].what, more,
                     TZ__COST_STEPS * costs[i].instructions);
    }
}

/* Each round reads the words after those of the round before, to the end of the table and on from
 * its beginning. A word that is not 0 shows which: it goes into the sum. */
TEST(periods_read_the_next_words)
{
    static bench b;
    char definitions[TZ__DEFINITIONS_SIZE];
    enum { THREADS = 32, ROUNDS = 3 };
    int rounds = ROUNDS;
    const float one = 1, zero = 0;
    const uint32_t words = 4 * BLOCKS * THREADS;
    uint32_t first = 2 * 4 * BLOCKS * THREADS, mask = 4 * words - 1;
    void *cycles = b.cycles, *to = b.to;
    const void *table = b.from;
    void *arguments[] = {&cycles, &to, &table, &rounds, &first, &mask, (void *)&zero};
    tz__periods_define(5, definitions);
    for (uint32_t marked = 0; marked < words; marked += 13) {
        memset(&b, 0, sizeof b);
        memcpy(&b.from[marked], &one, sizeof one);
        run(&b, tz__cost_text(TZ__PROBE_PERIODS, THREADS, definitions), BLOCKS, THREADS, 0, false,
            arguments);
        /* Rounds 0 to 2 read the third, the fourth and the first quarter. A word that is found in
         * the last round only shows in the sum. */
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++)
            assert_int_equal(b.to[t], t == marked % (words / 4) && marked / (words / 4) != 1);
    }
}

TEST_GROUP(open_machine, close_machine)
