/* What the adaptive policy has learnt, in a checkpoint. A trial that was under way is begun again. */
#include "base/json_values.h"
#include "policy/adaptive_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t STEPS_MAX = INT64_C(1) << 53;

static json_t *rung_to_json(const rung *r, bool *failed)
{
    json_t *object = tz__policy_plan_to_json(&r->plan, failed);
    tz_json_put_double(object, "predicted", r->predicted, failed);
    tz_json_put(object, "estimated", json_boolean(r->estimated), failed);
    tz_json_put_double(object, "set_up_s", r->set_up_s, failed);
    tz_json_put_double(object, "seconds_per_iteration", r->time, failed);
    tz_json_put(object, "measured", json_boolean(r->measured), failed);
    tz_json_put_integer(object, "looks", r->looks, failed);
    tz_json_put_text(object, "note", r->note, failed);
    return object;
}

json_t *tz__adaptive_save(const tz_policy *policy)
{
    const adaptive *a = policy->state;
    json_t *object = json_object(), *rungs = json_array();
    bool failed = !object;
    for (int i = 0; i < a->count; i++)
        failed |= json_array_append_new(rungs, rung_to_json(&a->rungs[i], &failed)) != 0;
    tz_json_put(object, "rungs", rungs, &failed);
    tz_json_put_integer(object, "start", a->start, &failed);
    tz_json_put_integer(object, "base", a->base, &failed);
    tz_json_put_integer(object, "stride", a->stride, &failed);
    tz_json_put_integer(object, "direction", a->direction, &failed);
    tz_json_put_integer(object, "base_groups", a->base_groups, &failed);
    tz_json_put_integer(object, "tried", a->tried, &failed);
    tz_json_put(object, "budgeted", json_boolean(a->budgeted), &failed);
    tz_json_put(object, "settled", json_boolean(a->settled), &failed);
    tz_json_put_integer(object, "patience", a->patience, &failed);
    tz_json_put_double(object, "elapsed", a->elapsed, &failed);
    tz_json_put_double(object, "lost", a->lost, &failed);
    tz_json_put_double(object, "check_s", a->check_s, &failed);
    tz_json_put_double(object, "settled_time", a->settled_time, &failed);
    tz_json_put_integer(object, "settled_step", a->settled_step, &failed);
    tz_json_put_integer(object, "seen_step", a->seen_step, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static void rung_from_json(const tz_policy *policy, const json_t *object, rung *out, bool *failed)
{
    *out = (rung){.predicted = tz_json_get_double(object, "predicted", failed),
                  .estimated = tz_json_get_flag(object, "estimated", failed),
                  .set_up_s = tz_json_get_double(object, "set_up_s", failed),
                  .time = tz_json_get_double(object, "seconds_per_iteration", failed),
                  .measured = tz_json_get_flag(object, "measured", failed),
                  .looks = (int)tz_json_get_integer(object, "looks", 0, INT32_MAX, failed)};
    tz__policy_plan_from_json(policy, object, &out->plan, failed);
    snprintf(out->note, sizeof out->note, "%s", tz_json_get_text(object, "note", failed));
}

bool tz__adaptive_load(tz_policy *policy, const json_t *object)
{
    adaptive *a = policy->state, b = *a;
    const json_t *list = json_object_get(object, "rungs");
    const int64_t count = (int64_t)json_array_size(list);
    bool failed = count < 1 || count > TZ_PLAN_HEIGHT_MAX;
    b.count = (int)count;
    b.start = (int)tz_json_get_integer(object, "start", 0, count - 1, &failed);
    b.base = (int)tz_json_get_integer(object, "base", 0, count - 1, &failed);
    b.stride = (int)tz_json_get_integer(object, "stride", 0, TZ_PLAN_HEIGHT_MAX, &failed);
    b.direction = (int)tz_json_get_integer(object, "direction", -1, 1, &failed);
    b.base_groups = (int)tz_json_get_integer(object, "base_groups", 0, INT32_MAX - 1, &failed);
    b.tried = (int)tz_json_get_integer(object, "tried", 0, INT32_MAX - 1, &failed);
    b.budgeted = tz_json_get_flag(object, "budgeted", &failed);
    b.settled = tz_json_get_flag(object, "settled", &failed);
    b.patience = (int)tz_json_get_integer(object, "patience", 0, 1 << 20, &failed);
    b.elapsed = tz_json_get_double(object, "elapsed", &failed);
    b.lost = tz_json_get_double(object, "lost", &failed);
    b.check_s = tz_json_get_double(object, "check_s", &failed);
    b.settled_time = tz_json_get_double(object, "settled_time", &failed);
    b.settled_step = tz_json_get_integer(object, "settled_step", 0, STEPS_MAX, &failed);
    b.seen_step = tz_json_get_integer(object, "seen_step", -1, STEPS_MAX, &failed);
    b.probe = b.confirm = -1;
    b.timing = b.due = false;
    b.short_stretches = 0;
    b.rungs = failed ? NULL : calloc((size_t)count, sizeof *b.rungs);
    failed = failed || !b.rungs;
    for (int i = 0; !failed && i < b.count; i++)
        rung_from_json(policy, json_array_get(list, (size_t)i), &b.rungs[i], &failed);
    if (failed) {
        free(b.rungs);
        return false;
    }
    free(a->rungs);
    *a = b;
    return true;
}
