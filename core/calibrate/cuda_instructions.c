/* Measures a GPU's clock, rates and latencies of instructions, and the size of its text cache. */
#include "calibrate/cuda_bench.h"

#include <stddef.h>

enum {
    WARPS = 32,        /* of a block that measures rates */
    STEPS = 512,       /* of a round */
    ROUNDS = 64,       /* for a rate */
    CHAIN_ROUNDS = 16, /* for a latency */
};

/* ---- Rates and latencies --------------------------------------------------------------------- */

/* Steps that neither the compiler nor the assembler can shorten. */
#define STEP_ADD "x = x + y"
#define STEP_MULTIPLY "x = x * y"
#define STEP_MIXED "{ const TZ_TYPE t = x + y; x = t * a; }"
#define STEP_FMA "x = TZ_FMA(x, y, a)"
#define STEP_IADD3 "x = x + y + a" /* two operands could become an IMAD */
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
    tz__chains_time time;
    tz_status status = tz__bench_next(b, chains->what);
    if (!status)
        status = tz__bench_chains(b, chains, rounds, b->gpu->multiprocessors, 0, 0, &time);
    if (status)
        return status;
    if (chains->latency)
        tz_number_set(out, time.cycles / b->clock_hz,
                      "measured: %.4g cycles, %d %s, median of %d, spread %.1f %%", time.cycles,
                      chains->steps * rounds, chains->what, b->repeats, time.spread);
    else
        tz_number_set(out, WARPS * chains->instructions / time.cycles,
                      "measured: %s, %d warps of %d chains, median of %d, spread %.1f %%",
                      chains->what, WARPS, 2 * chains->pairs, b->repeats, time.spread);
    return TZ_OK;
}

/* Cycles by seconds while all multiprocessors compute. */
tz_status tz__measure_clock(tz__bench *b)
{
    const tz__chains chains = {.what = "FFMA",
                               .type = "float",
                               .step = STEP_FMA,
                               .pairs = 4,
                               .threads = 32 * WARPS,
                               .steps = STEPS};
    tz__chains_time time;
    tz_status status = tz__bench_next(b, "clock");
    if (!status)
        status = tz__bench_chains(b, &chains, 64 * ROUNDS, b->gpu->multiprocessors, 0, 0, &time);
    if (status)
        return status;
    b->clock_hz = time.most / time.seconds;
    tz_number_set(&b->record->clock_hz, b->clock_hz,
                  "measured: %.3g cycles in %.3g ms of FFMA on all multiprocessors, median of %d, "
                  "spread %.1f %%; nominal %d MHz",
                  time.most, 1e3 * time.seconds, b->repeats, time.spread, b->gpu->clock_khz / 1000);
    return TZ_OK;
}

tz_status tz__measure_instructions(tz__bench *b)
{
    tz_status status = TZ_OK;
    for (size_t i = 0; !status && i < sizeof table / sizeof *table; i++)
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

/* Longer and longer loops of FFMA, 16 bytes each, until one is a tenth slower than the shortest:
 * the size before that one fits. Few warps, as in kernels with many registers. */
tz_status tz__measure_text_cache(tz__bench *b)
{
    static const int kib[] = {8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256};
    enum { SIZES = sizeof kib / sizeof *kib };
    tz__chains_time time = {0};
    double first = 0;
    int fits = 0, fails = 0;
    for (int i = 0; i < SIZES && fails == 0; i++) {
        const tz__chains chains = tz__chains_text(kib[i]);
        tz_status status = tz__bench_next(b, "text cache");
        if (!status)
            status = tz__bench_chains(b, &chains, 1 + 2048 / kib[i], b->gpu->multiprocessors, 0, 0,
                                      &time);
        if (status)
            return status;
        if (i == 0)
            first = time.cycles;
        if (time.cycles > 1.1 * first)
            fails = kib[i];
        else
            fits = kib[i];
    }
    if (fails > 0)
        tz_number_set_exactly(&b->record->text_cache_bytes, 1024.0 * fits,
                              "measured: loops of FFMA, %d warps: of %d KiB %.0f %% slower than "
                              "of %d KiB",
                              TEXT_WARPS, fails, 100 * (time.cycles / first - 1), kib[0]);
    else
        tz_number_set_exactly(&b->record->text_cache_bytes, 1024.0 * fits,
                              "measured: loops of FFMA, %d warps: the longest one tried fits",
                              TEXT_WARPS);
    return TZ_OK;
}
