/* Measures this machine's CPU: the loops of loops.h and parallel regions; cpu_memory.c has caches
 * and memory. */
#include "calibrate/calibrate.h"

#include "calibrate/cpu_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES = 4096, REPEATS_MIN = 5, PASSES_MAX = 8 };

static const double PASS_S = 5; /* all measurements once */

enum { MEASUREMENTS = TZ_LOOPS + 16 };

tz_status tz__cpu_next(tz__cpu_bench *b, const char *what)
{
    return tz_calibration_step(b->calibration, (double)b->done++ / (MEASUREMENTS * b->passes), what,
                               b->error);
}

/* Whether to take more samples: at least `repeats`, then until three are within 1 % of the best. */
bool tz__cpu_wants_more(const tz__cpu_bench *b, const tz_samples *samples)
{
    int near = 0;
    if (samples->count < b->repeats)
        return true;
    const double least = tz_samples_least(samples);
    for (int i = 0; i < samples->count; i++)
        near += samples->at[i] <= 1.01 * least;
    return near < 3 && samples->count < TZ_SAMPLES_MAX;
}

/* ---- Rates and latencies --------------------------------------------------------------------- */

static double now_s(const tz__cpu_bench *b)
{
    return b->calibration->clock_s ? b->calibration->clock_s() : tz_machine_clock_s();
}

static double clock_seconds(const tz__cpu_bench *b, long additions)
{
    const double begin = now_s(b);
    tz_loop_clock(additions);
    return now_s(b) - begin;
}

static tz_status measure_clock(tz__cpu_bench *b)
{
    tz_samples seconds = {0};
    long additions = 1 << 16;
    tz_status status = tz__cpu_next(b, "clock");
    if (status)
        return status;
    clock_seconds(b, additions); /* wakes the core */
    while (clock_seconds(b, additions) < b->sample_s)
        additions *= 2;
    while (tz__cpu_wants_more(b, &seconds))
        tz_samples_add(&seconds, clock_seconds(b, additions));
    b->clock_hz = (double)additions / tz_samples_least(&seconds);
    tz_number_set(&b->device->clock_hz, b->clock_hz,
                  "measured: a chain of %ld scalar additions, one a cycle, best of %d, median "
                  "%.1f %% slower",
                  additions, seconds.count,
                  100 * (tz_samples_median(&seconds) / tz_samples_least(&seconds) - 1));
    return TZ_OK;
}

static double loop_seconds(const tz__cpu_bench *b, const tz_loop_row *row, long rounds,
                           void *memory)
{
    const double begin = now_s(b);
    row->call(rounds, memory);
    return now_s(b) - begin;
}

/* Instructions a cycle: the best sample, with the best clock measured between the samples, since
 * a core's clock changes. Bank conflicts of loads are a matter of luck: of these the median
 * counts. */
static tz_status measure_loop(tz__cpu_bench *b, const tz_loop_row *row, void *memory)
{
    tz_model_number *out = (tz_model_number *)(void *)((char *)b->device + row->number);
    const bool median_counts =
        out == &b->device->load_rate || out == &b->device->unaligned_load_rate;
    tz_samples samples = {0};
    long rounds = 64;
    const tz_status status = tz__cpu_next(b, row->what);
    if (status)
        return status;
    /* Ones: their products and quotients stay 1. */
    for (size_t i = 0; i < TZ_LOOP_BYTES / sizeof(double); i++)
        if (out == &b->device->fp64_mixed_rate)
            ((double *)memory)[i] = 1;
        else
            ((float *)memory)[2 * i] = ((float *)memory)[2 * i + 1] = 1;
    while (loop_seconds(b, row, rounds, memory) < b->sample_s)
        rounds *= 2;
    const long additions = (long)(0.5 * b->sample_s * b->clock_hz / 16) * 16;
    double clock = 0;
    while (tz__cpu_wants_more(b, &samples)) {
        const double here = (double)additions / clock_seconds(b, additions);
        clock = here > clock ? here : clock;
        tz_samples_add(&samples, loop_seconds(b, row, rounds, memory));
    }
    const double median = tz_samples_median(&samples);
    const double taken = median_counts ? median : tz_samples_least(&samples);
    tz_number_set(out, (double)rounds * row->instructions / (taken * clock),
                  median_counts ? "measured: %s, %d-bit vectors, median of %d"
                                : "measured: %s, %d-bit vectors, best of %d, median %.1f %% slower",
                  row->what, 8 * b->loops->vector_bytes, samples.count, 100 * (median / taken - 1));
    return TZ_OK;
}

