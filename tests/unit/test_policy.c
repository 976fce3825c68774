/* Policies against times of the test's own making: convex, flat, falling, noisy. */
#include "policy/policy.h"
#include "policy/policy_memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { HEIGHT_MAX = 64 };

/* ---- A machine that is made up ----------------------------------------------------------------
 */

typedef struct machine {
    double (*time)(int height);     /* an iteration's, seconds */
    double (*forecast)(int height); /* NULL: none */
    int height_max;                 /* of the plans there are */
    int chosen;                     /* by the backend */
    double noise;                   /* +-, relative */
    double set_up;                  /* seconds that a plan's first stage takes more */
    uint64_t random;
    const char *key;
    /* What happened. */
    bool ran[HEIGHT_MAX + 1];
    int64_t step, stages, changes, timed;
    double seconds;
    int last;
    /* The group that is being timed. */
    int64_t group, group_iterations;
    double group_s;
} machine;

/* Dearer memory against dearer redundancy: least at 1 / b = sqrt(a / b) and so on. */
static double convex(int h, double a, double b)
{
    return 1e-3 * (1 + a / h + b * h);
}
static double best_at_8(int h)
{
    return convex(h, 6.4, 0.1);
}
static double best_at_4(int h)
{
    return convex(h, 3.2, 0.2);
}
static double best_at_2(int h)
{
    return convex(h, 2, 0.5);
}
static double best_at_1(int h)
{
    return convex(h, 0, 0.15);
}
static double best_at_24(int h)
{
    return convex(h, 14.4, 0.025);
}
static double flat(int h)
{
    (void)h;
    return 1e-3;
}
static double plateau(int h)
{
    return h < 6 ? convex(h, 4, 0) : convex(6, 4, 0);
}
/* Registers end at 8: twice as slow beyond. */
static double cliff_at_8(int h)
{
    return h <= 8 ? convex(h, 6.4, 0) : 2 * convex(8, 6.4, 0);
}
static double quick_at_8(int h)
{
    return 1e-3 * best_at_8(h);
}

static double uniform(machine *m)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(m->random >> 11) * 0x1p-52 - 1;
}

static tz_status complete(void *context, tz_plan *plan, tz_error *error)
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
        if (complete(context, &plan, error) == TZ_OK)
            out->at[out->count++] = (tz_policy_option){plan, NAN};
    }
    return TZ_OK;
}

static tz_status forecast(void *context, const tz_plan *given, tz_policy_options *out,
                          tz_error *error)
{
    const machine *m = context;
    if (!m->forecast)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "nothing is known of the device");
    candidates(context, given, out, error);
    for (int i = 0; i < out->count; i++) {
        out->at[i].time_s = m->forecast(out->at[i].plan.height);
        if (out->best < 0 || out->at[i].time_s < out->at[out->best].time_s)
            out->best = i;
    }
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
                                 .complete = complete,
                                 .forecast = forecast,
                                 .candidates = candidates,
                                 .memory_key = memory_key};
    tz_policy *policy = NULL;
    tz_error error = {0};
    if (tz_policy_create(&policy, &config, &host, &error) != TZ_OK)
        fail_msg("%s", error.message);
    return policy;
}

/* One stage, or what is left of it before the next stop (`every` iterations apart; 0: none). */
static void one_stage(machine *m, tz_policy *policy, int64_t every)
{
    const int64_t room = every > 0 ? every - m->step % every : 1 << 20;
    const tz_plan *plan = NULL;
    assert_int_equal(tz_policy_next(policy, m->step, room, &plan, NULL), TZ_OK);
    const int h = plan->height;
    const int length = h < room ? h : (int)room;
    double seconds = length * m->time(h) * (1 + m->noise * uniform(m));
    if (!m->ran[h])
        seconds += m->set_up;
    m->ran[h] = true;
    if (m->last != h) {
        m->changes += m->last != 0;
        m->group = m->group_iterations = 0;
        m->group_s = 0;
    }
    m->last = h;
    m->step += length;
    m->stages++;
    m->seconds += seconds;
    const int64_t wanted = tz_policy_stages_wanted(policy);
    if (wanted == 0 || length < h)
        return;
    m->timed++;
    m->group++;
    m->group_iterations += length;
    m->group_s += seconds;
    if (m->group < wanted)
        return;
    tz_policy_tell(policy, m->group, m->group_iterations, m->group_s);
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
    return (machine){.time = time, .height_max = 32, .chosen = 6, .random = 1};
}

