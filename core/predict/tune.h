/* Tuning: measures every candidate plan and compares it with its prediction. */
#ifndef TZ_CORE_PREDICT_TUNE_H
#define TZ_CORE_PREDICT_TUNE_H

#include "predict/measure.h"
#include "predict/predictions.h"

typedef struct tz_tune_row {
    tz_plan plan;
    tz_model_work work;
    tz_model_prediction prediction;
    tz_measured measured; /* no rounds: the plan was refused */
    char refusal[160];
    bool checked, equal; /* its bits were compared; they are those of the first plan */
} tz_tune_row;

typedef struct tz_tune_request {
    tz_plan given;        /* zeros: everything */
    const char *families; /* "stream,tile"; NULL: all */
    int ordinal;          /* of the GPU */
    int rounds;
    double round_s; /* how long a round takes */
    /* Without rests, after half a second of work on each plan: what a long run gets. Otherwise a
     * GPU rests before each round, so that it has its full clock. */
    bool sustained;
    bool check; /* compare bits */
    /* Called before each plan; false stops with TZ_INTERRUPTED. May be NULL. */
    bool (*progress)(void *context, int done, int of);
    void *context;
} tz_tune_request;

typedef struct tz_tune {
    int count;
    tz_tune_row *rows; /* by height, family, measured time */
    int predicted;     /* the row that the prediction chooses: by tz_tune_predicted_s() */
    int best;          /* the fastest measured */
    double share;      /* speed of the one / speed of the other: at most 1 */
    /* Of |predicted - measured| / measured over the measured rows, and of the signed one. */
    double error_median, error_p90, error_mean;
    int measured, refused, different; /* different: rows whose bits are not the first one's */
    double predicted_s;
    /* Of a GPU: how it was measured; why its clock is not told ("": it is, in rows[].measured). */
    bool rested, sustained;
    char clock_refusal[160];
    int rounds_told, rounds_throttled, rounds_for_heat; /* of all plans, as in tz_measured */
} tz_tune;

/* What a row's measured time is held against: predicted at the full clock, or, sustained, as a card
 * that keeps to its power leaves it (where the record has energies). */
double tz_tune_predicted_s(const tz_tune *tune, const tz_tune_row *row);

/* Errors: those of tz_predictions_create() and of the backend; TZ_UNSUPPORTED: the device is not here;
 * TZ_UNKNOWN: no such family. */
tz_status tz_tune_create(tz_tune **out, const tz_workload *workload, const tz_tune_request *request,
                         tz_error *error);
void tz_tune_destroy(tz_tune *tune); /* NULL is fine */

/* Compile the kernels of part k of n (from 0) of the plans, so that they are in the cache; *count
 * of them. */
tz_status tz_tune_compile(const tz_workload *workload, const tz_tune_request *request, int part,
                          int of, int *count, tz_error *error);

#endif
