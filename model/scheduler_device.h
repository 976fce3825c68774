/* From a device record to the numbers of its schedulers. */
#ifndef TZ_MODEL_SCHEDULER_DEVICE_H
#define TZ_MODEL_SCHEDULER_DEVICE_H

#include "model/device.h"
#include "model/scheduler/scheduler.h"

/* Rates and latencies of the record, and the fitted numbers of constants.h. TZ_UNSUPPORTED, with
 * the key, for a record that lacks a number. */
tz_status tz_scheduler_of(const tz_model_device *device, tz_scheduler *out, tz_error *error);

#endif
