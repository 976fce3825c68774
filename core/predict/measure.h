/* Measuring plans: one problem with random fields on a backend of this machine, any plan timed on
 * it, and the bits that a plan leaves. */
#ifndef TZ_CORE_PREDICT_MEASURE_H
#define TZ_CORE_PREDICT_MEASURE_H

#include "predict/workload.h"

enum { TZ_MEASURE_ROUNDS_MAX = 64 };

typedef struct tz_measured {
    int rounds;
    double round_s[TZ_MEASURE_ROUNDS_MAX]; /* seconds an iteration, of each round */
    double taken_s; /* what counts: a quantile of them, as tz_measuring says */
    double low_s, high_s;
    /* Of a device that tells its clock, as it was when a round had just ended. */
    int clocks;      /* rounds that it was told after */
    double clock_hz; /* their mean */
    int throttled;   /* of them: the clock was held back, for the card's power or temperature */
    int for_heat;    /* of those: for its temperature */
} tz_measured;

/* How rounds are measured. A card that works without a pause may draw more power than it keeps to,
 * and lowers its clock after some tens of milliseconds: short rounds with rests between them show
 * what a plan takes at the full clock, rounds after long work what it takes in a long run. */
typedef struct tz_measuring {
    double round_s;  /* of a round, about */
    double warm_s;   /* work just before the first round, at least; two stages in any case */
    double rest;     /* before a round the device has rested so many times as long as it has worked
                      * since it last did (or 0.1 s); 0: no rests */
    double quantile; /* of the rounds, that counts; 0: their median. Less where others who use the
                      * same core make rounds longer, and nothing makes them shorter */
} tz_measuring;

/* Of which the average power of a card stays far below what it keeps to. */
#define TZ_MEASURE_REST 4.0

typedef struct tz_bench tz_bench;

/* Fields are random: reals in [0, 1), integers 0 to 9, bits set with 0.4; streamed fields have as
 * many slabs as fit 1 GiB, at least `height_max`. `ordinal` of the GPU. With `keep` the fields'
 * first values are kept, so that tz_bench_hash() can start from them again. Errors: TZ_MEMORY (with
 * what is needed), those of the backend. */
tz_status tz_bench_create(tz_bench **out, const tz_workload *workload, int ordinal, int height_max,
                          bool keep, tz_error *error);
void tz_bench_destroy(tz_bench *bench); /* NULL is fine */

/* Time `rounds` more rounds of a plan, after stages that are not counted; zero `measured` before
 * the first. */
tz_status tz_bench_measure(tz_bench *bench, const tz_plan *plan, int rounds,
                           const tz_measuring *how, tz_measured *measured, tz_error *error);

/* Why the device's clock is not told; "" when it is, or nothing was measured. */
const char *tz_bench_clock_refusal(const tz_bench *bench);

/* From the first values, `steps` iterations by whole stages of the plan (a multiple of its height,
 * at most tz_bench_slabs()): a hash of all state fields. */
tz_status tz_bench_hash(tz_bench *bench, const tz_plan *plan, int64_t steps, uint64_t *hash,
                        tz_error *error);

/* Iterations that streamed fields last; INT64_MAX without any. */
int64_t tz_bench_slabs(const tz_bench *bench);

/* What a share of the values, from 0 to 1, does not exceed: 0.5 is the median. They are sorted on
 * return; 0 of none. */
double tz_quantile(double *values, int count, double share);

#endif
