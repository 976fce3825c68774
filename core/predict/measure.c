/* The test bench: allocates fields, fills them at random, runs rounds of a plan and takes quantiles
 * of their times. Called by tune.c, jump.c and model/papers. */
#include "predict/measure.h"

#include "backend/host/reduce.h"
#include "backend/slabs/slabs.h"
#include "base/machine.h"
#include "base/minmax.h"
#include "base/random.h"
#include "calibrate/calibrate.h"
#include "jump/jump.h"
#include "stencil/streamed_source.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t SLAB_BYTES_MAX = INT64_C(1) << 30;
static const double REST_LEAST_S = 1e-3; /* shorter rests are postponed and added up */
static const double REST_MOST_S = 0.1; /* rounds that need more heat up by themselves: longer rests
                                          * do not help */

enum { ADVANCED_MOST = 256 }; /* iterations before fields take their first values again */

struct tz_bench {
    const tz_workload *workload;
    tz_threads *threads;
    tz_backend_context context;
    void *state;
    bool keep;
    void *first[TZ_FIELDS_MAX]; /* of state fields */
    int32_t *slab_data[TZ_FIELDS_MAX];
    tz_streamed_source streamed[TZ_FIELDS_MAX];
    const tz_streamed_source *streamed_pointers[TZ_FIELDS_MAX];
    int64_t slabs; /* INT64_MAX: no field is streamed */
    int64_t step;
    int64_t advanced; /* iterations since the first values were stored */
    double worked_s;  /* since the device rested */
    char clock_refusal[160];
};

/* ---- Fields ---------------------------------------------------------------------------------- */

/* 32 bits, each set with probability 0.4. That is 0.0110011 in base two: from the last digit on,
 * each digit is an AND or an OR with random bits. */
static uint32_t random_word(uint64_t *state)
{
    static const bool digits[] = {1, 1, 0, 0, 1, 1, 0};
    uint32_t word = 0;
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        const uint32_t fresh = (uint32_t)tz_random_next(state);
        word = digits[i] ? word | fresh : word & fresh;
    }
    return word;
}

/* A row of words. Columns beyond the grid stay 0. */
static void random_words(const tz_problem *problem, uint64_t seed, uint32_t *words)
{
    const int64_t count = problem->elements[0];
    uint64_t state = seed;
    for (int64_t i = 0; i < count; i++) {
        words[i] = random_word(&state);
        for (int bit = 31; bit >= 0 && bit * count + i >= problem->extent[0]; bit--)
            words[i] &= ~(UINT32_C(1) << bit);
    }
}

/* The range of fields that begin with 0: a tenth of the largest value with which others begin, so
 * that what they have together stays near its beginning; without others, 1. */
static double range_beside(const tz_stencil *stencil)
{
    double most = 0.0;
    for (int f = 0; f < stencil->fields_count; f++)
        most = fmax(most, fabs(stencil->fields[f].initial));
    return most > 0.0 ? 0.1 * most : 1.0;
}

/* A row of elements. */
static void random_row(const tz_problem *problem, int field, uint64_t seed, void *elements)
{
    enum { PIECE = 64 };
    const tz_element_type *type = tz_problem_element_type(problem, field);
    const bool integer = tz_type_is_integer(type->type);
    const int64_t count = problem->elements[0];
    const double initial = problem->stencil->fields[field].initial;
    const double least = initial != 0.0 ? 0.9 * initial : 0.0;
    const double range = initial != 0.0 ? 0.2 * initial : range_beside(problem->stencil);
    double values[PIECE];
    uint64_t state = seed;
    if (problem->bits) {
        random_words(problem, seed, elements);
        return;
    }
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t some = tz_min(PIECE, count - first);
        for (int64_t i = 0; i < some; i++) {
            const uint64_t bits = tz_random_next(&state);
            values[i] = integer ? (double)((bits >> 32) * 10 >> 32)
                                : least + range * ((double)(bits >> 11) * 0x1p-53);
        }
        for (int64_t i = 0; initial == 0.0 && i < some; i++) /* of what is computed with */
            values[i] += problem->origin[field];
        tz_problem_to_elements(problem, field, values, some,
                               (char *)elements + (size_t)first * type->size);
    }
}

