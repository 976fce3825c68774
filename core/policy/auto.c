/* auto: runs first, and becomes faster as it goes. The first stage has the plan that an earlier run
 * remembers, or else the base plan of the backend, which compiles at once. A thread compiles better
 * plans meanwhile (explorer.c). Each that is predicted to be faster is timed for a few stages, next
 * to the present one, and kept if it is. What has come out is remembered (memory.c).
 *
 * A height that is given alone is the policy "fixed", which does the same with the plans of that
 * height: the first one is the backend's choice.
 *
 * A backend without a base plan compiles nothing that a run would wait for: "auto" is "predicted"
 * there. But if a stencil's formulas are still to be compiled for it, they are interpreted until
 * that is done. */
#include "policy/class.h"

#include "policy/explorer.h"
#include "stencil/registry.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* While plans are compiled, one is tried if it is expected to take at most SOONER of the present
 * one's time; in the end those within NEAR of it. A plan is kept below KEPT of the present time. */
static const double SOONER = 0.98, NEAR = 1.25, KEPT = 0.99;

enum { LAST_TRIALS = 12, ENTRANTS_MAX = TZ_POLICY_OPTIONS_MAX + 1 };

typedef struct entrant {
    tz_plan plan;
    double predicted_s, measured_s; /* of an iteration; NAN: not known */
    bool tried;
    char note[64];
} entrant;

typedef enum phase {
    AT_ROWS,   /* has_slow_rows(); "predicted" comes after */
    AT_START,  /* no stage yet */
    AT_REST,   /* nothing is timed */
    AT_BEST,   /* the best plan so far is timed */
    AT_TRIAL,  /* `now` is timed */
    AT_THE_END /* settled */
} phase;

typedef struct automatic {
    phase phase;
    tz_explorer *explorer;
    bool ended;      /* the explorer */
    char why[160];   /* it could predict nothing; "": it could */
    bool changed;    /* since the last look: plans, times or `reach` */
    bool remembered; /* the first plan, from a search that came to its end */
    bool partly;     /* the first plan, from a search that did not */
    entrant *entrants;
    int count, best, now; /* now: -1: none */
    int last_trials, trials;
    tz_policy_trial trial;
    int64_t reach; /* iterations of the longest stretch so far */
    bool too_high; /* plans were left out since their height is over `reach` */
    int short_stretches;
    char key[TZ_POLICY_KEY_SIZE];
} automatic;

/* ---- Memory ---------------------------------------------------------------------------------- */

static const char SEARCH[] = "auto; "; /* in its key */

/* The remembered plan becomes the first one, if the backend still takes it. */
static bool recall(tz_policy *policy, automatic *a)
{
    tz_policy_memory memory;
    if (!a->key[0] || policy->wish.forget || !tz_policy_memory_read(a->key, &memory))
        return false;
    const tz_policy_measurement *best = &memory.plans[memory.best];
    tz_plan plan = best->plan;
    const bool good = tz__policy_complete(&policy->subject, &plan, NULL) == TZ_OK &&
                      tz_plan_equal(&plan, &best->plan);
    a->remembered = good && memory.finished;
    a->partly = good && !memory.finished;
    a->entrants[0].measured_s = good ? best->time_s : NAN;
    a->entrants[0].plan = plan;
    if (good)
        tz__policy_decide(policy, &plan, NAN, "remembered: %.3g ns an iteration",
                          1e9 * best->time_s);
    tz_policy_memory_clear(&memory);
    return good;
}

static void remember(tz_policy *policy, const automatic *a, bool finished)
{
    const tz_policy_memory found = {.count = a->count, .best = a->best, .finished = finished};
    if (!isnan(a->entrants[a->best].measured_s))
        tz__policy_remember(policy, SEARCH, a->key, &found);
}

/* ---- Which plan next ------------------------------------------------------------------------- */

/* Takes over what the explorer has compiled since. */
static void take_ready(automatic *a)
{
    tz_policy_option option;
    while (a->explorer && tz__explorer_take(a->explorer, &option)) {
        int k = 0;
        while (k < a->count && !tz_plan_equal(&a->entrants[k].plan, &option.plan))
            k++;
        if (k == a->count && a->count < ENTRANTS_MAX)
            a->entrants[a->count++] = (entrant){.plan = option.plan, .measured_s = NAN};
        if (k < a->count)
            a->entrants[k].predicted_s = option.time_s;
        a->changed = true;
    }
}

