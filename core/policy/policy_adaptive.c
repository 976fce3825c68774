/* adaptive: the height goes up and down with the time of an iteration.
 *
 * Meng and Skadron 2009, section 5.4.2, after Allen et al.: the average time of an iteration, taken
 * over two stages, decides whether the height is to grow or to shrink; it starts at 1 or at the
 * model's prediction. What is ours:
 *
 * - hysteresis: only a gain of more than HYSTERESIS moves the height, noise does not.
 *
 * - rungs: a height's time is kept and it is tried twice at the most, so that the search ends. Then
 * nothing is timed any more.
 *
 * - stride: 1, 2, 4, ... heights on while that pays, as the start may be far off.
 *
 * - convexity: time is convex in the height below the bound (section 6.1), so a line through two
 * measured heights bounds what lies beyond them from below: what cannot gain HYSTERESIS is not
 * tried.
 *
 * - second look: a trial that fell into someone else's work looks slow. Before it settles, both
 * neighbours that are less than LOOK_AGAIN slower are tried once more, and the lesser time counts,
 * since what disturbs a stage makes it longer.
 *
 * - forecast: heights that the forecast says are SLOWER_SKIPPED slower are taken at its word.
 *
 * - budget: from a start that is likely right, the prediction or the backend's choice, trials may
 * cost BUDGET of the time run so far and wait until they may; a trial that is SLOWER_ENDED slower
 * after one stage ends with it.
 *
 * - quiet: timing waits for a GPU. From such a start nothing is timed for QUIET_S, nor once the
 * base's time is known well and the budget makes trials wait. */
#include "policy/policy_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HYSTERESIS = 0.03, SLOWER_SKIPPED = 0.10, SLOWER_ENDED = 0.15, LOOK_AGAIN = 0.5,
                    BUDGET = 0.012, QUIET_S = 0.01,
                    TRIAL_COST = 0.15; /* stages' worth, of a trial that is a little slower */

enum { BASE_GROUPS_MAX = 8, RUNGS_MAX = TZ_POLICY_OPTIONS_MAX + 1 };

typedef struct rung {
    tz_plan plan;
    double predicted; /* of an iteration; NAN */
    double time;      /* measured or presumed; NAN: neither; INFINITY: cannot be had */
    bool measured;
    bool known; /* its kernel has run */
    int looks;  /* trials */
    char note[64];
} rung;

typedef struct adaptive {
    rung *rungs;            /* by height */
    int count, base, probe; /* probe -1: none */
    int stride, direction;
    tz_policy_trial trial;
    int base_groups, tried;
    bool budgeted, settled;
    double elapsed, lost; /* seconds that were timed, and those beyond what base would have taken */
    int short_stretches;
    int64_t longest_room;
    int64_t settled_step;
    int64_t seen_step; /* of the last question; -1: none yet */
    bool was_quiet;    /* since then nothing is timed */
} adaptive;

/* ---- Rungs ------------------------------------------------------------------------------------
 */

static int compare_heights(const void *a, const void *b)
{
    return ((const rung *)a)->plan.height - ((const rung *)b)->plan.height;
}

static int find_height(const adaptive *a, int height)
{
    for (int i = 0; i < a->count; i++)
        if (a->rungs[i].plan.height == height)
            return i;
    return -1;
}

/* One rung a height: the plan that is predicted to be the fastest, else the backend's choice. */
static tz_status make_rungs(tz_policy *policy, adaptive *a, tz_error *error)
{
    tz_policy_options *list = tz_policy_list(policy, error);
    if (!list)
        return error ? error->code : TZ_MEMORY;
    for (int i = 0; i < list->count; i++) {
        const tz_policy_option *option = &list->at[i];
        const int at = find_height(a, option->plan.height);
        if (at < 0) {
            a->rungs[a->count++] =
                (rung){.plan = option->plan, .predicted = option->time_s, .time = NAN};
        } else if (option->time_s < a->rungs[at].predicted) {
            a->rungs[at].plan = option->plan;
            a->rungs[at].predicted = option->time_s;
        }
    }
    for (int i = 0; list->best < 0 && i < a->count; i++) {
        tz_plan plan = policy->config.given;
        plan.height = a->rungs[i].plan.height;
        if (policy->host.complete(policy->host.context, &plan, NULL) == TZ_OK &&
            plan.height == a->rungs[i].plan.height)
            a->rungs[i].plan = plan;
    }
    free(list);
    return TZ_OK;
}