static double best_time(const machine *m)
{
    double best = INFINITY;
    for (int h = 1; h <= m->height_max; h++)
        best = fmin(best, m->time(h));
    return best;
}

static int height_now(const tz_policy *policy)
{
    return tz_policy_plan(policy)->height;
}

/* ---- adaptive ---------------------------------------------------------------------------------
 */

static const tz_policy_config from_1 = {.kind = TZ_POLICY_ADAPTIVE, .start = 1};
static const tz_policy_config from_prediction = {.kind = TZ_POLICY_ADAPTIVE};

typedef struct curve {
    const char *name;
    double (*time)(int);
} curve;
static const curve curves[] = {{"best at 1", best_at_1},   {"best at 2", best_at_2},
                               {"best at 4", best_at_4},   {"best at 8", best_at_8},
                               {"best at 24", best_at_24}, {"flat", flat},
                               {"plateau", plateau},       {"cliff", cliff_at_8}};
enum { CURVES = sizeof curves / sizeof *curves };

/* The paper's run has 30 iterations; these are stages. */
static void test_adaptive_from_1_converges(void **unused)
{
    (void)unused;
    for (int c = 0; c < CURVES; c++) {
        machine m = a_machine(curves[c].time);
        tz_policy *policy = make(&m, from_1);
        run(&m, policy, 30, 0);
        if (!tz_policy_settled(policy))
            fail_msg("%s: not settled after 30 stages, height %d", curves[c].name,
                     height_now(policy));
        if (m.time(height_now(policy)) > 1.04 * best_time(&m))
            fail_msg("%s: settled on height %d, %.3f of the best", curves[c].name,
                     height_now(policy), m.time(height_now(policy)) / best_time(&m));
        tz_policy_destroy(policy);
    }
}

static void test_adaptive_under_noise(void **unused)
{
    (void)unused;
    for (int c = 0; c < CURVES; c++) {
        double worst = 1;
        int slow = 0;
        for (uint64_t seed = 1; seed <= 200; seed++) {
            machine m = a_machine(curves[c].time);
            m.noise = 0.05;
            m.random = seed * 77777;
            tz_policy *policy = make(&m, from_1);
            run(&m, policy, 60, 0);
            if (!tz_policy_settled(policy))
                fail_msg("%s, seed %d: not settled after 60 stages", curves[c].name, (int)seed);
            const int settled = height_now(policy);
            const int64_t changes = m.changes, timed = m.timed;
            run(&m, policy, 1000, 0);
            assert_int_equal(height_now(policy), settled);
            assert_int_equal(m.changes, changes);
            assert_int_equal(m.timed, timed); /* and nothing is timed any more */
            const double ratio = m.time(settled) / best_time(&m);
            worst = fmax(worst, ratio);
            slow += ratio > 1.05;
            tz_policy_destroy(policy);
        }
        if (worst > 1.2 || slow > 10)
            fail_msg("%s: settled up to %.3f of the best, %d of 200 above 1.05", curves[c].name,
                     worst, slow);
    }
}

/* Never worse than 0.98 of staying where the prediction puts it, whatever it tries. */
static void test_adaptive_from_the_prediction(void **unused)
{
    (void)unused;
    for (int c = 0; c < CURVES; c++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            machine m = a_machine(curves[c].time);
            m.forecast = curves[c].time;
            m.noise = 0.05;
            m.random = seed * 991;
            tz_policy *policy = make(&m, from_prediction);
            const int predicted = height_now(policy);
            assert_true(m.time(predicted) == best_time(&m));
            run(&m, policy, 30, 0);
            const double quiet = (double)m.step * m.time(predicted);
            /* Noise of 30 stages, +-5 % uniform, has a deviation of 0.53 % of their sum. */
            if (m.seconds > quiet * (1 / 0.98 + 3 * 0.0053))
                fail_msg("%s, seed %d: %.4f of fixed", curves[c].name, (int)seed,
                         quiet / m.seconds);
            tz_policy_destroy(policy);
        }
}