/* How much longer a plan takes than predicted, as those of its family do that were timed: the one
 * of the nearest height. Plans of a family without one are taken to be no slower than predicted:
 * the model may be wrong about the other families alone. */
static double find_error(const automatic *a, const entrant *e)
{
    const entrant *best = &a->entrants[a->best];
    double error = fmin(1.0, best->measured_s / best->predicted_s);
    int nearest = INT_MAX;
    for (int i = 0; i < a->count; i++) {
        const entrant *other = &a->entrants[i];
        const int apart = abs(other->plan.height - e->plan.height);
        const double known = other->measured_s / other->predicted_s;
        if (isnan(known) || apart >= nearest || strcmp(other->plan.family, e->plan.family) != 0)
            continue;
        nearest = apart;
        error = known;
    }
    return error;
}

/* The plan that is expected to be the fastest of those that were not tried; -1: none is worth a
 * trial. */
static int find_next(automatic *a)
{
    const entrant *best = &a->entrants[a->best];
    const double present_s = isnan(best->measured_s) ? best->predicted_s : best->measured_s;
    double least_s = INFINITY;
    int next = -1;
    for (int i = 0; i < a->count; i++) {
        const entrant *e = &a->entrants[i];
        const double expected_s = e->predicted_s * find_error(a, e);
        if (i == a->best || e->tried || !(expected_s < least_s))
            continue;
        if (e->plan.height <= a->reach) {
            next = i;
            least_s = expected_s;
        } else if (!(expected_s > present_s))
            a->too_high = true;
    }
    if (next < 0 || !(least_s >= SOONER * present_s))
        return next;
    const bool last = a->ended && a->last_trials < LAST_TRIALS && least_s < NEAR * present_s;
    a->last_trials += last;
    return last ? next : -1;
}

static void settle(tz_policy *policy, automatic *a)
{
    a->phase = AT_THE_END;
    tz__explorer_destroy(a->explorer);
    a->explorer = NULL;
    if (a->why[0])
        tz__policy_decide(policy, &policy->plan, NAN, "kept; not predicted: %s", a->why);
    remember(policy, a, !a->too_high && !a->why[0]);
}

/* Chooses what is timed next, if anything is. */
static void look_around(tz_policy *policy, automatic *a)
{
    take_ready(a);
    if (!a->ended && tz__explorer_ended(a->explorer, a->why, sizeof a->why))
        a->ended = a->changed = true;
    if (!a->changed)
        return;
    a->changed = false;
    a->now = find_next(a);
    if (a->now < 0 && !a->ended)
        return;
    a->phase = AT_BEST;
    a->short_stretches = 0;
    if (a->now < 0 && !isnan(a->entrants[a->best].measured_s))
        settle(policy, a);
    else
        tz__policy_trial_begin(&a->trial, true, NAN);
}

static void go_back(tz_policy *policy, automatic *a, const char *why)
{
    entrant *e = &a->entrants[a->now];
    e->tried = a->changed = true;
    a->phase = AT_REST;
    snprintf(e->note, sizeof e->note, "%s", why);
    tz__policy_decide(policy, &a->entrants[a->best].plan, e->measured_s, "measured: %.100s", why);
}

/* ---- The policy ------------------------------------------------------------------------------ */

/* Row functions that may become faster; until then no plan is worth a prediction. */
static bool has_slow_rows(const tz_policy_subject *subject)
{
    const tz_stencil *stencil = subject->problem->stencil;
    return tz_stencil_is_compiling(stencil) ||
           (subject->may_leave && tz_stencil_is_interpreted(stencil));
}

