/* From which grid on more devices gain. */
#ifndef TZ_CORE_PREDICT_SCALING_H
#define TZ_CORE_PREDICT_SCALING_H

#include "predict/workload.h"

enum { TZ_SCALING_MAX = 8 };

typedef struct tz_gain {
    int devices;             /* 2, 4, 8, ..., and all */
    int64_t extent[TZ_AXES]; /* the smallest grid that gains; zeros: none that was tried */
} tz_gain;

typedef struct tz_scaling {
    int count;
    tz_gain at[TZ_SCALING_MAX];
} tz_scaling;

/* Grids of the workload's shape are predicted, each twice as long along each axis as the one before.
 * A grid gains if the devices take a twentieth less time than fewer of them. Plans have the family
 * of `plan` and heights up to twice its height; no kernel is compiled. Grids without a prediction
 * count as those that do not gain. */
void tz_scaling_find(const tz_workload *workload, const tz_plan *plan, tz_scaling *out);

#endif
