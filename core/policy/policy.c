/* The interface of all policies, the helpers that they share (class.h), and three small ones:
 * fixed, predicted and function. Called by core/sim for each stage, and by core/lua. */
#include "policy/policy.h"

#include "base/json.h"
#include "base/names.h"
#include "policy/class.h"
#include "stencil/registry.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tz_policy_class class_function;

/* ---- Decisions ------------------------------------------------------------------------------- */

static bool make_room(tz_policy *policy, size_t count)
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
        !make_room(policy, policy->decisions_count + 1)) {
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

void tz__policy_decide(tz_policy *policy, const tz_plan *to, double time_s, const char *format, ...)
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
    tz_plan given = policy->wish.given;
    if (policy->is->searches)
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
        status = tz__policy_predict(&policy->subject, &given, 0, made, &error);
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
    *out = fastest ? fastest->plan : policy->wish.given;
    if (fastest)
        return TZ_OK;
    out->height = height;
    return tz__policy_complete(&policy->subject, out, error);
}

int tz__policy_start(const tz_policy *policy)
{
    return policy->wish.start > 0 ? policy->wish.start : policy->wish.given.height;
}

void tz__policy_begin(tz_policy *policy, const tz_plan *plan)
{
    const char *name = policy->is->name;
    const int start = tz__policy_start(policy);
    const tz_policy_options *predictions = tz_policy_predictions(policy);
    if (start > 0)
        tz__policy_decide(policy, plan, NAN, "%s, from height %d as given", name, start);
    else if (predictions)
        tz__policy_decide(policy, plan, NAN, "%s, from the prediction: %s", name,
                          predictions->reason);
    else
        tz__policy_decide(policy, plan, NAN, "%s, from the backend's choice; not predicted: %s",
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
        status = tz__policy_complete(&policy->subject, &plan, error);
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

tz_policy_options *tz__policy_list(tz_policy *policy, tz_error *error)
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
    tz_status status = tz__policy_candidates(&policy->subject, &given, list, error);
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

void tz__policy_trial_begin(tz_policy_trial *trial, bool warm, double stage_s)
{
    *trial = (tz_policy_trial){.warm = warm,
                               .stage_s = stage_s,
                               .stages_to_time = warm ? group_of(stage_s, GROUP_STAGES_MAX) : 1};
}

bool tz__policy_trial_record(tz_policy_trial *trial, int64_t stages, int64_t iterations,
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

/* Does a plan give more than a height and a family? */
static bool gives_more(const tz_plan *given)
{
    tz_plan rest = {.height = given->height};
    memcpy(rest.family, given->family, sizeof rest.family);
    return !tz_plan_equal(given, &rest);
}

/* On a GPU a plan of no more than a height and a family becomes the best one that is predicted: any
 * rule for the other members that does not know the device may be many times off. */
static tz_status fixed_create(tz_policy *policy, tz_error *error)
{
    tz_plan plan = policy->wish.given;
    const bool predicts = policy->subject.backend->base_family && !gives_more(&plan);
    const tz_policy_options *made = predicts ? tz_policy_predictions(policy) : NULL;
    if (made) {
        tz__policy_decide(policy, &made->at[made->best].plan, NAN, "predicted: %s", made->reason);
        return TZ_OK;
    }
    const tz_status status = tz__policy_complete(&policy->subject, &plan, error);
    if (!status)
        tz__policy_decide(policy, &plan, NAN, "%s", plan.why);
    return status;
}

static tz_status predicted_create(tz_policy *policy, tz_error *error)
{
    const tz_policy_options *predictions = tz_policy_predictions(policy);
    if (predictions) {
        tz__policy_decide(policy, &predictions->at[predictions->best].plan, NAN, "predicted: %s",
                          predictions->reason);
        return TZ_OK;
    }
    tz_plan plan = policy->wish.given;
    tz_status status = tz__policy_complete(&policy->subject, &plan, error);
    if (!status)
        tz__policy_decide(policy, &plan, NAN, "%.70s; not predicted: %s", plan.why,
                          policy->no_predictions);
    return status;
}

/* Is a stretch so short that the remainder of its last stage counts? */
static bool is_short(const tz_policy *policy, int64_t iterations)
{
    enum { SHORT_STAGES = 16 }; /* else it is a few per cent at most */
    const tz_policy_options *long_run = policy->predictions;
    return long_run &&
           iterations < (int64_t)SHORT_STAGES * long_run->at[long_run->best].plan.height;
}

/* The predictions for a run of so many iterations; those of a long one stay the policy's. Without
 * them the present plan stays. `what` begins the reason. */
static void predict_for(tz_policy *policy, int64_t iterations, const char *what)
{
    const tz_plan given = given_plan(policy);
    const tz_policy_options *found = policy->predictions;
    tz_policy_options *made = NULL;
    if (iterations > 0) {
        made = malloc(sizeof *made);
        const bool known =
            made && tz__policy_predict(&policy->subject, &given, iterations, made, NULL) == TZ_OK;
        found = known ? made : NULL;
    }
    const tz_plan *best = found && found->best >= 0 ? &found->at[found->best].plan : NULL;
    if (best && !tz_plan_equal(best, &policy->plan)) {
        char run[48] = "";
        if (iterations > 0)
            snprintf(run, sizeof run, " for %" PRId64 " iterations", iterations);
        tz__policy_decide(policy, best, NAN, "%s%s: %.90s", what, run, found->reason);
    }
    free(made);
}

bool tz__policy_begin_short(tz_policy *policy, int64_t iterations)
{
    char what[40];
    const int before = policy->plan.height;
    if (tz__policy_start(policy) > 0 || before == 1 || !is_short(policy, iterations))
        return false;
    snprintf(what, sizeof what, "%s, from the prediction", policy->is->name);
    predict_for(policy, iterations, what);
    return policy->plan.height != before;
}

/* A stretch between two outputs that is short beside the height is predicted as such: its last
 * stage is shorter than the others, or it is no whole stage. */
static tz_status predicted_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                                tz_error *error)
{
    /* A stretch that is nearly as long as the last is not worth it. Runs with ever other stretches
     * keep a plan after some predictions. */
    enum { ALIKE = 8, TIMES_MAX = 8 };
    (void)error;
    if (!policy->predictions || !new_stretch)
        return TZ_OK;
    const int64_t last = policy->predicted_for;
    const int long_height = policy->predictions->at[policy->predictions->best].plan.height;
    const int64_t wanted = is_short(policy, iterations_left) ? iterations_left : 0;
    const int64_t apart = wanted > last ? wanted - last : last - wanted;
    if (apart <= last / ALIKE || long_height == 1 || policy->predicted_times >= TIMES_MAX)
        return TZ_OK;
    policy->predicted_for = wanted;
    policy->predicted_times += wanted > 0;
    predict_for(policy, wanted, "predicted");
    return TZ_OK;
}

static void predicted_describe(const tz_policy *policy, char *text, size_t size)
{
    /* Stages up to an output are shorter. */
    snprintf(text, size,
             policy->predictions ? "predicted: height %d" : "default: up to height %d, %s",
             policy->plan.height, "not predicted");
}

const tz_policy_class tz_policy_class_fixed = {.name = "fixed", .create = fixed_create};
const tz_policy_class tz_policy_class_predicted = {.name = "predicted",
                                                   .create = predicted_create,
                                                   .next = predicted_next,
                                                   .describe = predicted_describe};

/* ---- A function ------------------------------------------------------------------------------ */

typedef struct function_state {
    int64_t asked_step; /* -1: not asked yet */
    int64_t stages_to_time;
    bool recorded;
    int64_t stages, iterations;
    double seconds;
    bool asks; /* `view` */
    tz_policy_view view;
} function_state;

static tz_status function_create(tz_policy *policy, tz_error *error)
{
    function_state *f = calloc(1, sizeof *f);
    if (!f)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    f->asked_step = -1;
    f->stages_to_time = 1;
    policy->state = f;
    tz_plan plan = policy->wish.given;
    tz_status status = tz__policy_complete(&policy->subject, &plan, error);
    if (!status)
        tz__policy_decide(policy, &plan, NAN, "%.60s, until %.80s says otherwise", plan.why,
                          policy->wish.function);
    return status;
}

static tz_status function_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                               tz_error *error)
{
    function_state *f = policy->state;
    (void)iterations_left;
    (void)error;
    /* It is asked after every timed group; and once a stretch, if stages are always cut short. */
    f->asks = f->asked_step < 0 || f->recorded || (new_stretch && f->asked_step != policy->step);
    if (!f->asks)
        return TZ_OK;
    f->asked_step = policy->step;
    f->recorded = false;
    f->view = (tz_policy_view){.name = policy->wish.function,
                               .step = policy->step,
                               .plan = &policy->plan,
                               .stages = f->stages,
                               .iterations = f->iterations,
                               .seconds = f->seconds};
    return TZ_OK;
}

static tz_status function_answer(tz_policy *policy, const tz_plan *plan, tz_error *error)
{
    function_state *f = policy->state;
    tz_plan next = *plan;
    f->asks = false;
    if (next.height == 0)
        return TZ_OK;
    const tz_status status = tz__policy_complete(&policy->subject, &next, error);
    if (status || tz_plan_equal(&next, &policy->plan))
        return status;
    tz__policy_decide(policy, &next, f->iterations > 0 ? f->seconds / (double)f->iterations : NAN,
                      "%s", policy->wish.function);
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
    if (tz__policy_waits(policy) && seconds > 0) {
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
    snprintf(text, size, "%s: height %d now", policy->wish.function, policy->plan.height);
}

static const tz_json_member function_members[] = {
    TZ_JSON_INTEGER_MEMBER(function_state, asked_step, "asked_step", -1, INT64_MAX),
    TZ_JSON_INTEGER_MEMBER(function_state, stages_to_time, "stages_to_time", 1, GROUP_STAGES_MAX),
    TZ_JSON_MEMBER(function_state, recorded, "recorded"),
    TZ_JSON_INTEGER_MEMBER(function_state, stages, "stages", 0, INT64_MAX),
    TZ_JSON_INTEGER_MEMBER(function_state, iterations, "iterations", 0, INT64_MAX),
    TZ_JSON_MEMBER(function_state, seconds, "seconds")};
enum { FUNCTION_MEMBERS = sizeof function_members / sizeof *function_members };

static json_t *function_save(const tz_policy *policy)
{
    json_t *object = json_object();
    bool failed = !object;
    tz_json_put_members(object, function_members, FUNCTION_MEMBERS, policy->state, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static bool function_load(tz_policy *policy, const json_t *object)
{
    function_state f = {.asked_step = -1};
    bool failed = false;
    tz_json_get_members(object, function_members, FUNCTION_MEMBERS, &f, &failed);
    if (!failed)
        *(function_state *)policy->state = f;
    return !failed;
}

static const tz_policy_class class_function = {.name = "function",
                                               .searches = true,
                                               .create = function_create,
                                               .next = function_next,
                                               .stages_to_time = function_stages_to_time,
                                               .record = function_record,
                                               .settled = function_settled,
                                               .describe = function_describe,
                                               .save = function_save,
                                               .load = function_load};

/* ---- Which one ------------------------------------------------------------------------------- */

enum { NAMES_MAX = 16 };

static int count_classes(void)
{
    int count = 0;
    while (tz_policy_classes[count])
        count++;
    return count;
}

const char *tz_policy_name(int i)
{
    return i < count_classes() ? tz_policy_classes[i]->name : NULL;
}

const char *tz_policy_searcher_name(int i)
{
    for (int k = 0; tz_policy_classes[k]; k++)
        if (tz_policy_classes[k]->searches && i-- == 0)
            return tz_policy_classes[k]->name;
    return NULL;
}

/* What one source says: *out is NULL if that is nothing, or "auto". False: `name` is not among the
 * names; `hint` then lists them. A height may be any name but the last one. */
static bool read_name(const char *name, bool is_height, const tz_policy_class **out, char *hint,
                      size_t size)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (int i = 0; i < NAMES_MAX && tz_policy_name(i); i++)
        names[count++] = tz_policy_name(i);
    count -= is_height;
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = i > 0 ? tz_policy_classes[i] : NULL;
            return true;
        }
    tz_names_hint(hint, size, name, names, count);
    return false;
}

static tz_status read_policy(const tz_plan_wish *wish, const tz_policy_class **out, tz_error *error)
{
    char hint[256];
    *out = NULL;
    if (wish->height && !read_name(wish->height, true, out, hint, sizeof hint))
        return tz_error_set(error, TZ_UNKNOWN, NULL,
                            "'height' must be an integer, \"auto\" or a policy, not '%.60s'%s%s",
                            wish->height, hint, tz_policies_left_out);
    if (*out && (wish->policy || wish->function[0]))
        return tz_error_set(error, TZ_RANGE, NULL,
                            "'height' names a policy and 'policy' another: give one");
    if (wish->function[0])
        *out = &class_function;
    if (wish->policy && !read_name(wish->policy, false, out, hint, sizeof hint))
        return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown policy '%.60s'%s%s", wish->policy,
                            hint, tz_policies_left_out);
    return TZ_OK;
}

static tz_status check_start(const tz_plan_wish *wish, const tz_policy_class *policy,
                             tz_error *error)
{
    if (wish->start == 0)
        return TZ_OK;
    if (!policy || !policy->searches || policy == &class_function) {
        char names[128] = "";
        const char *name;
        for (int i = 0; (name = tz_policy_searcher_name(i)); i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s\"%s\"",
                     i > 0 ? " or " : "", name);
        return tz_error_set(error, TZ_RANGE, NULL, "'start' goes with policy = %s", names);
    }
    if (wish->given.height > 0)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "policy \"%s\" starts at 'start' or at 'height': give one",
                            policy->name);
    return TZ_OK;
}

