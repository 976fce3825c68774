/* Entry of the model roofs: calls the part for GPUs or CPUs, then adds exchanges and power. Called
 * by core/predict and core/backend/slabs. */
#include "model/roofs.h"

#include "model/power.h"

#include <stdio.h>
#include <string.h>

/* What devices side by side add to a stage of the slowest of them. */
static void add_exchange(const tz_model_work *work, tz_model_prediction *out)
{
    const tz_exchanges *exchange = &work->exchange;
    if (exchange->devices < 2)
        return;
    const double more_s = tz_exchange_stage_s(exchange, work->height, out->stage_s);
    tz_model_component_add(out, TZ_MODEL_SYNCHRONISATION, "exchange", more_s / work->height,
                           "devices exchange ghost zones and wait for each other");
    tz_model_detail_add(out, "exchange_once", tz_exchange_s(exchange, out->stage_s), "s",
                        "that one exchange adds");
    tz_model_detail_add(out, "exchange_bytes", exchange->bytes, "B",
                        "that a device receives in an exchange");
    out->stage_s += more_s;
    if (2 * more_s > out->stage_s) {
        out->limit = TZ_MODEL_SYNCHRONISATION;
        snprintf(out->limit_text, sizeof out->limit_text, "exchange: %.0f %% of the time",
                 100 * more_s / out->stage_s);
    }
}

tz_status tz_roofs_predict(const tz_model_work *work, const tz_model_device *device,
                           tz_model_prediction *out, tz_error *error)
{
    memset(out, 0, sizeof *out);
    out->model = "roofs";
    if (work->height < 1 || !(work->cells > 0))
        return tz_error_set(error, TZ_RANGE, device->name,
                            "height %d and %g cells are no work to predict", work->height,
                            work->cells);
    const tz_status status = work->kind == TZ_WORK_CPU
                                 ? tz_roofs_predict_cpu(work, device, out, error)
                                 : tz_roofs_predict_gpu(work, device, out, error);
    if (status != TZ_OK)
        return status;
    add_exchange(work, out);
    out->height = out->height_max = work->height;
    out->time_s = out->stage_s / work->height;
    out->cells_per_s =
        (work->exchange.devices > 1 ? work->exchange.cells : work->cells) / out->stage_s;
    if (work->kind == TZ_WORK_GPU) /* parts add up there; on a CPU they hide behind each other */
        tz_model_limit_find(out);
    tz_power_predict(work, device, out);
    return TZ_OK;
}

static const char *const needs[] = {"clock", NULL};

const tz_model tz_model_roofs = {
    .name = "roofs",
    .doc = "counted kernels or measured rows against what a GPU or CPU with caches can do",
    .source = "this project",
    .needs = needs,
};