/* The index of a rung of this plan's height, made if it is not there. */
static int add_rung(adaptive *a, const tz_plan *plan)
{
    int at = find_height(a, plan->height);
    if (at < 0) {
        a->rungs[a->count++] = (rung){.plan = *plan, .predicted = NAN, .time = NAN};
        qsort(a->rungs, (size_t)a->count, sizeof *a->rungs, compare_heights);
        at = find_height(a, plan->height);
    }
    return at;
}

static tz_status adaptive_create(tz_policy *policy, tz_error *error)
{
    adaptive *a = calloc(1, sizeof *a);
    if (!a)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    policy->state = a;
    a->rungs = calloc(RUNGS_MAX, sizeof *a->rungs);
    if (!a->rungs)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    tz_status status = make_rungs(policy, a, error);
    if (status)
        return status;
    qsort(a->rungs, (size_t)a->count, sizeof *a->rungs, compare_heights);
    const tz_policy_options *forecast = tz_policy_forecast(policy);
    const int start = policy->config.start > 0 ? policy->config.start : policy->config.given.height;
    a->probe = -1;
    a->seen_step = -1;
    a->stride = 1;
    a->direction = 1;
    a->budgeted = start == 0;
    tz_policy_trial_begin(&a->trial, false);
    if (start == 0 && forecast) {
        a->base = find_height(a, forecast->at[forecast->best].plan.height);
        tz_policy_decide(policy, &a->rungs[a->base].plan, NAN, "adaptive, from the prediction: %s",
                         forecast->reason);
        return TZ_OK;
    }
    tz_plan plan = policy->config.given;
    plan.height = start;
    a->base = start > 0 ? find_height(a, start) : -1;
    if (a->base < 0) {
        status = policy->host.complete(policy->host.context, &plan, error);
        if (status)
            return status;
        a->base = add_rung(a, &plan);
    }
    if (start > 0)
        tz_policy_decide(policy, &a->rungs[a->base].plan, NAN, "adaptive, from height %d as given",
                         start);
    else
        tz_policy_decide(policy, &a->rungs[a->base].plan, NAN,
                         "adaptive, from the backend's choice; not predicted: %s",
                         policy->no_forecast);
    return TZ_OK;
}

static void adaptive_destroy(tz_policy *policy)
{
    adaptive *a = policy->state;
    free(a->rungs);
    free(a);
}

/* ---- What to try next -------------------------------------------------------------------------
 */

static double height_of(const adaptive *a, int i)
{
    return a->rungs[i].plan.height;
}

/* The nearest rung on a side whose time is known; -1: none. */
static int known_beside(const adaptive *a, int from, int direction)
{
    for (int i = from + direction; i >= 0 && i < a->count; i += direction)
        if (!isnan(a->rungs[i].time))
            return i;
    return -1;
}

/* Seconds an iteration by which a height between base and the known rung `beyond` may be faster
 * than base: below the line through base and what is known on its other side it cannot be. */
static double possible_gain(const adaptive *a, int candidate, int direction)
{
    const int other = known_beside(a, a->base, -direction);
    if (other < 0 || isinf(a->rungs[other].time))
        return INFINITY;
    const double slope = (a->rungs[other].time - a->rungs[a->base].time) /
                         fabs(height_of(a, a->base) - height_of(a, other));
    return slope * fabs(height_of(a, candidate) - height_of(a, a->base));
}