static tz_status auto_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                           tz_error *error)
{
    automatic *a = policy->state;
    if (!a)
        return tz_policy_class_predicted.next(policy, iterations_left, new_stretch, error);
    if (a->phase == AT_THE_END)
        return TZ_OK;
    if (a->phase == AT_ROWS && has_slow_rows(&policy->subject))
        return TZ_OK;
    if (a->phase == AT_ROWS) {
        free(a->entrants);
        free(a);
        policy->state = NULL;
        tz__policy_warn_of_rows(policy);
        return tz_policy_class_predicted.create(policy, error);
    }
    a->changed = a->changed || iterations_left > a->reach;
    a->reach = iterations_left > a->reach ? iterations_left : a->reach;
    if (a->phase == AT_START) {
        if (policy->wish.forget && a->key[0]) /* only once a stage really runs */
            tz_policy_memory_forget(a->key);
        if (!tz_plan_equal(&policy->plan, &a->entrants[0].plan)) { /* that of a checkpoint */
            a->entrants[0] = (entrant){.plan = policy->plan, .predicted_s = NAN, .measured_s = NAN};
            a->remembered = a->partly = false;
        }
        a->phase = a->remembered ? AT_THE_END : AT_REST;
        if (!a->remembered)
            return tz__explorer_create(&a->explorer, &policy->subject, &policy->wish.given, error);
    }
    if (a->phase == AT_REST)
        look_around(policy, a);
    if (a->phase != AT_BEST && a->phase != AT_TRIAL)
        return TZ_OK;
    const entrant *timed = &a->entrants[a->phase == AT_BEST ? a->best : a->now];
    if (new_stretch)
        a->short_stretches = iterations_left < timed->plan.height ? a->short_stretches + 1 : 0;
    if (a->short_stretches >= TZ_POLICY_STRETCHES) {
        a->short_stretches = 0;
        if (a->now >= 0)
            go_back(policy, a, "too few iterations between outputs");
        else
            settle(policy, a);
    } else if (a->phase == AT_TRIAL && !tz_plan_equal(&policy->plan, &timed->plan))
        tz__policy_decide(policy, &timed->plan, a->entrants[a->best].measured_s,
                          "predicted: tried next to the present plan");
    return TZ_OK;
}

static int64_t auto_stages_to_time(const tz_policy *policy)
{
    const automatic *a = policy->state;
    return a && (a->phase == AT_BEST || a->phase == AT_TRIAL) ? a->trial.stages_to_time : 0;
}

static void auto_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    automatic *a = policy->state;
    if (!a || (a->phase != AT_BEST && a->phase != AT_TRIAL) ||
        !tz__policy_trial_record(&a->trial, stages, iterations, seconds))
        return;
    entrant *best = &a->entrants[a->best];
    const double time_s = a->trial.seconds / (double)a->trial.iterations;
    if (a->phase == AT_BEST) {
        best->measured_s = time_s;
        if (a->now < 0) /* it may be slower than predicted */
            a->now = find_next(a);
        if (a->now < 0) {
            settle(policy, a);
            return;
        }
        const entrant *next = &a->entrants[a->now];
        a->phase = AT_TRIAL;
        tz__policy_trial_begin(&a->trial, false, next->predicted_s * next->plan.height);
        return;
    }
    entrant *tried = &a->entrants[a->now];
    tried->measured_s = time_s;
    a->trials++;
    if (!(time_s < KEPT * best->measured_s)) {
        go_back(policy, a, "not faster");
        return;
    }
    tried->tried = best->tried = a->changed = true;
    a->phase = AT_REST;
    a->best = a->now;
    tz__policy_decide(policy, &tried->plan, time_s, "measured: %.3g times as fast as before",
                      best->measured_s / time_s);
}

