/* Measures a GPU's power, and the energy of instructions and bytes.
 *
 * NVML's energy counter moves in steps of some tens of milliseconds. Kernels run without gaps, and
 * the energy is taken from one step of the counter to another, so the length of a step does not
 * matter. A load above the card's power limit runs at a lower clock, where an instruction takes
 * less energy: such a load is measured again on half of the multiprocessors. */
#include "calibrate/cuda_bench.h"

#include "backend/cuda/driver/energy.h"
#include "base/machine.h"
#include "base/random.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 1024, STEPS = 512, UPLOAD_BYTES = 32 << 20 };
static const double LAUNCH_S = 12e-3; /* of each kernel: reading NVML takes milliseconds */
static const double WARM_S = 0.15, WINDOW_S = 0.6, NEVER_S = 3.0;
static const double FULL_CLOCK = 0.985; /* share of the measured clock; below it is held back */

/* x = c - x^2 gives irregular numbers for ever (c is the operand a). */
#define STEP_QUADRATIC "{ const TZ_TYPE t = x * x; x = a - t; }"
#define STEP_WORDS                                                                                 \
    "{ tz_word t = x + y + b; t = tz_logic3<0x96>(t, y, a); x = (tz_word)tz_hidden(p ? (int)t : "  \
    "(int)b); }"
#define FIRST_NUMBER "((TZ_TYPE)scattered(k) * (TZ_TYPE)2.3283064e-10 * (TZ_TYPE)0.999)"

#define ENERGY(member, what, type, step, first, instructions)                                      \
    {                                                                                              \
        what, type, step, first, instructions, 4, THREADS, STEPS, 0,                               \
            offsetof(tz_model_device, member), false                                               \
    }

static const tz__chains table[] = {
    ENERGY(energy_fp32_j, "FMUL and FADD in turn", "float", STEP_QUADRATIC, FIRST_NUMBER, 2),
    ENERGY(energy_fp64_j, "DMUL and DADD in turn", "double", STEP_QUADRATIC, FIRST_NUMBER, 2),
    ENERGY(energy_integer_j, "IADD3, LOP3 and SEL in turn", "tz_word", STEP_WORDS, "scattered(k)",
           3),
    ENERGY(energy_shuffle_j, "SHFL.UP", "tz_word", "x = tz_shuffle_up(y, 1)", "scattered(k)", 1),
    {"4-byte loads of a pass each", "tz_word", "x = follow_shared(y)", "(tz_word)(tz_thread() * 4)",
     1, 4, THREADS, STEPS, THREADS, offsetof(tz_model_device, energy_shared_j), false},
    /* A mix that exceeds the power limit. */
    {"DMUL, DADD, SHFL and LOP3 in turn", "heavy",
     "{ const double t = x.d * x.d; x.d = a.d - t; x.w = tz_shuffle_up(y.w, 1) ^ x.w; }", NULL, 4,
     4, THREADS / 2, STEPS, 0, offsetof(tz_model_device, power_exponent), false},
    /* A warp that mostly waits: power_active. */
    {"one warp of shared loads that wait for each other", "tz_word", "x = follow_shared(y)",
     "(tz_word)(tz_thread() * 4)", 1, 1, 32, STEPS, 32, offsetof(tz_model_device, power_active_w),
     true},
};
enum { CHAINS = sizeof table / sizeof *table, WAITING = CHAINS - 1 };

const tz__chains *tz__energy_table(size_t *count)
{
    *count = CHAINS;
    return table;
}

void tz__energy_operands(const tz__chains *chains, tz__operand *a, tz__operand *b)
{
    memset(a, 0, sizeof *a);
    memset(b, 0, sizeof *b);
    if (strcmp(chains->type, "float") == 0) {
        a->f = b->f = 1.8973f;
    } else if (strcmp(chains->type, "double") == 0) {
        a->d = b->d = 1.8973666;
    } else if (strcmp(chains->type, "heavy") == 0) {
        a->heavy.d = b->heavy.d = 1.8973666;
        a->heavy.w = b->heavy.w = 0x12d94b35u;
    } else {
        a->w = 0x5a693c1eu;
        b->w = 0x12d94b35u;
    }
}

/* ---- Power of a load ------------------------------------------------------------------------- */

typedef struct load {
    const tz_cuda_kernel *kernel; /* NULL: nothing */
    int blocks, threads, shared_bytes;
    void **arguments;
    int *rounds;       /* an element of `arguments` */
    double in_a_round; /* warp instructions, or bytes, of all blocks */
} load;

