#include "policy/policy.h"

#include "base/json_values.h"
#include "policy/policy_impl.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tz_policy_class class_fixed, class_predicted, class_function;

/* NULL: there is none. */
static const tz_policy_class *class_of(tz_policy_kind kind)
{
    static const tz_policy_class *const classes[] = {
        [TZ_POLICY_FIXED] = &class_fixed,
        [TZ_POLICY_PREDICTED] = &class_predicted,
        [TZ_POLICY_ADAPTIVE] = &tz_policy_class_adaptive,
        [TZ_POLICY_EXHAUSTIVE] = &tz_policy_class_exhaustive,
        [TZ_POLICY_FUNCTION] = &class_function,
    };
    if (kind < TZ_POLICY_ADDED)
        return classes[kind];
    int added = 0;
    while (added < (int)kind - (int)TZ_POLICY_ADDED && tz_policies_added[added])
        added++;
    return tz_policies_added[added];
}

const char *tz_policy_name(tz_policy_kind kind)
{
    const tz_policy_class *is = class_of(kind);
    return is ? is->name : NULL;
}

bool tz_policy_searches(tz_policy_kind kind)
{
    return class_of(kind)->searches;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

bool tz__policy_make_room(tz_policy *policy, size_t count)
{
    if (count <= policy->decisions_room)
        return true;
    const size_t room = count > 2 * policy->decisions_room ? count : 2 * policy->decisions_room;
    tz_policy_decision *grown = realloc(policy->decisions, room * sizeof *grown);
    if (!grown)
        return false;
    policy->decisions = grown;
    policy->decisions_room = room;
    return true;
}

static void record_decision(tz_policy *policy, const tz_plan *from, const tz_plan *to,
                            double time_s, const char *reason)
{
    for (size_t i = policy->decisions_count; i-- > 0;) {
        tz_policy_decision *known = &policy->decisions[i];
        if (tz_plan_equal(&known->from, from) && tz_plan_equal(&known->to, to) &&
            strcmp(known->reason, reason) == 0) {
            known->last_step = policy->step;
            known->times++;
            known->time_s = isnan(time_s) ? known->time_s : time_s;
            return;
        }
    }
    if (policy->decisions_count == TZ_POLICY_DECISIONS_MAX ||
        !tz__policy_make_room(policy, policy->decisions_count + 1)) {
        policy->decisions_left_out++;
        return;
    }
    tz_policy_decision *made = &policy->decisions[policy->decisions_count++];
    *made = (tz_policy_decision){.step = policy->step,
                                 .last_step = policy->step,
                                 .times = 1,
                                 .from = *from,
                                 .to = *to,
                                 .time_s = time_s};
    snprintf(made->reason, sizeof made->reason, "%s", reason);
}

void tz_policy_decide(tz_policy *policy, const tz_plan *to, double time_s, const char *format, ...)
{
    char reason[TZ_POLICY_REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    record_decision(policy, &policy->plan, to, time_s, reason);
    policy->plan = *to;
    snprintf(policy->plan.why, sizeof policy->plan.why, "%s", reason);
}

size_t tz_policy_decisions(const tz_policy *policy, const tz_policy_decision **out,
                           int64_t *left_out)
{
    *out = policy->decisions;
    *left_out = policy->decisions_left_out;
    return policy->decisions_count;
}

/* ---- Plans to choose from -------------------------------------------------------------------- */

/* The given plan, without its height if the policy searches the heights. */
static tz_plan given_plan(const tz_policy *policy)
{
    tz_plan given = policy->config.given;
    if (tz_policy_searches(policy->config.kind))
        given.height = 0;
    return given;
}

const tz_policy_options *tz_policy_predictions(tz_policy *policy)
{
    if (policy->predictions_tried)
        return policy->predictions;
    policy->predictions_tried = true;
    tz_error error = {0};
    const tz_plan given = given_plan(policy);
    tz_policy_options *made = calloc(1, sizeof *made);
    tz_status status = made ? TZ_OK : tz_error_set(&error, TZ_MEMORY, NULL, "not enough memory");
    if (!status)
        status = policy->host.predictions(policy->host.context, &given, made, &error);
    if (!status && (made->count < 1 || made->best < 0))
        status = tz_error_set(&error, TZ_UNSUPPORTED, NULL, "no plan could be predicted");
    if (status) {
        snprintf(policy->no_predictions, sizeof policy->no_predictions, "%.159s", error.message);
        free(made);
        made = NULL;
    }
    policy->predictions = made;
    return made;
}

tz_status tz__policy_plan_at(tz_policy *policy, int height, tz_plan *out, tz_error *error)
{
    const tz_policy_options *predictions = tz_policy_predictions(policy);
    const tz_policy_option *fastest =
        predictions && height == 0 ? &predictions->at[predictions->best] : NULL;
    for (int i = 0; predictions && height > 0 && i < predictions->count; i++) {
        const tz_policy_option *option = &predictions->at[i];
        if (option->plan.height == height && (!fastest || option->time_s < fastest->time_s))
            fastest = option;
    }
    *out = fastest ? fastest->plan : policy->config.given;
    if (fastest)
        return TZ_OK;
    out->height = height;
    return policy->host.complete_plan(policy->host.context, out, error);
}

int tz__policy_start(const tz_policy *policy)
{
    return policy->config.start > 0 ? policy->config.start : policy->config.given.height;
}

void tz__policy_begin(tz_policy *policy, const tz_plan *plan)
{
    const char *name = tz_policy_name(policy->config.kind);
    const int start = tz__policy_start(policy);
    const tz_policy_options *predictions = tz_policy_predictions(policy);
    if (start > 0)
        tz_policy_decide(policy, plan, NAN, "%s, from height %d as given", name, start);
    else if (predictions)
        tz_policy_decide(policy, plan, NAN, "%s, from the prediction: %s", name,
                         predictions->reason);
    else
        tz_policy_decide(policy, plan, NAN, "%s, from the backend's choice; not predicted: %s",
                         name, policy->no_predictions);
}

/* For a backend without candidates: its choice for each height. */
static tz_status list_heights(tz_policy *policy, const tz_plan *given, tz_policy_options *out,
                              tz_error *error)
{
    static const int heights[] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12, 14, 16,
                                  20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128};
    tz_status status = TZ_OK;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        tz_plan plan = *given;
        if (given->height > 0 && i > 0)
            break;
        if (given->height == 0)
            plan.height = heights[i];
        status = policy->host.complete_plan(policy->host.context, &plan, error);
        if (status)
            break;          /* higher ones are refused, too */
        bool known = false; /* the reference backend turns every height into 1 */
        for (int k = 0; k < out->count; k++)
            known = known || tz_plan_equal(&out->at[k].plan, &plan);
        if (!known)
            out->at[out->count++] = (tz_policy_option){.plan = plan, .time_s = NAN};
    }
    return out->count > 0 ? TZ_OK : status;
}

