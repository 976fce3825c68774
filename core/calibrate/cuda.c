/* A GPU measured: what the driver tells, rates and latencies of instructions. */
#include "calibrate/cuda_impl.h"

#include "backend/cuda/family/family.h"
#include "backend/cuda/family/text.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* kernels/cuda/calibrate.cuh, found by the assembler through the build's -Wa,-I. */
__asm__(".pushsection .rodata\ntz_cuda_text_calibrate:\n.incbin \"cuda/calibrate.cuh\"\n"
        ".byte 0\n.popsection\n");
extern const char tz_cuda_text_calibrate[] __attribute__((visibility("hidden")));

enum {
    REPEATS_MIN = 5,
    REPEATS_MAX = 25,
    WARPS = 32,        /* of a block that measures rates */
    STEPS = 512,       /* of a round */
    ROUNDS = 64,       /* that measure a rate */
    CHAIN_ROUNDS = 16, /* that measure a latency */
    MEASUREMENTS = 60  /* about: progress only */
};

/* ---- Launches -------------------------------------------------------------------------------- */

tz_status tz__bench_next(tz__bench *b, const char *what)
{
    const double done = (double)b->done++ / MEASUREMENTS;
    return tz_calibration_step(b->calibration, done < 0.99 ? done : 0.99, what, b->error);
}

char *tz__bench_text(int kind, int threads, const char *definitions)
{
    tz_cuda_text text = {0};
    tz_cuda_emit(&text,
                 "#define TZ_PROBE %d\n#define TZ_THREADS %d\n%s#line 1 \"calibrate.cuh\"\n%s",
                 kind, threads, definitions, tz_cuda_text_calibrate);
    if (!text.failed)
        return text.at;
    free(text.at);
    return NULL;
}

tz_status tz__bench_load(tz__bench *b, tz_cuda_kernel *out, int kind, int threads,
                         const char *definitions)
{
    char *text = tz__bench_text(kind, threads, definitions);
    if (text == NULL)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory for a kernel's text");
    const tz_status status = tz_cuda_load(b->cuda, out, text, "tz_probe", tz_cuda_headers,
                                          tz_cuda_headers_count, b->error);
    free(text);
    return status;
}

