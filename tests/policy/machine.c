#include "machine.h"

#include "policy/explorer.h"
#include <stdlib.h>

/* ---- Curves ---------------------------------------------------------------------------------- */

/* Memory costs a / h, redundant updates b * h: the best height is sqrt(a / b). */
static double convex(int h, double a, double b)
{
    return 1e-3 * (1 + a / h + b * h);
}
double best_at_8(int h)
{
    return convex(h, 6.4, 0.1);
}
double best_at_4(int h)
{
    return convex(h, 3.2, 0.2);
}
double best_at_2(int h)
{
    return convex(h, 2, 0.5);
}
double best_at_1(int h)
{
    return convex(h, 0, 0.15);
}
double best_at_24(int h)
{
    return convex(h, 14.4, 0.025);
}
double flat(int h)
{
    return 1e-3;
}
double plateau(int h)
{
    return h < 6 ? convex(h, 4, 0) : convex(6, 4, 0);
}
/* Registers run out above 8: twice as slow. */
double cliff_at_8(int h)
{
    return h <= 8 ? convex(h, 6.4, 0) : 2 * convex(8, 6.4, 0);
}

const curve curves[CURVES] = {{"best at 1", best_at_1},   {"best at 2", best_at_2},
                              {"best at 4", best_at_4},   {"best at 8", best_at_8},
                              {"best at 24", best_at_24}, {"flat", flat},
                              {"plateau", plateau},       {"cliff", cliff_at_8}};

static double uniform(machine *m)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(m->random >> 11) * 0x1p-52 - 1;
}

/* ---- In place of core/policy/options.c ------------------------------------------------------- */

static machine *machine_of(const tz_policy_subject *subject)
{
    return (machine *)subject->problem;
}

double tz__policy_clock(const tz_policy_subject *subject)
{
    return machine_of(subject)->truth;
}

tz_status tz__policy_complete(const tz_policy_subject *subject, tz_plan *plan, tz_error *error)
{
    const machine *m = machine_of(subject);
    if (plan->height == 0)
        plan->height = m->chosen;
    if (plan->height > m->height_max)
        return tz_error_set(error, TZ_RANGE, "height", "use a height up to %d", m->height_max);
    strcpy(plan->family, m->direct && plan->height == 1 ? "direct" : "stream");
    for (int axis = 0; axis < TZ_AXES; axis++)
        plan->tile[axis] = 1;
    strcpy(plan->why, "made up");
    return TZ_OK;
}

tz_status tz__policy_candidates(const tz_policy_subject *subject, const tz_plan *given,
                                tz_policy_options *out, tz_error *error)
{
    machine *m = machine_of(subject);
    *out = (tz_policy_options){.best = -1};
    for (int h = 1; h <= m->height_max; h++) {
        tz_plan plan = *given;
        if (given->height > 0 && h != given->height)
            continue;
        plan.height = h;
        if (tz__policy_complete(subject, &plan, error) == TZ_OK)
            out->at[out->count++] =
                (tz_policy_option){.plan = plan, .time_s = NAN, .set_up_s = m->set_up_predicted};
    }
    return TZ_OK;
}

tz_status tz__policy_predict(const tz_policy_subject *subject, const tz_plan *given,
                             int64_t iterations, tz_policy_options *out, tz_error *error)
{
    machine *m = machine_of(subject);
    m->predicted_for[m->predicted_times++ % PREDICTED_MAX] = iterations;
    if (m->plans) {
        m->plans(m, given, out);
        return TZ_OK;
    }
    if (!m->predictions)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "nothing is known of the device");
    tz__policy_candidates(subject, given, out, error);
    for (int i = 0; i < out->count; i++) {
        out->at[i].time_s = m->predictions(out->at[i].plan.height);
        out->at[i].set_up_s = m->set_up_predicted;
        if (iterations > 0 && out->at[i].plan.height > iterations)
            continue;
        if (out->best < 0 || out->at[i].time_s < out->at[out->best].time_s)
            out->best = i;
    }
    for (int i = 0; i < out->count; i++)
        out->at[i].estimated = m->estimates && i != out->best;
    strcpy(out->reason, "memory-bound");
    return TZ_OK;
}