typedef struct drawn {
    double watts, clock_hz;
    double rate; /* instructions or bytes a second */
    bool held;   /* the clock is held back for power or temperature */
} drawn;

typedef struct meter {
    tz__bench *bench;
    tz_cuda_energy *nvml;
    double idle_w, active_w;
} meter;

static tz_status launch(tz__bench *b, const load *l, tz_cuda_event *after)
{
    const tz_status status =
        tz_cuda_launch(b->cuda, b->queue, l->kernel, (int[]){l->blocks, 1, 1},
                       (int[]){l->threads, 1, 1}, l->shared_bytes, false, l->arguments, b->error);
    return status ? status : tz_cuda_event_record(b->cuda, after, b->queue, b->error);
}

/* Rounds that make a launch long enough for the host to queue the next one meanwhile. */
static tz_status choose_rounds(tz__bench *b, const load *l)
{
    double seconds = 0;
    *l->rounds = 1;
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < 8 && seconds < 0.5 * LAUNCH_S; i++) {
        status = tz__bench_time(b, l->kernel, l->blocks, l->threads, l->shared_bytes, false,
                                l->arguments, &seconds);
        const double more = seconds > 0 ? LAUNCH_S / seconds : 8;
        *l->rounds = (int)fmin(fmax(1.0, *l->rounds * fmin(more, 8.0)), 1 << 20);
    }
    return status;
}

static tz_status watch(meter *m, const load *l, drawn *out)
{
    tz__bench *b = m->bench;
    tz_cuda_event *const events[2] = {b->begin, b->end};
    const struct timespec pause = {.tv_nsec = (long)(1e9 * LAUNCH_S)};
    double last_joules = 0, first_s = 0, first_joules = 0, now = 0, clocks = 0;
    int64_t done = 0, first_done = 0;
    int looks = 0, ticks = 0;
    tz_status status = l->kernel ? choose_rounds(b, l) : TZ_OK;
    if (!status && l->kernel)
        status = launch(b, l, events[0]);
    const double begin = tz_machine_clock_s();
    *out = (drawn){0};
    while (!status && (ticks == 0 || now - first_s < WINDOW_S || done == first_done)) {
        double joules = 0;
        tz_clock_facts clock = {0};
        if (l->kernel) {
            status = launch(b, l, events[(done + 1) & 1]);
            if (!status)
                status = tz_cuda_event_wait(b->cuda, events[done & 1], b->error);
        } else {
            nanosleep(&pause, NULL);
        }
        done++;
        now = tz_machine_clock_s();
        if (!status)
            status = tz_cuda_energy_read(m->nvml, &joules, b->error);
        if (!status)
            status = tz_cuda_energy_clock(m->nvml, &clock, b->error);
        if (status)
            break;
        if (now - begin > NEVER_S) {
            status = tz_error_set(b->error, TZ_UNSUPPORTED, NULL,
                                  "the GPU's counter of energy hardly moves");
            break;
        }
        const bool tick = joules > last_joules && last_joules > 0;
        last_joules = joules;
        if (ticks > 0) {
            clocks += clock.hz;
            looks++;
        }
        if (!tick || now - begin < WARM_S)
            continue;
        if (ticks++ == 0) {
            first_s = now;
            first_joules = joules;
            first_done = done;
        } else {
            out->watts = (joules - first_joules) / (now - first_s);
            if (l->kernel)
                out->rate =
                    (double)(done - first_done) * *l->rounds * l->in_a_round / (now - first_s);
        }
    }
    if (l->kernel) {
        const tz_status waited = tz_cuda_queue_wait(b->cuda, b->queue, status ? NULL : b->error);
        status = status ? status : waited;
    }
    if (status)
        return status;
    out->clock_hz = looks > 0 ? clocks / looks : 0;
    out->held = out->clock_hz < FULL_CLOCK * b->clock_hz;
    return TZ_OK;
}

/* ---- Energies -------------------------------------------------------------------------------- */

/* To four digits in picojoules, a unit of records. */
static double rounded(double joules)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", fmax(joules, 0) * 1e12);
    return strtod(text, NULL) * 1e-12;
}

/* The exponent of power by the clock, from a load at a lower clock and half of it at the full
 * clock. Both are limited by the multiprocessors, so the ratio of their rates is the ratio of
 * clocks. */
static void set_exponent(meter *m, const char *what, const drawn *full, const drawn *half,
                         double full_j, double half_j, double share)
{
    const double lower = full->rate * share / half->rate;
    if (half->held || !(lower > 0.3 && lower < 0.97) || !(full_j > 0) || !(half_j > 0))
        return;
    const double exponent = 1 + log(full_j / half_j) / log(lower);
    if (exponent >= 1 && exponent <= 8)
        tz_number_set(&m->bench->record->power_exponent, exponent,
                      "measured: %s, %.4g W at %.3g of the clock, against half of the "
                      "multiprocessors, %.4g W at all of it",
                      what, full->watts, lower, half->watts);
}

