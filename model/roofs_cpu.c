#include "model/roofs.h"

tz_model_status tz_roofs_predict_cpu(const tz_model_work *work, const tz_model_device *device,
                                     tz_model_prediction *out, tz_model_error *error)
{
    (void)work;
    (void)out;
    return tz_model_error_set(error, TZ_MODEL_MISSING, device->name,
                              "the model roofs knows GPUs alone so far");
}
