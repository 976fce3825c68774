/* Jumps (core/jump) against stepping: from how many steps on a jump is faster. */
#ifndef TZ_CORE_PREDICT_JUMP_H
#define TZ_CORE_PREDICT_JUMP_H

#include "backend/spectral.h"
#include "model/jump.h"
#include "predict/prediction_table.h"

typedef struct tz_jump_prediction {
    int64_t steps;
    bool affine;             /* there is a source: it is transformed, too */
    tz_model_jump_time jump; /* model/jump.h */
    double iteration_s;      /* of the best plan of the table */
    int64_t from;            /* so many steps take longer one by one */
    /* On this device, with random fields; rounds = 0: not measured. */
    int rounds;
    double measured_s, low_s, high_s; /* of a jump, after a first one; medians and both ends */
    double create_s;                  /* to find the operator and to make a library's plans: once */
    double measured_iteration_s;
    int64_t measured_from;
    tz_jump_facts facts;
} tz_jump_prediction;

/* `table`: of the workload, as stepping is predicted. Errors: TZ_UNSUPPORTED if the stencil cannot
 * be jumped, as far as that shows without fields; if the record lacks a number; on several
 * devices. */
tz_status tz_jump_predict(tz_jump_prediction *out, const tz_workload *workload,
                          const tz_prediction_table *table, int64_t steps, tz_error *error);

/* Measure the same jump, and the table's best plan. `ordinal` numbers the GPU. Errors:
 * TZ_UNSUPPORTED: the device is not here, or the stencil cannot be jumped; those of the backend. */
tz_status tz_jump_measure(tz_jump_prediction *prediction, const tz_workload *workload,
                          const tz_prediction_table *table, int ordinal, tz_error *error);

#endif
