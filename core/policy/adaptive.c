/* adaptive: the height goes up and down with the measured time of an iteration.
 *
 * Meng and Skadron 2009, section 5.4.2, after Allen et al.: the average time of an iteration, taken
 * over two stages, decides whether the height grows or shrinks. The height starts at 1 or at the
 * model's prediction. We add:
 *
 * - hysteresis: the height changes only for a gain of more than HYSTERESIS, so that noise does not
 *   change it. Where the start is probably right, a gain below SURE must be measured twice.
 *
 * - rungs: the time of each height is kept, and a height is tried at most twice. So the search
 *   ends.
 *
 * - stride: the search goes 1, 2, 4, ... heights further while that pays: the start may be far off.
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
 *   slower than base, its set-up and its waits. Each trial in a row without a gain doubles it. Time
 *   that a better height has gained over the start may be spent, too.
 *
 * - pairs: a trial is compared with a base that was timed just before it, after the trial before, and
 *   all times are scaled with the base's. So a device that becomes slower or faster does not decide.
 *
 * - short timings: two stages are timed, or only one if that is enough: for a trial that is then SURE
 *   slower or faster than base, and for a base that is within SLID of its time before. A settled
 *   policy times two: what it finds may open all heights.
 *
 * - drift: a settled policy times its height again after twice as long a run each time. If that
 *   time differs by DRIFT from the one it settled with, all heights are open again. */
#include "model/constants.h"
#include "policy/adaptive_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HYSTERESIS = TZ_ADAPTIVE_HYSTERESIS, BUDGET = 0.01, RISK = 0.5, SLID = 0.05,
                    DRIFT = 0.10, SURE = 0.10;

enum { BASE_GROUPS_MAX = 3, PATIENCE_MAX = 64, RUNGS_MAX = TZ_POLICY_OPTIONS_MAX + 1 };

/* ---- Beginning ------------------------------------------------------------------------------- */

/* `time`: about that of an iteration; NAN: not known. */
static void time_base_like(adaptive *a, double time)
{
    const rung *base = &a->rungs[a->base];
    a->timing = true;
    tz_policy_trial_begin(&a->trial, base->known, base->plan.height * time);
}

static void time_base(adaptive *a)
{
    time_base_like(a, tz__adaptive_time(a, a->base));
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
    tz_status status = tz__adaptive_make_rungs(policy, a, error);
    if (status)
        return status;
    const int start = tz__policy_start(policy);
    a->probe = a->confirm = -1;
    a->seen_step = -1;
    a->stride = a->direction = a->patience = 1;
    a->budgeted = start == 0;
    a->wait_s = policy->host.asynchronous ? TZ_FIT_HOST_WAIT_S : 0.0;
    tz_plan plan;
    status = tz__policy_plan_at(policy, start, &plan, error);
    if (status)
        return status;
    a->start = a->base = tz__adaptive_add_rung(a, &plan);
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
    tz_policy_decide(policy, &base->plan, base->time,
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
    const int candidate = a->confirm >= 0 ? a->confirm : tz__adaptive_pick(a);
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
    tz_policy_trial_begin(&a->trial, next->known, next->plan.height * base->time);
    tz_policy_decide(policy, &next->plan, base->time, "adaptive: tries height %d %sagainst %d",
                     next->plan.height, next->looks > 0 ? "again " : "", base->plan.height);
    next->looks++;
    next->plan = policy->plan;
}

/* Nothing was timed or predicted yet: the host's clock says when base may be timed. It does not see the
 * stages that still run, and is not asked often. */
static void wake_first(const tz_policy *policy, adaptive *a)
{
    const int64_t calls = a->calls++; /* the first stage may compile its kernel */
    if (calls == 0 || (calls & (calls - 1)) != 0)
        return;
    const double now = policy->host.clock(policy->host.context);
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
        if (isnan(tz__adaptive_time(a, a->base)) && policy->host.asynchronous)
            wake_first(policy, a);
        else if (may_cost(a, 2 * a->wait_s))
            time_base(a);
        return;
    }
    const int candidate = tz__adaptive_pick(a);
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
    tz_policy_decide(policy, &a->rungs[a->base].plan, time, "adaptive: back, %s", note);
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
        tz_policy_decide(policy, &probe->plan, probe->time,
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
    tz_policy_decide(policy, &base->plan, base->time,
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
    const double base = tz__adaptive_time(a, a->base);
    /* count_time() counts all iterations with the time of base. */
    const double more = seconds - (isnan(base) ? 0 : (double)iterations * base);
    a->elapsed += more;
    a->lost += a->wait_s + (on_probe ? more : 0);
    const bool done = tz_policy_trial_record(&a->trial, stages, iterations, seconds);
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
    const double time = tz__adaptive_time(a, a->base);
    a->seen_step = policy->step;
    if (since == 0 || isnan(time))
        return;
    if (a->probe < 0)
        a->rungs[a->base].known = true;
    a->elapsed += (double)since * time;
    if (a->base != a->start)
        a->lost += (double)since * (time - tz__adaptive_time(a, a->start));
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
    tz_policy_decide(policy, &a->rungs[lower].plan, NAN,
                     "adaptive: outputs leave %" PRId64 " iterations at most", a->longest_stretch);
}

static tz_status adaptive_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                               tz_error *error)
{
    (void)error;
    adaptive *a = policy->state;
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
                                                  .save = tz__adaptive_save,
                                                  .load = tz__adaptive_load};
