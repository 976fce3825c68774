/* Outlooks: what a model says of every height of a study, whichever model it is, and why. */
#ifndef TZ_CORE_PREDICT_PREDICTION_TABLE_H
#define TZ_CORE_PREDICT_PREDICTION_TABLE_H

#include "predict/predictions.h"
#include "predict/workload.h"

typedef struct tz_prediction_request {
    const tz_model *model; /* NULL: the best that the device's record has the numbers for */
    tz_plan given;         /* zeros: everything worth considering */
    tz_effort effort;      /* of "roofs" */
    bool all;              /* every candidate, not only the best of each family and height */
    /* Elements; 0: chosen. Of the papers' models with its ghost zone (the paper's own, else the
     * largest); of "roofs" the plan's tile. */
    double block[TZ_MODEL_AXES];
    /* Of the papers' models alone. */
    double halo[TZ_MODEL_AXES]; /* elements, both sides together; 0: the stencil's */
    double streamed;            /* streamed fields; negative: the stencil's */
    bool fence;                 /* stages meet inside a launch */
} tz_prediction_request;

typedef struct tz_prediction_row {
    tz_plan plan;              /* of the papers' models: family "tile", height and block alone */
    const tz_model_work *work; /* NULL: the model looks at none */
    tz_model_prediction prediction;
} tz_prediction_row;

typedef struct tz_prediction_table {
    const tz_model *model;
    int count, best;             /* best: index of the fastest row */
    tz_prediction_row *rows;     /* by height, then family, then time */
    int considered;              /* plans */
    double seconds;              /* that it took, without compiling */
    char counts[256];            /* where instruction counts are from; "" */
    char limits[200];            /* "memory-bound up to h = 4, then computation-bound" */
    char why[256];               /* of the best */
    tz_model_notes notes;        /* of the best row and of the stencil */
    tz_predictions *predictions; /* NULL, or what the rows' work belongs to */
} tz_prediction_table;

/* Errors: TZ_UNSUPPORTED (the record lacks a number, the backend cannot tell, the model has no such
 * option: the message names it and what would do), TZ_RANGE. */
tz_status tz_prediction_table_create(tz_prediction_table **out, const tz_workload *workload,
                                     const tz_prediction_request *request, tz_error *error);
void tz_prediction_table_destroy(tz_prediction_table *table); /* NULL is fine */

/* The fastest row of a height, or NULL. */
const tz_prediction_row *tz_prediction_table_at(const tz_prediction_table *table, int height);

/* ---- For the papers' models: facts.c --------------------------------------------------------- */

/* A study as facts, and the block (plan->block). `counts` says where the instruction counts are
 * from: the paper's record of its benchmark of that name, else the study's tile kernel as compiled.
 * TZ_UNSUPPORTED: there is neither. */
tz_status tz_facts_of_workload(const tz_workload *workload, const tz_prediction_request *request,
                               tz_model_facts *facts, tz_model_plan *plan, char *counts,
                               size_t size, tz_error *error);

/* The paper's record of a benchmark; TZ_UNKNOWN (without a message) where it has none. */
tz_status tz_facts_benchmark(const char *name, tz_model_benchmark *out, tz_error *error);

#endif