/* Rows of a field, from seeds of their own. */
typedef struct rows {
    const tz_problem *problem;
    int field, shift; /* of the number of a row in its seed */
    char *elements;
    size_t bytes; /* of a row */
} rows;

static void random_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const rows *r = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        random_row(r->problem, r->field, (uint64_t)(r->field + 1) << 56 ^ (uint64_t)i << r->shift,
                   r->elements + r->bytes * (size_t)i);
}

static tz_status store_whole(tz_bench *bench, int field, const void *elements, tz_error *error)
{
    tz_box box = {{0}, {0}};
    memcpy(box.high, bench->workload->problem.elements, sizeof box.high);
    return bench->workload->backend->store(bench->state, field, &box, elements, error);
}

/* A row of cells as elements. */
static void put_row(const tz_problem *problem, int field, const double *cells, void *elements)
{
    const int64_t count = problem->elements[0];
    uint32_t *words = elements;
    if (!problem->bits) {
        tz_problem_to_elements(problem, field, cells, count, elements);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        words[i] = 0;
        for (int64_t bit = 0; bit < 32 && bit * count + i < problem->extent[0]; bit++)
            words[i] |= (uint32_t)(cells[bit * count + i] != 0.0) << bit;
    }
}

static tz_status fill_given(const tz_problem *problem, const tz_bench_fields *fields, int field,
                            size_t bytes, char *elements, tz_error *error)
{
    double *cells = malloc((size_t)problem->extent[0] * sizeof *cells);
    tz_status status = TZ_OK;
    if (!cells)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row");
    for (int64_t z = 0; !status && z < problem->elements[2]; z++)
        for (int64_t y = 0; !status && y < problem->elements[1]; y++, elements += bytes) {
            status = fields->row(fields->context, field, y, z, cells, error);
            if (!status)
                put_row(problem, field, cells, elements);
        }
    free(cells);
    return status;
}

static tz_status fill_field(tz_bench *bench, const tz_bench_fields *fields, int field,
                            tz_error *error)
{
    const tz_problem *problem = &bench->workload->problem;
    const int64_t all = problem->elements[1] * problem->elements[2];
    const size_t row = (size_t)problem->elements[0] * tz_problem_element_size(problem, field);
    char *elements = malloc(row * (size_t)all);
    if (!elements)
        return tz_error_set(error, TZ_MEMORY, problem->stencil->fields[field].name,
                            "not enough memory for a field's first values");
    tz_status status = TZ_OK;
    if (fields && fields->given[field])
        status = fill_given(problem, fields, field, row, elements, error);
    else
        tz_threads_for(bench->threads, all, random_rows,
                       &(rows){problem, field, 24, elements, row});
    if (!status)
        status = store_whole(bench, field, elements, error);
    if (bench->keep && !status && problem->stencil->fields[field].role == TZ_STATE)
        bench->first[field] = elements;
    else
        free(elements);
    return status;
}

static tz_status make_slabs(tz_bench *bench, int field, int height_max, tz_error *error)
{
    const tz_problem *problem = &bench->workload->problem;
    const int64_t cells = problem->elements[0];
    int64_t slabs = SLAB_BYTES_MAX / (4 * cells);
    slabs = slabs > 1024 ? 1024 : slabs;
    slabs = slabs < height_max ? height_max : slabs;
    int32_t *data = malloc((size_t)(slabs * cells) * sizeof *data);
    if (!data)
        return tz_error_set(error, TZ_MEMORY, problem->stencil->fields[field].name,
                            "not enough memory for %" PRId64 " slabs of %" PRId64 " cells", slabs,
                            cells);
    tz_threads_for(bench->threads, slabs, random_rows,
                   &(rows){problem, field, 32, (char *)data, (size_t)cells * sizeof *data});
    bench->slab_data[field] = data;
    bench->streamed[field] = (tz_streamed_source){.data = data,
                                                  .slabs = slabs,
                                                  .cells = cells,
                                                  .boundary = problem->boundary[0][0],
                                                  .generation = 1};
    bench->streamed_pointers[field] = &bench->streamed[field];
    bench->slabs = slabs < bench->slabs ? slabs : bench->slabs;
    return TZ_OK;
}

