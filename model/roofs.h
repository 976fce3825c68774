/* roofs: the time of any plan from what its compiled kernel does (work.h) and what the device can
 * do (record.h). One function a kind of device; both are pure.
 *
 * On a CPU, roofs_cpu.c, in the spirit of the execution-cache-memory model (Treibig and Hager 2009;
 * Stengel, Treibig, Hager, Wellein, ICS 2015, section 2): see there for the rule. */
#ifndef TZ_MODEL_ROOFS_H
#define TZ_MODEL_ROOFS_H

#include "model/model.h"
#include "model/work.h"

/* Fills everything of the prediction. TZ_MODEL_MISSING names a number that the record lacks or says
 * that the work is of another kind of device; TZ_MODEL_RANGE: work that makes no sense. */
tz_model_status tz_roofs_predict(const tz_model_work *work, const tz_model_device *device,
                                 tz_model_prediction *out, tz_model_error *error);

/* For tz_roofs_predict(): work of that kind, `out` cleared. */
tz_model_status tz_roofs_predict_cpu(const tz_model_work *work, const tz_model_device *device,
                                     tz_model_prediction *out, tz_model_error *error);

#endif