/* Sets `out` to the energy of a unit of work. If the card held its clock back, `less` is measured:
 * half the load, on `share` of the multiprocessors. */
static tz_status energy(meter *m, const char *what, tz_model_number *out, const load *all,
                        const load *less, double share)
{
    tz__bench *b = m->bench;
    drawn full, half;
    tz_status status = tz__bench_next(b, what);
    if (!status)
        status = watch(m, all, &full);
    if (status)
        return status;
    const bool is_exponent = out == &b->record->power_exponent;
    const double here = full.rate > 0 ? (full.watts - m->active_w) / full.rate : 0;
    if (!full.held) {
        if (!is_exponent)
            tz_number_set_exactly(out, rounded(here),
                                  "measured: %s, %.4g G/s at %.4g W and %.4g GHz, over "
                                  "power_active",
                                  what, 1e-9 * full.rate, full.watts, 1e-9 * full.clock_hz);
        return TZ_OK;
    }
    status = watch(m, less, &half);
    if (status)
        return status;
    const double base = m->idle_w + share * (m->active_w - m->idle_w);
    const double there = half.rate > 0 ? (half.watts - base) / half.rate : 0;
    if (is_exponent)
        set_exponent(m, what, &full, &half, here, there, share);
    else
        tz_number_set_exactly(out, rounded(there),
                              "measured: %s, half the load, %.4g G/s at %.4g W and %.4g GHz; all "
                              "of it %.4g W at %.4g GHz",
                              what, 1e-9 * half.rate, half.watts, 1e-9 * half.clock_hz, full.watts,
                              1e-9 * full.clock_hz);
    return TZ_OK;
}

static tz_status measure_chains(meter *m, const tz__chains *chains)
{
    tz__bench *b = m->bench;
    char definitions[TZ__DEFINITIONS_SIZE];
    tz_cuda_kernel kernel;
    tz_cu_pointer followed = 0;
    tz__operand a, other;
    int rounds = 1, words = chains->shared_words;
    void *arguments[] = {&b->cycles, &b->out, &followed, &rounds, &words, &a, &other};
    tz_model_number *out = (tz_model_number *)((char *)b->record + chains->number);
    tz__energy_operands(chains, &a, &other);
    tz__chains_define(chains, definitions);
    tz_status status = tz__bench_load(b, &kernel, TZ__PROBE_CHAINS, chains->threads, definitions);
    if (status)
        return status;
    const int multiprocessors = b->gpu->multiprocessors, fewer = (multiprocessors + 1) / 2;
    load all = {.kernel = &kernel,
                .blocks = multiprocessors,
                .threads = chains->threads,
                .shared_bytes = 4 * words,
                .arguments = arguments,
                .rounds = &rounds,
                .in_a_round = (double)multiprocessors * chains->threads / 32 * chains->steps *
                              chains->instructions};
    if (chains->latency) {
        drawn waiting;
        status = tz__bench_next(b, chains->what);
        if (!status)
            status = watch(m, &all, &waiting);
        if (!status)
            tz_number_set(out, m->active_w = waiting.watts,
                          "measured: on each multiprocessor %s, %.4g GHz", chains->what,
                          1e-9 * waiting.clock_hz);
    } else {
        load less = all;
        less.blocks = fewer;
        less.in_a_round *= (double)fewer / multiprocessors;
        status = energy(m, chains->what, out, &all, &less, (double)fewer / multiprocessors);
    }
    tz_cuda_unload(b->cuda, &kernel);
    return status;
}

/* Fills an array with random bits: zeros take less energy. */
static tz_status fill(tz__bench *b, tz_cu_pointer array, size_t bytes)
{
    uint32_t *words = malloc(UPLOAD_BYTES);
    uint64_t state = 0;
    tz_status status = TZ_OK;
    if (!words)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory to measure with");
    for (size_t i = 0; i < UPLOAD_BYTES / sizeof *words; i++)
        words[i] = (uint32_t)(tz_random_next(&state) >> 32);
    for (size_t at = 0; !status && at < bytes; at += UPLOAD_BYTES)
        status = tz_cuda_upload(b->cuda, array + at, words,
                                bytes - at < UPLOAD_BYTES ? bytes - at : UPLOAD_BYTES, b->error);
    free(words);
    return status;
}