/* The rung to try on one side of base; -1: none can be better. */
static int candidate_beside(const adaptive *a, int direction)
{
    const double base = a->rungs[a->base].time;
    const int last = direction > 0 ? a->count - 1 : 0;
    const int beyond = known_beside(a, a->base, direction);
    if (a->base == last)
        return -1;
    int candidate;
    if (beyond < 0) {
        const int stride = direction == a->direction ? a->stride : 1;
        candidate = a->base + direction * stride;
        candidate = candidate < 0 ? 0 : candidate >= a->count ? a->count - 1 : candidate;
        /* A base that won by more than a line from the other side leaves to gain is a valley. */
        return possible_gain(a, last, direction) > HYSTERESIS * base ? candidate : -1;
    }
    if (abs(beyond - a->base) < 2)
        return -1;
    candidate = (beyond + a->base) / 2;
    return possible_gain(a, candidate, direction) > HYSTERESIS * base ? candidate : -1;
}

static void settle(tz_policy *policy, adaptive *a)
{
    rung *base = &a->rungs[a->base];
    a->settled = true;
    a->settled_step = policy->step;
    tz_policy_decide(policy, &base->plan, base->time,
                     "adaptive: settled, no height tried is more than %.0f %% faster",
                     100 * HYSTERESIS);
    base->plan = policy->plan;
}

/* Trust the forecast about heights that it says are much slower than base. */
static bool presume(adaptive *a, int candidate)
{
    rung *r = &a->rungs[candidate];
    const rung *base = &a->rungs[a->base];
    const double ratio = r->predicted / base->predicted;
    if (!(ratio > 1 + SLOWER_SKIPPED))
        return false;
    r->time = ratio * base->time;
    snprintf(r->note, sizeof r->note, "not tried: predicted %.0f %% slower", 100 * (ratio - 1));
    return true;
}

/* The neighbour that is worth a second look; -1: none is. */
static int second_look(const adaptive *a)
{
    int found = -1;
    for (int direction = -1; direction <= 1; direction += 2) {
        const int i = known_beside(a, a->base, direction);
        if (i >= 0 && a->rungs[i].measured && a->rungs[i].looks == 1 &&
            a->rungs[i].time < (1 + LOOK_AGAIN) * a->rungs[a->base].time &&
            (found < 0 || a->rungs[i].time < a->rungs[found].time))
            found = i;
    }
    return found;
}

/* Choose the next trial, or settle. */
static void look_around(tz_policy *policy, adaptive *a)
{
    int candidate = -1;
    for (bool again = true; again;) {
        again = false;
        int up = candidate_beside(a, 1), down = candidate_beside(a, -1);
        const int first = a->direction > 0 ? up : down, second = a->direction > 0 ? down : up;
        candidate = first >= 0 ? first : second;
        /* With a forecast the likelier side comes first. */
        if (first >= 0 && second >= 0 && a->rungs[second].predicted < a->rungs[first].predicted)
            candidate = second;
        if (candidate >= 0)
            again = presume(a, candidate);
    }
    if (candidate < 0)
        candidate = second_look(a);
    if (candidate < 0) {
        settle(policy, a);
        return;
    }
    const rung *base = &a->rungs[a->base];
    rung *next = &a->rungs[candidate];
    if (a->budgeted) {
        const double worth = next->plan.height * base->time;
        if (a->lost + TRIAL_COST * worth > BUDGET * a->elapsed)
            return;
    }
    a->probe = candidate;
    a->tried += next->looks == 0;
    a->short_stretches = 0;
    tz_policy_trial_begin(&a->trial, next->looks > 0);
    tz_policy_decide(policy, &next->plan, base->time, "adaptive: tries height %d %sagainst %d",
                     next->plan.height, next->looks > 0 ? "again " : "", base->plan.height);
    next->looks++;
    next->plan = policy->plan;
}

static void back_to_base(tz_policy *policy, adaptive *a, double time, const char *note)
{
    a->probe = -1;
    tz_policy_decide(policy, &a->rungs[a->base].plan, time, "adaptive: back, %s", note);
    a->rungs[a->base].plan = policy->plan;
}

/* ---- Being told -------------------------------------------------------------------------------
 */