/* The same without noise, where the comparison is exact, and against the start at 1. */
static void test_adaptive_from_the_prediction_exactly(void **unused)
{
    (void)unused;
    for (int c = 0; c < CURVES; c++) {
        machine a = a_machine(curves[c].time), b = a_machine(curves[c].time);
        a.forecast = b.forecast = curves[c].time;
        tz_policy *predicted = make(&a, from_prediction), *one = make(&b, from_1);
        const double best = best_time(&a);
        run(&a, predicted, 30, 0);
        run(&b, one, 30, 0);
        assert_true((double)a.step * best / a.seconds >= 0.98);
        assert_true(a.seconds / (double)a.step <= b.seconds / (double)b.step * 1.0000001);
        tz_policy_destroy(predicted);
        tz_policy_destroy(one);
    }
}

/* A wrong prediction is left, as far as its forecast allows. */
static void test_adaptive_leaves_a_wrong_prediction(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_8);
    m.forecast = flat; /* takes the first of equals: height 1 */
    tz_policy *policy = make(&m, from_prediction);
    assert_int_equal(height_now(policy), 1);
    run(&m, policy, 400, 0);
    assert_true(tz_policy_settled(policy));
    assert_true(best_at_8(height_now(policy)) <= 1.04 * best_at_8(8));
    tz_policy_destroy(policy);
}

static void test_adaptive_believes_the_forecast_of_slow_heights(void **unused)
{
    (void)unused;
    machine m = a_machine(cliff_at_8);
    m.forecast = cliff_at_8;
    tz_policy *policy = make(&m, from_prediction);
    run(&m, policy, 400, 0);
    assert_int_equal(height_now(policy), 8);
    assert_true(tz_policy_settled(policy));
    assert_false(m.ran[9]);
    tz_policy_measurement found;
    bool noted = false;
    for (size_t i = 0; tz_policy_measured(policy, i, &found); i++)
        noted = noted || (found.plan.height == 9 && strstr(found.note, "not tried"));
    assert_true(noted);
    tz_policy_destroy(policy);
}

static void test_adaptive_without_a_forecast(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_8);
    tz_policy *policy = make(&m, from_prediction);
    assert_int_equal(height_now(policy), 6);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "nothing is known of the device"));
    run(&m, policy, 300, 0);
    assert_true(tz_policy_settled(policy));
    assert_true(best_at_8(height_now(policy)) <= 1.04 * best_at_8(8));
    tz_policy_destroy(policy);
    /* A given height is the start. */
    policy = make(&m, (tz_policy_config){.kind = TZ_POLICY_ADAPTIVE, .given = {.height = 5}});
    assert_int_equal(height_now(policy), 5);
    tz_policy_destroy(policy);
}

/* What it takes to set a plan up is no part of what is compared. */
static void test_setting_up_does_not_count(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_8);
    m.set_up = 1.0;
    tz_policy *policy = make(&m, from_1);
    run(&m, policy, 30, 0);
    assert_true(best_at_8(height_now(policy)) <= 1.04 * best_at_8(8));
    tz_policy_destroy(policy);
}

/* One trial that falls into someone else's work does not keep it from the better heights. */
static int disturbed_stages;
static double best_at_8_disturbed(int h)
{
    if (h != 2 || disturbed_stages == 0)
        return best_at_8(h);
    disturbed_stages--;
    return 1.4 * best_at_8(1);
}

static void test_adaptive_looks_again(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_8_disturbed);
    disturbed_stages = 2; /* the first, and one that is slow enough to end the trial */
    tz_policy *policy = make(&m, from_1);
    run(&m, policy, 45, 0);
    assert_int_equal(disturbed_stages, 0);
    assert_true(tz_policy_settled(policy));
    assert_true(best_at_8(height_now(policy)) <= 1.04 * best_at_8(8));
    tz_policy_destroy(policy);
}

