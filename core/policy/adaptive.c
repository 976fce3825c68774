/* adaptive: the height goes up and down with the measured time of an iteration.
 *
 * Meng and Skadron 2009, section 5.4.2, after Allen et al.: the average time of an iteration,
 * taken over two stages, decides whether the height grows or shrinks. The height starts at 1 or at
 * the model's prediction. We add:
 *
 * - hysteresis: the height changes only for a gain of more than HYSTERESIS, so that noise does not
 *   change it. Where the start is probably right, a gain below SURE must be measured twice.
 *
 * - rungs: the time of each height is kept, and a height is tried at most twice. So the search
 *   ends.
 *
 * - stride: the search goes 1, 2, 4, ... heights further while that pays: the start may be far
 *   off.
 *
 * - convexity: time is convex in the height below the bound (section 6.1). A line through two
 *   measured heights is then a lower bound of the times beyond them. A height that cannot gain
 *   HYSTERESIS is not tried.
 *
 * - second look: another program may have disturbed a trial. Before the policy settles, it tries
 *   both neighbours that are less than LOOK_AGAIN slower once more. The shorter time counts, since
 *   disturbance only makes a stage longer.
 *
 * - predictions: heights that are predicted to be SLOWER_SKIPPED slower are not tried.
 *
 * - budget: once the start is probably right (a prediction, the backend's choice, a settled
 *   height), trials, and the waits for a device that timing needs, may cost BUDGET of the time run
 *   so far. Until then they are postponed. The expected cost of a trial is its stages at RISK
 *   slower than base, its set-up and its waits. Each trial in a row without a gain doubles it.
 *   Time that a better height has gained over the start may be spent, too.
 *
 * - pairs: a trial is compared with a base that was timed just before it, after the trial before,
 *   and all times are scaled with the base's. So a device that becomes slower or faster does not
 *   decide.
 *
 * - short timings: two stages are timed, or only one if that is enough: for a trial that is then
 *   SURE slower or faster than base, and for a base that is within SLID of its time before. A
 *   settled policy times two: what it finds may open all heights.
 *
 * - drift: a settled policy times its height again after twice as long a run each time. If that
 *   time differs by DRIFT from the one it settled with, all heights are open again. */
#include "base/json.h"
#include "model/constants.h"
#include "policy/class.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double HYSTERESIS = 0.03, SLOWER_SKIPPED = 0.10, LOOK_AGAIN = 0.5, BUDGET = 0.01,
                    RISK = 0.5, SLID = 0.05, DRIFT = 0.10, SURE = 0.10;

enum { BASE_GROUPS_MAX = 3, PATIENCE_MAX = 64, RUNGS_MAX = TZ_POLICY_OPTIONS_MAX + 2 };

/* One height of the search, with its plan. */
typedef struct rung {
    tz_plan plan;
    double predicted; /* time of an iteration; NAN: not predicted */
    bool estimated;   /* that is an estimate */
    double set_up_s;  /* expected extra time of its first stage */
    double time;      /* of an iteration, measured or presumed; NAN: neither; INFINITY: refused */
    bool measured;
    bool known; /* its kernel has run */
    int looks;  /* trials */
    char note[64];
} rung;

typedef struct adaptive {
    rung *rungs; /* by height */
    int count, start, base;
    int probe; /* the rung on trial; -1: none */
    int stride, direction;
    tz_policy_trial trial;
    int base_groups, tried;
    bool budgeted, settled;
    bool timing;          /* base is being timed */
    int confirm;          /* a rung that seems better and is tried again; -1: none */
    bool due;             /* the next trial may begin once base is timed */
    int patience;         /* factor on the next trial's cost: trials without a gain double it */
    double elapsed, lost; /* seconds run; the part of them that the start would not have taken */
    double wait_s;        /* cost of a wait for the device */
    int64_t calls;        /* while the time of base is not known: stages so far */
    double began_s;       /* by the host's clock: the end of the first of them, */
    int64_t began_step;   /* and its step */
    double check_s;       /* settled: base is timed again after so many elapsed seconds */
    double settled_time;
    int short_stretches;
    int64_t longest_stretch;
    int64_t settled_step;
    int64_t seen_step; /* `elapsed` counts up to this step */
} adaptive;

