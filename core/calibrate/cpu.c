/* Measures this machine's CPU: the loops of loops.h, caches and memory, parallel regions. */
#include "calibrate/calibrate.h"

#include "calibrate/cpu_parts.h"
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE_BYTES = 64,
    PAGE_BYTES = 4096,
    REPEATS_MIN = 5,
    CHASE_STEPS = 4096,
    STRETCH_BYTES = 4 << 20,
    PASSES_MAX = 8
};

static const double PASS_S = 5; /* all measurements once */

typedef struct bench {
    const tz_calibration *calibration;
    const tz_loop_set *loops;
    tz_machine machine;
    tz_model_device *device;
    tz_error *error;
    int repeats, passes;
    int threads;     /* of parallel regions */
    double sample_s; /* length of a sample, at least */
    double clock_hz;
    int done;             /* measurements */
    bool plain;           /* do not ask for large pages */
    tz_samples memory[5]; /* of all passes, since the speed of memory varies */
} bench;

enum { MEASUREMENTS = TZ_LOOPS + 15 };

static tz_status next(bench *b, const char *what)
{
    return tz_calibration_step(b->calibration, (double)b->done++ / (MEASUREMENTS * b->passes), what,
                               b->error);
}

/* ---- Memory to measure in -------------------------------------------------------------------- */

/* Page-aligned, in large pages where the system gives them, not yet touched. */
static tz_status memory_take(const bench *b, void **out, size_t bytes)
{
    *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*out == MAP_FAILED) {
        *out = NULL;
        return tz_error_set(b->error, TZ_MEMORY, NULL,
                            "not enough memory to measure with: %zu MiB wanted", bytes >> 20);
    }
    if (!b->plain) /* without it pages are small */
        madvise(*out, bytes, MADV_HUGEPAGE);
    return TZ_OK;
}

