/* Measures what instructions of PTX cost a warp, and fits the constants of the parallel degree of
 * computation: the numbers of luo2011 (model/luo2011.h). */
#include "model/papers/costs.h"

#include "base/embed.h"
#include "model/papers/luo2011.h"
#include "model/papers/papers.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

TZ_EMBED(tz_papers_text_costs, "costs.cuh");

enum { ROUNDS = TZ__COST_TIMES / TZ__COST_STEPS, ADDITIONS_MOST = 4096, WARPS_OF_BLOCK = 32 };

/* ---- Costs ----------------------------------------------------------------------------------- */

/* %0 is the word that all steps depend on. %1 and %2 are registers: 5 or 1 + 2^-10, and 0x3210. */
#define COST(member, what, instructions, text)                                                     \
    {                                                                                              \
        offsetof(tz_model_device, member), what, instructions, text, NULL                          \
    }
/* %3 is the address of a word that is 0: of the first level, and of the second one. */
#define ADDRESS "{ .reg .u64 a; mad.wide.u32 a, %0, 1, %3; "
#define LOAD(member, what)                                                                         \
    {                                                                                              \
        offsetof(tz_model_device, member), what, 1, ADDRESS what " %0, [a]; }",                    \
            ADDRESS "cvt.u32.u64 %0, a; }"                                                         \
    }
#define ALMOST_1 "0f3F802000" /* 1 + 2^-10: 10,000 products stay far from the ends of floats */

static const tz__cost costs[] = {
    COST(add_int_constant, "add.s32, constant", 1, "add.s32 %0, %0, 77;"),
    COST(add_int_register, "add.s32, register", 1, "add.s32 %0, %0, %1;"),
    COST(add_float_constant, "add.rn.f32, constant", 1, "add.rn.f32 %0, %0, " ALMOST_1 ";"),
    COST(add_float_register, "add.rn.f32, register", 1, "add.rn.f32 %0, %0, %1;"),
    COST(mul_int_constant, "mul.lo.s32, constant", 1, "mul.lo.s32 %0, %0, 77;"),
    COST(mul_int_register, "mul.lo.s32, register", 1, "mul.lo.s32 %0, %0, %1;"),
    COST(mul_float_constant, "mul.rn.f32, constant", 1, "mul.rn.f32 %0, %0, " ALMOST_1 ";"),
    COST(mul_float_register, "mul.rn.f32, register", 1, "mul.rn.f32 %0, %0, %1;"),
    COST(div_int_constant, "div.s32, constant", 1, "div.s32 %0, %0, 77;"),
    COST(div_int_register, "div.s32, register", 1, "div.s32 %0, %0, %1;"),
    COST(div_float_constant, "div.rn.f32, constant", 1, "div.rn.f32 %0, %0, " ALMOST_1 ";"),
    COST(div_float_register, "div.rn.f32, register", 1, "div.rn.f32 %0, %0, %1;"),
    COST(neg_int, "neg.s32", 1, "neg.s32 %0, %0;"),
    COST(neg_float, "neg.f32", 1, "neg.f32 %0, %0;"),
    COST(min_int, "min.s32", 1, "min.s32 %0, %0, %1;"),
    COST(min_float, "min.f32", 1, "min.f32 %0, %0, %1;"),
    COST(and_bits, "and.b32", 1, "and.b32 %0, %0, %1;"),
    COST(or_bits, "or.b32", 1, "or.b32 %0, %0, %1;"),
    COST(not_bits, "not.b32", 1, "not.b32 %0, %0;"),
    COST(mad_int, "mad.lo.s32", 1, "mad.lo.s32 %0, %0, %1, %2;"),
    COST(mad_float, "fma.rn.f32", 1, "fma.rn.f32 %0, %0, %1, %1;"),
    COST(compare_any, "setp.lt.s32 and selp.b32", 2,
         "{ .reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %1, %2, p; }"),
    COST(convert_any, "cvt.rn.f32.s32 and cvt.rzi.s32.f32", 2,
         "{ .reg .f32 f; cvt.rn.f32.s32 f, %0; cvt.rzi.s32.f32 %0, f; }"),
    COST(move_any, "mov.b32", 1, "mov.b32 %0, %0;"),
    COST(shift_bits, "shl.b32", 1, "shl.b32 %0, %0, %1;"),
    COST(barrier_any, "bar.sync", 1, "bar.sync 0;"),
    COST(shared_any, "ld.shared.b32", 1, "ld.shared.b32 %0, [%0];"),
    COST(special_any, "sqrt.rn.f32", 1, "sqrt.rn.f32 %0, %0;"),
    LOAD(load_near_clocks, "ld.global.ca.b32"),
    LOAD(load_l2_clocks, "ld.global.cg.b32"),
};

const tz__cost *tz__costs_table(size_t *count)
{
    *count = sizeof costs / sizeof *costs;
    return costs;
}

void tz__cost_define(const char *text, char definitions[TZ__DEFINITIONS_SIZE])
{
    snprintf(definitions, TZ__DEFINITIONS_SIZE, "#define TZ_STEPS %d\n#define TZ_COST \"%s\"\n",
             TZ__COST_STEPS, text);
}