/* ---- Heights --------------------------------------------------------------------------------- */

static int compare_heights(const void *a, const void *b)
{
    return ((const rung *)a)->plan.height - ((const rung *)b)->plan.height;
}

static int find_rung(const adaptive *a, int height)
{
    for (int i = 0; i < a->count; i++)
        if (a->rungs[i].plan.height == height)
            return i;
    return -1;
}

static tz_status make_rungs(tz_policy *policy, adaptive *a, tz_error *error)
{
    tz_policy_options *list = tz__policy_list(policy, error);
    if (!list)
        return error ? error->code : TZ_MEMORY;
    for (int i = 0; i < list->count; i++) {
        const tz_policy_option *option = &list->at[i];
        const int at = find_rung(a, option->plan.height);
        if (at < 0) {
            a->rungs[a->count++] = (rung){.plan = option->plan,
                                          .predicted = option->time_s,
                                          .estimated = option->estimated,
                                          .set_up_s = option->set_up_s,
                                          .time = NAN};
        } else if (option->time_s < a->rungs[at].predicted) {
            a->rungs[at].plan = option->plan;
            a->rungs[at].predicted = option->time_s;
            a->rungs[at].estimated = option->estimated;
            a->rungs[at].set_up_s = option->set_up_s;
        }
    }
    for (int i = 0; list->best < 0 && i < a->count; i++) {
        tz_plan plan = policy->wish.given;
        plan.height = a->rungs[i].plan.height;
        if (tz__policy_complete(&policy->subject, &plan, NULL) == TZ_OK &&
            plan.height == a->rungs[i].plan.height)
            a->rungs[i].plan = plan;
    }
    free(list);
    qsort(a->rungs, (size_t)a->count, sizeof *a->rungs, compare_heights);
    return TZ_OK;
}

static int add_rung(adaptive *a, const tz_plan *plan)
{
    int at = find_rung(a, plan->height);
    if (at < 0) {
        a->rungs[a->count++] = (rung){.plan = *plan, .predicted = NAN, .time = NAN};
        qsort(a->rungs, (size_t)a->count, sizeof *a->rungs, compare_heights);
        at = find_rung(a, plan->height);
    }
    return at;
}

static double time_of(const adaptive *a, int i)
{
    const rung *r = &a->rungs[i];
    return r->measured ? r->time : r->predicted;
}

static double height_of(const adaptive *a, int i)
{
    return a->rungs[i].plan.height;
}

/* The nearest rung with a known time on one side; -1: none. */
static int known_beside(const adaptive *a, int from, int direction)
{
    for (int i = from + direction; i >= 0 && i < a->count; i += direction)
        if (!isnan(a->rungs[i].time))
            return i;
    return -1;
}

/* The most that the candidate can be faster than base, in seconds an iteration: its time is not
 * below the line through base and the nearest known rung on the other side. */
static double possible_gain(const adaptive *a, int candidate, int direction)
{
    const int other = known_beside(a, a->base, -direction);
    if (other < 0 || isinf(a->rungs[other].time))
        return INFINITY;
    const double slope = (a->rungs[other].time - a->rungs[a->base].time) /
                         fabs(height_of(a, a->base) - height_of(a, other));
    return slope * fabs(height_of(a, candidate) - height_of(a, a->base));
}

/* The rung to try on one side of base; -1: none can be faster. */
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
        return possible_gain(a, last, direction) > HYSTERESIS * base ? candidate : -1;
    }
    if (abs(beyond - a->base) < 2)
        return -1;
    candidate = (beyond + a->base) / 2;
    return possible_gain(a, candidate, direction) > HYSTERESIS * base ? candidate : -1;
}