static void memory_drop(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

/* Whether to take more samples: at least `repeats`, then until three are within 1 % of the best. */
static bool wants_more(const bench *b, const tz_samples *samples)
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

static tz_status measure_clock(bench *b)
{
    tz_samples seconds = {0};
    long additions = 1 << 16;
    tz_status status = next(b, "clock");
    if (status)
        return status;
    clock_seconds(additions); /* wakes the core */
    while (clock_seconds(additions) < b->sample_s)
        additions *= 2;
    while (wants_more(b, &seconds))
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
static tz_status measure_loop(bench *b, tz_loop_name name, void *memory, double *cycles,
                              double *above, int *count)
{
    const tz_loop_row *row = &b->loops->rows[name];
    tz_samples samples = {0};
    long rounds = 64;
    const tz_status status = next(b, row->what);
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
    while (wants_more(b, &samples)) {
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

static tz_status measure_loops(bench *b)
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
    tz_status status = memory_take(b, &memory, bytes);
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
    memory_drop(memory, bytes);
    return status;
}

/* ---- Latencies of the memory ----------------------------------------------------------------- */

/* Links all lines of the memory to a random cycle, which a prefetcher cannot follow. */
static tz_status chase_lay(bench *b, char *memory, size_t bytes)
{
    const size_t lines = bytes / LINE_BYTES;
    uint32_t *order = malloc(lines * sizeof *order);
    if (!order)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory to measure with");
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) { /* Sattolo's shuffle: one cycle */
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const size_t k = random % i;
        const uint32_t kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(memory + (size_t)order[i] * LINE_BYTES) =
            memory + (size_t)order[(i + 1) % lines] * LINE_BYTES;
    free(order);
    return TZ_OK;
}

static tz_status measure_chase(bench *b, tz_model_number *out, size_t bytes, const char *where)
{
    void *memory = NULL;
    tz_samples samples = {0};
    tz_status status = next(b, where);
    if (!status)
        status = memory_take(b, &memory, bytes);
    if (!status)
        status = chase_lay(b, memory, bytes);
    if (!status) {
        const long lines = (long)(bytes / LINE_BYTES);
        const long steps = CHASE_STEPS;
        void *at = tz_loop_chase(memory, lines < 1 << 20 ? lines : 1 << 20); /* fills the caches */
        while (wants_more(b, &samples)) {
            const double begin = tz_machine_clock_s();
            at = tz_loop_chase(at, steps);
            tz_samples_add(&samples, (tz_machine_clock_s() - begin) / (double)steps);
        }
        const double least = tz_samples_least(&samples);
        tz_number_set(out, at ? least : 0,
                      "measured: %.3g cycles, %ld loads that wait for each other over %.4g MiB, "
                      "best of %d, median %.1f %% slower",
                      least * b->clock_hz, steps, (double)bytes / 1048576, samples.count,
                      100 * (tz_samples_median(&samples) / least - 1));
    }
    memory_drop(memory, bytes);
    return status;
}

/* ---- Bandwidths ------------------------------------------------------------------------------ */

/* The arrays of all threads, one after the other. A thread copies the first half of its array to
 * the second half, or reads the array. */
typedef struct arrays {
    char *base;
    size_t half, each; /* bytes */
    int threads;
    bool copies;
} arrays;

/* All threads copy or read `bytes` from `at` on (in each half of their arrays), `rounds` times.
 * Returns the seconds from the first begin to the last end. */
static double pass_seconds(const bench *b, const arrays *a, size_t at, size_t bytes, long rounds)
{
    double begin = HUGE_VAL, end = 0;
#pragma omp parallel num_threads(a->threads) reduction(min : begin) reduction(max : end)
    {
        char *const mine = a->base + (size_t)omp_get_thread_num() * a->each;
#pragma omp barrier
        begin = tz_machine_clock_s();
        for (long k = 0; k < rounds; k++)
            if (a->copies)
                b->loops->copy(mine + a->half + PAGE_BYTES / 2 + at, mine + at, bytes);
            else
                b->loops->read(mine + 2 * at, 2 * bytes);
        end = tz_machine_clock_s();
    }
    return end - begin;
}

/* Bytes a second that `threads` threads copy or read, each in `bytes` of its own; a copy counts
 * both sides. Samples of a cache use the same array again and again. Each sample of memory uses the
 * next stretch of the array, so that no cache has it; it is short, so that the system seldom
 * interrupts it. `pool` collects samples of memory; NULL: a cache is measured. */
static tz_status measure_bandwidth(bench *b, tz_model_number *out, const char *what, bool copies,
                                   int threads, size_t bytes, tz_samples *pool)
{
    tz_samples own = {0}, *samples = pool ? pool : &own;
    const bool cached = !pool;
    arrays a = {.half = bytes / 2 / 1024 * 1024, .threads = threads, .copies = copies};
    void *memory = NULL;
    long rounds = 1;
    if (!cached && a.half > STRETCH_BYTES)
        a.half = a.half / STRETCH_BYTES * STRETCH_BYTES;
    a.each = 2 * a.half + PAGE_BYTES;
    const size_t all = a.each * (size_t)threads;
    const size_t stretch = cached || a.half < STRETCH_BYTES ? a.half : STRETCH_BYTES;
    tz_status status = next(b, what);
    if (!status)
        status = memory_take(b, &memory, all);
    if (status)
        return status;
    a.base = memory;
#pragma omp parallel num_threads(threads)
    memset(a.base + (size_t)omp_get_thread_num() * a.each, 1, a.each);
    if (cached)
        while (pass_seconds(b, &a, 0, stretch, rounds) < b->sample_s)
            rounds *= 2;
    const int most = TZ_SAMPLES_MAX / b->passes;
    for (int i = 0; cached ? wants_more(b, samples) : i < most; i++)
        tz_samples_add(samples, pass_seconds(b, &a, (size_t)i * stretch % a.half, stretch, rounds));
    memory_drop(memory, all);
    const double moved = 2.0 * (double)stretch * (double)threads * (double)rounds;
    const double taken = cached ? tz_samples_least(samples) : tz_samples_quarter(samples);
    tz_number_set(out, moved / taken,
                  "measured: %d thread%s %s %.4g MiB%s, %d-bit vectors, best%s of %d, median %.1f "
                  "%% slower",
                  threads, threads == 1 ? "" : "s", copies ? "copying within" : "reading",
                  2.0 * (double)a.half / 1048576, threads == 1 ? "" : " each",
                  8 * b->loops->vector_bytes, cached ? "" : " quarter", samples->count,
                  100 * (tz_samples_median(samples) / taken - 1));
    return TZ_OK;
}

/* The bandwidth on pages of the default size, compared with that on large pages. */
static tz_status measure_pages(bench *b, size_t bytes)
{
    tz_model_number plain = {0};
    b->plain = true;
    const tz_status status =
        measure_bandwidth(b, &plain, "reading small pages", false, 1, bytes, &b->memory[4]);
    b->plain = false;
    if (!status)
        tz_number_set(&b->device->small_page_s,
                      fmax(0, PAGE_BYTES / plain.value -
                                  PAGE_BYTES / b->device->core_read_bandwidth_bytes_per_s.value),
                      "measured: one core reads %.3g GB/s without asking for large pages, best "
                      "quarter of %d",
                      1e-9 * plain.value, b->memory[4].count);
    return status;
}

/* ---- Caches ---------------------------------------------------------------------------------- */

/* Bytes of all third-level caches of the cores that this process may use. */
static double l3_of_all(const tz_machine *machine)
{
    char seen[64][64];
    int caches = 0;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return (double)machine->l3_bytes;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char path[96], list[64] = "";
        if (!CPU_ISSET(cpu, &set))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list",
                 cpu);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        if (!fgets(list, sizeof list, file))
            list[0] = '\0';
        fclose(file);
        int k = 0;
        while (k < caches && strcmp(seen[k], list) != 0)
            k++;
        if (k == caches && caches < 64)
            memcpy(seen[caches++], list, sizeof list);
    }
    return (double)machine->l3_bytes * (caches > 0 ? caches : 1);
}

/* Latencies and bandwidths. Each array is larger than the level before and fits the level
 * measured. */
static tz_status measure_memory(bench *b)
{
    tz_model_device *d = b->device;
    const double l1 = (double)b->machine.l1_bytes, l2 = (double)b->machine.l2_bytes;
    const double l3 = l3_of_all(&b->machine), mib = 1048576;
    const char *source = "reported by the system (sysfs)";
    if (l1 > 0)
        tz_number_set_exactly(&d->l1_bytes, l1, "%s", source);
    if (l2 > 0)
        tz_number_set_exactly(&d->l2_bytes, l2, "%s", source);
    if (l1 > 0)
        tz_number_set_exactly(&d->l3_bytes, l3, "%s, all that this process's cores share", source);
    const double last = l3 > 0 ? l3 : l2 > 0 ? l2 : 32 * mib;
    double far = 4 * last > 256 * mib ? 4 * last : 256 * mib;
    const double most = 0.25 * (double)tz_machine_memory_available();
    if (far > most)
        far = most;
    if (far < 2 * last)
        return tz_error_set(b->error, TZ_MEMORY, NULL,
                            "not enough memory to measure with: %.0f MiB would leave the caches, "
                            "%.0f MiB may be used",
                            2 * last / mib, most / mib);
    tz_status status = TZ_OK;
    const double share = l3 / b->threads;
    if (!status && l2 > 0)
        status = measure_chase(b, &d->l2_latency_s, (size_t)(0.5 * l2), "latency of L2");
    /* The mean of both sizes, since other programs may use much of a third level. */
    const double between = sqrt(l2 * (double)b->machine.l3_bytes);
    if (!status && between > 1.5 * l2)
        status = measure_chase(b, &d->l3_latency_s, (size_t)between / PAGE_BYTES * PAGE_BYTES,
                               "latency of L3");
    if (!status)
        status = measure_chase(b, &d->memory_latency_s, (size_t)far, "latency of memory");
    if (!status && l1 > 0)
        status = measure_bandwidth(b, &d->l1_bandwidth_bytes_per_s, "copying in L1", true, 1,
                                   (size_t)(0.5 * l1), NULL);
    if (!status && l2 > 0)
        status = measure_bandwidth(b, &d->l2_bandwidth_bytes_per_s, "copying in L2", true, 1,
                                   (size_t)(0.5 * l2), NULL);
    if (!status && 0.5 * share > 1.5 * l2)
        status = measure_bandwidth(b, &d->l3_bandwidth_bytes_per_s, "copying in L3", true,
                                   b->threads, (size_t)(0.5 * share), NULL);
    if (!status)
        status =
            measure_bandwidth(b, &d->core_copy_bandwidth_bytes_per_s, "copying in memory, one core",
                              true, 1, (size_t)far, &b->memory[0]);
    if (!status)
        status =
            measure_bandwidth(b, &d->core_read_bandwidth_bytes_per_s, "reading memory, one core",
                              false, 1, (size_t)far, &b->memory[1]);
    if (!status)
        status = measure_pages(b, (size_t)far);
    if (!status)
        status = measure_bandwidth(b, &d->copy_bandwidth_bytes_per_s, "copying in memory, all",
                                   true, b->threads, (size_t)(far / b->threads), &b->memory[2]);
    if (!status)
        status = measure_bandwidth(b, &d->read_bandwidth_bytes_per_s, "reading memory, all", false,
                                   b->threads, (size_t)(far / b->threads), &b->memory[3]);
    return status;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* What a parallel region costs beyond the work of its threads. Each thread works in it, as in a
 * stage. In empty regions a thread goes to sleep before the next region begins, which threads that
 * have just worked do not: these regions took 54 us instead of 0.7. */
static tz_status measure_fork(bench *b)
{
    enum { REGIONS = 100 };
    static const double WORK_S = 50e-6;
    tz_samples samples = {0};
    const tz_status status = next(b, "parallel regions");
    if (status)
        return status;
    for (int i = -1; i < b->repeats; i++) {
        const double begin = tz_machine_clock_s();
        for (int k = 0; k < REGIONS; k++) {
#pragma omp parallel num_threads(b->threads)
            for (const double own = tz_machine_clock_s(); tz_machine_clock_s() < own + WORK_S;)
                ;
        }
        if (i >= 0)
            tz_samples_add(&samples, (tz_machine_clock_s() - begin) / REGIONS - WORK_S);
    }
    /* Not the best sample: waiting threads sometimes sleep. */
    tz_number_set(&b->device->fork_s, tz_samples_quarter(&samples),
                  "measured: %d OpenMP regions of %d thread%s that work for %g us, best quarter of "
                  "%d, median %.3g us",
                  REGIONS, b->threads, b->threads == 1 ? "" : "s", 1e6 * WORK_S, samples.count,
                  1e6 * tz_samples_median(&samples));
    return TZ_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

static tz_status measure_pass(bench *b)
{
    tz_status status = measure_clock(b);
    if (!status)
        status = measure_loops(b);
    if (!status)
        status = measure_memory(b);
    if (!status)
        status = next(b, "cpu backend");
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
    bench b = {.calibration = calibration, .error = error, .repeats = 25};
    char name[TZ_MODEL_NAME_SIZE - 16];
    memset(out, 0, sizeof *out);
    tz_machine_read(&b.machine);
    b.loops = tz_loops_of(b.machine.isa);
    if (!b.loops)
        return tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "there are no loops for this kind of processor; write a record by hand");
    b.threads = omp_get_max_threads();
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
    tz_status status = TZ_OK;
    for (int pass = 0; !status && pass < b.passes; pass++) {
        tz_model_device device = {0};
        b.device = &device;
        status = measure_pass(&b);
        if (!status)
            tz_numbers_keep_better(out, &device);
    }
    if (status)
        memset(out, 0, sizeof *out);
    return status;
}
