/* Microbenchmarks of this machine's CPU: the loops of loops.h, pointer chases for the latencies of
 * caches and memory, copies and reads for their bandwidths, and parallel regions. */
#include "calibrate/calibrate.h"

#include "base/threads.h"
#include "calibrate/loops.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE_BYTES = 64,
    PAGE_BYTES = 4096,
    CHASE_STEPS = 4096,
    STRETCH_BYTES = 4 << 20,
    REPEATS_MIN = 5,
    PASSES_MAX = 8
};

static const double PASS_S = 5; /* all measurements once */

enum { MEASUREMENTS = TZ_LOOPS + 16 };

/* What the measurements share. */
typedef struct bench {
    const tz_calibration *calibration;
    const tz_loop_set *loops;
    tz_machine machine;
    tz_model_device *device;
    tz_error *error;
    int repeats, passes;
    int threads; /* of `pool` */
    tz_threads *pool;
    double sample_s; /* length of a sample, at least */
    double clock_hz;
    int done;             /* measurements */
    bool plain;           /* do not ask for large pages */
    bool typical;         /* the median of `repeats` samples of a cache, not the best of more */
    tz_samples memory[5]; /* of all passes, since the speed of memory varies */
} bench;

/* Reports progress before a measurement. An error if the calibration is to stop. */
static tz_status begin_next(bench *b, const char *what)
{
    return tz_calibration_step(b->calibration, (double)b->done++ / (MEASUREMENTS * b->passes), what,
                               b->error);
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
    tz_status status = begin_next(b, where);
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
    const bench *bench;
    char *base;
    size_t half, each; /* bytes */
    int threads;
    bool copies;
    /* Of a pass. */
    size_t at, bytes;
    long rounds;
    pthread_mutex_t lock;
    double begin, end; /* of the first thread that begins, and of the last one that ends */
} arrays;

static void pass(void *any, int thread, int count)
{
    arrays *a = any;
    const tz_loop_set *loops = a->bench->loops;
    char *const mine = a->base + (size_t)thread * a->each;
    tz_threads_barrier(a->bench->pool, count);
    const double begin = tz_machine_clock_s();
    for (long k = 0; k < a->rounds; k++)
        if (a->copies)
            loops->copy(mine + a->half + PAGE_BYTES / 2 + a->at, mine + a->at, a->bytes);
        else
            loops->read(mine + 2 * a->at, 2 * a->bytes);
    const double end = tz_machine_clock_s();
    pthread_mutex_lock(&a->lock);
    a->begin = fmin(begin, a->begin);
    a->end = fmax(end, a->end);
    pthread_mutex_unlock(&a->lock);
}

/* All threads copy or read `bytes` from `at` on (in each half of their arrays), `rounds` times.
 * Returns the seconds from the first begin to the last end. */
static double pass_seconds(arrays *a, size_t at, size_t bytes, long rounds)
{
    a->at = at;
    a->bytes = bytes;
    a->rounds = rounds;
    a->begin = HUGE_VAL;
    a->end = 0;
    tz_threads_run(a->bench->pool, a->threads, pass, a);
    return a->end - a->begin;
}