tz_status tz__bench_time(tz__bench *b, const tz_cuda_kernel *kernel, int blocks, int threads,
                         int shared_bytes, bool cooperative, void **arguments, double *seconds)
{
    tz_status status = tz_cuda_event_record(b->cuda, b->begin, b->stream, b->error);
    if (status == TZ_OK)
        status =
            tz_cuda_launch(b->cuda, b->stream, kernel, (int[]){blocks, 1, 1},
                           (int[]){threads, 1, 1}, shared_bytes, cooperative, arguments, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_record(b->cuda, b->end, b->stream, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_wait(b->cuda, b->end, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_elapsed_s(b->cuda, b->begin, b->end, seconds, b->error);
    return status;
}

tz_status tz__bench_cycles(tz__bench *b, int blocks, double *median, double *most)
{
    uint32_t *counted = malloc((size_t)blocks * sizeof *counted);
    tz_samples samples = {0};
    if (counted == NULL)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory to measure with");
    const tz_status status =
        tz_cuda_download(b->cuda, counted, b->cycles, (size_t)blocks * sizeof *counted, b->error);
    *most = 0;
    if (status == TZ_OK)
        for (int k = 0; k < blocks; k++) {
            /* Some of very many blocks are as good as all. */
            if (k % (blocks / TZ_SAMPLES_MAX + 1) == 0)
                tz_samples_add(&samples, counted[k]);
            *most = counted[k] > *most ? counted[k] : *most;
        }
    free(counted);
    if (status != TZ_OK)
        return status;
    *median = tz_samples_median(&samples);
    if (*median > 0)
        return TZ_OK;
    return tz_error_set(b->error, TZ_BACKEND, NULL,
                        "a kernel on %s took no time: its clock cannot be measured with",
                        b->gpu->name);
}

void tz__chains_define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE])
{
    snprintf(definitions, TZ__DEFINITIONS_SIZE,
             "#define TZ_TYPE %s\n#define TZ_STEPS %d\n#define TZ_PAIRS %d\n"
             "#define TZ_FIRST(k) (%s)\n#define TZ_STEP(x, y) %s\n#define TZ_FMA(a, b, c) %s((a), "
             "(b), (c))\n",
             chains->type, chains->steps, chains->pairs,
             chains->first ? chains->first : "(TZ_TYPE)(tz_thread() + k)", chains->step,
             strcmp(chains->type, "double") == 0 ? "__fma_rn" : "__fmaf_rn");
}

tz_status tz__bench_chains(tz__bench *b, const tz__chains *chains, int rounds, int blocks,
                           tz_cu_pointer followed, uint32_t first_word, double *cycles,
                           double *spread, double *seconds, double *most)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz_cuda_kernel kernel;
    tz_samples samples = {0}, times = {0}, tops = {0};
    union {
        float f;
        double d;
        uint32_t w;
        struct {
            float f;
            uint32_t w;
        } both;
    } a = {0}, other = {0};
    if (strcmp(chains->type, "float") == 0) {
        a.f = 1.0009765625f;
        other.f = 0.0009765625f;
    } else if (strcmp(chains->type, "double") == 0) {
        a.d = 1.0009765625;
        other.d = 0.0009765625;
    } else if (strcmp(chains->type, "both") == 0) {
        a.both.f = other.both.f = 1.0009765625f;
        a.both.w = other.both.w = 0x5a5a5a5au;
    } else {
        a.w = followed ? first_word : 77;
        other.w = 5;
    }
    int words = chains->shared_words;
    tz__chains_define(chains, definitions);
    tz_status status = tz__bench_load(b, &kernel, TZ__PROBE_CHAINS, chains->threads, definitions);
    if (status != TZ_OK)
        return status;
    void *arguments[] = {&b->cycles, &b->out, &followed, &rounds, &words, &a, &other};
    for (int i = -b->warmups; status == TZ_OK && i < b->repeats; i++) {
        double once = 0, here, top;
        status =
            tz__bench_time(b, &kernel, blocks, chains->threads, 4 * words, false, arguments, &once);
        if (status == TZ_OK)
            status = tz__bench_cycles(b, blocks, &here, &top);
        if (status == TZ_OK && i >= 0) {
            tz_samples_add(&samples, here / ((double)chains->steps * rounds));
            tz_samples_add(&times, once);
            tz_samples_add(&tops, top);
        }
    }
    tz_cuda_unload(b->cuda, &kernel);
    if (status != TZ_OK)
        return status;
    *cycles = tz_samples_median(&samples);
    *spread = 100 * tz_samples_spread(&samples);
    if (seconds != NULL)
        *seconds = tz_samples_median(&times);
    if (most != NULL)
        *most = tz_samples_median(&tops);
    return TZ_OK;
}

/* ---- Rates and latencies --------------------------------------------------------------------- */

/* Steps whose chains neither the compiler nor the assembler can shorten. */
#define STEP_ADD "x = x + y"
#define STEP_MULTIPLY "x = x * y"
#define STEP_MIXED "{ const TZ_TYPE t = x + y; x = t * a; }"
#define STEP_FMA "x = TZ_FMA(x, y, a)"
#define STEP_IADD3 "x = x + y + a" /* of two an IMAD can be made as well */
#define STEP_IMAD "x = x * y + a"
#define STEP_LOGIC "x = tz_logic3<0xe8>(x, y, a)"
#define STEP_SELECT "{ const int t = tz_hidden(p ? y : a); x = tz_hidden(q ? t : x); }"
#define STEP_MINIMUM "x = tz_hidden(x < y ? x : y) + a"
#define STEP_ALU                                                                                   \
    "{ tz_word t = x + y + b; t = tz_logic3<0xe8>(t, y, a); x = (tz_word)tz_hidden(p ? (int)t : "  \
    "(int)b); }"
#define STEP_BOTH "{ x.f = x.f + y.f; x.w = tz_logic3<0xe8>(x.w, y.w, a.w); }"
#define STEP_SHUFFLE "x = tz_shuffle_up(y, 1)"
#define STEP_SPECIAL "x = tz_reciprocal_roughly(x + y)"
#define STEP_SHARED "x = follow_shared(y)"
#define STEP_BARRIER "{ tz_barrier(); x = y; }"
#define FIRST_SHARED "(tz_word)(tz_thread() * 4)"

/* Rates: all the warps of a multiprocessor, eight chains each. Latencies: one warp, one chain. */
#define RATE(member, what, type, step, instructions)                                               \
    {                                                                                              \
        what, type, step, NULL, instructions, 4, 32 * WARPS, STEPS, 0,                             \
            offsetof(tz_model_device, member), false                                               \
    }
