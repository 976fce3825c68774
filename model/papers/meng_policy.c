/* meng: the adaptive selection of Meng and Skadron 2009, section 5.4.2, as it is printed.
 *
 * "Run-time profiling calculates the average execution time for every two loops and decides whether
 * to increment or decrement the trapezoid height." The run begins at the prediction or at height 1.
 * There is no budget, no second look and no margin for noise: adaptive.c has those.
 *
 * What the paper leaves open, and what is done here:
 *
 * - "every two loops": whole stages of two iterations at least, so one stage from height 2 on.
 *
 * - where to: one height up or down. A height that is faster than the present one becomes the
 *   present one, and the search goes on in that direction; from a slower one it goes back. The
 *   other direction is next. A direction that was tried and was slower is not tried again, until a
 *   new time of the present height says otherwise. The first direction is up.
 *
 * - the first stage of a height on a GPU, which compiles its kernel, is not timed. */
#include "model/papers/papers.h"

#include "base/json.h"
#include <math.h>
#include <stdlib.h>

enum { LOOPS = 2 };

typedef struct meng {
    tz_plan base;
    /* times of an iteration at base and one height beside it; NAN: not measured since base is base;
     * INFINITY: refused */
    double below, now, above;
    int trial;     /* 1 or -1: the height above or below base runs; 0: base */
    int direction; /* 1 or -1: tried first */
    bool begun;    /* a stage has run */
    bool warm;     /* the next stages are timed */
    int short_stretches;
} meng;

static double *time_beside(meng *m, int side)
{
    return side < 0 ? &m->below : side > 0 ? &m->above : &m->now;
}

static tz_status meng_create(tz_policy *policy, tz_error *error)
{
    meng *m = calloc(1, sizeof *m);
    if (!m)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    policy->state = m;
    m->below = m->now = m->above = NAN;
    m->direction = 1;
    m->warm = !tz__policy_waits(policy);
    tz_status status = tz__policy_plan_at(policy, tz__policy_start(policy), &m->base, error);
    if (!status)
        tz__policy_begin(policy, &m->base);
    return status;
}

/* The plan one height above or below base. False: there is none. */
static bool plan_beside(tz_policy *policy, const meng *m, int side, tz_plan *plan)
{
    const int height = m->base.height + side;
    return height >= 1 && tz__policy_plan_at(policy, height, plan, NULL) == TZ_OK &&
           plan->height == height; /* the reference backend makes 1 of every height */
}

static bool try_side(tz_policy *policy, meng *m, int side)
{
    tz_plan plan;
    if (!plan_beside(policy, m, side, &plan)) {
        *time_beside(m, side) = INFINITY;
        return false;
    }
    m->trial = side;
    m->warm = !tz__policy_waits(policy) || !isnan(*time_beside(m, side));
    tz__policy_decide(policy, &plan, m->now, "meng: tries height %d against %d", plan.height,
                      m->base.height);
    return true;
}

static void go_back(tz_policy *policy, meng *m, double time, const char *why)
{
    m->trial = 0;
    m->warm = true;
    tz__policy_decide(policy, &m->base, time, "meng: back to height %d, %s", m->base.height, why);
}

/* The height on trial becomes base. */
static void move(tz_policy *policy, meng *m)
{
    const double time = *time_beside(m, m->trial);
    m->direction = m->trial;
    m->below = m->trial > 0 ? m->now : NAN;
    m->above = m->trial > 0 ? NAN : m->now;
    m->now = time;
    m->trial = 0;
    tz__policy_decide(policy, &policy->plan, time, "meng: height %d is faster than %d",
                      policy->plan.height, m->base.height);
    m->base = policy->plan;
}

