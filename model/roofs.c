#include "model/roofs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tz_model_status tz_roofs_predict(const tz_model_work *work, const tz_model_device *device,
                                 tz_model_prediction *out, tz_model_error *error)
{
    memset(out, 0, sizeof *out);
    out->model = "roofs";
    if (work->height < 1 || !(work->cells > 0) || work->parts_count < 1 ||
        work->parts_count > TZ_WORK_PARTS_MAX)
        return tz_model_error_set(error, TZ_MODEL_RANGE, device->name,
                                  "there is no work to predict: %d iterations of %g cells",
                                  work->height, work->cells);
    out->height = out->height_max = work->height;
    if (work->kind == TZ_WORK_CPU)
        return tz_roofs_predict_cpu(work, device, out, error);
    return tz_model_error_set(error, TZ_MODEL_UNKNOWN, device->name,
                              "roofs knows no such kind of device");
}