/* True: the candidate is predicted to be much slower than base; its time is taken from that. */
static bool presume(adaptive *a, int candidate)
{
    rung *r = &a->rungs[candidate];
    const rung *base = &a->rungs[a->base];
    const double ratio = r->predicted / base->predicted;
    if (!(ratio > 1 + SLOWER_SKIPPED))
        return false;
    r->time = ratio * base->time;
    snprintf(r->note, sizeof r->note, "not tried: %s %.0f %% slower",
             r->estimated ? "estimated" : "predicted", 100 * (ratio - 1));
    return true;
}

/* The neighbour to try a second time; -1: none. */
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

static int pick(adaptive *a)
{
    int candidate = -1;
    for (bool again = true; again;) {
        again = false;
        int up = candidate_beside(a, 1), down = candidate_beside(a, -1);
        const int first = a->direction > 0 ? up : down, second = a->direction > 0 ? down : up;
        candidate = first >= 0 ? first : second;
        /* With predictions the side that is predicted to be faster comes first. */
        if (first >= 0 && second >= 0 && a->rungs[second].predicted < a->rungs[first].predicted)
            candidate = second;
        if (candidate >= 0)
            again = presume(a, candidate);
    }
    return candidate >= 0 ? candidate : second_look(a);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* `time`: about that of an iteration; NAN: not known. */
static void time_base_like(adaptive *a, double time)
{
    const rung *base = &a->rungs[a->base];
    a->timing = true;
    tz__policy_trial_begin(&a->trial, base->known, base->plan.height * time);
}

static void time_base(adaptive *a)
{
    time_base_like(a, time_of(a, a->base));
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
    const int start = tz__policy_start(policy);
    a->probe = a->confirm = -1;
    a->seen_step = -1;
    a->stride = a->direction = a->patience = 1;
    a->budgeted = start == 0;
    a->wait_s = tz__policy_waits(policy) ? TZ_FIT_HOST_WAIT_S : 0.0;
    tz_plan plan;
    status = tz__policy_plan_at(policy, start, &plan, error);
    if (status)
        return status;
    a->start = a->base = add_rung(a, &plan);
    if (!a->budgeted)
        time_base(a);
    tz__policy_begin(policy, &a->rungs[a->base].plan);
    return TZ_OK;
}

static void adaptive_destroy(tz_policy *policy)
{
    adaptive *a = policy->state;
    free(a->rungs);
    free(a);
}

/* ---- What to try next ------------------------------------------------------------------------ */

/* From here on costs and gains are relative to the present base. */
static void begin_budget(adaptive *a)
{
    a->budgeted = true;
    a->patience = 1;
    a->start = a->base;
    a->lost = a->lost > 0 ? a->lost : 0;
}

static void settle(tz_policy *policy, adaptive *a)
{
    rung *base = &a->rungs[a->base];
    a->settled = true;
    a->settled_step = policy->step;
    a->settled_time = base->time;
    a->timing = false;
    a->check_s = 2 * a->elapsed;
    begin_budget(a);
    tz__policy_decide(policy, &base->plan, base->time,
                      "adaptive: settled, no height tried is more than %.0f %% faster",
                      100 * HYSTERESIS);
    base->plan = policy->plan;
}

/* Expected cost of a trial in seconds. */
static double risk_of(const adaptive *a, int candidate)
{
    const rung *r = &a->rungs[candidate];
    const double stage = r->plan.height * a->rungs[a->base].time;
    const double stages = fmax(2, TZ_POLICY_GROUP_S / stage) + !r->known;
    return RISK * stages * stage + (r->known ? 0 : r->set_up_s + a->wait_s) + 2 * a->wait_s;
}

static bool may_cost(const adaptive *a, double seconds)
{
    return !a->budgeted || a->lost + a->patience * seconds <= BUDGET * a->elapsed;
}

/* Base has just been timed: begin the next trial, postpone it, or settle. */
static void look_around(tz_policy *policy, adaptive *a)
{
    const int candidate = a->confirm >= 0 ? a->confirm : pick(a);
    const bool due = a->due || a->confirm >= 0;
    a->timing = a->due = false;
    if (candidate < 0) {
        settle(policy, a);
        return;
    }
    if (!due && !may_cost(a, risk_of(a, candidate)))
        return;
    const rung *base = &a->rungs[a->base];
    rung *next = &a->rungs[candidate];
    a->probe = candidate;
    a->tried += next->looks == 0;
    a->short_stretches = 0;
    tz__policy_trial_begin(&a->trial, next->known, next->plan.height * base->time);
    tz__policy_decide(policy, &next->plan, base->time, "adaptive: tries height %d %sagainst %d",
                      next->plan.height, next->looks > 0 ? "again " : "", base->plan.height);
    next->looks++;
    next->plan = policy->plan;
}

/* Nothing was timed or predicted yet: the host's clock says when base may be timed. It does not
 * see the stages that still run, and is not asked often. */
static void wake_first(const tz_policy *policy, adaptive *a)
{
    const int64_t calls = a->calls++; /* the first stage may compile its kernel */
    if (calls == 0 || (calls & (calls - 1)) != 0)
        return;
    const double now = tz__policy_clock(&policy->subject);
    if (calls == 1 || policy->step <= a->began_step) { /* or the simulation was rewound */
        a->began_s = now;
        a->began_step = policy->step;
        return;
    }
    a->elapsed = now - a->began_s;
    if (!may_cost(a, 2 * a->wait_s))
        return;
    a->rungs[a->base].known = true;
    time_base_like(a, a->elapsed / (double)(policy->step - a->began_step));
}

/* Nothing is being timed: time base if that is due and affordable. It costs two waits. */
static void wake(tz_policy *policy, adaptive *a)
{
    if (a->settled) {
        if (a->elapsed >= a->check_s && may_cost(a, 2 * a->wait_s))
            time_base(a);
        return;
    }
    if (!a->rungs[a->base].measured) {
        if (isnan(time_of(a, a->base)) && tz__policy_waits(policy))
            wake_first(policy, a);
        else if (may_cost(a, 2 * a->wait_s))
            time_base(a);
        return;
    }
    const int candidate = pick(a);
    if (candidate < 0) {
        settle(policy, a);
    } else if (may_cost(a, risk_of(a, candidate) + 2 * a->wait_s)) {
        a->due = true;
        time_base(a);
    }
}

static void back_to_base(tz_policy *policy, adaptive *a, double time, const char *note)
{
    a->probe = -1;
    tz__policy_decide(policy, &a->rungs[a->base].plan, time, "adaptive: back, %s", note);
    a->rungs[a->base].plan = policy->plan;
}

/* ---- Measurements ---------------------------------------------------------------------------- */

static void judge(tz_policy *policy, adaptive *a)
{
    rung *probe = &a->rungs[a->probe];
    const rung *base = &a->rungs[a->base];
    const double time = a->trial.seconds / (double)a->trial.iterations;
    const bool again = a->confirm == a->probe;
    if (again)
        probe->time = 0.5 * (probe->time + time);
    else
        probe->time = probe->measured && probe->time < time ? probe->time : time;
    probe->measured = true;
    a->confirm = -1;
    const double gain = 1 - probe->time / base->time;
    if (a->budgeted && !again && gain > HYSTERESIS && gain < SURE) {
        a->confirm = a->probe;
        char note[64];
        snprintf(note, sizeof note, "height %d seems %.1f %% faster: both again",
                 probe->plan.height, 100 * gain);
        back_to_base(policy, a, probe->time, note);
        time_base(a);
        return;
    }
    if (gain > HYSTERESIS) {
        const int direction = a->probe > a->base ? 1 : -1;
        a->stride = direction == a->direction ? 2 * a->stride : 2;
        a->direction = direction;
        const int from = base->plan.height;
        if (a->rungs[a->base].looks == 0) /* the start, which may have been disturbed, too */
            a->rungs[a->base].looks = 1;
        a->base = a->probe;
        a->probe = -1;
        a->base_groups = 1;
        a->patience = 1;
        tz__policy_decide(policy, &probe->plan, probe->time,
                          "adaptive: height %d is %.1f %% faster than %d", probe->plan.height,
                          100 * gain, from);
        probe->plan = policy->plan;
    } else {
        char note[64];
        snprintf(note, sizeof note, "height %d is %.1f %% %s", probe->plan.height, 100 * fabs(gain),
                 gain > 0 ? "faster: within noise" : "slower");
        a->stride = 1;
        a->patience = a->patience < PATIENCE_MAX ? 2 * a->patience : PATIENCE_MAX;
        back_to_base(policy, a, probe->time, note);
        wake(policy, a);
        return;
    }
    look_around(policy, a); /* what is base now has just been timed */
}

/* Open all heights again except refused ones. */
static void reopen(tz_policy *policy, adaptive *a)
{
    rung *base = &a->rungs[a->base];
    const double change = base->time / a->settled_time - 1;
    for (int i = 0; i < a->count; i++) {
        rung *r = &a->rungs[i];
        if (i == a->base || isinf(r->time))
            continue;
        r->time = NAN;
        r->measured = false;
        r->looks = 0;
        r->note[0] = '\0';
    }
    a->settled = false;
    a->stride = 1;
    tz__policy_decide(policy, &base->plan, base->time,
                      "adaptive: %.0f %% %s than when it settled, looks around again",
                      100 * fabs(change), change > 0 ? "slower" : "faster");
    base->plan = policy->plan;
}

/* Take a new time of base. Small differences are noise and averaged; a larger one scales the times
 * of all heights. */
static void base_is(adaptive *a, double time)
{
    rung *base = &a->rungs[a->base];
    const double ratio = base->measured ? time / base->time : 1;
    if (!base->measured || fabs(ratio - 1) > SLID) {
        for (int i = 0; i < a->count; i++)
            if (i != a->base)
                a->rungs[i].time *= ratio;
        base->time = time;
        a->base_groups = 1;
    } else {
        base->time = (a->base_groups * base->time + time) / (a->base_groups + 1);
        a->base_groups += a->base_groups < BASE_GROUPS_MAX;
    }
    base->measured = true;
}

static void adaptive_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    adaptive *a = policy->state;
    const bool on_probe = a->probe >= 0;
    if (!on_probe && !a->timing)
        return;
    rung *now = &a->rungs[on_probe ? a->probe : a->base];
    const double base = time_of(a, a->base);
    /* count_time() counts all iterations with the time of base. */
    const double more = seconds - (isnan(base) ? 0 : (double)iterations * base);
    a->elapsed += more;
    a->lost += a->wait_s + (on_probe ? more : 0);
    const bool done = tz__policy_trial_record(&a->trial, stages, iterations, seconds);
    now->known = true;
    const double time =
        a->trial.iterations > 0 ? a->trial.seconds / (double)a->trial.iterations : NAN;
    /* In a shorter time the wait for the device is too large a part. */
    const bool comparable = a->trial.seconds >= TZ_POLICY_GROUP_S;
    const double change = fabs(time / base - 1);
    if (on_probe) {
        if (done || (comparable && change > SURE))
            judge(policy, a);
        return;
    }
    const bool again = now->measured && !a->settled;
    if (!done && !(again && comparable && change <= SLID))
        return;
    base_is(a, time);
    a->timing = false;
    if (!a->settled) {
        look_around(policy, a);
        return;
    }
    a->check_s = 2 * a->elapsed;
    if (fabs(now->time / a->settled_time - 1) > DRIFT)
        reopen(policy, a);
}