#define LATENCY(member, what, type, step)                                                          \
    {                                                                                              \
        what, type, step, NULL, 1, 1, 32, STEPS, 0, offsetof(tz_model_device, member), true        \
    }

static const tz__chains table[] = {
    RATE(fp32_rate, "FADD", "float", STEP_ADD, 1),
    RATE(fp32_multiply_rate, "FMUL", "float", STEP_MULTIPLY, 1),
    RATE(fp32_mixed_rate, "FADD and FMUL in turn", "float", STEP_MIXED, 2),
    RATE(fp64_rate, "DADD", "double", STEP_ADD, 1),
    RATE(fp64_multiply_rate, "DMUL", "double", STEP_MULTIPLY, 1),
    RATE(fp64_mixed_rate, "DADD and DMUL in turn", "double", STEP_MIXED, 2),
    RATE(integer_rate, "IADD3", "tz_word", STEP_IADD3, 1),
    RATE(multiply_rate, "IMAD", "tz_word", STEP_IMAD, 1),
    RATE(minimum_rate, "32-bit minima and additions in turn", "int", STEP_MINIMUM, 2),
    RATE(logic_rate, "LOP3", "tz_word", STEP_LOGIC, 1),
    RATE(move_rate, "SEL", "int", STEP_SELECT, 1),
    RATE(alu_rate, "IADD3, LOP3 and SEL in turn", "tz_word", STEP_ALU, 3),
    RATE(issue_rate, "FADD and LOP3 in turn", "both", STEP_BOTH, 2),
    RATE(shuffle_rate, "SHFL.UP", "tz_word", STEP_SHUFFLE, 1),
    RATE(special_rate, "MUFU.RCP", "float", STEP_SPECIAL, 1),
    {"4-byte loads of a pass each", "tz_word", STEP_SHARED, FIRST_SHARED, 1, 4, 32 * WARPS, STEPS,
     32 * WARPS, offsetof(tz_model_device, shared_rate), false},
    LATENCY(fp32_latency_s, "dependent FADD", "float", STEP_ADD),
    LATENCY(fp64_latency_s, "dependent DADD", "double", STEP_ADD),
    LATENCY(integer_latency_s, "dependent IADD3", "tz_word", STEP_IADD3),
    LATENCY(logic_latency_s, "dependent LOP3", "tz_word", STEP_LOGIC),
    LATENCY(shuffle_latency_s, "dependent SHFL.UP", "tz_word", STEP_SHUFFLE),
    {"4-byte loads that wait for each other", "tz_word", STEP_SHARED, FIRST_SHARED, 1, 1, 32, STEPS,
     32, offsetof(tz_model_device, shared_latency_s), true},
    {"barriers of 512 threads", "tz_word", STEP_BARRIER, NULL, 1, 1, 512, 64, 0,
     offsetof(tz_model_device, barrier_s), true},
};