static tz_status check_memory(const tz_workload *workload, bool keep, tz_error *error)
{
    const tz_problem *problem = &workload->problem;
    tz_plan plan = {.height = 1};
    const tz_status status = workload->backend->plan(problem, &workload->place, &plan, error);
    if (status)
        return status;
    /* A GPU's backend checks the memory of its device itself. */
    int64_t bytes =
        workload->is_gpu ? 0 : workload->backend->bytes(problem, &workload->place, &plan);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (keep && problem->stencil->fields[f].role == TZ_STATE)
            bytes += tz_problem_elements(problem) * (int64_t)tz_problem_element_size(problem, f);
    const int64_t available = tz_machine_memory_available();
    if (bytes <= available)
        return TZ_OK;
    const double gib = 1.0 / (double)(INT64_C(1) << 30);
    return tz_error_set(error, TZ_MEMORY, "grid",
                        "measuring %s cells needs %.2f GiB and %.2f GiB are available: use a "
                        "smaller grid%s",
                        workload->grid, (double)bytes * gib, (double)available * gib,
                        keep ? ", or do not compare bits" : "");
}

tz_status tz_bench_create(tz_bench **out, const tz_workload *workload,
                          const tz_bench_fields *fields, int ordinal, int height_max, bool keep,
                          tz_error *error)
{
    const tz_stencil *stencil = workload->problem.stencil;
    *out = NULL;
    tz_status status = check_memory(workload, keep, error);
    if (status)
        return status;
    tz_bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    bench->workload = workload;
    bench->keep = keep;
    bench->slabs = INT64_MAX;
    status = tz_threads_create(&bench->threads, tz_max_int(workload->place.threads, 1), error);
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            status = make_slabs(bench, f, height_max, error);
    bench->context = (tz_backend_context){.problem = &workload->problem,
                                          .streamed = bench->streamed_pointers,
                                          .threads = bench->threads,
                                          .device = ordinal,
                                          .devices = workload->place.devices};
    if (!status)
        status = workload->backend->create(&bench->state, &bench->context, error);
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role != TZ_STREAMED)
            status = fill_field(bench, fields, f, error);
    if (status) {
        tz_bench_destroy(bench);
        return status;
    }
    *out = bench;
    return TZ_OK;
}

void tz_bench_destroy(tz_bench *bench)
{
    if (!bench)
        return;
    if (bench->state)
        bench->workload->backend->destroy(bench->state);
    tz_threads_destroy(bench->threads);
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        free(bench->first[f]);
        free(bench->slab_data[f]);
    }
    free(bench);
}

