/* What a policy has learnt, in a checkpoint. */
#include "base/json_values.h"
#include "policy/policy_impl.h"
#include <stdio.h>
#include <string.h>

enum { KEY_SIZE = 3072 };

static const int64_t STEPS_MAX = INT64_C(1) << 53;

/* Everything that the plans and their times depend on. */
static void write_key(const tz_policy *policy, char key[KEY_SIZE])
{
    char given[TZ_PLAN_TEXT_SIZE];
    if (!policy->host.memory_key || !policy->host.memory_key(policy->host.context, key, KEY_SIZE))
        key[0] = '\0';
    tz_plan_text(&policy->config.given, TZ_AXES, given, sizeof given);
    const size_t used = strlen(key);
    snprintf(key + used, KEY_SIZE - used, "; %s, start %d, given '%s'",
             tz_policy_name(policy->config.kind), policy->config.start, given);
}

json_t *tz__policy_plan_to_json(const tz_plan *plan, bool *failed)
{
    json_t *object = tz_plan_to_json(plan, TZ_AXES);
    tz_json_put_integer(object, "launch_iterations", plan->launch_iterations, failed);
    tz_json_put_text(object, "why", plan->why, failed);
    return object;
}

void tz__policy_plan_from_json(const tz_policy *policy, const json_t *object, tz_plan *out,
                               bool *failed)
{
    if (!tz_plan_from_json(object, out)) {
        *failed = true;
        return;
    }
    const char *why = tz_json_get_text(object, "why", failed);
    tz_plan complete = *out;
    /* A plan that the backend would not take is no plan of this device. */
    if (policy->host.complete_plan(policy->host.context, &complete, NULL) ||
        !tz_plan_equal(&complete, out))
        *failed = true;
    *out = complete;
    snprintf(out->why, sizeof out->why, "%s", why);
}

static json_t *decisions_to_json(const tz_policy *policy, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < policy->decisions_count; i++) {
        const tz_policy_decision *d = &policy->decisions[i];
        json_t *entry = json_object();
        tz_json_put_integer(entry, "step", d->step, failed);
        tz_json_put_integer(entry, "last_step", d->last_step, failed);
        tz_json_put_integer(entry, "times", d->times, failed);
        if (d->from.height > 0)
            tz_json_put(entry, "from", tz_plan_to_json(&d->from, TZ_AXES), failed);
        tz_json_put(entry, "to", tz_plan_to_json(&d->to, TZ_AXES), failed);
        tz_json_put_double(entry, "time_s", d->time_s, failed);
        tz_json_put_text(entry, "reason", d->reason, failed);
        *failed |= json_array_append_new(list, entry) != 0;
    }
    return list;
}

json_t *tz_policy_save(const tz_policy *policy)
{
    char key[KEY_SIZE];
    json_t *object = json_object();
    bool failed = !object;
    write_key(policy, key);
    tz_json_put_text(object, "key", key, &failed);
    tz_json_put(object, "plan", tz__policy_plan_to_json(&policy->plan, &failed), &failed);
    tz_json_put_integer(object, "stop", policy->stop, &failed);
    tz_json_put(object, "decisions", decisions_to_json(policy, &failed), &failed);
    tz_json_put_integer(object, "left_out", policy->decisions_left_out, &failed);
    if (policy->is->save)
        tz_json_put(object, "state", policy->is->save(policy), &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static void decision_from_json(const json_t *entry, tz_policy_decision *out, bool *failed)
{
    const json_t *from = json_object_get(entry, "from");
    *out = (tz_policy_decision){.step = tz_json_get_integer(entry, "step", 0, STEPS_MAX, failed),
                                .last_step =
                                    tz_json_get_integer(entry, "last_step", 0, STEPS_MAX, failed),
                                .times = tz_json_get_integer(entry, "times", 1, STEPS_MAX, failed),
                                .time_s = tz_json_get_double(entry, "time_s", failed)};
    if ((from && !tz_plan_from_json(from, &out->from)) ||
        !tz_plan_from_json(json_object_get(entry, "to"), &out->to))
        *failed = true;
    snprintf(out->reason, sizeof out->reason, "%s", tz_json_get_text(entry, "reason", failed));
}

void tz_policy_load(tz_policy *policy, const json_t *object)
{
    char key[KEY_SIZE];
    bool failed = false;
    tz_plan plan;
    write_key(policy, key);
    if (strcmp(tz_json_get_text(object, "key", &failed), key) != 0)
        return;
    const json_t *list = json_object_get(object, "decisions");
    const size_t count = json_array_size(list);
    const int64_t stop = tz_json_get_integer(object, "stop", -1, STEPS_MAX, &failed);
    const int64_t left_out = tz_json_get_integer(object, "left_out", 0, STEPS_MAX, &failed);
    tz__policy_plan_from_json(policy, json_object_get(object, "plan"), &plan, &failed);
    if (failed || count > TZ_POLICY_DECISIONS_MAX || !tz__policy_make_room(policy, count))
        return;
    if (policy->is->load && !policy->is->load(policy, json_object_get(object, "state")))
        return;
    policy->stop = stop;
    policy->plan = plan;
    policy->decisions_left_out = left_out;
    policy->decisions_count = 0;
    for (size_t i = 0; !failed && i < count; i++) {
        decision_from_json(json_array_get(list, i), &policy->decisions[i], &failed);
        policy->decisions_count += !failed;
    }
}