static void touch(void *any, int thread, int count)
{
    const arrays *a = any;
    (void)count;
    memset(a->base + (size_t)thread * a->each, 1, a->each);
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
    arrays a = {.bench = b,
                .half = bytes / 2 / 1024 * 1024,
                .threads = threads,
                .copies = copies,
                .lock = PTHREAD_MUTEX_INITIALIZER};
    void *memory = NULL;
    long rounds = 1;
    if (!cached && a.half > STRETCH_BYTES)
        a.half = a.half / STRETCH_BYTES * STRETCH_BYTES;
    a.each = 2 * a.half + PAGE_BYTES;
    const size_t all = a.each * (size_t)threads;
    const size_t stretch = cached || a.half < STRETCH_BYTES ? a.half : STRETCH_BYTES;
    tz_status status = begin_next(b, what);
    if (!status)
        status = memory_take(b, &memory, all);
    if (status)
        return status;
    a.base = memory;
    tz_threads_run(b->pool, threads, touch, &a);
    if (cached)
        while (pass_seconds(&a, 0, stretch, rounds) < b->sample_s)
            rounds *= 2;
    const int most = TZ_SAMPLES_MAX / b->passes;
    for (int i = 0; b->typical ? i < b->repeats : cached ? wants_more(b, samples) : i < most; i++)
        tz_samples_add(samples, pass_seconds(&a, (size_t)i * stretch % a.half, stretch, rounds));
    memory_drop(memory, all);
    const double moved = 2.0 * (double)stretch * (double)threads * (double)rounds;
    const double taken = b->typical ? tz_samples_median(samples)
                         : cached   ? tz_samples_least(samples)
                                    : tz_samples_quarter(samples);
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

double tz__cache_size(const double *bytes, const double *seconds_a_byte, int count)
{
    const double near = seconds_a_byte[0], far = seconds_a_byte[count - 1],
                 half = 0.5 * (near + far);
    int i = count - 1;
    if (far < 4.0 / 3.0 * near)
        return 0;
    while (i > 0 && seconds_a_byte[i - 1] > half)
        i--;
    const double before = seconds_a_byte[i - 1], at = seconds_a_byte[i];
    return bytes[i - 1] + (bytes[i] - bytes[i - 1]) * (half - before) / (at - before);
}

/* The third level where the system does not report it, as in some virtual machines: what all
 * threads together may use, beside other users of the machine. They copy in larger and larger
 * arrays. */
static tz_status measure_l3_size(bench *b, double l2, double *out)
{
    enum { SIZES_MAX = 16, SAMPLES = 9 };
    static const double GROWTH = 1.4, FIRST = 3, LAST = 128 * 1048576.0;
    double bytes[SIZES_MAX], times[SIZES_MAX];
    int count = 0;
    tz_status status = TZ_OK;
    const int done = b->done, repeats = b->repeats;
    *out = 0;
    b->typical = true;
    b->repeats = SAMPLES;
    for (double size = FIRST * l2; !status && size < LAST && count < SIZES_MAX; size *= GROWTH) {
        tz_model_number bandwidth = {0};
        b->done = done; /* one measurement */
        if (size * b->threads > 0.25 * (double)tz_machine_memory_available())
            break;
        status =
            measure_bandwidth(b, &bandwidth, "size of L3", true, b->threads, (size_t)size, NULL);
        bytes[count] = size * b->threads;
        times[count++] = 1 / bandwidth.value;
    }
    b->typical = false;
    b->repeats = repeats;
    b->done = done + 1;
    if (status || count < 2) /* there is too little memory to find out */
        return status;
    *out = tz__cache_size(bytes, times, count);
    tz_number_set(&b->device->l3_bytes, *out,
                  "measured: %d threads copy in arrays of %.3g to %.4g MiB, half of which is from "
                  "memory at this size",
                  b->threads, bytes[0] / 1048576, bytes[count - 1] / 1048576);
    return status;
}

/* Latencies and bandwidths. Each array is larger than the level before and fits the level
 * measured. */
static tz_status measure_memory(bench *b)
{
    tz_model_device *d = b->device;
    const double l1 = (double)b->machine.l1_bytes, l2 = (double)b->machine.l2_bytes;
    double l3 = l3_of_all(&b->machine);
    const double mib = 1048576;
    const char *source = "reported by the system";
    tz_status status = TZ_OK;
    if (l1 > 0)
        tz_number_set_exactly(&d->l1_bytes, l1, "%s", source);
    if (l2 > 0)
        tz_number_set_exactly(&d->l2_bytes, l2, "%s", source);
    if (l3 > 0)
        tz_number_set_exactly(&d->l3_bytes, l3, "%s, all that this process's cores share", source);
    else if (l2 > 0)
        status = measure_l3_size(b, l2, &l3);
    const double last = l3 > 0 ? l3 : l2 > 0 ? l2 : 32 * mib;
    double far = 4 * last > 256 * mib ? 4 * last : 256 * mib;
    const double wanted = b->calibration->far_bytes;
    const double most = 0.25 * (double)tz_machine_memory_available();
    if (far > most)
        far = most;
    if (far < 2 * last)
        return tz_error_set(b->error, TZ_MEMORY, NULL,
                            "not enough memory to measure with: %.0f MiB would leave the caches, "
                            "%.0f MiB may be used",
                            2 * last / mib, most / mib);
    if (wanted > 0)
        far = wanted;
    const double share = l3 / b->threads;
    if (!status && l2 > 0)
        status = measure_chase(b, &d->l2_latency_s, (size_t)(0.5 * l2), "latency of L2");
    /* The mean of both sizes, since other programs may use much of a third level. */
    const double between =
        sqrt(l2 * (b->machine.l3_bytes > 0 ? (double)b->machine.l3_bytes : share));
    if (!status && between > 1.5 * l2)
        status = measure_chase(b, &d->l3_latency_s, (size_t)between / PAGE_BYTES * PAGE_BYTES,
                               "latency of L3");
    if (!status)
        status = measure_chase(b, &d->memory_latency_s, (size_t)far, "latency of memory");
    const struct {
        tz_model_number *out;
        const char *what;
        bool copies;
        int threads;
        double bytes; /* of each thread; 0: there is no such cache */
        tz_samples *pool;
    } rows[] = {
        {&d->l1_bandwidth_bytes_per_s, "copying in L1", true, 1, 0.5 * l1, NULL},
        {&d->l2_bandwidth_bytes_per_s, "copying in L2", true, 1, 0.5 * l2, NULL},
        {&d->l3_bandwidth_bytes_per_s, "copying in L3", true, b->threads,
         0.5 * share > 1.5 * l2 ? 0.5 * share : 0, NULL},
        {&d->core_copy_bandwidth_bytes_per_s, "copying in memory, one core", true, 1, far,
         &b->memory[0]},
        {&d->core_read_bandwidth_bytes_per_s, "reading memory, one core", false, 1, far,
         &b->memory[1]},
        {&d->copy_bandwidth_bytes_per_s, "copying in memory, all", true, b->threads,
         far / b->threads, &b->memory[2]},
        {&d->read_bandwidth_bytes_per_s, "reading memory, all", false, b->threads, far / b->threads,
         &b->memory[3]},
    };
    for (size_t i = 0; !status && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].bytes > 0)
            status = measure_bandwidth(b, rows[i].out, rows[i].what, rows[i].copies,
                                       rows[i].threads, (size_t)rows[i].bytes, rows[i].pool);
    if (!status)
        status = measure_pages(b, (size_t)far);
    return status;
}

