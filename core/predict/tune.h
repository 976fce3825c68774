/* Tuning: measures every candidate plan and compares it with its prediction. */
#ifndef TZ_CORE_PREDICT_TUNE_H
#define TZ_CORE_PREDICT_TUNE_H

#include "predict/measure.h"
#include "predict/predictions.h"
#include "predict/predictor.h"

typedef struct tz_tune_row {
    tz_plan plan;
    tz_model_work work;
    tz_model_prediction prediction;
    tz_measured measured; /* no rounds: the plan was refused */
    char refusal[160];
    bool checked, equal; /* its bits were compared; they equal those of height 1 */
    bool chosen;         /* of listed plans: the predictor chooses this one */
} tz_tune_row;

#define TZ_TUNE_ROUNDS 5
/* Seconds of a round: on a GPU, on one whose rounds are sustained, and on a CPU. */
#define TZ_TUNE_GPU_S 0.01
#define TZ_TUNE_SUSTAINED_S 0.2
#define TZ_TUNE_CPU_S 0.05
/* After so much work a card has the clock of a long run. */
#define TZ_TUNE_WARM_S 0.5

typedef struct tz_tune_request {
    tz_plan given;        /* zeros: everything */
    const char *families; /* "stream,tile"; NULL: all */
    int ordinal;          /* of the GPU */
    int rounds;           /* 0: TZ_TUNE_ROUNDS */
    double round_s;       /* how long a round takes, seconds; 0: one of TZ_TUNE_… */
    /* Measure the time of a long run: without rests, after half a second of work on each plan. Else
     * a GPU rests before each round, so that it has its full clock. */
    bool sustained;
    bool check;                    /* compare bits */
    const tz_bench_fields *fields; /* what they hold at first; NULL: random numbers */
    /* Measure the plans that this predictor lists, and judge the set that it chooses; `families` is
     * NULL. NULL: all candidates. */
    const tz_predictor *lister;
    bool dry; /* measure nothing: the predictions stand for the measurements */
    /* Called before each plan; false stops with TZ_INTERRUPTED. May be NULL. */
    bool (*progress)(void *context, int done, int of);
    void *context;
    const tz_predictions_watch *watch; /* while kernels are compiled; NULL: none */
} tz_tune_request;

/* How good the set is that a predictor chooses of the plans that it lists. */
typedef struct tz_tune_set {
    int shapes, chosen; /* that it lists, and of the set; 0 shapes: none was asked for */
    int measured, measured_chosen;
    bool has_best; /* the fastest is in the set */
    /* Speed of the set's fastest and slowest / of the fastest of all; NAN: none of it was
     * measured. */
    double best, worst;
} tz_tune_set;

typedef struct tz_tune {
    int count;
    tz_tune_row *rows; /* by height, family, measured time */
    int predicted;     /* the best row by tz_tune_predicted_s() */
    int best;          /* the fastest measured */
    double share;      /* speed of row `predicted` / speed of row `best`: at most 1 */
    /* Median and 90 % quantile of |predicted - measured| / measured over the measured rows, and the
     * mean of the signed error. */
    double error_median, error_p90, error_mean;
    tz_tune_set set;
    int measured, refused;
    int different;       /* rows with other bits than height 1 */
    int not_finite;      /* rows that are not compared: fields are not finite after their steps */
    bool infinite;       /* fields are not finite after the last measurement */
    int long_count;      /* plans left out: their code is very long */
    double predicting_s; /* to make the predictions, without compiling */
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

#endif