/* Stages of some microseconds are timed in groups, as long as a group must be. */
static void test_short_stages_are_grouped(void **unused)
{
    (void)unused;
    machine m = a_machine(quick_at_8);
    tz_policy *policy = make(&m, from_1);
    int64_t most = 0;
    for (int i = 0; i < 4000 && !tz_policy_settled(policy); i++) {
        run(&m, policy, 1, 0);
        const int64_t wanted = tz_policy_stages_wanted(policy);
        most = wanted > most ? wanted : most;
    }
    assert_true(tz_policy_settled(policy));
    /* An iteration takes 7.5 us at height 1: half a group of half a millisecond is 34 stages. */
    assert_true(most >= 34 && most < 140);
    assert_true(quick_at_8(height_now(policy)) <= 1.04 * quick_at_8(8));
    tz_policy_destroy(policy);
}

/* Outputs every 10 iterations: a height of 16 never runs whole and is not compared. */
static void test_outputs_bound_the_heights(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_24);
    tz_policy *policy = make(&m, from_1);
    run(&m, policy, 400, 10);
    assert_true(tz_policy_settled(policy));
    assert_true(height_now(policy) <= 10 && height_now(policy) >= 7);
    tz_policy_destroy(policy);
    /* Also where it starts beyond. */
    m = a_machine(best_at_24);
    policy = make(&m, (tz_policy_config){.kind = TZ_POLICY_ADAPTIVE, .start = 30});
    run(&m, policy, 400, 10);
    assert_true(tz_policy_settled(policy));
    assert_true(height_now(policy) <= 10 && height_now(policy) >= 7);
    tz_policy_destroy(policy);
}

static void test_refused_trials_are_left(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_8);
    tz_policy *policy = make(&m, from_1);
    const tz_error why = {.code = TZ_MEMORY, .message = "out of registers"};
    for (int i = 0; i < 200; i++) {
        const tz_plan *plan = NULL;
        assert_int_equal(tz_policy_next(policy, m.step, 1 << 20, &plan, NULL), TZ_OK);
        if (plan->height > 3) {
            assert_true(tz_policy_refuse(policy, &why));
            continue;
        }
        run(&m, policy, 1, 0);
    }
    assert_true(tz_policy_settled(policy));
    assert_int_equal(height_now(policy), 3);
    assert_false(tz_policy_refuse(policy, &why)); /* its own plan is no trial */
    tz_policy_destroy(policy);
}

/* ---- predicted and fixed ----------------------------------------------------------------------
 */

static void test_predicted(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_8);
    m.forecast = best_at_4;
    tz_policy *policy = make(&m, (tz_policy_config){.kind = TZ_POLICY_PREDICTED});
    assert_int_equal(height_now(policy), 4);
    assert_string_equal(tz_policy_plan(policy)->why, "predicted: memory-bound");
    run(&m, policy, 100, 7);
    assert_int_equal(m.timed, 0);
    tz_policy_destroy(policy);
    m.forecast = NULL;
    policy = make(&m, (tz_policy_config){.kind = TZ_POLICY_AUTO});
    assert_int_equal(height_now(policy), 6);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "not predicted: nothing is known"));
    tz_policy_destroy(policy);
    policy = make(&m, (tz_policy_config){.kind = TZ_POLICY_AUTO, .given = {.height = 3}});
    assert_int_equal(tz_policy_kind_of(policy), TZ_POLICY_FIXED);
    assert_int_equal(height_now(policy), 3);
    tz_policy_destroy(policy);
}

static void test_given_plans_are_checked(void **unused)
{
    (void)unused;
    machine m = a_machine(flat);
    const tz_policy_host host = {.context = &m, .complete = complete, .forecast = forecast};
    for (int kind = TZ_POLICY_FIXED; kind <= TZ_POLICY_EXHAUSTIVE; kind++) {
        const tz_policy_config config = {.kind = (tz_policy_kind)kind, .given = {.height = 50}};
        tz_policy *policy = NULL;
        tz_error error = {0};
        assert_int_equal(tz_policy_create(&policy, &config, &host, &error), TZ_RANGE);
        assert_null(policy);
        assert_non_null(strstr(error.message, "up to 32"));
    }
    tz_policy_kind kind;
    tz_error error = {0};
    assert_int_equal(tz_policy_find("adaptiv", &kind, &error), TZ_UNKNOWN);
    assert_non_null(strstr(error.message, "did you mean 'adaptive'?"));
    assert_int_equal(tz_policy_find("exhaustive", &kind, &error), TZ_OK);
    assert_int_equal(kind, TZ_POLICY_EXHAUSTIVE);
}