/* Count the time of stages that were not timed, and the gain of base over the start. */
static void count_time(const tz_policy *policy, adaptive *a)
{
    const bool first = a->seen_step < 0 || policy->step < a->seen_step; /* or rewound */
    const int64_t since = first ? 0 : policy->step - a->seen_step;
    const double time = time_of(a, a->base);
    a->seen_step = policy->step;
    if (since == 0 || isnan(time))
        return;
    if (a->probe < 0)
        a->rungs[a->base].known = true;
    a->elapsed += (double)since * time;
    if (a->base != a->start)
        a->lost += (double)since * (time - time_of(a, a->start));
}

static int64_t adaptive_stages_to_time(const tz_policy *policy)
{
    const adaptive *a = policy->state;
    if (a->probe < 0 && !a->timing)
        return 0;
    /* If the trial does not fit before the next output, base runs the stage, untimed. */
    const int on = a->probe >= 0 ? a->probe : a->base;
    return tz_plan_equal(&policy->plan, &a->rungs[on].plan) ? a->trial.stages_to_time : 0;
}

static bool give_up(tz_policy *policy, adaptive *a, const char *note)
{
    if (a->probe < 0)
        return false;
    rung *probe = &a->rungs[a->probe];
    probe->time = INFINITY;
    a->confirm = -1;
    snprintf(probe->note, sizeof probe->note, "%s", note);
    a->stride = 1;
    back_to_base(policy, a, NAN, note);
    wake(policy, a);
    return true;
}