static tz_status override(tz_plan_wish *wish, const tz_policy_class **policy,
                          const tz_plan_wish *by, tz_error *error)
{
    const tz_policy_class *other;
    const tz_status status = read_policy(by, &other, error);
    if (status)
        return status;
    const bool names_policy = by->policy || other;
    const bool names_height = by->height || by->given.height > 0;
    if (by->given.family[0])
        memcpy(wish->given.family, by->given.family, sizeof wish->given.family);
    if (names_policy && other != &tz_policy_class_fixed)
        wish->given.height = 0;
    if (names_height)
        wish->given.height = by->given.height;
    if (names_height || (names_policy && (!other || other != *policy)))
        wish->start = 0;
    if (names_policy || names_height)
        *policy = other;
    wish->forget = wish->forget || by->forget;
    return TZ_OK;
}

tz_status tz_plan_wish_settle(const tz_plan_wish *scenario, const tz_plan_wish *command_line,
                              tz_plan_wish *out, tz_error *error)
{
    const tz_policy_class *policy;
    *out = *scenario;
    out->height = NULL;
    out->start = scenario->start > 0 ? scenario->start : 0;
    tz_status status = read_policy(scenario, &policy, error);
    if (!status)
        status = check_start(scenario, policy, error);
    if (!status && command_line)
        status = override(out, &policy, command_line, error);
    if (policy != &class_function)
        out->function[0] = '\0';
    out->policy = policy ? policy->name : out->given.height > 0 ? "fixed" : "auto";
    out->bare = !policy && out->given.height > 0 && !gives_more(&out->given);
    return status;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static const tz_policy_class *class_of(const tz_plan_wish *wish)
{
    for (int i = 0; !wish->function[0] && tz_policy_classes[i]; i++)
        if (strcmp(wish->policy, tz_policy_classes[i]->name) == 0)
            return tz_policy_classes[i];
    return &class_function;
}

void tz__policy_warn_of_rows(tz_policy *policy)
{
    const tz_policy_subject *subject = &policy->subject;
    tz_error fault;
    if (subject->backend->rows && tz_stencil_take_fault(subject->problem->stencil, &fault))
        snprintf(policy->warning, sizeof policy->warning,
                 "the formulas of '%.60s' are interpreted, up to ten times slower than compiled: "
                 "%.200s%s%.600s",
                 subject->problem->stencil->id, fault.place, fault.place[0] ? ": " : "",
                 fault.message);
}

tz_status tz_policy_create(tz_policy **out, const tz_plan_wish *wish,
                           const tz_policy_subject *subject, tz_error *error)
{
    *out = NULL;
    tz_policy *policy = calloc(1, sizeof *policy);
    if (!policy || !make_room(policy, 1)) {
        free(policy);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a policy");
    }
    policy->wish = *wish;
    policy->subject = *subject;
    policy->stop = -1;
    policy->is = class_of(wish);
    if (wish->bare && subject->backend->base_family)
        policy->is = &tz_policy_class_height;
    policy->wish.policy = policy->is->name;
    tz_status status = TZ_OK;
    if (subject->backend->rows && policy->is != &tz_policy_class_auto)
        status = tz_stencil_compile(subject->problem->stencil, &subject->place.cancel, error);
    if (status != TZ_INTERRUPTED) /* without a compiler formulas are interpreted */
        status = policy->is->create(policy, error);
    if (status) {
        tz_policy_destroy(policy);
        return status;
    }
    tz__policy_warn_of_rows(policy);
    *out = policy;
    return TZ_OK;
}

void tz_policy_destroy(tz_policy *policy)
{
    if (!policy)
        return;
    if (policy->is->destroy && policy->state)
        policy->is->destroy(policy);
    else
        free(policy->state);
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

const tz_policy_view *tz_policy_question(const tz_policy *policy)
{
    const function_state *f = policy->is == &class_function ? policy->state : NULL;
    return f && f->asks ? &f->view : NULL;
}

tz_status tz_policy_answer(tz_policy *policy, const tz_plan *plan, tz_error *error)
{
    return function_answer(policy, plan, error);
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

const char *tz_policy_name_of(const tz_policy *policy)
{
    return policy->is->name;
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
        snprintf(text, size, "%s: height %d", policy->is->name, policy->plan.height);
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

/* ---- In a checkpoint ------------------------------------------------------------------------- */

enum { KEY_SIZE = 3072 };

#define STEPS_MAX (INT64_C(1) << 53)

/* Everything that the plans and their times depend on. */
static void write_key(const tz_policy *policy, char key[KEY_SIZE])
{
    char given[TZ_PLAN_TEXT_SIZE];
    if (!tz__policy_key(&policy->subject, key, KEY_SIZE))
        key[0] = '\0';
    tz_plan_text(&policy->wish.given, TZ_AXES, given, sizeof given);
    const size_t used = strlen(key);
    snprintf(key + used, KEY_SIZE - used, "; %s, start %d, given '%s'", policy->is->name,
             policy->wish.start, given);
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
    if (tz__policy_complete(&policy->subject, &complete, NULL) || !tz_plan_equal(&complete, out))
        *failed = true;
    *out = complete;
    snprintf(out->why, sizeof out->why, "%s", why);
}

static const tz_json_member decision_members[] = {
    TZ_JSON_INTEGER_MEMBER(tz_policy_decision, step, "step", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_policy_decision, last_step, "last_step", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(tz_policy_decision, times, "times", 1, STEPS_MAX),
    TZ_JSON_MEMBER(tz_policy_decision, time_s, "time_s"),
    TZ_JSON_MEMBER(tz_policy_decision, reason, "reason")};
enum { DECISION_MEMBERS = sizeof decision_members / sizeof *decision_members };

static json_t *decisions_to_json(const tz_policy *policy, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < policy->decisions_count; i++) {
        const tz_policy_decision *d = &policy->decisions[i];
        json_t *entry = json_object();
        tz_json_put_members(entry, decision_members, DECISION_MEMBERS, d, failed);
        if (d->from.height > 0)
            tz_json_put(entry, "from", tz_plan_to_json(&d->from, TZ_AXES), failed);
        tz_json_put(entry, "to", tz_plan_to_json(&d->to, TZ_AXES), failed);
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
    *out = (tz_policy_decision){.times = 1};
    tz_json_get_members(entry, decision_members, DECISION_MEMBERS, out, failed);
    if ((from && !tz_plan_from_json(from, &out->from)) ||
        !tz_plan_from_json(json_object_get(entry, "to"), &out->to))
        *failed = true;
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
    if (failed || count > TZ_POLICY_DECISIONS_MAX || !make_room(policy, count))
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

/* ---- What it did, as columns: of run.json and of scenarios ----------------------------------- */

#define JSON TZ_IN_JSON
#define LUA TZ_IN_LUA
#define REAL_OR_NULL(value) (isfinite(value) ? tz_cell_real(value) : TZ_NULL_CELL)

TZ_GETTER(plan_itself, int, tz_plan, tz_cell_row(tz_plan_columns, c, r));

static const tz_sheet_column plan_columns[] = {{.part = tz_plan_columns, .get = plan_itself},
                                               TZ_MEMBER("why", tz_plan, why, .forms = LUA),
                                               {.key = NULL}};

#define OF_DECISION(name, expression)                                                              \
    TZ_GETTER(decision_##name, int, tz_policy_decision, expression)
OF_DECISION(last_step, r->times > 1 ? tz_cell_integer(r->last_step) : TZ_NO_CELL);
OF_DECISION(times, r->times > 1 ? tz_cell_integer(r->times) : TZ_NO_CELL);
OF_DECISION(from, r->from.height > 0 ? tz_cell_row(plan_columns, c, &r->from) : TZ_NULL_CELL);
OF_DECISION(to, tz_cell_row(plan_columns, c, &r->to));
OF_DECISION(time_s, REAL_OR_NULL(r->time_s));

static const tz_sheet_column decision_columns[] = {
    TZ_MEMBER("step", tz_policy_decision, step),
    {.key = "last_step", .forms = JSON, .get = decision_last_step},
    {.key = "times", .forms = JSON, .get = decision_times},
    TZ_MEMBER("times", tz_policy_decision, times, .forms = LUA),
    {.key = "from", .get = decision_from},
    {.key = "to", .get = decision_to},
    {.key = "seconds_per_iteration", .forms = JSON, .get = decision_time_s},
    {.key = "time_s", .forms = LUA, .get = decision_time_s},
    TZ_MEMBER("reason", tz_policy_decision, reason),
    {.key = NULL}};

#define OF_MEASUREMENT(name, expression)                                                           \
    TZ_GETTER(measurement_##name, int, tz_policy_measurement, expression)
OF_MEASUREMENT(plan, tz_cell_row(plan_columns, c, &r->plan));
OF_MEASUREMENT(remembered, r->remembered ? tz_cell_flag(true) : TZ_NO_CELL);
OF_MEASUREMENT(time_s, REAL_OR_NULL(r->time_s));
OF_MEASUREMENT(predicted_s, r->estimated ? TZ_NO_CELL : REAL_OR_NULL(r->predicted_s));
OF_MEASUREMENT(estimated_s, r->estimated ? REAL_OR_NULL(r->predicted_s) : TZ_NO_CELL);

const tz_sheet_column tz_policy_measurement_columns[] = {
    {.part = plan_columns, .get = measurement_plan},
    {.key = "seconds_per_iteration", .forms = JSON, .get = measurement_time_s},
    {.key = "predicted_seconds_per_iteration", .forms = JSON, .get = measurement_predicted_s},
    {.key = "estimated_seconds_per_iteration", .forms = JSON, .get = measurement_estimated_s},
    {.key = "time_s", .forms = LUA, .get = measurement_time_s},
    {.key = "predicted_s", .forms = LUA, .get = measurement_predicted_s},
    {.key = "estimated_s", .forms = LUA, .get = measurement_estimated_s},
    TZ_MEMBER("tie", tz_policy_measurement, tie),
    {.key = "remembered", .forms = JSON, .get = measurement_remembered},
    TZ_MEMBER("remembered", tz_policy_measurement, remembered, .forms = LUA),
    TZ_MEMBER("note", tz_policy_measurement, note, .sparse = true),
    {.key = NULL}};

tz_sheet tz_policy_decision_sheet(const tz_policy *policy, const int *dims, int64_t *left_out)
{
    const tz_policy_decision *decisions = NULL;
    const size_t count = tz_policy_decisions(policy, &decisions, left_out);
    return (tz_sheet){.columns = decision_columns,
                      .context = dims,
                      .rows = decisions,
                      .stride = sizeof *decisions,
                      .count = (int)count};
}