tz_policy_options *tz_policy_list(tz_policy *policy, tz_error *error)
{
    tz_policy_options *list = calloc(1, sizeof *list);
    if (!list) {
        tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a list of plans");
        return NULL;
    }
    const tz_policy_options *predictions = tz_policy_predictions(policy);
    if (predictions) {
        *list = *predictions;
        return list;
    }
    const tz_plan given = given_plan(policy);
    list->best = -1;
    tz_status status = policy->host.candidates
                           ? policy->host.candidates(policy->host.context, &given, list, error)
                           : TZ_UNSUPPORTED;
    if (status == TZ_OK && list->count == 0)
        status = TZ_UNSUPPORTED;
    list->best = -1;
    if (status == TZ_UNSUPPORTED) {
        list->count = 0;
        status = list_heights(policy, &given, list, error);
    }
    if (status) {
        free(list);
        list = NULL;
    }
    return list;
}

/* ---- Trials ---------------------------------------------------------------------------------- */

enum { GROUP_STAGES_MAX = 4096, GROUP_TRUSTED = 64 /* of a plan that was not timed yet */ };

static int64_t group_of(double stage_s, int most)
{
    const double needed = ceil(TZ_POLICY_GROUP_S / stage_s);
    return needed >= most ? most : needed >= 1 ? (int64_t)needed : 1;
}

void tz_policy_trial_begin(tz_policy_trial *trial, bool warm, double stage_s)
{
    *trial = (tz_policy_trial){.warm = warm,
                               .stage_s = stage_s,
                               .stages_to_time = warm ? group_of(stage_s, GROUP_STAGES_MAX) : 1};
}

bool tz_policy_trial_record(tz_policy_trial *trial, int64_t stages, int64_t iterations,
                            double seconds)
{
    if (!trial->warm) {
        trial->warm = true;
        trial->stages_to_time = group_of(trial->stage_s, GROUP_TRUSTED);
        return false;
    }
    /* A time below half a group is mostly the wait for the device: repeat with more stages. */
    if (seconds < 0.5 * TZ_POLICY_GROUP_S && trial->stages_to_time < GROUP_STAGES_MAX) {
        const double one = seconds / (double)stages;
        const double needed = one > 0 ? TZ_POLICY_GROUP_S / one : GROUP_STAGES_MAX;
        trial->stages_to_time =
            needed > 8.0 * (double)trial->stages_to_time   ? 8 * trial->stages_to_time
            : needed > 2.0 * (double)trial->stages_to_time ? (int64_t)ceil(needed)
                                                           : 2 * trial->stages_to_time;
        if (trial->stages_to_time > GROUP_STAGES_MAX)
            trial->stages_to_time = GROUP_STAGES_MAX;
        return false;
    }
    trial->stages += stages;
    trial->iterations += iterations;
    trial->seconds += seconds;
    return trial->stages >= 2 &&
           (trial->seconds >= TZ_POLICY_GROUP_S || trial->stages_to_time == GROUP_STAGES_MAX);
}