const tz__chains *tz__chains_table(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

static tz_status measure_chains(tz__bench *b, const tz__chains *chains)
{
    tz_model_number *out = (tz_model_number *)((char *)b->record + chains->number);
    const int rounds = chains->latency ? CHAIN_ROUNDS : ROUNDS;
    double cycles, spread;
    tz_status status = tz__bench_next(b, chains->what);
    if (status == TZ_OK)
        status = tz__bench_chains(b, chains, rounds, b->gpu->multiprocessors, 0, 0, &cycles,
                                  &spread, NULL, NULL);
    if (status != TZ_OK)
        return status;
    if (chains->latency)
        tz_number_set(out, cycles / b->clock_hz,
                      "measured: %.4g cycles, %d %s, median of %d, spread %.1f %%", cycles,
                      chains->steps * rounds, chains->what, b->repeats, spread);
    else
        tz_number_set(out, WARPS * chains->instructions / cycles,
                      "measured: %s, %d warps of %d chains, median of %d, spread %.1f %%",
                      chains->what, WARPS, 2 * chains->pairs, b->repeats, spread);
    return TZ_OK;
}

/* Cycles against seconds while all multiprocessors compute. */
static tz_status measure_clock(tz__bench *b)
{
    const tz__chains chains = {.what = "FFMA",
                               .type = "float",
                               .step = STEP_FMA,
                               .pairs = 4,
                               .threads = 32 * WARPS,
                               .steps = STEPS};
    double cycles, spread, seconds, most;
    tz_status status = tz__bench_next(b, "clock");
    if (status == TZ_OK)
        status = tz__bench_chains(b, &chains, 64 * ROUNDS, b->gpu->multiprocessors, 0, 0, &cycles,
                                  &spread, &seconds, &most);
    if (status != TZ_OK)
        return status;
    b->clock_hz = most / seconds;
    tz_number_set(&b->record->clock_hz, b->clock_hz,
                  "measured: %.3g cycles in %.3g ms of FFMA on all multiprocessors, median of %d, "
                  "spread %.1f %%; nominal %d MHz",
                  most, 1e3 * seconds, b->repeats, spread, b->gpu->clock_khz / 1000);
    return TZ_OK;
}

static tz_status measure_instructions(tz__bench *b)
{
    tz_status status = TZ_OK;
    for (size_t i = 0; status == TZ_OK && i < sizeof table / sizeof *table; i++)
        status = measure_chains(b, &table[i]);
    return status;
}

enum { TEXT_WARPS = 8 };

tz__chains tz__chains_text(int kib)
{
    return (tz__chains){.what = "FFMA",
                        .type = "float",
                        .step = STEP_FMA,
                        .pairs = 4,
                        .threads = 32 * TEXT_WARPS,
                        .steps = kib * 64};
}

/* Loops of more and more FFMA, 16 bytes each, until they run a tenth slower than the shortest: the
 * last size before. Few warps, as kernels with many registers have. */
static tz_status measure_text(tz__bench *b)
{
    static const int kib[] = {8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256};
    enum { SIZES = sizeof kib / sizeof *kib };
    double first = 0, cycles = 0, spread;
    int fits = 0, fails = 0;
    for (int i = 0; i < SIZES && fails == 0; i++) {
        const tz__chains chains = tz__chains_text(kib[i]);
        tz_status status = tz__bench_next(b, "text cache");
        if (status == TZ_OK)
            status = tz__bench_chains(b, &chains, 1 + 2048 / kib[i], b->gpu->multiprocessors, 0, 0,
                                      &cycles, &spread, NULL, NULL);
        if (status != TZ_OK)
            return status;
        if (i == 0)
            first = cycles;
        if (cycles > 1.1 * first)
            fails = kib[i];
        else
            fits = kib[i];
    }
    if (fails > 0)
        tz_number_set_exactly(&b->record->text_cache_bytes, 1024.0 * fits,
                              "measured: loops of FFMA, %d warps: of %d KiB %.0f %% slower than "
                              "of %d KiB",
                              TEXT_WARPS, fails, 100 * (cycles / first - 1), kib[0]);
    else
        tz_number_set_exactly(&b->record->text_cache_bytes, 1024.0 * fits,
                              "measured: loops of FFMA, %d warps: no longer one was tried",
                              TEXT_WARPS);
    return TZ_OK;
}

/* ---- What is known --------------------------------------------------------------------------- */

static void set_facts(tz__bench *b)
{
    const tz_cuda_device *g = b->gpu;
    tz_model_device *d = b->record;
    const char *guide = "CUDA C++ Programming Guide, technical specifications";
    const struct {
        tz_model_number *out;
        double value; /* 0: not known */
    } told[] = {
        {&d->compute_capability, 10 * g->major + g->minor},
        {&d->sm_count, g->multiprocessors},
        {&d->blocks_per_sm, g->processor_blocks},
        {&d->threads_per_sm_max, g->processor_threads},
        {&d->registers_per_sm, g->processor_registers},
        {&d->shared_per_sm_bytes, g->processor_shared_bytes},
        {&d->shared_per_block_max_bytes, g->shared_bytes},
        {&d->shared_reserved_bytes, g->shared_reserved_bytes},
        {&d->l2_bytes, (double)g->l2_bytes},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (told[i].value > 0)
            tz_number_set_exactly(told[i].out, told[i].value, "told by the driver");
    if (g->memory_clock_khz > 0 && g->memory_bus_bits > 0)
        tz_number_set(&d->memory_bandwidth_bytes_per_s,
                      2e3 * g->memory_clock_khz * g->memory_bus_bits / 8,
                      "told by the driver: %d bits twice a clock of %d MHz", g->memory_bus_bits,
                      g->memory_clock_khz / 1000);
    tz_number_set_exactly(&d->warp_size, 32, "%s", guide);
    tz_number_set_exactly(&d->threads_per_block_max, 1024, "%s", guide);
    tz_number_set_exactly(&d->registers_per_thread_max, 255, "%s", guide);
    tz_number_set_exactly(&d->register_unit, 256, "%s: a warp's allocation", guide);
    tz_number_set_exactly(&d->coalesce_width, 32,
                          "CUDA C++ Programming Guide: a warp's 4-byte accesses, 128 bytes");
}

/* What the older models want, from what was measured. */
static void set_derived(tz_model_device *d, double clock_hz)
{
    /* Cores of 32 to the instruction that a multiprocessor can start a cycle, in whole warps'
     * halves. */
    const double cores = 16 * (double)(int)(2 * d->fp32_rate.value + 0.5);
    if (cores >= 16)
        tz_number_set_exactly(&d->sp_per_sm, cores,
                              "measured: fp32_rate x 32, to a multiple of 16");
    const double depth = (double)(int)(d->fp32_latency_s.value * clock_hz + 0.5);
    if (depth >= 1)
        tz_number_set_exactly(&d->sp_pipeline_depth, depth, "measured: fp32_latency in cycles");
    tz_number_set(&d->cpi, 1 / d->issue_rate.value, "measured: 1 / issue_rate");
}

/* ---- All ------------------------------------------------------------------------------------- */

static tz_status bench_open(tz__bench *b)
{
    tz_cuda *cuda = b->cuda;
    b->blocks_max = 64 * b->gpu->multiprocessors;
    tz_status status = tz_cuda_queue_create(cuda, &b->stream, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_create(cuda, &b->begin, true, b->error);
    if (status == TZ_OK)
        status = tz_cuda_event_create(cuda, &b->end, true, b->error);
    if (status == TZ_OK)
        status = tz_cuda_allocate(cuda, &b->cycles, (size_t)b->blocks_max * 4, b->error);
    if (status == TZ_OK)
        status = tz_cuda_clear(cuda, b->cycles, (size_t)b->blocks_max * 4, b->error);
    if (status == TZ_OK)
        status =
            tz_cuda_allocate(cuda, &b->out, (size_t)b->gpu->multiprocessors * 1024 * 8, b->error);
    if (status == TZ_OK)
        status = tz_cuda_allocate(cuda, &b->barrier, TZ__BARRIER_BYTES, b->error);
    return status == TZ_OK ? tz_cuda_clear(cuda, b->barrier, TZ__BARRIER_BYTES, b->error) : status;
}

static void bench_close(tz__bench *b)
{
    tz_cuda_free(b->cuda, b->barrier);
    tz_cuda_free(b->cuda, b->out);
    tz_cuda_free(b->cuda, b->cycles);
    tz_cuda_event_destroy(b->cuda, b->end);
    tz_cuda_event_destroy(b->cuda, b->begin);
    tz_cuda_queue_destroy(b->cuda, b->stream);
}

tz_status tz_cuda_calibrate(tz_model_device *out, tz_cuda *cuda, const tz_calibration *calibration,
                            tz_error *error)
{
    tz__bench b = {.cuda = cuda,
                   .gpu = tz_cuda_device_of(cuda),
                   .calibration = calibration,
                   .record = out,
                   .error = error,
                   .repeats = (int)calibration->seconds,
                   .warmups = 2};
    memset(out, 0, sizeof *out);
    if (b.repeats < REPEATS_MIN)
        b.repeats = REPEATS_MIN;
    if (b.repeats > REPEATS_MAX)
        b.repeats = REPEATS_MAX;
    snprintf(out->title, sizeof out->title, "%.*s", (int)sizeof out->title - 1, b.gpu->name);
    tz_calibration_name(b.gpu->name, out->name, sizeof out->name);
    set_facts(&b);
    tz_status status = bench_open(&b);
    if (status == TZ_OK)
        status = measure_clock(&b);
    if (status == TZ_OK)
        status = measure_instructions(&b);
    if (status == TZ_OK)
        status = tz__bench_memory(&b);
    if (status == TZ_OK)
        status = tz__bench_launches(&b);
    if (status == TZ_OK)
        status = measure_text(&b);
    if (status == TZ_OK)
        status = tz__bench_energy(&b);
    if (status == TZ_OK)
        set_derived(out, b.clock_hz);
    bench_close(&b);
    if (status != TZ_OK)
        memset(out, 0, sizeof *out);
    return status;
}
