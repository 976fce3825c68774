/* Prediction tables: the predictions of any model for a workload, by height, with their reasons. */
#ifndef TZ_CORE_PREDICT_PREDICTION_TABLE_H
#define TZ_CORE_PREDICT_PREDICTION_TABLE_H

#include "predict/measure.h"
#include "predict/predictions.h"
#include "predict/predictor.h"

enum { TZ_SCALING_MAX = 8 };

typedef struct tz_gain {
    int devices;             /* 2, 4, 8, ..., and all */
    int64_t extent[TZ_AXES]; /* the smallest grid that gains; zeros: none that was tried */
} tz_gain;

typedef struct tz_scaling {
    int count;
    tz_gain at[TZ_SCALING_MAX];
} tz_scaling;

/* Grids of the workload's shape are predicted, each twice as long along each axis as the one
 * before. A grid gains if the devices take a twentieth less time than fewer of them. Plans have the
 * family of `plan` and heights up to twice its height; no kernel is compiled. Grids without a
 * prediction count as those that do not gain. */
void tz_scaling_find(const tz_workload *workload, const tz_plan *plan, tz_scaling *out);

typedef struct tz_prediction_row {
    tz_plan plan; /* of a predictor that has no work of it: only family, height and tile */
    const tz_model_work *work; /* NULL: the model does not use it */
    tz_model_prediction prediction;
    double run_s; /* of the steps that were asked for; 0: none were, or the plan is higher */
} tz_prediction_row;

typedef struct tz_prediction_table {
    const tz_predictor *by;
    int count, best;             /* best: index of the fastest row; no rows: it has no times */
    tz_prediction_row *rows;     /* by height, then family, then time */
    int considered;              /* plans */
    double seconds;              /* to make the table, without compiling */
    char counts[256];            /* source of the instruction counts, or "" */
    char limits[200];            /* "memory-bound up to h = 4, then computation-bound" */
    char why[256];               /* limit of the best row */
    char choice[256];            /* if another row has a shorter time: why that is not the best */
    double alone_s;              /* several devices: an iteration on one at best; else 0 */
    double devices;              /* as many times faster they are, if exchanges cost nothing */
    tz_scaling scaling;          /* from which grid on more devices gain */
    tz_model_notes notes;        /* of the best row and of the stencil */
    tz_predictions *predictions; /* owner of the rows' work; may be NULL */
    void *own;                   /* of the predictor; NULL: it has nothing */
    tz_measured measured; /* the best row, by tz_prediction_table_measure(); no rounds: not */
} tz_prediction_table;

/* Errors: TZ_UNSUPPORTED (the record lacks a number, the backend cannot count work, or the model
 * lacks an option; the message names it and a remedy), TZ_RANGE. */
tz_status tz_prediction_table_create(tz_prediction_table **out, const tz_workload *workload,
                                     const tz_prediction_request *request, tz_error *error);
void tz_prediction_table_destroy(tz_prediction_table *table); /* NULL is fine */

/* Of several devices: the share of the time that exchanges take, and the speed of a device compared
 * with one that holds the grid alone. */
double tz_prediction_exchange_share(const tz_model_prediction *prediction);
double tz_prediction_efficiency(const tz_prediction_table *table, const tz_prediction_row *row);

/* The fastest row of a height, or NULL. */
const tz_prediction_row *tz_prediction_table_at(const tz_prediction_table *table, int height);

/* Why `best` is the best row although `fast` has a shorter time: power in long runs, an estimate,
 * or a height that is preferred on a CPU. */
void tz_prediction_choice_text(const tz_prediction_row *best, const tz_prediction_row *fast,
                               char *text, size_t size);

/* Runs what the best row describes on GPU number `ordinal` of this machine. Errors: TZ_UNSUPPORTED
 * (tune measures this predictor's plans; the device is not in this machine), those of the
 * backend. */
tz_status tz_prediction_table_measure(tz_prediction_table *table, const tz_workload *workload,
                                      int ordinal, tz_error *error);
/* The smaller of the measured and the predicted time over the larger. */
double tz_prediction_accuracy(const tz_prediction_table *table);

#endif
