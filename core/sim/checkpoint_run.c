/* Where a run is, in a checkpoint. */
#include "sim/checkpoint.h"

#include "base/json_values.h"

#define STEPS_MAX (INT64_C(1) << 53)
enum { SAMPLE_MAX = 1 << 24 };

static const tz_json_member members[] = {
    TZ_JSON_INTEGER_MEMBER(tz_course, phase, "phase", 0, TZ_RUN_AT_TRIAL),
    TZ_JSON_INTEGER_MEMBER(tz_course, start, "start", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, end, "end", -1, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, stop, "stop", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_course, is_check, "is_check"),
    TZ_JSON_INTEGER_MEMBER(tz_course, firing, "firing", -1, INT32_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.start, "checks_start", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.every, "checks_every", 0, INT64_MAX / 4),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.count, "checks_count", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.least_count, "checks_least_count", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, checks.least_step, "checks_least_step", 0, STEPS_MAX),
    TZ_JSON_MEMBER(tz_course, checks.largest, "checks_largest"),
    TZ_JSON_MEMBER(tz_course, checks.sum, "checks_sum"),
    TZ_JSON_MEMBER(tz_course, checks.last.largest, "last_largest"),
    TZ_JSON_MEMBER(tz_course, checks.last.sum, "last_sum"),
    TZ_JSON_MEMBER(tz_course, checks.last.magnitude, "last_magnitude"),
    TZ_JSON_INTEGER_MEMBER(tz_course, sample_count, "sample_count", 0, SAMPLE_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, sampled_at, "sampled_at", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, result.steps, "steps", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, result.stages, "stages", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_course, result.status, "status", 0, TZ_RUN_INCONSISTENT),
    TZ_JSON_MEMBER(tz_course, result.seconds, "seconds"),
    TZ_JSON_MEMBER(tz_course, result.residual, "residual"),
    TZ_JSON_MEMBER(tz_course, result.update, "update")};
enum { MEMBERS = sizeof members / sizeof *members };

json_t *tz_course_to_json(const tz_course *course)
{
    json_t *object = json_object();
    bool failed = !object;
    tz_json_put_members(object, members, MEMBERS, course, &failed);
    if (!course->sample)
        tz_json_put_integer(object, "sample_count", 0, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

tz_status tz_course_from_json(const json_t *object, const tz_run *wanted, tz_course *out,
                              tz_error *error)
{
    bool failed = !json_is_object(object);
    *out = (tz_course){.wanted = *wanted};
    tz_json_get_members(object, members, MEMBERS, out, &failed);
    return failed ? tz_error_set(error, TZ_FORMAT, NULL, "the checkpoint's run is damaged") : TZ_OK;
}
