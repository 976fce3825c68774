/* Which thread blocks are worth trying for each pass of a stencil, by the model tabik2015. */
#ifndef TZ_CORE_PREDICT_THREAD_BLOCKS_H
#define TZ_CORE_PREDICT_THREAD_BLOCKS_H

#include "model/model.h"
#include "model/tabik2015.h"
#include "predict/prediction_table.h"

#define TZ_THREAD_BLOCKS_MODEL "tabik2015"

/* One pass, as the kernel of the paper would run it. */
typedef struct tz_thread_blocks_pass {
    const char *name; /* of the pass; borrowed from the stencil */
    tz_tabik_kernel kernel;
    tz_tabik_space space;
} tz_thread_blocks_pass;

/* TZ_UNKNOWN, unless `name` is that of this model: the message names it. */
tz_status tz_thread_blocks_check_name(const char *name, tz_error *error);

/* The first option of a request that the model has no use for, as on the command line; NULL: none. */
const char *tz_thread_blocks_excess(const tz_prediction_request *request);

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

#endif
