/* The heights of the adaptive policy, and the choice of the next one to try (adaptive.c). */
#include "policy/adaptive_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double HYSTERESIS = TZ_ADAPTIVE_HYSTERESIS, SLOWER_SKIPPED = 0.10, LOOK_AGAIN = 0.5;

static int compare_heights(const void *a, const void *b)
{
    return ((const rung *)a)->plan.height - ((const rung *)b)->plan.height;
}

int tz__adaptive_find(const adaptive *a, int height)
{
    for (int i = 0; i < a->count; i++)
        if (a->rungs[i].plan.height == height)
            return i;
    return -1;
}

tz_status tz__adaptive_make_rungs(tz_policy *policy, adaptive *a, tz_error *error)
{
    tz_policy_options *list = tz_policy_list(policy, error);
    if (!list)
        return error ? error->code : TZ_MEMORY;
    for (int i = 0; i < list->count; i++) {
        const tz_policy_option *option = &list->at[i];
        const int at = tz__adaptive_find(a, option->plan.height);
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
        tz_plan plan = policy->config.given;
        plan.height = a->rungs[i].plan.height;
        if (policy->host.complete_plan(policy->host.context, &plan, NULL) == TZ_OK &&
            plan.height == a->rungs[i].plan.height)
            a->rungs[i].plan = plan;
    }
    free(list);
    qsort(a->rungs, (size_t)a->count, sizeof *a->rungs, compare_heights);
    return TZ_OK;
}

int tz__adaptive_add_rung(adaptive *a, const tz_plan *plan)
{
    int at = tz__adaptive_find(a, plan->height);
    if (at < 0) {
        a->rungs[a->count++] = (rung){.plan = *plan, .predicted = NAN, .time = NAN};
        qsort(a->rungs, (size_t)a->count, sizeof *a->rungs, compare_heights);
        at = tz__adaptive_find(a, plan->height);
    }
    return at;
}

double tz__adaptive_time(const adaptive *a, int i)
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

int tz__adaptive_pick(adaptive *a)
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
