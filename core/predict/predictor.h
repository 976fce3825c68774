/* Predictors: a model, and how `predict` and `tune` ask it. core/papers.c has the table of them. */
#ifndef TZ_CORE_PREDICT_PREDICTOR_H
#define TZ_CORE_PREDICT_PREDICTOR_H

#include "model/model.h"
#include "predict/workload.h"

#include <stdio.h>

struct json_t;
struct tz_prediction_table;
struct tz_predictor;
struct tz_predictions_watch;

/* ---- Options --------------------------------------------------------------------------------- */

enum { TZ_PREDICTOR_OPTIONS_MAX = 8 };

typedef enum tz_predictor_value {
    TZ_PREDICTOR_FLAG,
    TZ_PREDICTOR_INTEGER,
    TZ_PREDICTOR_NUMBER,
    TZ_PREDICTOR_EXTENTS /* one to three numbers */
} tz_predictor_value;

/* An option of predict that only some predictors take. */
typedef struct tz_predictor_option {
    const char *name; /* the key of tz.predict; --name on the command line, with hyphens */
    tz_predictor_value value;
    double least, most; /* of numbers */
    const char *needs;  /* for messages: "a number from 0 to 64" */
    const char *help;   /* lines of --help; NULL: not on the command line */
    /* why a predictor without it refuses it: what follows its name; NULL: it is ignored */
    const char *refusal;
} tz_predictor_option;

/* All of them; the last row has no name. A request numbers its options by this table. */
extern const tz_predictor_option tz_predictor_options[];

typedef struct tz_prediction_request {
    const struct tz_predictor *by; /* NULL: the first that has its numbers, of those with times */
    tz_plan given;                 /* zeros: all candidates */
    bool quick;                    /* estimates: no more kernels are compiled than these need */
    bool compile;                  /* every kernel */
    const struct tz_predictions_watch *watch; /* NULL: none */
    bool all; /* every candidate, not only the best of each family and height */
    /* Of the run, for which the best plan is chosen: its last stage is shorter; 0: a long run. */
    int64_t steps;
    /* Elements; 0: chosen. The plan's tile; of a predictor that describes blocks with their ghost
     * zone, that block. */
    double block[TZ_MODEL_AXES];
    unsigned options; /* bit i: tz_predictor_options[i] is given; its value is in value[i] */
    double value[TZ_PREDICTOR_OPTIONS_MAX][TZ_MODEL_AXES];
} tz_prediction_request;

void tz_prediction_option_set(tz_prediction_request *request, int option, const double *values,
                              int count);

/* ---- Predictors ------------------------------------------------------------------------------ */

/* For tune: the plans that a predictor lists, some of which it chooses. */
typedef struct tz_plan_list {
    tz_plan *plans; /* owned */
    bool *chosen;   /* owned: of each plan */
    int count;
    int listed, listed_chosen; /* by the predictor; those that the backend refuses are no plans */
} tz_plan_list;

typedef struct tz_predictor {
    const char *name;
    /* NULL: it predicts no times, and its answer is `write`, `json`, `plot` */
    const tz_model *model;
    const char *does; /* without a model: "lists thread blocks" */
    unsigned options; /* those that it takes: bits of a request */
    bool gpu_alone;   /* it describes one GPU: CPUs and several devices are refused */
    /* of its best row, if plans are no work of a backend: "height %d, …%s" */
    const char *best_text;
    /* TZ_UNSUPPORTED: no prediction is possible on this device. NULL: the model's needs decide. */
    tz_status (*check)(const tz_workload *workload, tz_error *error);
    /* Sets rows, count, best, considered, seconds, counts; notes and `own` if it has any. */
    tz_status (*make)(struct tz_prediction_table *table, const tz_workload *workload,
                      const tz_prediction_request *request, tz_error *error);
    void (*clear)(void *own);
    /* Runs what the best row describes on GPU number `ordinal` of this machine, and sets
     * table->measured. NULL: tune measures its plans. */
    tz_status (*measure)(struct tz_prediction_table *table, const tz_workload *workload,
                         int ordinal, tz_error *error);
    /* `own` as lines of text, as members of a JSON object, as rows of CSV after the columns of the
     * workload (*line is false after the last), as a picture. Each may be NULL. */
    void (*write)(const struct tz_prediction_table *table, const tz_workload *workload,
                  bool verbose, FILE *out);
    void (*json)(const struct tz_prediction_table *table, struct json_t *object);
    const char *csv_columns;
    bool (*csv)(const struct tz_prediction_table *table, int line, char *text, size_t size);
    tz_status (*plot)(const struct tz_prediction_table *table, const tz_workload *workload,
                      const char *path, tz_error *error);
    /* The plans of the first pass, with the knobs of `given`. NULL: tune has no use for it. */
    tz_status (*list)(const tz_workload *workload, const tz_plan *given, tz_plan_list *out,
                      tz_error *error);
    const char *tune_help; /* lines of --help of tune */
} tz_predictor;

/* All predictors, in the order in which they are listed; NULL-terminated. */
extern const tz_predictor *const tz_predictors[];
/* The predictor of policies: from compiled code. */
extern const tz_predictor tz_predictor_roofs;

/* By name. `for_tune`: only those that list plans. TZ_UNKNOWN names the nearest. */
tz_status tz_predictor_find(const char *name, bool for_tune, const tz_predictor **out,
                            tz_error *error);

/* The first part of a request that a predictor without a model has no use for, as a key of
 * tz.predict; NULL: none. */
const char *tz_predictor_excess(const tz_prediction_request *request);

/* The names of the predictors that `has` accepts, joined by `between`. */
void tz_predictor_names(bool (*has)(const tz_predictor *predictor), const char *between, char *text,
                        size_t size);
bool tz_predictor_measures(const tz_predictor *predictor);

/* A line on what this program was built without, for messages about unknown names: " (this program
 * was …)", or "". */
extern const char tz_predictors_left_out[];

void tz_plan_list_clear(tz_plan_list *list);

#endif