static bool auto_plan_failed(tz_policy *policy, const tz_error *why)
{
    automatic *a = policy->state;
    char text[64];
    snprintf(text, sizeof text, "refused: %.50s", why->message);
    if (!a)
        return false;
    if (a->phase == AT_TRIAL) {
        go_back(policy, a, text);
        return true;
    }
    /* The base plan fails: the backend's choice takes its place, once. */
    entrant *first = &a->entrants[0];
    tz_plan plan = policy->wish.given;
    if (a->best != 0 || first->tried || a->remembered ||
        tz__policy_complete(&policy->subject, &plan, NULL) || tz_plan_equal(&plan, &first->plan))
        return false;
    first->tried = true;
    first->plan = plan;
    tz__policy_decide(policy, &plan, NAN, "%s", text);
    return true;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static void auto_destroy(tz_policy *policy)
{
    automatic *a = policy->state;
    tz__explorer_destroy(a->explorer);
    if (a->phase != AT_THE_END && a->trials > 0)
        remember(policy, a, false);
    free(a->entrants);
    free(a);
}

static tz_status auto_create(tz_policy *policy, tz_error *error)
{
    const tz_policy_subject *subject = &policy->subject;
    if (subject->backend->rows)
        tz_stencil_compile_begin(subject->problem->stencil, subject->may_leave,
                                 &subject->place.cancel);
    const bool rows = subject->backend->rows && has_slow_rows(subject);
    if (!subject->backend->base_family && !rows)
        return tz_policy_class_predicted.create(policy, error);
    automatic *a = calloc(1, sizeof *a);
    policy->state = a;
    if (a)
        a->entrants = calloc(ENTRANTS_MAX, sizeof *a->entrants);
    if (!a || !a->entrants)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a policy");
    a->now = -1;
    a->count = 1;
    a->entrants[0] = (entrant){.predicted_s = NAN, .measured_s = NAN};
    a->phase = rows ? AT_ROWS : AT_START;
    if (!rows)
        tz__policy_memory_key(policy, SEARCH, a->key);
    if (!rows && recall(policy, a))
        return TZ_OK;
    tz_plan plan = policy->wish.given;
    if (rows) {
        plan.height = plan.height > 0 ? plan.height : 1; /* the compiled ones wait for its end */
        const tz_status status = tz__policy_complete(subject, &plan, error);
        if (!status)
            tz__policy_decide(policy, &plan, NAN, "formulas are interpreted%s",
                              subject->may_leave ? "" : ": they are compiled beside the run");
        return status;
    }
    const bool base = tz__policy_base(&policy->subject, &plan);
    const tz_status status = base ? TZ_OK : tz__policy_complete(&policy->subject, &plan, error);
    if (!status)
        tz__policy_decide(policy, &plan, NAN,
                          base ? "%s: better plans are compiled beside the run"
                               : "the %s plan as given: better ones are compiled beside the run",
                          plan.family);
    a->entrants[0].plan = plan;
    return status;
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static bool auto_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out)
{
    const automatic *a = policy->state;
    if (!a || index >= (size_t)a->count)
        return false;
    const entrant *e = &a->entrants[index];
    *out = (tz_policy_measurement){.plan = e->plan,
                                   .time_s = e->measured_s,
                                   .predicted_s = e->predicted_s,
                                   .rounds = !isnan(e->measured_s)};
    snprintf(out->note, sizeof out->note, "%s", e->note);
    return true;
}

static bool auto_settled(const tz_policy *policy)
{
    const automatic *a = policy->state;
    return !a || a->phase == AT_THE_END || (a->phase == AT_START && a->remembered);
}

static void auto_describe(const tz_policy *policy, char *text, size_t size)
{
    const automatic *a = policy->state;
    const int height = policy->plan.height;
    const char *name = policy->is->name;
    if (!a)
        tz_policy_class_predicted.describe(policy, text, size);
    else if (a->phase == AT_ROWS)
        snprintf(text, size, "%s: height %d, formulas interpreted", name, height);
    else if (a->remembered)
        snprintf(text, size, "%s: height %d, remembered", name, height);
    else
        snprintf(text, size, "%s: height %d, %s%d plan%s tried%s", name, height,
                 a->best == 0 ? (a->partly ? "remembered, " : "the first plan, ") : "measured, ",
                 a->trials, a->trials == 1 ? "" : "s",
                 a->phase == AT_THE_END ? "" : ", not all compiled yet");
}

#define CLASS(name_)                                                                               \
    {                                                                                              \
        .name = name_, .create = auto_create, .destroy = auto_destroy, .next = auto_next,          \
        .stages_to_time = auto_stages_to_time, .record = auto_record,                              \
        .plan_failed = auto_plan_failed, .measured = auto_measured, .settled = auto_settled,       \
        .describe = auto_describe                                                                  \
    }
const tz_policy_class tz_policy_class_auto = CLASS("auto");
const tz_policy_class tz_policy_class_height = CLASS("fixed"); /* the best plan of a height */
