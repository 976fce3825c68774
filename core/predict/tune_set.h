/* Tuning of thread blocks: the shapes of the model tabik2015 as plans of the family block, and how good
 * the set is that the model chooses. */
#ifndef TZ_CORE_PREDICT_TUNE_SET_H
#define TZ_CORE_PREDICT_TUNE_SET_H

#include "predict/thread_blocks.h"
#include "predict/tune.h"

/* The plans of all shapes of a space, with the knobs of `given`; *plans is malloc'd. Shapes that the
 * family refuses are left out. Errors: TZ_UNSUPPORTED (`given` fixes what the model lists), that of the
 * first shape if none is left. */
tz_status tz_tune_set_plans(const tz_workload *workload, const tz_thread_blocks *blocks,
                            const tz_plan *given, tz_plan **plans, int *count, tz_error *error);

/* Mark the rows whose shapes are chosen, and compare measured times. */
void tz_tune_set_conclude(tz_tune *tune, const tz_thread_blocks *blocks);

#endif
