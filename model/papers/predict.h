/* What the papers' predictors make of a workload, for their files and tests. */
#ifndef TZ_MODEL_PAPERS_PREDICT_H
#define TZ_MODEL_PAPERS_PREDICT_H

#include "model/papers/plain.h"
#include "model/papers/tabik2015.h"
#include "predict/prediction_table.h"

/* ---- meng_predict.c -------------------------------------------------------------------------- */

/* A workload as facts for the papers' models, with its block in plan->block. Instruction counts are
 * those of the paper's benchmark with the stencil's name, else those of the compiled tile kernel;
 * `counts` says which. TZ_UNSUPPORTED: neither exists. */
void tz_facts_describe(const tz_workload *workload, tz_model_facts *facts); /* without counts */
tz_status tz_facts_of_workload(const tz_workload *workload, const tz_prediction_request *request,
                               tz_model_facts *facts, tz_model_plan *plan, char *counts,
                               size_t size, tz_error *error);

/* ---- luo2011_predict.c ----------------------------------------------------------------------- */

/* tz_prediction_table.own: the kernels of an iteration, one a pass, and what luo2011 makes of
 * them. */
typedef struct tz_prediction_plain {
    tz_cuda_plain plain;
    tz_luo2011_result results[TZ_PASSES_MAX];
} tz_prediction_plain;

/* ---- tabik2015_predict.c --------------------------------------------------------------------- */

/* One pass, as the kernel of the paper would run it. */
typedef struct tz_thread_blocks_pass {
    const char *name; /* of the pass; borrowed from the stencil */
    tz_tabik_kernel kernel;
    tz_tabik_space space;
} tz_thread_blocks_pass;

/* tz_prediction_table.own. */
typedef struct tz_thread_blocks {
    tz_tabik_gpu gpu;
    int count;
    tz_thread_blocks_pass passes[TZ_PASSES_MAX];
    tz_model_notes notes;
} tz_thread_blocks;

/* What a pass reads is seen by calling its cell function: its fields and how far, in the plane of x
 * and y. Free *out with free(). Errors: TZ_UNSUPPORTED (a CPU, several devices, a record without a
 * number that the model needs), TZ_RANGE (no block fits), those of tz_probe_cell(). */
tz_status tz_thread_blocks_create(tz_thread_blocks **out, const tz_workload *workload,
                                  tz_error *error);

/* A PNG file: for each pass four tables of colours, one for each number, with block widths across
 * and heights down. Yellow is good; chosen shapes have a frame. TZ_IO, TZ_RANGE, TZ_MEMORY. */
tz_status tz_thread_blocks_plot(const tz_prediction_table *table, const tz_workload *workload,
                                const char *path, tz_error *error);

#endif