/* Copies `bytes` of an array again and again. */
static tz_status measure_copy(meter *m, const char *what, tz_model_number *out, tz_cu_pointer from,
                              tz_cu_pointer to, size_t bytes, bool fresh)
{
    tz__bench *b = m->bench;
    const tz__copier copier = {true, 4, fresh ? "tz_load_fresh" : "tz_load"};
    tz_cuda_kernel kernel;
    const size_t piece = tz__copier_bytes(&copier);
    int pieces = (int)(bytes / piece), rounds = 1, resident = 0;
    uint32_t never = 0x9e3779b9u;
    void *arguments[] = {&from, &to, &pieces, &rounds, &never};
    tz_status status = tz__copier_load(b, &copier, &kernel);
    if (status)
        return status;
    status = tz_cuda_occupancy(b->cuda, &kernel, TZ__COPY_THREADS, 0, &resident, b->error);
    load all = {.kernel = &kernel,
                .blocks = resident * b->gpu->multiprocessors,
                .threads = TZ__COPY_THREADS,
                .arguments = arguments,
                .rounds = &rounds,
                .in_a_round = 2.0 * (double)piece * pieces};
    load less = all;
    less.blocks = b->gpu->multiprocessors; /* of all multiprocessors, each with little in flight */
    if (!status)
        status = energy(m, what, out, &all, &less, 1);
    tz_cuda_unload(b->cuda, &kernel);
    return status;
}

static tz_status measure_bytes(meter *m)
{
    tz__bench *b = m->bench;
    tz_model_device *d = b->record;
    const size_t wanted = (size_t)1 << 30, most = (size_t)b->gpu->memory_bytes / 8;
    const size_t bytes = (wanted < most ? wanted : most) / UPLOAD_BYTES * UPLOAD_BYTES;
    tz_cu_pointer from = 0, to = 0;
    tz_status status = tz_cuda_allocate(b->cuda, &from, bytes, b->error);
    if (!status)
        status = tz_cuda_allocate(b->cuda, &to, bytes, b->error);
    if (!status)
        status = fill(b, from, bytes);
    if (!status && b->gpu->l2_bytes > 0)
        status = measure_copy(m, "bytes copied within L2", &d->energy_l2_j, from, to,
                              (size_t)b->gpu->l2_bytes / 5, true);
    if (!status)
        status =
            measure_copy(m, "bytes copied in memory", &d->energy_memory_j, from, to, bytes, false);
    tz_cuda_free(b->cuda, to);
    tz_cuda_free(b->cuda, from);
    return status;
}

static tz_status measure_all(meter *m)
{
    tz__bench *b = m->bench;
    tz_model_device *d = b->record;
    drawn idle;
    double limit = 0;
    tz_status status = tz__bench_next(b, "power");
    if (!status && tz_cuda_energy_limit(m->nvml, &limit, NULL) == TZ_OK)
        tz_number_set(&d->power_limit_w, limit, "reported by NVML: the enforced limit");
    if (!status)
        status = watch(m, &(load){.kernel = NULL}, &idle);
    if (!status)
        tz_number_set(&d->power_idle_w, m->idle_w = idle.watts,
                      "measured: an open context, nothing runs, %.4g GHz", 1e-9 * idle.clock_hz);
    if (!status)
        status = measure_chains(m, &table[WAITING]);
    for (int i = 0; !status && i < WAITING; i++)
        status = measure_chains(m, &table[i]);
    if (!status)
        status = measure_bytes(m);
    return status;
}

/* Powers, the exponent and energies are unknown again. */
static void forget(tz_model_device *d)
{
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (size_t k = 0; k < count; k++)
        if (strncmp(keys[k].name, "power_", 6) == 0 || strncmp(keys[k].name, "energy_", 7) == 0)
            memset((char *)d + keys[k].offset, 0, sizeof(tz_model_number));
}

tz_status tz__measure_energy(tz__bench *b)
{
    meter m = {.bench = b};
    tz_error why;
    char text[400];
    tz_status status = tz_cuda_energy_open(&m.nvml, b->gpu, &why);
    if (!status) {
        tz_error *const before = b->error;
        b->error = &why;
        status = measure_all(&m);
        b->error = before;
        tz_cuda_energy_close(m.nvml);
    }
    if (status == TZ_UNSUPPORTED) {
        forget(b->record);
        snprintf(text, sizeof text, "the record gets no numbers of power: %.300s", why.message);
        if (b->calibration->remark)
            b->calibration->remark(b->calibration->context, text);
        return TZ_OK;
    }
    if (status && b->error)
        *b->error = why;
    return status;
}
