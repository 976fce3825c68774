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
    bool checked, equal; /* its bits were compared; they equal those of height 1 */
} tz_tune_row;

typedef struct tz_tune_request {
    tz_plan given;        /* zeros: everything */
    const char *families; /* "stream,tile"; NULL: all */
    int ordinal;          /* of the GPU */
    int rounds;           /* 0: 5 */
    double round_s;       /* how long a round takes, seconds; 0: chosen */
    /* Measure the time of a long run: without rests, after half a second of work on each plan. Else
     * a GPU rests before each round, so that it has its full clock. */
    bool sustained;
    bool check; /* compare bits */
    bool dry;   /* measure nothing: the predictions stand for the measurements */
    /* Called before each plan; false stops with TZ_INTERRUPTED. May be NULL. */
    bool (*progress)(void *context, int done, int of);
    void *context;
} tz_tune_request;

typedef struct tz_tune {
    int count;
    tz_tune_row *rows; /* by height, family, measured time */
    int predicted;     /* the best row by tz_tune_predicted_s() */
    int best;          /* the fastest measured */
    double share;      /* speed of row `predicted` / speed of row `best`: at most 1 */
    /* Median and 90 % quantile of |predicted - measured| / measured over the measured rows, and the
     * mean of the signed error. */
    double error_median, error_p90, error_mean;
    int measured, refused, different; /* different: rows with other bits than height 1 */
    double predicting_s;              /* to make the predictions, without compiling */
    /* GPU: how it was measured; why it does not report its clock ("": it does). */
    bool rested, sustained;
    char clock_refusal[160];
    int rounds_with_clock, rounds_throttled,
        rounds_for_heat; /* sums of tz_measured over all rows */
} tz_tune;

/* The prediction to compare with a row's measured time: at the full clock, or, if sustained, at the
 * clock within the card's power limit (if the record has energies). */
double tz_tune_predicted_s(const tz_tune *tune, const tz_tune_row *row);

/* Errors: those of tz_predictions_create() and of the backend; TZ_UNSUPPORTED: the device is not
 * here; TZ_UNKNOWN: no such family. */
tz_status tz_tune_create(tz_tune **out, const tz_workload *workload, const tz_tune_request *request,
                         tz_error *error);
void tz_tune_destroy(tz_tune *tune); /* NULL is fine */

/* Compile the kernels of part `part` (from 0) of `of` parts of the plans into the cache. *count:
 * how many. */
tz_status tz_tune_compile(const tz_workload *workload, const tz_tune_request *request, int part,
                          int of, int *count, tz_error *error);

#endif