static bool adaptive_plan_failed(tz_policy *policy, const tz_error *why)
{
    char note[64];
    snprintf(note, sizeof note, "refused: %.50s", why->message);
    return give_up(policy, policy->state, note);
}

/* Outputs are too frequent for base: take the highest height whose stages still fit. */
static void lower_base(tz_policy *policy, adaptive *a)
{
    int lower = -1;
    for (int i = 0; i < a->count; i++)
        if (a->rungs[i].plan.height <= a->longest_stretch && !isinf(a->rungs[i].time))
            lower = i;
    if (lower < 0)
        return;
    for (int i = lower + 1; i < a->count; i++)
        a->rungs[i].time = INFINITY;
    a->start = a->base = lower;
    a->confirm = -1;
    a->base_groups = 0;
    a->budgeted = false;
    time_base(a);
    tz__policy_decide(policy, &a->rungs[lower].plan, NAN,
                      "adaptive: outputs leave %" PRId64 " iterations at most", a->longest_stretch);
}

static tz_status adaptive_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                               tz_error *error)
{
    (void)error;
    adaptive *a = policy->state;
    if (a->seen_step < 0 && tz__policy_begin_short(policy, iterations_left)) {
        a->start = a->base = add_rung(a, &policy->plan);
        a->rungs[a->base].plan = policy->plan;
    }
    count_time(policy, a);
    if (a->probe < 0 && !a->timing)
        wake(policy, a);
    if (a->settled)
        return TZ_OK;
    for (;;) {
        const tz_plan *plan = &a->rungs[a->probe >= 0 ? a->probe : a->base].plan;
        const bool fits = plan->height <= iterations_left;
        if (new_stretch) {
            a->short_stretches = fits ? 0 : a->short_stretches + 1;
            a->longest_stretch = a->short_stretches == 1 || iterations_left > a->longest_stretch
                                     ? iterations_left
                                     : a->longest_stretch;
            if (a->short_stretches >= TZ_POLICY_STRETCHES) {
                a->short_stretches = 0;
                if (a->probe >= 0) {
                    give_up(policy, a, "too few iterations between outputs");
                    new_stretch = false;
                    if (!a->settled)
                        continue;
                } else {
                    lower_base(policy, a);
                }
                return TZ_OK;
            }
        }
        policy->plan = fits || a->probe < 0 ? *plan : a->rungs[a->base].plan;
        return TZ_OK;
    }
}