/* ---- A function -------------------------------------------------------------------------------
 */

static tz_status alternate(void *context, const tz_policy_view *view, tz_plan *next,
                           tz_error *error)
{
    (void)error;
    ++*(int *)context;
    if (view->stages > 0)
        assert_true(view->seconds > 0 && view->iterations == view->stages * view->plan->height);
    next->height = view->plan->height == 2 ? 3 : 2;
    return TZ_OK;
}

static tz_status complain(void *context, const tz_policy_view *view, tz_plan *next, tz_error *error)
{
    (void)context;
    (void)view;
    (void)next;
    return tz_error_set(error, TZ_SCRIPT, NULL, "on purpose");
}

/* A million stages keep decisions, not stages. */
static void test_function_decisions_are_bounded(void **unused)
{
    (void)unused;
    machine m = a_machine(flat);
    int calls = 0;
    tz_policy_config config = {.kind = TZ_POLICY_FUNCTION,
                               .function = alternate,
                               .function_context = &calls,
                               .function_name = "the test's function"};
    tz_policy *policy = make(&m, config);
    run(&m, policy, 1000000, 0);
    assert_int_equal(calls, 1000000);
    assert_int_equal(m.changes, 999999);
    const tz_policy_decision *decisions = NULL;
    int64_t left_out = -1, times = 0;
    const size_t count = tz_policy_decisions(policy, &decisions, &left_out);
    assert_true(count <= 4 && left_out == 0);
    for (size_t i = 0; i < count; i++)
        times += decisions[i].times;
    assert_int_equal(times, 1000001); /* the first plan, from 6 to 2, and the changes */
    tz_policy_destroy(policy);
    config.function = complain;
    policy = make(&m, config);
    const tz_plan *plan = NULL;
    tz_error error = {0};
    assert_int_equal(tz_policy_next(policy, 0, 10, &plan, &error), TZ_SCRIPT);
    assert_string_equal(error.message, "on purpose");
    tz_policy_destroy(policy);
}

/* ---- exhaustive -------------------------------------------------------------------------------
 */

static const tz_policy_config exhaustive = {.kind = TZ_POLICY_EXHAUSTIVE};

static int use_cache(void **state)
{
    static char folder[64];
    snprintf(folder, sizeof folder, "/tmp/trapeze-policy-test.%d", (int)getpid());
    *state = folder;
    return mkdir(folder, 0700) != 0 || setenv("TRAPEZE_CACHE", folder, 1) != 0;
}

static int drop_cache(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    unsetenv("TRAPEZE_CACHE");
    return system(command);
}

static void test_exhaustive_finds_the_best(void **unused)
{
    (void)unused;
    for (int c = 0; c < CURVES; c++) {
        machine m = a_machine(curves[c].time);
        tz_policy *policy = make(&m, exhaustive);
        run(&m, policy, 500, 0);
        assert_true(tz_policy_settled(policy));
        assert_true(m.time(height_now(policy)) == best_time(&m));
        for (int h = 1; h <= m.height_max; h++)
            assert_true(m.ran[h]);
        const int64_t timed = m.timed;
        run(&m, policy, 100, 0);
        assert_int_equal(m.timed, timed);
        tz_policy_destroy(policy);
    }
}

static void test_exhaustive_tells_ties(void **unused)
{
    (void)unused;
    int right = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        machine m = a_machine(plateau);
        m.noise = 0.01;
        m.random = seed;
        tz_policy *policy = make(&m, exhaustive);
        run(&m, policy, 500, 0);
        assert_true(tz_policy_settled(policy));
        assert_true(height_now(policy) >= 6);
        int ties = 0;
        tz_policy_measurement found;
        for (size_t i = 0; tz_policy_measured(policy, i, &found); i++) {
            assert_true(!found.tie || found.plan.height >= 5);
            ties += found.tie;
        }
        right += ties >= 20; /* of the 27 that are as fast */
        tz_policy_destroy(policy);
    }
    assert_true(right >= 45);
}

