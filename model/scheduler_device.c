/* Fills the numbers of the scheduler simulator from a device record. Called by
 * core/backend/cuda/family. */
#include "model/scheduler_device.h"

#include "model/constants.h"
#include "model/model.h"

#include <math.h>

enum { SCHEDULERS = 4, WARP = 32 };
/* Warps of the block whose barrier calibration measures. */
enum { BARRIER_WARPS = 512 / WARP };

static const char *const needs[] = {"clock",
                                    "registers_per_sm",
                                    "register_unit",
                                    "threads_per_sm_max",
                                    "fp32_rate",
                                    "fp64_rate",
                                    "alu_rate",
                                    "multiply_rate",
                                    "special_rate",
                                    "shuffle_rate",
                                    "shared_rate",
                                    "shuffle_latency",
                                    "shared_latency",
                                    "barrier",
                                    NULL};

tz_status tz_scheduler_of(const tz_model_device *d, tz_scheduler *out, tz_error *error)
{
    const tz_status status = tz_model_device_check(d, "of schedulers", needs, NULL, error);
    if (status)
        return status;
    const double clock = d->clock_hz.value;
    const double text_bytes = d->text_cache_bytes.known ? d->text_cache_bytes.value : INFINITY;
    const double queue_slots = tz_model_device_value(d, &d->queue_slots);
    *out = (tz_scheduler){
        .half = 2.0 * SCHEDULERS / d->fp32_rate.value,
        .multiply = SCHEDULERS / d->multiply_rate.value,
        .logic = SCHEDULERS / d->alu_rate.value,
        .fp64 = SCHEDULERS / d->fp64_rate.value,
        .special = SCHEDULERS / d->special_rate.value,
        .shuffle = 1.0 / d->shuffle_rate.value,
        .pass = 1.0 / d->shared_rate.value,
        .shuffle_wait = d->shuffle_latency_s.value * clock,
        .shared_wait = d->shared_latency_s.value * clock,
        .local_wait = TZ_FIT_LOCAL_LATENCY * d->shared_latency_s.value * clock,
        /* In the measured block the warps reach the barrier one after the other. */
        .barrier_wait =
            fmax(0.0, d->barrier_s.value * clock - queue_slots * BARRIER_WARPS / SCHEDULERS),
        .result_wait = tz_model_device_value(d, &d->result_clocks),
        .operand_wait = tz_model_device_value(d, &d->operand_clocks),
        .queue_depth = tz_model_device_value(d, &d->queue_depth),
        .queue_wait = tz_model_device_value(d, &d->queue_clocks),
        .queue_slots = queue_slots,
        .dispatch = TZ_FIT_DISPATCH_CLOCKS,
        .near_text = {TZ_FIT_NEAR_TEXT_SHARE * tz_model_device_value(d, &d->near_text_bytes),
                      TZ_FIT_NEAR_TEXT_SOFT, TZ_FIT_NEAR_TEXT_CLOCKS},
        .far_text = {TZ_FIT_FAR_TEXT_SHARE * text_bytes, TZ_FIT_FAR_TEXT_SOFT,
                     TZ_FIT_FAR_TEXT_CLOCKS},
        .slots = floor(d->threads_per_sm_max.value / WARP),
        .registers = d->registers_per_sm.value,
        .register_unit = d->register_unit.value,
    };
    return TZ_OK;
}