char *tz__cost_text(int kind, int threads, const char *definitions)
{
    return tz__bench_text_of("costs.cuh", tz_papers_text_costs, kind, threads, definitions);
}

static tz_status load(tz__bench *b, tz_cuda_kernel *out, int kind, int threads,
                      const char *definitions)
{
    return tz__bench_load_text(b, out, tz__cost_text(kind, threads, definitions));
}

/* Cycles of one warp that takes TZ__COST_TIMES steps: median and spread. */
static tz_status time_steps(tz__bench *b, const char *text, double *cycles, double *spread)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz_cuda_kernel kernel;
    tz_samples samples = {0};
    const bool is_float = strstr(text, "f32 %0") != NULL;
    int rounds = ROUNDS;
    uint32_t keep = 0x3210, x = is_float ? 0x3f800000u : 0, y = is_float ? 0x3f802000u : 5;
    void *arguments[] = {&b->cycles, &b->out, &rounds, &keep, &x, &y};
    tz__cost_define(text, definitions);
    tz_status status = load(b, &kernel, TZ__PROBE_COST, 32, definitions);
    if (status)
        return status;
    for (int i = -b->warmups; !status && i < b->repeats; i++) {
        double seconds, here = 0, most;
        status = tz__bench_time(b, &kernel, 1, 32, 128, false, arguments, &seconds);
        if (!status)
            status = tz__bench_cycles(b, 1, &here, &most);
        if (!status && i >= 0)
            tz_samples_add(&samples, here);
    }
    tz_cuda_unload(b->cuda, &kernel);
    if (status)
        return status;
    *cycles = tz_samples_median(&samples);
    *spread = 100 * tz_samples_spread(&samples);
    return TZ_OK;
}

static tz_status measure_costs(tz__bench *b)
{
    double without = 0, spread = 0;
    tz_status status = tz__bench_next(b, "steps of PTX");
    if (!status)
        status = time_steps(b, "", &without, &spread);
    for (size_t i = 0; !status && i < sizeof costs / sizeof *costs; i++) {
        const tz__cost *cost = &costs[i];
        double with = 0, other = without;
        status = tz__bench_next(b, cost->what);
        if (!status && cost->without)
            status = time_steps(b, cost->without, &other, &spread);
        if (!status)
            status = time_steps(b, cost->text, &with, &spread);
        if (status)
            break;
        const double clocks = (with - other) / (TZ__COST_TIMES * cost->instructions);
        tz_number_set((tz_model_number *)((char *)b->record + cost->number), fmax(clocks, 0),
                      "measured: %d times %s: %.0f cycles, %.0f without, median of %d, spread "
                      "%.1f %%",
                      TZ__COST_TIMES, cost->what, with, other, b->repeats, spread);
    }
    return status;
}

/* ---- Parallel degree of computation ---------------------------------------------------------- */

void tz__periods_define(int additions, char definitions[TZ__DEFINITIONS_SIZE])
{
    snprintf(definitions, TZ__DEFINITIONS_SIZE, "#define TZ_STEPS %d\n", additions);
}

/* A table of zeros, and where the next launch begins to read it. */
typedef struct table {
    tz_cu_pointer at;
    uint32_t bytes, next; /* bytes: a power of two */
} table;