/* ---- Reporting ------------------------------------------------------------------------------- */

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
                                       .estimated = r->estimated,
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

/* ---- In a checkpoint ------------------------------------------------------------------------- */

#define STEPS_MAX (INT64_C(1) << 53)

static const tz_json_member rung_members[] = {
    TZ_JSON_MEMBER(rung, predicted, "predicted"),
    TZ_JSON_MEMBER(rung, estimated, "estimated"),
    TZ_JSON_MEMBER(rung, set_up_s, "set_up_s"),
    TZ_JSON_MEMBER(rung, time, "seconds_per_iteration"),
    TZ_JSON_MEMBER(rung, measured, "measured"),
    TZ_JSON_INTEGER_MEMBER(rung, looks, "looks", 0, INT32_MAX),
    TZ_JSON_MEMBER(rung, note, "note")};
static const tz_json_member members[] = {
    TZ_JSON_INTEGER_MEMBER(adaptive, start, "start", 0, RUNGS_MAX - 1),
    TZ_JSON_INTEGER_MEMBER(adaptive, base, "base", 0, RUNGS_MAX - 1),
    TZ_JSON_INTEGER_MEMBER(adaptive, stride, "stride", 0, TZ_PLAN_HEIGHT_MAX),
    TZ_JSON_INTEGER_MEMBER(adaptive, direction, "direction", -1, 1),
    TZ_JSON_INTEGER_MEMBER(adaptive, base_groups, "base_groups", 0, INT32_MAX - 1),
    TZ_JSON_INTEGER_MEMBER(adaptive, tried, "tried", 0, INT32_MAX - 1),
    TZ_JSON_MEMBER(adaptive, budgeted, "budgeted"),
    TZ_JSON_MEMBER(adaptive, settled, "settled"),
    TZ_JSON_INTEGER_MEMBER(adaptive, patience, "patience", 0, 1 << 20),
    TZ_JSON_MEMBER(adaptive, elapsed, "elapsed"),
    TZ_JSON_MEMBER(adaptive, lost, "lost"),
    TZ_JSON_MEMBER(adaptive, check_s, "check_s"),
    TZ_JSON_MEMBER(adaptive, settled_time, "settled_time"),
    TZ_JSON_INTEGER_MEMBER(adaptive, settled_step, "settled_step", 0, STEPS_MAX),
    TZ_JSON_INTEGER_MEMBER(adaptive, seen_step, "seen_step", -1, STEPS_MAX)};
