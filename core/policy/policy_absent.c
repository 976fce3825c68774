/* Until forecasts and device records are there: TO BE REMOVED when they are merged. */
#include "policy/device.h"
#include "policy/forecast.h"

tz_status tz_device_of_cpu(tz_model_device *out, tz_error *error)
{
    (void)out;
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "no device records yet");
}
tz_status tz_device_of_gpu(int ordinal, tz_model_device *out, tz_error *error)
{
    (void)ordinal;
    (void)out;
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "no device records yet");
}
tz_status tz_forecast_create(tz_forecast **out, const tz_problem *problem,
                             const tz_backend *backend, const tz_place *place, const tz_plan *given,
                             tz_effort effort, tz_error *error)
{
    (void)out;
    (void)problem;
    (void)backend;
    (void)place;
    (void)given;
    (void)effort;
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "no forecasts yet");
}
void tz_forecast_destroy(tz_forecast *forecast)
{
    (void)forecast;
}