static void meng_record(tz_policy *policy, int64_t stages, int64_t iterations, double seconds)
{
    meng *m = policy->state;
    (void)stages;
    if (!m->warm) {
        m->warm = true;
        return;
    }
    const double time = seconds / (double)iterations;
    *time_beside(m, m->trial) = time;
    if (m->trial != 0 && !(time < m->now)) {
        go_back(policy, m, time, "which is faster");
        return;
    }
    if (m->trial != 0)
        move(policy, m);
    for (int i = 0; i < 2; i++) {
        const int side = i == 0 ? m->direction : -m->direction;
        const double beside = *time_beside(m, side);
        if ((isnan(beside) || beside < m->now) && try_side(policy, m, side))
            return;
    }
}

static int64_t meng_stages_to_time(const tz_policy *policy)
{
    const meng *m = policy->state;
    return m->warm ? (LOOPS + policy->plan.height - 1) / policy->plan.height : 1;
}

static bool meng_plan_failed(tz_policy *policy, const tz_error *why)
{
    meng *m = policy->state;
    if (m->trial == 0)
        return false;
    *time_beside(m, m->trial) = INFINITY;
    go_back(policy, m, NAN, why->message);
    return true;
}

/* Outputs leave too few iterations for a stage: go down by one. */
static tz_status meng_next(tz_policy *policy, int64_t iterations_left, bool new_stretch,
                           tz_error *error)
{
    meng *m = policy->state;
    tz_plan plan;
    (void)error;
    if (!m->begun && tz__policy_begin_short(policy, iterations_left))
        m->base = policy->plan;
    m->begun = true;
    if (!new_stretch)
        return TZ_OK;
    m->short_stretches = policy->plan.height > iterations_left ? m->short_stretches + 1 : 0;
    if (m->short_stretches < TZ_POLICY_STRETCHES)
        return TZ_OK;
    m->short_stretches = 0;
    if (m->trial != 0) {
        *time_beside(m, m->trial) = INFINITY;
        go_back(policy, m, NAN, "too few iterations between outputs");
    } else if (plan_beside(policy, m, -1, &plan)) {
        m->base = plan;
        m->below = m->now = NAN;
        m->above = INFINITY;
        m->warm = !tz__policy_waits(policy);
        tz__policy_decide(policy, &plan, NAN,
                          "meng: outputs leave too few iterations for height %d", plan.height + 1);
    }
    return TZ_OK;
}

static bool meng_settled(const tz_policy *policy)
{
    (void)policy;
    return false;
}

static json_t *meng_save(const tz_policy *policy)
{
    const meng *m = policy->state;
    json_t *object = json_object();
    bool failed = !object;
    tz_json_put(object, "base", tz__policy_plan_to_json(&m->base, &failed), &failed);
    tz_json_put_double(object, "below_s", m->below, &failed);
    tz_json_put_double(object, "now_s", m->now, &failed);
    tz_json_put_double(object, "above_s", m->above, &failed);
    tz_json_put_integer(object, "trial", m->trial, &failed);
    tz_json_put_integer(object, "direction", m->direction, &failed);
    tz_json_put(object, "warm", json_boolean(m->warm), &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static bool meng_load(tz_policy *policy, const json_t *object)
{
    bool failed = false;
    meng m = {.begun = true,
              .below = tz_json_get_double(object, "below_s", &failed),
              .now = tz_json_get_double(object, "now_s", &failed),
              .above = tz_json_get_double(object, "above_s", &failed),
              .trial = (int)tz_json_get_integer(object, "trial", -1, 1, &failed),
              .direction = (int)tz_json_get_integer(object, "direction", -1, 1, &failed),
              .warm = tz_json_get_flag(object, "warm", &failed)};
    tz__policy_plan_from_json(policy, json_object_get(object, "base"), &m.base, &failed);
    failed = failed || m.direction == 0;
    if (!failed)
        *(meng *)policy->state = m;
    return !failed;
}

const tz_policy_class tz_policy_class_meng = {.name = "meng",
                                              .searches = true,
                                              .create = meng_create,
                                              .next = meng_next,
                                              .stages_to_time = meng_stages_to_time,
                                              .record = meng_record,
                                              .plan_failed = meng_plan_failed,
                                              .settled = meng_settled,
                                              .save = meng_save,
                                              .load = meng_load};