/* ---- fixed and predicted --------------------------------------------------------------------- */

static tz_status fixed_create(tz_policy *policy, tz_error *error)
{
    tz_plan plan = policy->config.given;
    tz_status status = policy->host.complete_plan(policy->host.context, &plan, error);
    if (!status)
        tz_policy_decide(policy, &plan, NAN, "%s", plan.why);
    return status;
}

static tz_status predicted_create(tz_policy *policy, tz_error *error)
{
    const tz_policy_options *predictions = tz_policy_predictions(policy);
    if (predictions) {
        tz_policy_decide(policy, &predictions->at[predictions->best].plan, NAN, "predicted: %s",
                         predictions->reason);
        return TZ_OK;
    }
    tz_plan plan = policy->config.given;
    tz_status status = policy->host.complete_plan(policy->host.context, &plan, error);
    if (!status)
        tz_policy_decide(policy, &plan, NAN, "%.70s; not predicted: %s", plan.why,
                         policy->no_predictions);
    return status;
}

static void predicted_describe(const tz_policy *policy, char *text, size_t size)
{
    snprintf(text, size, policy->predictions ? "predicted: height %d" : "default: height %d, %s",
             policy->plan.height, "not predicted");
}

static const tz_policy_class class_fixed = {.name = "fixed", .create = fixed_create};
static const tz_policy_class class_predicted = {
    .name = "predicted", .create = predicted_create, .describe = predicted_describe};

/* ---- A function ------------------------------------------------------------------------------ */

typedef struct function_state {
    int64_t asked_step; /* -1: not asked yet */
    int64_t stages_to_time;
    bool recorded;
    int64_t stages, iterations;
    double seconds;
} function_state;

static tz_status function_create(tz_policy *policy, tz_error *error)
{
    function_state *f = calloc(1, sizeof *f);
    if (!f)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    f->asked_step = -1;
    f->stages_to_time = 1;
    policy->state = f;
    tz_plan plan = policy->config.given;
    tz_status status = policy->host.complete_plan(policy->host.context, &plan, error);
    if (!status)
        tz_policy_decide(policy, &plan, NAN, "%.60s, until %.80s says otherwise", plan.why,
                         policy->config.function_name);
    return status;
}

static void function_destroy(tz_policy *policy)
{
    free(policy->state);
}

static tz_status function_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                               tz_error *error)
{
    function_state *f = policy->state;
    (void)iterations_left;
    /* Call it after every timed group; and once a stretch, if stages are always cut short. */
    if (f->asked_step >= 0 && !f->recorded && (!new_stretch || f->asked_step == policy->step))
        return TZ_OK;
    f->asked_step = policy->step;
    f->recorded = false;
    const tz_policy_view view = {.name = policy->config.function_name,
                                 .step = policy->step,
                                 .plan = &policy->plan,
                                 .stages = f->stages,
                                 .iterations = f->iterations,
                                 .seconds = f->seconds};
    tz_plan next = policy->plan;
    tz_status status =
        policy->config.function(policy->config.function_context, &view, &next, error);
    if (status || next.height == 0)
        return status;
    status = policy->host.complete_plan(policy->host.context, &next, error);
    if (status || tz_plan_equal(&next, &policy->plan))
        return status;
    tz_policy_decide(policy, &next, f->iterations > 0 ? f->seconds / (double)f->iterations : NAN,
                     "%s", policy->config.function_name);
    f->stages_to_time = 1;
    return TZ_OK;
}

static int64_t function_stages_to_time(const tz_policy *policy)
{
    return ((const function_state *)policy->state)->stages_to_time;
}

static void function_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    function_state *f = policy->state;
    f->recorded = true;
    f->stages = stages;
    f->iterations = iterations;
    f->seconds = seconds;
    if (policy->host.asynchronous && seconds > 0) {
        const double needed = TZ_POLICY_GROUP_S * (double)stages / seconds;
        f->stages_to_time = needed < 1                  ? 1
                            : needed > GROUP_STAGES_MAX ? GROUP_STAGES_MAX
                                                        : (int64_t)needed;
    }
}

static bool function_settled(const tz_policy *policy)
{
    (void)policy;
    return false;
}

static void function_describe(const tz_policy *policy, char *text, size_t size)
{
    snprintf(text, size, "%s: height %d now", policy->config.function_name, policy->plan.height);
}