int64_t tz_bench_slabs(const tz_bench *bench)
{
    return bench->slabs;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Iterations of a backend call. */
static int chunk_of(const tz_plan *plan)
{
    return plan->launch_iterations > plan->height ? plan->launch_iterations : plan->height;
}

static tz_status advance(tz_bench *bench, const tz_plan *plan, int64_t steps, tz_error *error)
{
    const tz_backend *backend = bench->workload->backend;
    const int chunk = chunk_of(plan);
    tz_status status = TZ_OK;
    while (!status && steps > 0) {
        int most = steps < chunk ? (int)steps : chunk;
        if (most > bench->slabs)
            most = (int)(bench->slabs / plan->height * plan->height);
        if (bench->step + most > bench->slabs)
            bench->step = 0;
        status = backend->stage(bench->state, plan, most, bench->step, error);
        bench->step += most;
        bench->advanced += most;
        steps -= most;
    }
    if (!status && backend->wait)
        status = backend->wait(bench->state, error);
    return status;
}

static void summarise(tz_measured *measured, double quantile)
{
    double sorted[TZ_MEASURE_ROUNDS_MAX];
    const int n = measured->rounds;
    memcpy(sorted, measured->round_s, (size_t)n * sizeof *sorted);
    measured->taken_s = tz_quantile(sorted, n, quantile > 0 ? quantile : 0.5);
    measured->low_s = sorted[0]; /* tz_quantile() has sorted them */
    measured->high_s = sorted[n - 1];
}

static void rest(tz_bench *bench, double times)
{
    double seconds = times * bench->worked_s;
    if (seconds < REST_LEAST_S)
        return;
    seconds = seconds < REST_MOST_S ? seconds : REST_MOST_S;
    const struct timespec span = {.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&span, NULL);
    bench->worked_s = 0;
}

/* Reads the device's clock right after a round. */
static void look_at_clock(tz_bench *bench, tz_measured *measured)
{
    const tz_backend *backend = bench->workload->backend;
    tz_clock_facts clock;
    tz_error why;
    if (!backend->clock || bench->clock_refusal[0])
        return;
    if (backend->clock(bench->state, &clock, &why) != TZ_OK) {
        snprintf(bench->clock_refusal, sizeof bench->clock_refusal, "%.150s", why.message);
        return;
    }
    measured->clock_hz =
        (measured->clock_hz * measured->clocks + clock.hz) / (measured->clocks + 1);
    measured->clocks++;
    measured->throttled += clock.for_power || clock.for_heat;
    measured->for_heat += clock.for_heat;
}

/* advance(), with its time. */
static tz_status work(tz_bench *bench, const tz_plan *plan, int64_t steps, double *seconds,
                      tz_error *error)
{
    const double begin = tz_machine_clock_s();
    const tz_status status = advance(bench, plan, steps, error);
    *seconds = tz_machine_clock_s() - begin;
    bench->worked_s += *seconds;
    return status;
}

/* Seconds that devices have spent on exchanges so far. */
static double exchanged_s(const tz_bench *bench)
{
    tz_slabs_facts facts;
    if (!bench->workload->place.devices)
        return 0.0;
    tz_slabs_describe(bench->state, &facts);
    return facts.exchanged.seconds;
}

/* How many calls of the backend a round makes, the first of which took `once` seconds. Rounds have
 * whole numbers of exchanges. */
static int64_t calls_of_round(const tz_plan *plan, double round_s, double once)
{
    const int64_t cycle = plan->exchange > chunk_of(plan) ? plan->exchange / chunk_of(plan) : 1;
    int64_t calls = once > 0 ? (int64_t)(round_s / once) : 1;
    calls = calls < 1 ? 1 : calls > 100000 ? 100000 : calls;
    return (calls + cycle - 1) / cycle * cycle;
}

static tz_status store_first(tz_bench *bench, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int f = 0; !status && f < bench->workload->problem.stencil->fields_count; f++)
        if (bench->first[f])
            status = store_whole(bench, f, bench->first[f], error);
    bench->step = 0;
    bench->advanced = 0;
    return status;
}

