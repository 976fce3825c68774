/* For the tests of policies: a machine with made-up times. */
#ifndef TZ_TEST_POLICY_MACHINE_H
#define TZ_TEST_POLICY_MACHINE_H

#include "curves.h"
#include "policy/policy.h"
#include "tests/unit.h"

enum { HEIGHT_MAX = 64 };

typedef struct machine {
    double (*time)(int height);        /* an iteration's, seconds */
    double (*predictions)(int height); /* NULL: none */
    bool estimates;                    /* its predictions are estimates, but the best */
    int height_max;
    int chosen;              /* by the backend */
    double noise;            /* +-, relative */
    double set_up;           /* additional seconds of a plan's first stage */
    double set_up_predicted; /* the predicted part of set_up */
    double wait;             /* seconds of a wait on an asynchronous device; 0: synchronous */
    double pace;             /* factor on all times, which drifts */
    uint64_t random;
    const char *key;
    /* What happened. */
    bool ran[HEIGHT_MAX + 1];
    int64_t step, stages, changes, timed;
    double seconds;
    double truth, quiet; /* without noise: of the run, and of the best height */
    int last;
    bool timing;
    /* The group that is being timed. */
    int64_t group, group_iterations;
    double group_s;
} machine;

static double uniform(machine *m)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(m->random >> 11) * 0x1p-52 - 1;
}

static double host_clock(void *context)
{
    return ((const machine *)context)->truth;
}

static tz_status complete_plan(void *context, tz_plan *plan, tz_error *error)
{
    const machine *m = context;
    if (plan->height == 0)
        plan->height = m->chosen;
    if (plan->height > m->height_max)
        return tz_error_set(error, TZ_RANGE, "height", "use a height up to %d", m->height_max);
    strcpy(plan->family, "stream");
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan->tile[axis] = 1;
    strcpy(plan->why, "made up");
    return TZ_OK;
}

static tz_status candidates(void *context, const tz_plan *given, tz_policy_options *out,
                            tz_error *error)
{
    const machine *m = context;
    *out = (tz_policy_options){.best = -1};
    for (int h = 1; h <= m->height_max; h++) {
        tz_plan plan = *given;
        if (given->height > 0 && h != given->height)
            continue;
        plan.height = h;
        if (complete_plan(context, &plan, error) == TZ_OK)
            out->at[out->count++] =
                (tz_policy_option){.plan = plan, .time_s = NAN, .set_up_s = m->set_up_predicted};
    }
    return TZ_OK;
}

static tz_status predictions(void *context, const tz_plan *given, tz_policy_options *out,
                             tz_error *error)
{
    const machine *m = context;
    if (!m->predictions)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "nothing is known of the device");
    candidates(context, given, out, error);
    for (int i = 0; i < out->count; i++) {
        out->at[i].time_s = m->predictions(out->at[i].plan.height);
        out->at[i].set_up_s = m->set_up_predicted;
        if (out->best < 0 || out->at[i].time_s < out->at[out->best].time_s)
            out->best = i;
    }
    for (int i = 0; i < out->count; i++)
        out->at[i].estimated = m->estimates && i != out->best;
    strcpy(out->reason, "memory-bound");
    return TZ_OK;
}

static bool memory_key(void *context, char *text, size_t size)
{
    const machine *m = context;
    snprintf(text, size, "%s", m->key ? m->key : "");
    return m->key != NULL;
}

static tz_policy *make(machine *m, tz_policy_config config)
{
    const tz_policy_host host = {.context = m,
                                 .asynchronous = m->wait > 0,
                                 .clock = host_clock,
                                 .complete_plan = complete_plan,
                                 .predictions = predictions,
                                 .candidates = candidates,
                                 .memory_key = memory_key};
    tz_policy *policy = NULL;
    assert_ok(tz_policy_create(&policy, &config, &host, &failure));
    return policy;
}

static double best_time(const machine *m)
{
    double best = INFINITY;
    for (int h = 1; h <= m->height_max; h++)
        best = fmin(best, m->time(h));
    return best;
}

/* One stage, cut short at the next stop. Stops are `every` iterations apart; 0: no stops. */
static void one_stage(machine *m, tz_policy *policy, int64_t every)
{
    const int64_t iterations_left = every > 0 ? every - m->step % every : 1 << 20;
    const tz_plan *plan = NULL;
    assert_int_equal(tz_policy_next(policy, m->step, iterations_left, &plan, NULL), TZ_OK);
    const int h = plan->height;
    const int length = h < iterations_left ? h : (int)iterations_left;
    const int64_t wanted = tz_policy_stages_to_time(policy);
    const bool timed = wanted > 0 && length == h;
    const double truth = length * m->pace * m->time(h);
    double seconds = truth * (1 + m->noise * uniform(m)), more = 0;
    if (!m->ran[h])
        more += m->set_up;
    m->ran[h] = true;
    if (m->last != h) {
        m->changes += m->last != 0;
        m->group = m->group_iterations = 0;
        m->group_s = 0;
    }
    /* A group begins with the device idle. */
    if (timed != m->timing || (m->last != 0 && m->last != h))
        m->truth += m->wait;
    m->timing = timed;
    m->last = h;
    m->step += length;
    m->stages++;
    m->seconds += seconds + more;
    m->truth += truth + more;
    m->quiet += length * m->pace * best_time(m);
    if (!timed)
        return;
    m->timed++;
    m->group++;
    m->group_iterations += length;
    m->group_s += seconds + more;
    if (m->group < wanted)
        return;
    m->truth += m->wait;
    tz_policy_record(policy, m->group, m->group_iterations, m->group_s + m->wait);
    m->group = m->group_iterations = 0;
    m->group_s = 0;
}

static void run(machine *m, tz_policy *policy, int64_t stages, int64_t every)
{
    for (int64_t i = 0; i < stages; i++)
        one_stage(m, policy, every);
}

static machine a_machine(double (*time)(int))
{
    return (machine){.time = time, .height_max = 32, .chosen = 6, .random = 1, .pace = 1};
}

static int height_now(const tz_policy *policy)
{
    return tz_policy_plan(policy)->height;
}

#endif