static void judge(tz_policy *policy, adaptive *a)
{
    rung *probe = &a->rungs[a->probe];
    const rung *base = &a->rungs[a->base];
    const double time = a->trial.seconds / (double)a->trial.iterations;
    probe->time = probe->measured && probe->time < time ? probe->time : time;
    probe->measured = true;
    const double gain = 1 - probe->time / base->time;
    if (gain > HYSTERESIS) {
        const int direction = a->probe > a->base ? 1 : -1;
        a->stride = direction == a->direction ? 2 * a->stride : 2;
        a->direction = direction;
        const int from = base->plan.height;
        if (a->rungs[a->base].looks == 0) /* the start: it may have been disturbed, too */
            a->rungs[a->base].looks = 1;
        a->base = a->probe;
        a->probe = -1;
        a->base_groups = 1;
        tz_policy_decide(policy, &probe->plan, probe->time,
                         "adaptive: height %d is %.1f %% faster than %d", probe->plan.height,
                         100 * gain, from);
        probe->plan = policy->plan;
    } else {
        char note[64];
        snprintf(note, sizeof note, "height %d is %.1f %% %s", probe->plan.height, 100 * fabs(gain),
                 gain > 0 ? "faster: within noise" : "slower");
        a->stride = 1;
        back_to_base(policy, a, probe->time, note);
    }
    look_around(policy, a);
}

static void adaptive_tell(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    adaptive *a = policy->state;
    if (a->settled)
        return;
    const bool on_probe = a->probe >= 0;
    rung *now = &a->rungs[on_probe ? a->probe : a->base];
    const rung *base = &a->rungs[a->base];
    a->elapsed += seconds;
    if (on_probe)
        a->lost += seconds - (double)iterations * base->time;
    const bool done = tz_policy_trial_tell(&a->trial, stages, iterations, seconds);
    now->known = true;
    if (on_probe) {
        const bool hopeless =
            a->trial.iterations > 0 &&
            a->trial.seconds / (double)a->trial.iterations > (1 + SLOWER_ENDED) * base->time;
        if (done || hopeless)
            judge(policy, a);
        return;
    }
    if (!done)
        return;
    /* More groups while the budget makes it wait: a better average to compare with. */
    const double time = a->trial.seconds / (double)a->trial.iterations;
    now->time = isnan(now->time) || !now->measured
                    ? time
                    : (a->base_groups * now->time + time) / (a->base_groups + 1);
    now->measured = true;
    a->base_groups += a->base_groups < BASE_GROUPS_MAX;
    const int64_t wanted = a->trial.wanted;
    tz_policy_trial_begin(&a->trial, true);
    a->trial.wanted = wanted;
    look_around(policy, a);
}

/* What an iteration at the base takes, as far as is known; NAN. */
static double base_time(const adaptive *a)
{
    const rung *base = &a->rungs[a->base];
    return base->measured ? base->time : base->predicted;
}

static bool is_quiet(const adaptive *a)
{
    return a->budgeted && a->probe < 0 && !isnan(base_time(a)) &&
           (a->elapsed < QUIET_S || a->base_groups >= BASE_GROUPS_MAX);
}

/* Time that nobody measured goes by too. */
static void count_quiet_time(tz_policy *policy, adaptive *a)
{
    const int64_t since = a->seen_step < 0 ? 0 : policy->step - a->seen_step;
    if (a->was_quiet && since > 0) {
        a->elapsed += (double)since * base_time(a);
        if (a->base_groups >= BASE_GROUPS_MAX)
            look_around(policy, a);
    }
    a->seen_step = policy->step;
    a->was_quiet = !a->settled && is_quiet(a);
}

static int64_t adaptive_wanted(const tz_policy *policy)
{
    const adaptive *a = policy->state;
    if (a->settled || is_quiet(a))
        return 0;
    /* A trial that finds no room leaves the stage to base: that one is not timed. */
    const int on = a->probe >= 0 ? a->probe : a->base;
    return tz_policy_same_plan(&policy->plan, &a->rungs[on].plan) ? a->trial.wanted : 0;
}