bool tz__policy_base(const tz_policy_subject *subject, tz_plan *plan)
{
    if (plan->height > 1)
        return false;
    plan->height = 1;
    return tz__policy_complete(subject, plan, NULL) == TZ_OK;
}

/* ---- In place of core/policy/explorer.c ------------------------------------------------------ */

struct tz_explorer {
    machine *m;
    tz_plan given;
    int64_t begin;
    int taken;
};

tz_status tz__explorer_create(tz_explorer **out, const tz_policy_subject *subject,
                              const tz_plan *given, tz_error *error)
{
    machine *m = machine_of(subject);
    *out = calloc(1, sizeof **out);
    **out = (tz_explorer){m, *given, m->stages, 0};
    m->explorers++;
    m->explored++;
    return TZ_OK;
}

void tz__explorer_destroy(tz_explorer *explorer)
{
    if (explorer)
        explorer->m->explorers--;
    free(explorer);
}

bool tz__explorer_take(tz_explorer *e, tz_policy_option *out)
{
    const int height = e->m->compiled[e->taken];
    const tz_policy_subject subject = {.problem = &e->m->problem};
    if (height == 0 || e->m->stages < e->begin + (e->taken + 1) * e->m->pause)
        return false;
    *out = (tz_policy_option){.plan = e->given, .time_s = e->m->predictions(height)};
    out->plan.height = height;
    e->taken++;
    return tz__policy_complete(&subject, &out->plan, NULL) == TZ_OK;
}

bool tz__explorer_ended(tz_explorer *e, char *reason, size_t size)
{
    snprintf(reason, size, "%s", e->m->unknown ? e->m->unknown : "");
    return e->m->compiled[e->taken] == 0;
}

bool tz__policy_key(const tz_policy_subject *subject, char *text, size_t size)
{
    const machine *m = machine_of(subject);
    snprintf(text, size, "%s", m->key ? m->key : "");
    return m->key != NULL;
}

/* ---- A machine ------------------------------------------------------------------------------- */

static tz_status no_wait(void *state, tz_error *error)
{
    return TZ_OK;
}

tz_status try_make(machine *m, const tz_plan_wish *wish, tz_policy **out, tz_error *error)
{
    static const tz_backend synchronous = {.name = "made up"},
                            asynchronous = {.name = "made up", .wait = no_wait};
    static const tz_backend compiling = {
        .name = "made up", .wait = no_wait, .base_family = "stream"};
    const tz_policy_subject subject = {.problem = &m->problem,
                                       .solution = &m->problem,
                                       .backend = m->compiled   ? &compiling
                                                  : m->wait > 0 ? &asynchronous
                                                                : &synchronous};
    tz_plan_wish settled;
    const tz_status status = tz_plan_wish_settle(wish, NULL, &settled, error);
    return status ? status : tz_policy_create(out, &settled, &subject, error);
}

tz_policy *make(machine *m, tz_plan_wish wish)
{
    tz_policy *policy = NULL;
    assert_ok(try_make(m, &wish, &policy, &failure));
    return policy;
}

double best_time(const machine *m)
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
    if (tz_policy_question(policy)) {
        const tz_plan answer = m->answer(tz_policy_question(policy));
        assert_ok(tz_policy_answer(policy, &answer, &failure));
        assert_int_equal(tz_policy_next(policy, m->step, iterations_left, &plan, NULL), TZ_OK);
        assert_null(tz_policy_question(policy));
    }
    const int h = plan->height;
    if (h == m->refused) {
        const tz_error why = {.code = TZ_MEMORY, .message = "no room"};
        assert_true(tz_policy_plan_failed(policy, &why));
        return;
    }
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

void run(machine *m, tz_policy *policy, int64_t stages, int64_t every)
{
    for (int64_t i = 0; i < stages; i++)
        one_stage(m, policy, every);
}

machine a_machine(double (*time)(int))
{
    return (machine){.time = time, .height_max = 32, .chosen = 6, .random = 1, .pace = 1};
}

int height_now(const tz_policy *policy)
{
    return tz_policy_plan(policy)->height;
}