enum { RUNG_MEMBERS = sizeof rung_members / sizeof *rung_members };
enum { MEMBERS = sizeof members / sizeof *members };

static json_t *adaptive_save(const tz_policy *policy)
{
    const adaptive *a = policy->state;
    json_t *object = json_object(), *rungs = json_array();
    bool failed = !object;
    for (int i = 0; i < a->count; i++) {
        json_t *entry = tz__policy_plan_to_json(&a->rungs[i].plan, &failed);
        tz_json_put_members(entry, rung_members, RUNG_MEMBERS, &a->rungs[i], &failed);
        failed |= json_array_append_new(rungs, entry) != 0;
    }
    tz_json_put(object, "rungs", rungs, &failed);
    tz_json_put_members(object, members, MEMBERS, a, &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static bool adaptive_load(tz_policy *policy, const json_t *object)
{
    adaptive *a = policy->state, b = *a;
    const json_t *list = json_object_get(object, "rungs");
    const size_t count = json_array_size(list);
    bool failed = count < 1 || count > RUNGS_MAX;
    tz_json_get_members(object, members, MEMBERS, &b, &failed);
    b.count = (int)count;
    b.probe = b.confirm = -1;
    b.timing = b.due = false;
    b.short_stretches = 0;
    failed = failed || b.start >= b.count || b.base >= b.count;
    b.rungs = failed ? NULL : calloc(RUNGS_MAX, sizeof *b.rungs);
    failed = failed || !b.rungs;
    for (size_t i = 0; !failed && i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        tz_json_get_members(entry, rung_members, RUNG_MEMBERS, &b.rungs[i], &failed);
        tz__policy_plan_from_json(policy, entry, &b.rungs[i].plan, &failed);
    }
    if (failed) {
        free(b.rungs);
        return false;
    }
    free(a->rungs);
    *a = b;
    return true;
}

const tz_policy_class tz_policy_class_adaptive = {.name = "adaptive",
                                                  .searches = true,
                                                  .create = adaptive_create,
                                                  .destroy = adaptive_destroy,
                                                  .next = adaptive_next,
                                                  .stages_to_time = adaptive_stages_to_time,
                                                  .record = adaptive_record,
                                                  .plan_failed = adaptive_plan_failed,
                                                  .measured = adaptive_measured,
                                                  .settled = adaptive_settled,
                                                  .describe = adaptive_describe,
                                                  .save = adaptive_save,
                                                  .load = adaptive_load};