static bool give_up(tz_policy *policy, adaptive *a, const char *note)
{
    if (a->probe < 0)
        return false;
    rung *probe = &a->rungs[a->probe];
    probe->time = INFINITY;
    snprintf(probe->note, sizeof probe->note, "%s", note);
    a->stride = 1;
    back_to_base(policy, a, NAN, note);
    look_around(policy, a);
    return true;
}

static bool adaptive_refuse(tz_policy *policy, const tz_error *why)
{
    char note[64];
    snprintf(note, sizeof note, "refused: %.50s", why->message);
    return give_up(policy, policy->state, note);
}

/* Outputs come too often for base: the highest that still runs whole, if there is one. */
static void lower_base(tz_policy *policy, adaptive *a)
{
    int lower = -1;
    for (int i = 0; i < a->count; i++)
        if (a->rungs[i].plan.height <= a->longest_room && !isinf(a->rungs[i].time))
            lower = i;
    if (lower < 0)
        return;
    for (int i = lower + 1; i < a->count; i++)
        a->rungs[i].time = INFINITY;
    a->base = lower;
    a->base_groups = 0;
    a->budgeted = false;
    tz_policy_trial_begin(&a->trial, a->rungs[lower].known);
    tz_policy_decide(policy, &a->rungs[lower].plan, NAN,
                     "adaptive: outputs leave %" PRId64 " iterations at most", a->longest_room);
}

static tz_status adaptive_next(tz_policy *policy, int64_t room, bool fresh, tz_error *error)
{
    (void)error;
    adaptive *a = policy->state;
    if (!a->settled)
        count_quiet_time(policy, a);
    if (a->settled)
        return TZ_OK;
    for (;;) {
        const tz_plan *wanted = &a->rungs[a->probe >= 0 ? a->probe : a->base].plan;
        const bool fits = wanted->height <= room;
        if (fresh) {
            a->short_stretches = fits ? 0 : a->short_stretches + 1;
            a->longest_room =
                a->short_stretches == 1 || room > a->longest_room ? room : a->longest_room;
            if (a->short_stretches >= TZ_POLICY_STRETCHES) {
                a->short_stretches = 0;
                if (a->probe >= 0) {
                    give_up(policy, a, "outputs leave no room for it");
                    fresh = false;
                    if (!a->settled)
                        continue;
                } else {
                    lower_base(policy, a);
                }
                return TZ_OK;
            }
        }
        policy->plan = fits || a->probe < 0 ? *wanted : a->rungs[a->base].plan;
        return TZ_OK;
    }
}

/* ---- Telling ----------------------------------------------------------------------------------
 */

static bool adaptive_measured(const tz_policy *policy, size_t index, tz_policy_measurement *out)
{
    const adaptive *a = policy->state;
    for (int i = 0; i < a->count; i++) {
        const rung *r = &a->rungs[i];
        if (!r->measured && !r->note[0])
            continue;
        if (index-- > 0)
            continue;
        *out = (tz_policy_measurement){.plan = r->plan,
                                       .time_s = r->measured && isfinite(r->time) ? r->time : NAN,
                                       .predicted_s = r->predicted,
                                       .tie = i == a->base};
        snprintf(out->note, sizeof out->note, "%s", r->note);
        return true;
    }
    return false;
}

static bool adaptive_settled(const tz_policy *policy)
{
    return ((const adaptive *)policy->state)->settled;
}

static void adaptive_describe(const tz_policy *policy, char *text, size_t size)
{
    const adaptive *a = policy->state;
    const int height = a->rungs[a->base].plan.height;
    if (a->settled)
        snprintf(text, size, "adaptive: settled on height %d at step %" PRId64 ", %d tried", height,
                 a->settled_step, a->tried);
    else
        snprintf(text, size, "adaptive: height %d, not settled, %d tried", height, a->tried);
}

const tz_policy_class tz_policy_class_adaptive = {.create = adaptive_create,
                                                  .destroy = adaptive_destroy,
                                                  .next = adaptive_next,
                                                  .wanted = adaptive_wanted,
                                                  .tell = adaptive_tell,
                                                  .refuse = adaptive_refuse,
                                                  .measured = adaptive_measured,
                                                  .settled = adaptive_settled,
                                                  .describe = adaptive_describe};
