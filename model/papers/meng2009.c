/* The model of 2009: the numbers that it needs, its alpha and tau, and the equations of meng.c.
 * meng_predict.c registers it as the predictor meng2009. */
#include "model/papers/meng2009.h"

static const char *const needs[] = {
    "clock", "sm_count", "warp_size",        "coalesce_width", "blocks_per_sm",
    "cpi",   "launch",   "memory_bandwidth", "memory_latency", "memory_prefetch_depth",
    NULL};

tz_status tz_model_meng2009_fill(const tz_model_facts *facts, const tz_model_device *device,
                                 const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                                 tz_error *error)
{
    tz_status status = tz_model_device_check(device, "meng2009", needs, notes, error);
    if (status == TZ_OK && plan->sync != TZ_MODEL_SYNC_LAUNCH)
        status = tz_error_set(error, TZ_RANGE, facts->name,
                              "meng2009 knows no synchronisation but a new launch; "
                              "meng2011 knows fences");
    if (status == TZ_OK)
        status = tz_model_meng_fill(facts, device, plan, m, notes, error);
    if (status != TZ_OK)
        return status;
    m->alpha = facts->dims / device->memory_prefetch_depth.value;
    m->tau = 1;
    m->glb_sync_cycles = device->launch_s.value * m->clock_rate_hz;
    return TZ_OK;
}

static tz_status height_max(const tz_model_facts *facts, const tz_model_device *device,
                            const tz_model_plan *plan, int *height, tz_error *error)
{
    tz_model_meng m;
    const tz_status status = tz_model_meng2009_fill(facts, device, plan, &m, NULL, error);
    if (status == TZ_OK)
        *height = tz_model_meng_height_max(&m);
    return status;
}

static tz_status predict(const tz_model_facts *facts, const tz_model_device *device,
                         const tz_model_plan *plan, tz_model_prediction *out, tz_error *error)
{
    tz_model_meng m;
    const tz_status status = tz_model_meng2009_fill(facts, device, plan, &m, &out->notes, error);
    if (status == TZ_OK)
        tz_model_meng_report(&m, facts, plan->height, out);
    return status;
}

const tz_equations tz_model_meng2009 = {
    .model = {.name = "meng2009",
              .doc = "trapezoids in shared memory on GPUs without caches",
              .source = "Meng and Skadron, ICS 2009, equations 1 to 24",
              .needs = needs},
    .height_max = height_max,
    .predict = predict,
};