static void test_exhaustive_remembers(void **unused)
{
    (void)unused;
    machine first = a_machine(best_at_8), second = a_machine(best_at_8);
    first.key = second.key = "a plugin 1.0; a grid";
    tz_policy *policy = make(&first, exhaustive);
    run(&first, policy, 500, 0);
    assert_int_equal(height_now(policy), 8);
    tz_policy_destroy(policy);
    policy = make(&second, exhaustive);
    assert_int_equal(height_now(policy), 8);
    assert_true(tz_policy_settled(policy));
    assert_non_null(strstr(tz_policy_plan(policy)->why, "remembered"));
    run(&second, policy, 100, 0);
    assert_int_equal(second.timed, 0);
    tz_policy_measurement found;
    assert_true(tz_policy_measured(policy, 7, &found));
    assert_true(found.time_s > 0);
    tz_policy_destroy(policy);
    /* Something else that matters. */
    second.key = "a plugin 1.1; a grid";
    policy = make(&second, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    /* Something else that is given. */
    second.key = first.key;
    policy = make(&second, (tz_policy_config){.kind = TZ_POLICY_EXHAUSTIVE, .given = {.warps = 2}});
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    /* A plan that is none any more. */
    second.height_max = 7;
    policy = make(&second, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    second.height_max = 32;
    tz_policy_config forget = exhaustive;
    forget.forget = true;
    policy = make(&second, forget);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    policy = make(&second, exhaustive); /* what does not run forgets nothing */
    assert_true(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    policy = make(&second, forget);
    run(&second, policy, 1, 0);
    tz_policy_destroy(policy);
    policy = make(&second, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
}

/* Whatever is wrong with an entry, it is a miss: every truncation, and every byte turned. */
static void test_broken_memories_are_misses(void **unused)
{
    (void)unused;
    const char *key = "a key";
    char path[4200];
    tz_policy_measurement plans[2] = {
        {.plan = {.height = 3, .tile = {7, 1, 1}, .family = "stream"}, .time_s = 0.25},
        {.plan = {.height = 2, .tile = {7, 1, 1}, .family = "stream", .warps = 4}, .time_s = NAN}};
    tz_policy_memory memory = {.count = 2, .best = 0, .noise = 0.01, .plans = plans}, got;
    tz_error error = {0};
    assert_false(tz_policy_memory_read(key, &got));
    assert_int_equal(tz_policy_memory_write(key, &memory, &error), TZ_OK);
    assert_true(tz_policy_memory_read(key, &got));
    assert_int_equal(got.count, 2);
    assert_int_equal(got.plans[1].plan.warps, 4);
    assert_true(isnan(got.plans[1].time_s) && got.plans[0].time_s == 0.25);
    tz_policy_memory_clear(&got);
    assert_true(tz_policy_memory_path(key, path, sizeof path));
    char text[4096];
    FILE *file = fopen(path, "r");
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size > 100 && size < sizeof text);
    for (size_t cut = 0; cut + 2 < size; cut += 3) {
        file = fopen(path, "w");
        fwrite(text, 1, cut, file);
        fclose(file);
        assert_false(tz_policy_memory_read(key, &got));
    }
    for (size_t at = 0; at < size; at++) {
        char changed[4096];
        memcpy(changed, text, size);
        changed[at] ^= 0x15;
        file = fopen(path, "w");
        fwrite(changed, 1, size, file);
        fclose(file);
        /* Numbers may turn into others; what is read is then at least a plan with a time. */
        if (tz_policy_memory_read(key, &got)) {
            assert_true(got.best >= 0 && got.best < got.count && got.plans[got.best].time_s > 0);
            assert_true(got.plans[got.best].plan.height >= 1);
            tz_policy_memory_clear(&got);
        }
    }
    /* The best must have a time. */
    memory.best = 1;
    assert_int_equal(tz_policy_memory_write(key, &memory, &error), TZ_OK);
    assert_false(tz_policy_memory_read(key, &got));
    tz_policy_memory_forget(key);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_interrupted_search_leaves_nothing(void **state)
{
    machine m = a_machine(best_at_8);
    m.key = "interrupted";
    tz_policy *policy = make(&m, exhaustive);
    run(&m, policy, 40, 0);
    assert_false(tz_policy_settled(policy));
    char text[200];
    assert_non_null(strstr(tz_policy_describe(policy, text, sizeof text), "of 32 plans measured"));
    tz_policy_destroy(policy);
    char path[4200];
    assert_true(tz_policy_memory_path("interrupted", path, sizeof path));
    assert_int_equal(strncmp(path, *state, strlen(*state)), 0);
    policy = make(&m, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
}

static void test_unwritable_memory_is_a_warning(void **state)
{
    char folder[128], text[600] = "";
    snprintf(folder, sizeof folder, "%s/plans", (char *)*state);
    char command[400];
    snprintf(command, sizeof command, "rm -rf %s && touch %s", folder, folder);
    assert_int_equal(system(command), 0);
    machine m = a_machine(best_at_2);
    m.key = "nowhere";
    tz_policy *policy = make(&m, exhaustive);
    run(&m, policy, 500, 0);
    assert_int_equal(height_now(policy), 2);
    assert_true(tz_policy_take_warning(policy, text, sizeof text));
    assert_non_null(strstr(text, "not remembered"));
    assert_false(tz_policy_take_warning(policy, text, sizeof text));
    tz_policy_destroy(policy);
    snprintf(command, sizeof command, "rm -f %s", folder);
    assert_int_equal(system(command), 0);
}

/* Outputs every 10 iterations: what never runs whole is said to be unmeasured, the rest is. */
static void test_exhaustive_between_outputs(void **unused)
{
    (void)unused;
    machine m = a_machine(best_at_24);
    tz_policy *policy = make(&m, exhaustive);
    run(&m, policy, 2000, 10);
    assert_true(tz_policy_settled(policy));
    assert_int_equal(height_now(policy), 10);
    tz_policy_measurement found;
    int unmeasured = 0;
    for (size_t i = 0; tz_policy_measured(policy, i, &found); i++)
        if (isnan(found.time_s)) {
            assert_true(found.plan.height > 10);
            assert_string_equal(found.note, "outputs leave no room for it");
            unmeasured++;
        }
    assert_int_equal(unmeasured, 22);
    tz_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adaptive_from_1_converges),
        cmocka_unit_test(test_adaptive_under_noise),
        cmocka_unit_test(test_adaptive_from_the_prediction),
        cmocka_unit_test(test_adaptive_from_the_prediction_exactly),
        cmocka_unit_test(test_adaptive_leaves_a_wrong_prediction),
        cmocka_unit_test(test_adaptive_believes_the_forecast_of_slow_heights),
        cmocka_unit_test(test_adaptive_without_a_forecast),
        cmocka_unit_test(test_setting_up_does_not_count),
        cmocka_unit_test(test_adaptive_looks_again),
        cmocka_unit_test(test_short_stages_are_grouped),
        cmocka_unit_test(test_outputs_bound_the_heights),
        cmocka_unit_test(test_refused_trials_are_left),
        cmocka_unit_test(test_predicted),
        cmocka_unit_test(test_given_plans_are_checked),
        cmocka_unit_test(test_function_decisions_are_bounded),
        cmocka_unit_test_setup_teardown(test_exhaustive_finds_the_best, use_cache, drop_cache),
        cmocka_unit_test_setup_teardown(test_exhaustive_tells_ties, use_cache, drop_cache),
        cmocka_unit_test_setup_teardown(test_exhaustive_remembers, use_cache, drop_cache),
        cmocka_unit_test_setup_teardown(test_broken_memories_are_misses, use_cache, drop_cache),
        cmocka_unit_test_setup_teardown(test_interrupted_search_leaves_nothing, use_cache,
                                        drop_cache),
        cmocka_unit_test_setup_teardown(test_unwritable_memory_is_a_warning, use_cache, drop_cache),
        cmocka_unit_test_setup_teardown(test_exhaustive_between_outputs, use_cache, drop_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