static json_t *function_save(const tz_policy *policy)
{
    const function_state *f = policy->state;
    json_t *object = json_object();
    bool failed = !object;
    tz_json_put_integer(object, "asked_step", f->asked_step, &failed);
    tz_json_put_integer(object, "stages_to_time", f->stages_to_time, &failed);
    tz_json_put(object, "recorded", json_boolean(f->recorded), &failed);
    tz_json_put_integer(object, "stages", f->stages, &failed);
    tz_json_put_integer(object, "iterations", f->iterations, &failed);
    tz_json_put_double(object, "seconds", f->seconds, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static bool function_load(tz_policy *policy, const json_t *object)
{
    bool failed = false;
    const function_state f = {
        .asked_step = tz_json_get_integer(object, "asked_step", -1, INT64_MAX, &failed),
        .stages_to_time =
            tz_json_get_integer(object, "stages_to_time", 1, GROUP_STAGES_MAX, &failed),
        .recorded = tz_json_get_flag(object, "recorded", &failed),
        .stages = tz_json_get_integer(object, "stages", 0, INT64_MAX, &failed),
        .iterations = tz_json_get_integer(object, "iterations", 0, INT64_MAX, &failed),
        .seconds = tz_json_get_double(object, "seconds", &failed)};
    if (!failed)
        *(function_state *)policy->state = f;
    return !failed;
}

static const tz_policy_class class_function = {.name = "function",
                                               .searches = true,
                                               .create = function_create,
                                               .destroy = function_destroy,
                                               .next = function_next,
                                               .stages_to_time = function_stages_to_time,
                                               .record = function_record,
                                               .settled = function_settled,
                                               .describe = function_describe,
                                               .save = function_save,
                                               .load = function_load};

/* ---- Lifetime -------------------------------------------------------------------------------- */

tz_status tz_policy_create(tz_policy **out, const tz_policy_config *config,
                           const tz_policy_host *host, tz_error *error)
{
    *out = NULL;
    tz_policy *policy = calloc(1, sizeof *policy);
    if (!policy || !tz__policy_make_room(policy, 1)) {
        free(policy);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a policy");
    }
    policy->config = *config;
    policy->host = *host;
    policy->stop = -1;
    policy->is = class_of(policy->config.kind);
    const tz_status status = policy->is->create(policy, error);
    if (status) {
        tz_policy_destroy(policy);
        return status;
    }
    *out = policy;
    return TZ_OK;
}

void tz_policy_destroy(tz_policy *policy)
{
    if (!policy)
        return;
    if (policy->is->destroy && policy->state)
        policy->is->destroy(policy);
    free(policy->predictions);
    free(policy->decisions);
    free(policy);
}

/* ---- Running --------------------------------------------------------------------------------- */

tz_status tz_policy_next(tz_policy *policy, int64_t step, int64_t iterations_left,
                         const tz_plan **plan, tz_error *error)
{
    const bool new_stretch = step + iterations_left != policy->stop;
    policy->step = step;
    policy->stop = step + iterations_left;
    *plan = &policy->plan;
    return policy->is->next ? policy->is->next(policy, iterations_left, new_stretch, error) : TZ_OK;
}

int64_t tz_policy_stages_to_time(const tz_policy *policy)
{
    return policy->is->stages_to_time ? policy->is->stages_to_time(policy) : 0;
}

void tz_policy_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    if (policy->is->record && stages > 0 && iterations > 0)
        policy->is->record(policy, stages, iterations, seconds);
}

bool tz_policy_plan_failed(tz_policy *policy, const tz_error *why)
{
    return policy->is->plan_failed && policy->is->plan_failed(policy, why);
}

/* ---- What it did ----------------------------------------------------------------------------- */

bool tz_policy_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out)
{
    return policy->is->measured && policy->is->measured(policy, index, out);
}

tz_policy_kind tz_policy_kind_of(const tz_policy *policy)
{
    return policy->config.kind;
}

bool tz_policy_settled(const tz_policy *policy)
{
    return !policy->is->settled || policy->is->settled(policy);
}

const tz_plan *tz_policy_plan(const tz_policy *policy)
{
    return &policy->plan;
}

const char *tz_policy_describe(const tz_policy *policy, char *text, size_t size)
{
    if (policy->is->describe)
        policy->is->describe(policy, text, size);
    else
        snprintf(text, size, "%s: height %d", tz_policy_name(policy->config.kind),
                 policy->plan.height);
    return text;
}

bool tz_policy_take_warning(tz_policy *policy, char *text, size_t size)
{
    if (!policy->warning[0])
        return false;
    snprintf(text, size, "%s", policy->warning);
    policy->warning[0] = '\0';
    return true;
}
