/* Prediction tables: the predictions of any model for a workload, by height, with their reasons. */
#ifndef TZ_CORE_PREDICT_PREDICTION_TABLE_H
#define TZ_CORE_PREDICT_PREDICTION_TABLE_H

#include "backend/cuda/ptx/plain.h"
#include "predict/measure.h"
#include "predict/predictions.h"
#include "predict/scaling.h"
#include "predict/workload.h"

#define TZ_TRIPS 1

typedef struct tz_prediction_request {
    const tz_model *model; /* NULL: the best one whose numbers the device's record has */
    tz_plan given;         /* zeros: all candidates */
    tz_effort effort;      /* for "roofs" */
    bool all;              /* every candidate, not only the best of each family and height */
    /* Elements; 0: chosen. For the papers' models the block with its ghost zone (chosen: the
     * paper's own, else the largest); for "roofs" the plan's tile. */
    double block[TZ_MODEL_AXES];
    /* For the papers' models only. */
    double halo[TZ_MODEL_AXES]; /* elements, both sides together; 0: the stencil's */
    double streamed;            /* streamed fields; negative: the stencil's */
    double bank_conflicts;      /* for each warp instruction; 0: the stencil's, if it is known */
    bool fence;                 /* stages are separated by a grid synchronisation, not a launch */
    /* For luo2011 only. */
    bool as_printed; /* eq. 2 as the paper prints it */
    int trips;       /* turns of loops whose end depends on data; 0: TZ_TRIPS */
} tz_prediction_request;

/* What luo2011 makes of the kernels of an iteration, one a pass. */
typedef struct tz_prediction_plain {
    tz_cuda_plain plain;
    tz_luo2011_result results[TZ_PASSES_MAX];
    double clock_hz;
    tz_measured measured; /* no rounds: not measured */
} tz_prediction_plain;

typedef struct tz_prediction_row {
    tz_plan plan;              /* the papers' models set only family ("tile"), height and tile */
    const tz_model_work *work; /* NULL: the model does not use it */
    tz_model_prediction prediction;
} tz_prediction_row;

typedef struct tz_prediction_table {
    const tz_model *model;
    int count, best;             /* best: index of the fastest row */
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
    tz_prediction_plain *plain;  /* of luo2011; else NULL */
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

/* ---- For the papers' models: facts.c --------------------------------------------------------- */

/* A workload as facts for the papers' models, with its block in plan->block. Instruction counts are
 * those of the paper's benchmark with the stencil's name, else those of the compiled tile kernel;
 * `counts` says which. TZ_UNSUPPORTED: neither exists. */
void tz_facts_describe(const tz_workload *workload, tz_model_facts *facts); /* without counts */
tz_status tz_facts_of_workload(const tz_workload *workload, const tz_prediction_request *request,
                               tz_model_facts *facts, tz_model_plan *plan, char *counts,
                               size_t size, tz_error *error);

/* ---- For luo2011: plain.c -------------------------------------------------------------------- */

/* The one row: the plain kernels of an iteration. `facts` and `plan` are those of the row. Errors:
 * TZ_UNSUPPORTED (an option that the model lacks, no NVRTC), TZ_RANGE (the block, the grid). */
tz_status tz_plain_predict(const tz_workload *workload, const tz_prediction_request *request,
                           tz_prediction_plain **out, tz_prediction_row *row, char *counts,
                           size_t size, tz_error *error);
/* Runs the kernels of the row on GPU number `ordinal` of this machine: table->plain->measured. Errors:
 * TZ_UNSUPPORTED (another model; the device is not in this machine), those of the backend. */
tz_status tz_plain_measure(tz_prediction_table *table, const tz_workload *workload, int ordinal,
                           tz_error *error);
void tz_prediction_plain_destroy(tz_prediction_plain *plain); /* NULL is fine */

#endif