/* ---- Rates of instructions ------------------------------------------------------------------- */

static double now_s(const bench *b)
{
    return b->calibration->clock_s ? b->calibration->clock_s() : tz_machine_clock_s();
}

static double clock_seconds(const bench *b, long additions)
{
    const double begin = now_s(b);
    tz_loop_clock(additions);
    return now_s(b) - begin;
}

static tz_status measure_clock(bench *b)
{
    tz_samples seconds = {0};
    long additions = 1 << 16;
    tz_status status = begin_next(b, "clock");
    if (status)
        return status;
    clock_seconds(b, additions); /* wakes the core */
    while (clock_seconds(b, additions) < b->sample_s)
        additions *= 2;
    while (wants_more(b, &seconds))
        tz_samples_add(&seconds, clock_seconds(b, additions));
    b->clock_hz = (double)additions / tz_samples_least(&seconds);
    tz_number_set(&b->device->clock_hz, b->clock_hz,
                  "measured: a chain of %ld scalar additions, one a cycle, best of %d, median "
                  "%.1f %% slower",
                  additions, seconds.count,
                  100 * (tz_samples_median(&seconds) / tz_samples_least(&seconds) - 1));
    return TZ_OK;
}

static double loop_seconds(const bench *b, const tz_loop_row *row, long rounds, void *memory)
{
    const double begin = now_s(b);
    row->call(rounds, memory);
    return now_s(b) - begin;
}

/* Instructions a cycle: the best sample, with the best clock measured between the samples, since
 * a core's clock changes. Bank conflicts of loads are a matter of luck: of these the median
 * counts. */
static tz_status measure_loop(bench *b, const tz_loop_row *row, void *memory)
{
    tz_model_number *out = (tz_model_number *)(void *)((char *)b->device + row->number);
    const bool median_counts =
        out == &b->device->load_rate || out == &b->device->unaligned_load_rate;
    tz_samples samples = {0};
    long rounds = 64;
    const tz_status status = begin_next(b, row->what);
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
    while (wants_more(b, &samples)) {
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

static tz_status measure_loops(bench *b)
{
    void *memory;
    const size_t bytes = TZ_LOOP_BYTES + PAGE_BYTES;
    tz_status status = memory_take(b, &memory, bytes);
    for (int i = 0; !status && i < TZ_LOOPS; i++)
        status = measure_loop(b, &b->loops->rows[i], memory);
    memory_drop(memory, bytes);
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
static tz_status measure_fork(bench *b)
{
    enum { CALLS = 100 };
    tz_samples samples = {0};
    const tz_status status = begin_next(b, "calls of threads");
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

static tz_status measure_pass(bench *b)
{
    tz_status status = measure_clock(b);
    if (!status)
        status = measure_loops(b);
    if (!status)
        status = measure_memory(b);
    if (!status)
        status = begin_next(b, "cpu backend");
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
    bench b = {.calibration = calibration, .error = error, .repeats = 25};
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
