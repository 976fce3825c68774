/* The inside of predictions, for their test: another function can take the model's place. */
#ifndef TZ_CORE_PREDICT_PREDICTIONS_IMPL_H
#define TZ_CORE_PREDICT_PREDICTIONS_IMPL_H

#include "predict/predictions.h"

typedef tz_status tz__predict_fn(const tz_model_work *work, const tz_model_device *device,
                                 tz_model_prediction *prediction, tz_error *error);

/* tz_predictions_create() with another model. After `budget_s` seconds no compilation begins, if
 * one kernel is compiled. */
tz_status tz__predictions_create_by(tz_predictions **out, tz__predict_fn *predict,
                                    const tz_problem *problem, const tz_backend *backend,
                                    const tz_place *place, const tz_plan *given, tz_effort effort,
                                    double budget_s, tz_error *error);

/* TZ_INTERRUPTED if place->stopped() says so. */
tz_status tz__check_stopped(const tz_place *place, tz_error *error);

/* A plan to compile, and the outcome. */
typedef struct tz__compile_job {
    const tz_plan *plan;
    tz_model_work work;
    tz_status status;
    tz_error error;
} tz__compile_job;

enum { TZ__COMPILE_THREADS_MAX = 16 };

/* Do all jobs, in their order, with `threads` threads including the calling one. */
void tz__compile_plans(const tz_backend *backend, const tz_problem *problem, const tz_place *place,
                       tz__compile_job *jobs, int count, int threads);

#endif
