/* Where a run is, in a checkpoint. */
#include "sim/checkpoint.h"

#include "base/json_values.h"
#include <stdlib.h>

static const int64_t STEPS_MAX = INT64_C(1) << 53;

enum { SAMPLE_MAX = 1 << 24 };

static void put_checks(json_t *object, const tz_checks *checks, bool *failed)
{
    const tz_named_integer integers[] = {{"checks_start", checks->start},
                                         {"checks_every", checks->every},
                                         {"checks_count", checks->count},
                                         {"checks_least_count", checks->least_count},
                                         {"checks_least_step", checks->least_step}};
    const tz_named_double doubles[] = {{"checks_largest", checks->largest},
                                       {"checks_sum", checks->sum},
                                       {"last_largest", checks->last.largest},
                                       {"last_sum", checks->last.sum},
                                       {"last_magnitude", checks->last.magnitude}};
    tz_json_put_integers(object, integers, sizeof integers / sizeof *integers, failed);
    tz_json_put_doubles(object, doubles, sizeof doubles / sizeof *doubles, failed);
}

json_t *tz_course_to_json(const tz_course *course)
{
    const tz_run_result *result = &course->result;
    json_t *object = json_object();
    bool failed = !object;
    tz_json_put_integer(object, "phase", course->phase, &failed);
    tz_json_put_integer(object, "start", course->start, &failed);
    tz_json_put_integer(object, "end", course->end, &failed);
    tz_json_put_integer(object, "stop", course->stop, &failed);
    tz_json_put(object, "is_check", json_boolean(course->is_check), &failed);
    tz_json_put_integer(object, "firing", course->firing, &failed);
    put_checks(object, &course->checks, &failed);
    tz_json_put_integer(object, "sample_count", course->sample ? (int64_t)course->sample_count : 0,
                        &failed);
    tz_json_put_integer(object, "sampled_at", course->sampled_at, &failed);
    tz_json_put_integer(object, "steps", result->steps, &failed);
    tz_json_put_integer(object, "stages", result->stages, &failed);
    tz_json_put_integer(object, "status", result->status, &failed);
    tz_json_put_double(object, "seconds", result->seconds, &failed);
    tz_json_put_double(object, "residual", result->residual, &failed);
    tz_json_put_double(object, "update", result->update, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static void get_checks(const json_t *object, tz_checks *checks, bool *failed)
{
    *checks = (tz_checks){
        .start = tz_json_get_integer(object, "checks_start", 0, STEPS_MAX, failed),
        .every = tz_json_get_integer(object, "checks_every", 0, INT64_MAX / 4, failed),
        .count = tz_json_get_integer(object, "checks_count", 0, STEPS_MAX, failed),
        .largest = tz_json_get_double(object, "checks_largest", failed),
        .sum = tz_json_get_double(object, "checks_sum", failed),
        .least_count = tz_json_get_integer(object, "checks_least_count", 0, STEPS_MAX, failed),
        .least_step = tz_json_get_integer(object, "checks_least_step", 0, STEPS_MAX, failed),
        .last = {.largest = tz_json_get_double(object, "last_largest", failed),
                 .sum = tz_json_get_double(object, "last_sum", failed),
                 .magnitude = tz_json_get_double(object, "last_magnitude", failed)}};
}

tz_status tz_course_from_json(const json_t *object, const tz_run *wanted, tz_course *out,
                              tz_error *error)
{
    bool failed = !json_is_object(object);
    *out = (tz_course){
        .wanted = *wanted,
        .phase = (tz_run_phase)tz_json_get_integer(object, "phase", 0, TZ_RUN_AT_TRIAL, &failed),
        .start = tz_json_get_integer(object, "start", 0, STEPS_MAX, &failed),
        .end = tz_json_get_integer(object, "end", -1, STEPS_MAX, &failed),
        .stop = tz_json_get_integer(object, "stop", 0, STEPS_MAX, &failed),
        .is_check = tz_json_get_flag(object, "is_check", &failed),
        .firing = tz_json_get_integer(object, "firing", -1, INT32_MAX, &failed),
        .sample_count = (size_t)tz_json_get_integer(object, "sample_count", 0, SAMPLE_MAX, &failed),
        .sampled_at = tz_json_get_integer(object, "sampled_at", 0, STEPS_MAX, &failed)};
    get_checks(object, &out->checks, &failed);
    out->result =
        (tz_run_result){.steps = tz_json_get_integer(object, "steps", 0, STEPS_MAX, &failed),
                        .stages = tz_json_get_integer(object, "stages", 0, STEPS_MAX, &failed),
                        .status = (tz_run_status)tz_json_get_integer(object, "status", 0,
                                                                     TZ_RUN_INCONSISTENT, &failed),
                        .seconds = tz_json_get_double(object, "seconds", &failed),
                        .residual = tz_json_get_double(object, "residual", &failed),
                        .update = tz_json_get_double(object, "update", &failed)};
    return failed ? tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's run is damaged") : TZ_OK;
}