/* Clocks of a period, of `warps` warps on each multiprocessor: median. */
static tz_status time_periods(tz__bench *b, const tz_cuda_kernel *kernel, table *zeros, int warps,
                              double *clocks)
{
    const int blocks_each = (warps + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK;
    const int blocks = blocks_each * b->gpu->multiprocessors, threads = 32 * warps / blocks_each;
    int rounds = TZ__PERIODS;
    uint32_t mask = zeros->bytes - 1;
    float zero = 0;
    tz_samples samples = {0};
    tz_status status = TZ_OK;
    void *arguments[] = {&b->cycles, &b->out, &zeros->at, &rounds, &zeros->next, &mask, &zero};
    for (int i = -b->warmups; !status && i < b->repeats; i++) {
        double seconds, here = 0, most;
        status = tz__bench_time(b, kernel, blocks, threads, 0, false, arguments, &seconds);
        if (!status)
            status = tz__bench_cycles(b, blocks, &here, &most);
        if (!status && i >= 0)
            tz_samples_add(&samples, here / TZ__PERIODS);
        zeros->next += (uint32_t)(blocks * threads * 4 * TZ__PERIODS);
    }
    *clocks = status ? 0 : tz_samples_median(&samples);
    return status;
}

/* The degrees of all numbers of warps, with so many additions between two loads. */
static tz_status sweep_warps(tz__bench *b, const tz_luo2011_gpu *gpu, int additions, table *zeros,
                             tz_luo2011_point *points, int *count)
{
    static const int warps[] = {2, 4, 8, 12, 16, 24, 32, 48, 64};
    char definitions[TZ__DEFINITIONS_SIZE];
    tz_cuda_kernel kernel;
    const double computation = (additions + 1) * gpu->costs.clocks[TZ_LUO2011_ADD][1][1];
    tz__periods_define(additions, definitions);
    tz_status status = load(b, &kernel, TZ__PROBE_PERIODS, 32 * WARPS_OF_BLOCK, definitions);
    if (status)
        return status;
    for (size_t i = 0; !status && i < sizeof warps / sizeof *warps && warps[i] <= gpu->warps_max;
         i++) {
        const double active = warps[i];
        const double warp = tz_luo2011_warp_bandwidth(4, 4, gpu->latency); /* sectors of 32 bytes */
        const tz_luo2011_period period = {.computation = computation,
                                          .memory = gpu->latency,
                                          .mpd = fmax(tz_luo2011_mpd(gpu, active, warp, false), 1)};
        double clocks = 0;
        status = time_periods(b, &kernel, zeros, warps[i], &clocks);
        const double cpd = tz_luo2011_measured_cpd(&period, active, clocks);
        if (!status && !isnan(cpd))
            points[(*count)++] =
                (tz_luo2011_point){.share = computation / (computation + gpu->latency),
                                   .active = active,
                                   .cpd = fmax(cpd, 1)};
    }
    tz_cuda_unload(b->cuda, &kernel);
    return status;
}

static tz_status sweep(tz__bench *b, tz_luo2011_gpu *gpu, table *zeros, double *error_share,
                       int *count)
{
    static const double shares[] = {0.1, 0.2, 0.3, 0.4, 0.47, 0.53, 0.6, 0.7, 0.8, 0.9};
    enum { SHARES = sizeof shares / sizeof *shares };
    tz_luo2011_point points[SHARES * 9];
    tz_status status = TZ_OK;
    *count = 0;
    for (int i = 0; !status && i < SHARES; i++) {
        const double computation = shares[i] / (1 - shares[i]) * gpu->latency;
        double additions = round(computation / gpu->costs.clocks[TZ_LUO2011_ADD][1][1]) - 1;
        additions = fmax(fmin(additions, ADDITIONS_MOST), 1);
        status = tz__bench_next(b, "warps that compute at once");
        if (!status)
            status = sweep_warps(b, gpu, (int)additions, zeros, points, count);
    }
    return status ? status : tz_luo2011_fit(points, *count, gpu, error_share, b->error);
}

/* Lines must not be in the second level when they are read again: the table is larger. */
static tz_status make_table(tz__bench *b, table *zeros)
{
    *zeros = (table){.bytes = UINT32_C(1) << 26};
    while (zeros->bytes < UINT32_C(1) << 30 && zeros->bytes < 4 * (int64_t)b->gpu->l2_bytes)
        zeros->bytes *= 2;
    tz_status status = tz_cuda_allocate(b->cuda, &zeros->at, zeros->bytes, b->error);
    return status ? status : tz_cuda_clear(b->cuda, zeros->at, zeros->bytes, b->error);
}

static tz_status measure_degree(tz__bench *b)
{
    tz_model_device *d = b->record, with = *d;
    tz_luo2011_gpu gpu;
    tz_error why;
    table zeros = {0};
    double error_share = 0;
    int count = 0;
    /* The paper's numbers, so that the model accepts the record; all but c are then replaced. */
    tz_number_set(&with.cpd_a, 3, "Luo and Suda 2011, section 3.4");
    tz_number_set(&with.cpd_b, 11, "Luo and Suda 2011, section 3.4");
    tz_number_set(&with.cpd_c, 0.5, "Luo and Suda 2011, section 3.4");
    tz_number_set(&with.cpd_d, 80, "Luo and Suda 2011, section 3.4");
    if (tz_luo2011_gpu_of(&with, &gpu, NULL, &why) != TZ_OK) {
        if (b->calibration->remark)
            b->calibration->remark(b->calibration->context, why.message);
        return TZ_OK;
    }
    tz_status status = make_table(b, &zeros);
    if (!status)
        status = sweep(b, &gpu, &zeros, &error_share, &count);
    tz_cuda_free(b->cuda, zeros.at);
    if (status)
        return status;
    d->cpd_c = with.cpd_c;
    tz_number_set(&d->cpd_a, gpu.a,
                  "measured: fitted with b and d to %d parallel degrees, 2 to 64 warps and P from "
                  "0.1 to 0.9, within %.0f %% (root mean square)",
                  count, 100 * error_share);
    tz_number_set(&d->cpd_b, gpu.b, "measured: fitted with a and d");
    tz_number_set(&d->cpd_d, gpu.d, "measured: fitted with a and b");
    return TZ_OK;
}

static tz_status measure(tz__bench *b)
{
    const tz_status status = measure_costs(b);
    return status ? status : measure_degree(b);
}

const tz_cuda_part tz_cuda_part_costs = {
    .name = "costs",
    .help =
        "  --costs         measure only what model luo2011 needs of a GPU: clocks of instructions, "
        "and\n"
        "                  how many warps compute at once; the record keeps its other numbers\n",
    .measure = measure};
