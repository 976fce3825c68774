/* Measuring plans: times any plan of one problem with random fields on a backend of this machine,
 * and hashes the fields that a plan computes. */
#ifndef TZ_CORE_PREDICT_MEASURE_H
#define TZ_CORE_PREDICT_MEASURE_H

#include "predict/workload.h"

enum { TZ_MEASURE_ROUNDS_MAX = 64 };
/* Predictions that are off by more of the measured time ask for a calibration. */
#define TZ_MODEL_OFF 0.2

typedef struct tz_measured {
    int rounds;
    double round_s[TZ_MEASURE_ROUNDS_MAX]; /* seconds an iteration, of each round */
    double taken_s;                        /* the quantile of them that tz_measuring names */
    double low_s, high_s;
    double exchange_s; /* several devices: of an iteration, on exchanges; mean of all rounds */
    /* The device's clock right after rounds, if the device reports it. */
    int clocks;      /* rounds with a reported clock */
    double clock_hz; /* mean of the reported clocks */
    int throttled;   /* rounds after which the clock was held back, for power or temperature */
    int for_heat;    /* the part of them for temperature */
} tz_measured;

/* How rounds are measured. A card that works without a pause may exceed its power limit; it then
 * lowers its clock after some tens of milliseconds. Short rounds with rests between them measure
 * the time at the full clock, rounds after long work the time in a long run. */
typedef struct tz_measuring {
    double round_s; /* length of a round, about */
    double warm_s;  /* work right before the first round, at least; two stages in any case */
    /* length of the rest before a round, as a multiple of the work since the last rest; at most 0.1
     * s. 0: no rests */
    double rest;
    /* of the rounds, which counts; 0: the median. A lower one is for cores that other programs
     * share: these only make rounds longer */
    double quantile;
} tz_measuring;

/* With such rests the average power of a card stays far below its limit. */
#define TZ_MEASURE_REST 4.0

typedef struct tz_bench tz_bench;

/* What fields hold at first. */
typedef struct tz_bench_fields {
    bool given[TZ_FIELDS_MAX]; /* the others are random */
    /* The cells of a row of a given field. */
    tz_status (*row)(void *context, int field, int64_t y, int64_t z, double *cells,
                     tz_error *error);
    void *context;
} tz_bench_fields;

/* Fields that `fields` does not give (NULL: all) are random: reals within a tenth of the stencil's
 * initial value or, where that is 0, in [0, 1); integers 0 to 9; bits set with probability 0.4.
 * Streamed fields have as many slabs as fit 1 GiB, at most 1024, at least `height_max`. `ordinal`
 * numbers the GPU. `keep` keeps the initial values, which tz_bench_hash() needs. Errors: TZ_MEMORY
 * (with the bytes needed), those of the backend. */
tz_status tz_bench_create(tz_bench **out, const tz_workload *workload,
                          const tz_bench_fields *fields, int ordinal, int height_max, bool keep,
                          tz_error *error);
void tz_bench_destroy(tz_bench *bench); /* NULL is fine */

/* Time `rounds` more rounds of a plan, after stages that do not count. Zero `measured` before the
 * first call. */
tz_status tz_bench_measure(tz_bench *bench, const tz_plan *plan, int rounds,
                           const tz_measuring *how, tz_measured *measured, tz_error *error);

/* Time `rounds` jumps of so many steps (backend/spectral.h), after one that does not count:
 * *first_s is its time, and that of finding the operator. Errors: those of tz_jump_create(), of the
 * backend. */
tz_status tz_bench_jump(tz_bench *bench, int64_t steps, int rounds, tz_measured *measured,
                        double *first_s, tz_jump_facts *facts, tz_error *error);

/* Time `rounds` rounds by a function that runs something else on the backend's state with these
 * fields: round_s[i] becomes the seconds of an iteration of round i. Errors: its own. */
typedef tz_status tz_bench_call(void *state, void *context, double seconds, int rounds,
                                double *round_s, tz_error *error);
tz_status tz_bench_by(tz_bench *bench, tz_bench_call *call, void *context, int rounds,
                      tz_measured *measured, tz_error *error);

/* Why the device does not report its clock; "": it does, or nothing was measured. */
const char *tz_bench_clock_refusal(const tz_bench *bench);

/* A hash of all state fields after `steps` iterations from the initial values, by full stages of
 * the plan. `steps` is a multiple of its height, at most tz_bench_slabs(). *finite: all cells are
 * finite; else the hash says nothing, for the bits of a NaN depend on the order of operands. */
tz_status tz_bench_hash(tz_bench *bench, const tz_plan *plan, int64_t steps, uint64_t *hash,
                        bool *finite, tz_error *error);

/* Are all cells finite now? */
tz_status tz_bench_is_finite(tz_bench *bench, bool *finite, tz_error *error);

/* Slabs of the streamed fields; INT64_MAX without streamed fields. */
int64_t tz_bench_slabs(const tz_bench *bench);

#endif
