/* Measures this machine's CPU: the loops of loops.h and parallel regions; cpu_memory.c has caches
 * and memory. */
#include "calibrate/calibrate.h"

#include "calibrate/cpu_parts.h"
#include <inttypes.h>
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

static double clock_seconds(long additions)
{
    const double begin = tz_machine_clock_s();
    tz_loop_clock(additions);
    return tz_machine_clock_s() - begin;
}

static tz_status measure_clock(tz__cpu_bench *b)
{
    tz_samples seconds = {0};
    long additions = 1 << 16;
    tz_status status = tz__cpu_next(b, "clock");
    if (status)
        return status;
    clock_seconds(additions); /* wakes the core */
    while (clock_seconds(additions) < b->sample_s)
        additions *= 2;
    while (tz__cpu_wants_more(b, &seconds))
        tz_samples_add(&seconds, clock_seconds(additions));
    b->clock_hz = (double)additions / tz_samples_least(&seconds);
    tz_number_set(&b->device->clock_hz, b->clock_hz,
                  "measured: a chain of %ld scalar additions, one a cycle, best of %d, median "
                  "%.1f %% slower",
                  additions, seconds.count,
                  100 * (tz_samples_median(&seconds) / tz_samples_least(&seconds) - 1));
    return TZ_OK;
}

static double loop_seconds(const tz_loop_row *row, long rounds, void *memory)
{
    const double begin = tz_machine_clock_s();
    row->call(rounds, memory);
    return tz_machine_clock_s() - begin;
}

/* Bank conflicts of loads are a matter of luck: the median counts, not the best sample. */
static bool takes_median(tz_loop_name name)
{
    return name == TZ_LOOP_LOAD_RATE || name == TZ_LOOP_UNALIGNED_LOAD_RATE;
}

/* Cycles of one instruction: the best sample, with the best clock measured between the samples,
 * since a core's clock changes. */
static tz_status measure_loop(tz__cpu_bench *b, tz_loop_name name, void *memory, double *cycles,
                              double *above, int *count)
{
    const tz_loop_row *row = &b->loops->rows[name];
    tz_samples samples = {0};
    long rounds = 64;
    const tz_status status = tz__cpu_next(b, row->what);
    if (status)
        return status;
    const bool wide = name == TZ_LOOP_FP64_RATE || name == TZ_LOOP_FP64_MULTIPLY_RATE ||
                      name == TZ_LOOP_FP64_MIXED_RATE || name == TZ_LOOP_FP64_LATENCY ||
                      name == TZ_LOOP_FP64_SPECIAL_RATE;
    /* Ones: their products and quotients stay 1. */
    for (size_t i = 0; i < TZ_LOOP_BYTES / sizeof(double); i++)
        if (wide)
            ((double *)memory)[i] = 1;
        else
            ((float *)memory)[2 * i] = ((float *)memory)[2 * i + 1] = 1;
    while (loop_seconds(row, rounds, memory) < b->sample_s)
        rounds *= 2;
    const long additions = (long)(0.5 * b->sample_s * b->clock_hz / 16) * 16;
    double clock = 0;
    while (tz__cpu_wants_more(b, &samples)) {
        const double here = (double)additions / clock_seconds(additions);
        clock = here > clock ? here : clock;
        tz_samples_add(&samples, loop_seconds(row, rounds, memory));
    }
    const double median = tz_samples_median(&samples);
    const double taken = takes_median(name) ? median : tz_samples_least(&samples);
    *count = samples.count;
    *cycles = taken * clock / ((double)rounds * row->instructions);
    *above = 100 * (median / taken - 1);
    return TZ_OK;
}

static tz_status measure_loops(tz__cpu_bench *b)
{
    tz_model_device *d = b->device;
    const struct {
        tz_loop_name name;
        tz_model_number *rate, *latency; /* one of them */
    } wanted[] = {
        {TZ_LOOP_FP32_RATE, &d->fp32_rate, NULL},
        {TZ_LOOP_FP32_MULTIPLY_RATE, &d->fp32_multiply_rate, NULL},
        {TZ_LOOP_FP32_MIXED_RATE, &d->fp32_mixed_rate, NULL},
        {TZ_LOOP_FP32_LATENCY, NULL, &d->fp32_latency_s},
        {TZ_LOOP_FP64_RATE, &d->fp64_rate, NULL},
        {TZ_LOOP_FP64_MULTIPLY_RATE, &d->fp64_multiply_rate, NULL},
        {TZ_LOOP_FP64_MIXED_RATE, &d->fp64_mixed_rate, NULL},
        {TZ_LOOP_FP64_LATENCY, NULL, &d->fp64_latency_s},
        {TZ_LOOP_INTEGER_RATE, &d->integer_rate, NULL},
        {TZ_LOOP_INTEGER_LATENCY, NULL, &d->integer_latency_s},
        {TZ_LOOP_MULTIPLY_RATE, &d->multiply_rate, NULL},
        {TZ_LOOP_LOGIC_RATE, &d->logic_rate, NULL},
        {TZ_LOOP_LOGIC_LATENCY, NULL, &d->logic_latency_s},
        {TZ_LOOP_ALU_RATE, &d->alu_rate, NULL},
        {TZ_LOOP_MOVE_RATE, &d->move_rate, NULL},
        {TZ_LOOP_SHUFFLE_RATE, &d->shuffle_rate, NULL},
        {TZ_LOOP_SHUFFLE_LATENCY, NULL, &d->shuffle_latency_s},
        {TZ_LOOP_SPECIAL_RATE, &d->special_rate, NULL},
        {TZ_LOOP_FP64_SPECIAL_RATE, &d->fp64_special_rate, NULL},
        {TZ_LOOP_LOAD_RATE, &d->load_rate, NULL},
        {TZ_LOOP_UNALIGNED_LOAD_RATE, &d->unaligned_load_rate, NULL},
        {TZ_LOOP_NARROW_LOAD_RATE, &d->narrow_load_rate, NULL},
        {TZ_LOOP_STORE_RATE, &d->store_rate, NULL},
        {TZ_LOOP_ISSUE_RATE, &d->issue_rate, NULL},
    };
    _Static_assert(sizeof wanted / sizeof *wanted == TZ_LOOPS, "every loop is measured");
    void *memory;
    const size_t bytes = TZ_LOOP_BYTES + PAGE_BYTES;
    tz_status status = tz__cpu_memory_take(b, &memory, bytes);
    for (int i = 0; !status && i < TZ_LOOPS; i++) {
        double cycles, above;
        int count;
        const char *what = b->loops->rows[wanted[i].name].what;
        status = measure_loop(b, wanted[i].name, memory, &cycles, &above, &count);
        if (status)
            break;
        if (wanted[i].rate)
            tz_number_set(wanted[i].rate, 1 / cycles,
                          takes_median(wanted[i].name)
                              ? "measured: %s, %d-bit vectors, median of %d"
                              : "measured: %s, %d-bit vectors, best of %d, median %.1f %% slower",
                          what, 8 * b->loops->vector_bytes, count, above);
        else
            tz_number_set(wanted[i].latency, cycles / b->clock_hz,
                          "measured: %.3g cycles, %s, %d-bit vectors, best of %d, median %.1f %% "
                          "slower",
                          cycles, what, 8 * b->loops->vector_bytes, count, above);
    }
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
    /* Some 40 measurements of `repeats` samples; those of memory take about as long as all
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