static tz_status measure_loops(tz__cpu_bench *b)
{
    void *memory;
    const size_t bytes = TZ_LOOP_BYTES + PAGE_BYTES;
    tz_status status = tz__cpu_memory_take(b, &memory, bytes);
    for (int i = 0; !status && i < TZ_LOOPS; i++)
        status = measure_loop(b, &b->loops->rows[i], memory);
    tz__cpu_memory_drop(memory, bytes);
    return status;
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum { WORK_US = 50 };

static void work_a_while(void *context, int thread, int count)
{
    (void)context;
    (void)thread;
    (void)count;
    for (const double own = tz_machine_clock_s(); tz_machine_clock_s() < own + 1e-6 * WORK_US;)
        ;
}

/* What a call of the pool costs beyond the work of its threads. Each thread works, as in a
 * stage. */
static tz_status measure_fork(tz__cpu_bench *b)
{
    enum { CALLS = 100 };
    tz_samples samples = {0};
    const tz_status status = tz__cpu_next(b, "calls of threads");
    if (status)
        return status;
    for (int i = -1; i < b->repeats; i++) {
        const double begin = tz_machine_clock_s();
        for (int k = 0; k < CALLS; k++)
            tz_threads_run(b->pool, b->threads, work_a_while, NULL);
        if (i >= 0)
            tz_samples_add(&samples, (tz_machine_clock_s() - begin) / CALLS - 1e-6 * WORK_US);
    }
    /* Not the best sample: waiting threads sometimes sleep. */
    tz_number_set(&b->device->fork_s, tz_samples_quarter(&samples),
                  "measured: %d calls of %d thread%s that work for %d us, best quarter of %d, "
                  "median %.3g us",
                  CALLS, b->threads, b->threads == 1 ? "" : "s", WORK_US, samples.count,
                  1e6 * tz_samples_median(&samples));
    return TZ_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

static tz_status measure_pass(tz__cpu_bench *b)
{
    tz_status status = measure_clock(b);
    if (!status)
        status = measure_loops(b);
    if (!status)
        status = tz__cpu_measure_memory(b);
    if (!status)
        status = tz__cpu_next(b, "cpu backend");
    if (!status)
        status = tz__measure_engine(b->device, b->repeats, b->error);
    if (!status)
        status = measure_fork(b);
    return status;
}

tz_status tz_calibrate_cpu(tz_model_device *out, const tz_calibration *calibration, tz_error *error)
{
    /* Some 25 measurements of `repeats` samples; those of memory take about as long as all
     * others. */
    tz__cpu_bench b = {.calibration = calibration, .error = error, .repeats = 25};
    char name[TZ_MODEL_NAME_SIZE - 16];
    memset(out, 0, sizeof *out);
    tz_machine_read(&b.machine);
    b.loops = tz_loops_of(b.machine.isa);
    if (!b.loops)
        return tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "there are no loops for this kind of processor; write a record by hand");
    b.threads = tz_threads_default();
    tz_status status = tz_threads_create(&b.pool, b.threads, error);
    if (!status)
        status = tz_threads_start(b.pool, error);
    b.passes = (int)fmax(1, fmin(PASSES_MAX, calibration->seconds / PASS_S));
    const double seconds = calibration->seconds / b.passes;
    b.sample_s = seconds / (4.0 * MEASUREMENTS * b.repeats);
    if (b.sample_s < 2e-4) {
        b.sample_s = 2e-4;
        b.repeats = (int)(seconds / (4.0 * MEASUREMENTS * b.sample_s));
    }
    if (b.repeats < REPEATS_MIN)
        b.repeats = REPEATS_MIN;
    snprintf(out->title, sizeof out->title, "%.*s", (int)sizeof out->title - 1, b.machine.cpu);
    tz_calibration_name(b.machine.cpu, name, sizeof name);
    snprintf(out->name, sizeof out->name, "%s-%d-%s", name, b.machine.cores,
             tz_isa_name(b.machine.isa));
    tz_number_set_exactly(&out->cores, b.machine.cores, "cores that this process may use");
    tz_number_set_exactly(&out->vector_bytes, b.loops->vector_bytes, "row functions: %s",
                          tz_isa_name(b.machine.isa));
    for (int pass = 0; !status && pass < b.passes; pass++) {
        tz_model_device device = {0};
        b.device = &device;
        status = measure_pass(&b);
        if (!status)
            tz_numbers_keep_better(out, &device);
    }
    tz_threads_destroy(b.pool);
    if (status)
        memset(out, 0, sizeof *out);
    return status;
}