tz_status tz_bench_measure(tz_bench *bench, const tz_plan *plan, int rounds,
                           const tz_measuring *how, tz_measured *measured, tz_error *error)
{
    const int chunk = chunk_of(plan);
    double once = 0, seconds;
    /* The first stage compiles, allocates and fills caches. */
    tz_status status = work(bench, plan, chunk, &seconds, error);
    if (measured->rounds > 0) /* measured before */
        once = measured->low_s * chunk;
    else if (!status)
        status = work(bench, plan, chunk, &once, error);
    const int64_t chunks = status ? 1 : calls_of_round(plan, how->round_s, once);
    for (double warm = 0; !status && warm < how->warm_s; warm += seconds)
        status = work(bench, plan, chunks * chunk, &seconds, error);
    for (int r = 0; !status && r < rounds && measured->rounds < TZ_MEASURE_ROUNDS_MAX; r++) {
        /* After many iterations fields may be uniform, denormal or infinite, with which a processor
         * has another speed. */
        if (bench->keep && bench->advanced > ADVANCED_MOST)
            status = store_first(bench, error);
        if (!status && how->rest > 0) {
            rest(bench, how->rest);
            /* Wakes host and device. */
            status = work(bench, plan, plan->height, &seconds, error);
        }
        const double before_s = exchanged_s(bench);
        if (!status)
            status = work(bench, plan, chunks * chunk, &seconds, error);
        if (status)
            break;
        const double each_s = (exchanged_s(bench) - before_s) / (double)(chunks * chunk);
        measured->exchange_s += (each_s - measured->exchange_s) / (measured->rounds + 1);
        look_at_clock(bench, measured);
        measured->round_s[measured->rounds++] = seconds / (double)(chunks * chunk);
    }
    if (!status && measured->rounds > 0)
        summarise(measured, how->quantile);
    return status;
}

tz_status tz_bench_jump(tz_bench *bench, int64_t steps, int rounds, tz_measured *measured,
                        double *first_s, tz_jump_facts *facts, tz_error *error)
{
    const tz_jump_context context = {.problem = &bench->workload->problem,
                                     .backend = bench->workload->backend,
                                     .state = bench->state,
                                     .context = &bench->context,
                                     .place = &bench->workload->place};
    tz_jump *jump;
    double begin = tz_machine_clock_s();
    tz_status status = tz_jump_create(&jump, &context, error);
    if (status)
        return status;
    status = tz_jump_advance(jump, steps, facts, error);
    *first_s = tz_machine_clock_s() - begin;
    for (int r = 0; !status && r < rounds && measured->rounds < TZ_MEASURE_ROUNDS_MAX; r++) {
        begin = tz_machine_clock_s();
        status = tz_jump_advance(jump, steps, facts, error);
        measured->round_s[measured->rounds++] = tz_machine_clock_s() - begin;
    }
    tz_jump_destroy(jump);
    if (!status && measured->rounds > 0)
        summarise(measured, 0);
    return status;
}

tz_status tz_bench_by(tz_bench *bench, tz_bench_call *call, void *context, int rounds,
                      tz_measured *measured, tz_error *error)
{
    static const double ROUND_S = 0.01;
    const tz_status status = call(bench->state, context, ROUND_S, rounds, measured->round_s, error);
    measured->rounds = status ? 0 : rounds;
    if (!status)
        summarise(measured, 0);
    return status;
}

const char *tz_bench_clock_refusal(const tz_bench *bench)
{
    return bench->clock_refusal;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static tz_status reduce_all(tz_bench *bench, uint64_t *hash, bool *finite, tz_error *error)
{
    const tz_stencil *stencil = bench->workload->problem.stencil;
    tz_status status = TZ_OK;
    *hash = 0;
    *finite = true;
    for (int f = 0; !status && f < stencil->fields_count; f++) {
        tz_reduction reduction;
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        status = tz_backend_reduce(bench->workload->backend, bench->state,
                                   &bench->workload->problem, f, &reduction, error);
        if (status)
            break;
        *hash = *hash * UINT64_C(0x100000001b3) ^ reduction.hash;
        *finite = *finite && reduction.not_finite == 0;
    }
    return status;
}

tz_status tz_bench_is_finite(tz_bench *bench, bool *finite, tz_error *error)
{
    uint64_t hash;
    return reduce_all(bench, &hash, finite, error);
}

tz_status tz_bench_hash(tz_bench *bench, const tz_plan *plan, int64_t steps, uint64_t *hash,
                        bool *finite, tz_error *error)
{
    tz_status status = store_first(bench, error);
    if (!status)
        status = advance(bench, plan, steps, error);
    if (!status)
        status = reduce_all(bench, hash, finite, error);
    return status;
}
