/* Policies on a machine with made-up times: convex, flat, falling, noisy. */
#include "machine.h"

/* ---- adaptive -------------------------------------------------------------------------------- */

static const tz_plan_wish from_1 = {.policy = "adaptive", .start = 1};
static const tz_plan_wish from_prediction = {.policy = "adaptive"};

/* A policy for this wish that has settled after so many stages, on a height at most 4 % slower
 * than the best. */
static tz_policy *settled(machine *m, tz_plan_wish wish, int64_t stages)
{
    tz_policy *policy = make(m, wish);
    run(m, policy, stages, 0);
    assert_true(tz_policy_settled(policy));
    assert_true(m->time(height_now(policy)) <= 1.04 * best_time(m));
    return policy;
}

/* The paper's run has 30 iterations; these are stages. A good height is found early; then both
 * sides are tried to the end, each time against a base that is timed anew. */
TEST(test_adaptive_from_1_converges)
{
    for (int c = 0; c < CURVES; c++) {
        machine m = a_machine(curves[c].time);
        tz_policy *policy = make(&m, from_1);
        while (m.time(height_now(policy)) > 1.04 * best_time(&m))
            run(&m, policy, 1, 0);
        if (m.stages > 15)
            fail_msg("%s: %d stages to a good height", curves[c].name, (int)m.stages);
        run(&m, policy, 30 - m.stages, 0);
        if (!tz_policy_settled(policy))
            fail_msg("%s: not settled after 30 stages, height %d", curves[c].name,
                     height_now(policy));
        if (m.time(height_now(policy)) > 1.04 * best_time(&m))
            fail_msg("%s: settled on height %d, %.3f of the best", curves[c].name,
                     height_now(policy), m.time(height_now(policy)) / best_time(&m));
        tz_policy_destroy(policy);
    }
}

TEST(test_adaptive_under_noise)
{
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
            /* From then on it times a pair of stages whenever the run has doubled. */
            assert_in_range(m.timed - timed, 4, 12);
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

static double scale;
static double (*scaled_curve)(int);
static double scaled(int h)
{
    return scale * scaled_curve(h);
}

static double cliff_unforeseen(int h)
{
    return scaled_curve(h < 8 ? h : 8) * scale;
}

/* Runs of up to `longest` stages of `stage_s` on an asynchronous device; seed 0: without noise.
 * The first plan is the best, and trials and waits take less than 2 % of a run of any length.
 * Returns the stages timed. */
static int64_t check_budget(const curve *c, double stage_s, uint64_t seed, bool predicted,
                            int longest)
{
    static const int lengths[] = {30, 100, 300, 1000, 3000, 10000, 100000};
    scaled_curve = c->time;
    scale = 1;
    machine m = a_machine(scaled);
    if (predicted)
        m.predictions = scaled_curve == cliff_at_8 ? cliff_unforeseen : scaled;
    m.noise = seed > 0 ? 0.05 : 0;
    m.random = seed * 991;
    m.wait = 50e-6;
    m.set_up = m.set_up_predicted = 2e-3;
    for (int h = 32; h > 0; h--)
        if (scaled(h) <= best_time(&m))
            m.chosen = h;
    scale = stage_s / (m.chosen * scaled_curve(m.chosen));
    tz_policy *policy = make(&m, from_prediction);
    assert_int_equal(height_now(policy), m.chosen);
    m.ran[m.chosen] = true; /* fixed sets it up, too */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && lengths[i] <= longest; i++) {
        run(&m, policy, lengths[i] - m.stages, 0);
        if (m.quiet < 0.98 * m.truth)
            fail_msg("%s, stages of %g s, noise %g: %.4f of fixed after %d", c->name, stage_s,
                     m.noise, m.quiet / m.truth, lengths[i]);
    }
    tz_policy_destroy(policy);
    return m.timed;
}

TEST(test_adaptive_keeps_its_budget)
{
    static const double stages_s[] = {5e-6, 60e-6, 1e-3, 0.1};
    for (int c = 0; c < CURVES; c++)
        for (size_t t = 0; t < sizeof stages_s / sizeof *stages_s; t++)
            for (uint64_t seed = 0; seed < 9; seed++)
                check_budget(&curves[c], stages_s[t], seed, true, seed > 1 ? 10000 : 100000);
}

/* From height 1 it climbs at once. From a wrong prediction of height 1 it climbs as soon as its
 * budget allows: each gain pays for the next trial. */
TEST(test_adaptive_climbs)
{
    scaled_curve = best_at_8;
    scale = 60e-6 / (8 * best_at_8(8));
    for (int given = 0; given < 2; given++) {
        machine m = a_machine(scaled);
        m.predictions = given ? NULL : flat;
        m.wait = 50e-6;
        tz_policy *policy = make(&m, given ? from_1 : from_prediction);
        assert_int_equal(height_now(policy), 1);
        int64_t stages = 0;
        for (; scaled(height_now(policy)) > 1.04 * best_time(&m) && stages < 100000; stages++)
            run(&m, policy, 1, 0);
        /* A group of height 1 is 52 stages of 19 us. */
        if (stages > (given ? 300 : 6000))
            fail_msg("%s: %d stages", given ? "from 1" : "predicted", (int)stages);
        run(&m, policy, 30000, 0);
        assert_true(scaled(height_now(policy)) <= 1.04 * best_time(&m));
        tz_policy_destroy(policy);
    }
}

/* A device whose speed drifts during trials keeps its height. When another height becomes the best
 * after the policy has settled, the policy finds it. */
static int best_now;
static double best_moves(int h)
{
    return best_now == 8 ? best_at_8(h) : 1.2 * best_at_2(h);
}

TEST(test_adaptive_under_drift)
{
    for (int up = 0; up < 2; up++) {
        machine m = a_machine(best_at_8);
        m.predictions = best_at_8;
        m.wait = 50e-6;
        tz_policy *policy = make(&m, from_prediction);
        for (int i = 0; i < 20000; i++) {
            m.pace = up ? 1 + 0.5 * i / 20000 : 1.5 - 0.5 * i / 20000;
            run(&m, policy, 1, 0);
        }
        if (m.quiet < 0.98 * m.truth)
            fail_msg("drift %s: %.4f of fixed", up ? "up" : "down", m.quiet / m.truth);
        assert_true(best_at_8(height_now(policy)) <= 1.04 * best_at_8(8));
        tz_policy_destroy(policy);
    }
    best_now = 8;
    machine m = a_machine(best_moves);
    tz_policy *policy = settled(&m, from_1, 60);
    best_now = 2;
    run(&m, policy, 3000, 0);
    assert_true(best_moves(height_now(policy)) <= 1.04 * best_moves(2));
    tz_policy_destroy(policy);
}

/* The policy leaves a wrong prediction, as far as the predicted times allow. */
TEST(test_adaptive_leaves_a_wrong_prediction)
{
    machine m = a_machine(best_at_8);
    m.predictions = flat; /* takes the first of equals: height 1 */
    tz_policy *policy = make(&m, from_prediction);
    assert_int_equal(height_now(policy), 1);
    tz_policy_destroy(policy);
    tz_policy_destroy(settled(&m, from_prediction, 400));
}

static void check_slow_height(bool estimates, const char *note)
{
    machine m = a_machine(cliff_at_8);
    m.predictions = cliff_at_8;
    m.estimates = estimates;
    tz_policy *policy = make(&m, from_prediction);
    run(&m, policy, 400, 0);
    assert_int_equal(height_now(policy), 8);
    assert_true(tz_policy_settled(policy));
    assert_false(m.ran[9]);
    tz_policy_measurement found;
    bool noted = false;
    for (size_t i = 0; tz_policy_measured(policy, i, &found); i++)
        noted = noted || (found.plan.height == 9 && found.estimated == estimates &&
                          strstr(found.note, note));
    assert_true(noted);
    tz_policy_destroy(policy);
}

TEST(test_adaptive_believes_predictions_of_slow_heights)
{
    check_slow_height(false, "not tried: predicted");
    check_slow_height(true, "not tried: estimated");
}

TEST(test_adaptive_without_predictions)
{
    machine m = a_machine(best_at_8);
    tz_policy *policy = make(&m, from_prediction);
    assert_int_equal(height_now(policy), 6);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "nothing is known of the device"));
    tz_policy_destroy(policy);
    tz_policy_destroy(settled(&m, from_prediction, 300));
    /* A given height is the start. */
    policy = make(&m, (tz_plan_wish){.policy = "adaptive", .given = {.height = 5}});
    assert_int_equal(height_now(policy), 5);
    tz_policy_destroy(policy);
}

/* Comparisons leave out the time to set a plan up. */
TEST(test_setting_up_does_not_count)
{
    machine m = a_machine(best_at_8);
    m.set_up = 1.0;
    tz_policy *policy = make(&m, from_1);
    run(&m, policy, 30, 0);
    assert_true(best_at_8(height_now(policy)) <= 1.04 * best_at_8(8));
    tz_policy_destroy(policy);
}

static double quick_at_8(int h)
{
    return 1e-3 * best_at_8(h);
}

/* Stages of a few microseconds are timed in groups of a minimum length. */
TEST(test_short_stages_are_grouped)
{
    machine m = a_machine(quick_at_8);
    tz_policy *policy = make(&m, from_1);
    int64_t most = 0;
    for (int i = 0; i < 4000 && !tz_policy_settled(policy); i++) {
        run(&m, policy, 1, 0);
        const int64_t wanted = tz_policy_stages_to_time(policy);
        most = wanted > most ? wanted : most;
    }
    assert_true(tz_policy_settled(policy));
    /* An iteration takes 7.5 us at height 1: half a group of half a millisecond is 34 stages. */
    assert_true(most >= 34 && most < 140);
    assert_true(quick_at_8(height_now(policy)) <= 1.04 * quick_at_8(8));
    tz_policy_destroy(policy);
}

/* Outputs every 10 iterations: a stage of height 16 is always cut short and is not compared. */
TEST(test_outputs_bound_the_heights)
{
    for (int start = 1; start <= 30; start += 29) { /* also from above 10 */
        machine m = a_machine(best_at_24);
        tz_policy *policy = make(&m, (tz_plan_wish){.policy = "adaptive", .start = start});
        run(&m, policy, 400, 10);
        assert_true(tz_policy_settled(policy));
        assert_true(height_now(policy) <= 10 && height_now(policy) >= 7);
        tz_policy_destroy(policy);
    }
}

TEST(test_refused_trials_are_left)
{
    machine m = a_machine(best_at_8);
    tz_policy *policy = make(&m, from_1);
    const tz_error why = {.code = TZ_MEMORY, .message = "out of registers"};
    for (int i = 0; i < 200; i++) {
        const tz_plan *plan = NULL;
        assert_int_equal(tz_policy_next(policy, m.step, 1 << 20, &plan, NULL), TZ_OK);
        if (plan->height > 3) {
            assert_true(tz_policy_plan_failed(policy, &why));
            continue;
        }
        run(&m, policy, 1, 0);
    }
    assert_true(tz_policy_settled(policy));
    assert_int_equal(height_now(policy), 3);
    assert_false(tz_policy_plan_failed(policy, &why)); /* its own plan is no trial */
    tz_policy_destroy(policy);
}

/* ---- predicted and fixed --------------------------------------------------------------------- */

TEST(test_predicted)
{
    machine m = a_machine(best_at_8);
    char text[256];
    m.predictions = best_at_4;
    tz_policy *policy = make(&m, (tz_plan_wish){.policy = "predicted"});
    assert_int_equal(height_now(policy), 4);
    assert_string_equal(tz_policy_plan(policy)->why, "predicted: memory-bound");
    assert_string_equal(tz_policy_describe(policy, text, sizeof text), "predicted: height 4");
    run(&m, policy, 100, 7);
    assert_int_equal(m.timed, 0);
    tz_policy_destroy(policy);
    m.predictions = NULL;
    policy = make(&m, (tz_plan_wish){.policy = "predicted"});
    assert_int_equal(height_now(policy), 6);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "not predicted: nothing is known"));
    assert_string_equal(tz_policy_describe(policy, text, sizeof text),
                        "default: up to height 6, not predicted");
    tz_policy_destroy(policy);
}

/* Stretches that are short beside the height are predicted as such: each new length once, few
 * lengths, and nothing where heights do not matter. */
TEST(test_predicted_for_the_run)
{
    machine m = a_machine(best_at_8);
    m.predictions = best_at_8;
    tz_policy *policy = make(&m, (tz_plan_wish){.policy = "predicted"});
    assert_int_equal(height_now(policy), 8);
    assert_int_equal(m.predicted_times, 1);
    assert_int_equal(m.predicted_for[0], 0);
    run(&m, policy, 4, 5);
    assert_int_equal(m.predicted_times, 2);
    assert_int_equal(m.predicted_for[1], 5);
    assert_in_range(height_now(policy), 1, 5);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "predicted for 5 iterations: "));
    run(&m, policy, 4, 0); /* a long run again: no new prediction */
    assert_int_equal(height_now(policy), 8);
    assert_int_equal(m.predicted_times, 2);
    for (int64_t every = 3; every < 120; every += every / 2) /* ever other stretches */
        run(&m, policy, 2 * every, every);
    assert_in_range(m.predicted_times, 6, 9);
    tz_policy_destroy(policy);
    m.predictions = best_at_1;
    m.predicted_times = 0;
    policy = make(&m, (tz_plan_wish){.policy = "predicted"});
    run(&m, policy, 9, 3);
    assert_int_equal(m.predicted_times, 1);
    tz_policy_destroy(policy);
}

/* Policies that search begin at what is predicted for the first stretch, unless a height is
 * given. */
TEST(test_searches_begin_at_the_prediction_for_the_run)
{
    const char *const names[] = {"adaptive", "meng"};
    for (int i = 0; i < 2; i++) {
        machine m = a_machine(best_at_8);
        m.predictions = best_at_8;
        tz_policy *policy = make(&m, (tz_plan_wish){.policy = names[i]});
        assert_int_equal(height_now(policy), 8);
        run(&m, policy, 1, 5);
        assert_int_equal(m.predicted_for[1], 5);
        assert_int_equal(m.last, 5);
        run(&m, policy, 40, 5); /* once */
        assert_int_equal(m.predicted_times, 2);
        tz_policy_destroy(policy);
        m = a_machine(best_at_8);
        m.predictions = best_at_8;
        policy = make(&m, (tz_plan_wish){.policy = names[i], .start = 7});
        run(&m, policy, 1, 5);
        assert_int_equal(height_now(policy), 7);
        tz_policy_destroy(policy);
    }
}

/* Three plans of each height; the second is the fastest. */
static void three_plans(machine *m, const tz_plan *given, tz_policy_options *out)
{
    *out = (tz_policy_options){.best = 4};
    for (int i = 0; i < 6; i++)
        out->at[out->count++] = (tz_policy_option){
            .plan = {.family = "stream", .height = 2 + 2 * (i / 3), .tile = {1 + i % 3, 1, 1}},
            .time_s = (i % 3 == 1 ? 1.0 : 2.0) - 0.1 * (i / 3)};
}

TEST(test_of_a_height_the_fastest_plan_is_taken)
{
    machine m = a_machine(flat);
    m.plans = three_plans;
    for (int i = 0; tz_policy_searcher_name(i / 2); i++) {
        const int height = 2 + 2 * (i % 2);
        tz_policy *policy =
            make(&m, (tz_plan_wish){.policy = tz_policy_searcher_name(i / 2), .start = height});
        assert_int_equal(height_now(policy), height);
        assert_int_equal(tz_policy_plan(policy)->tile[0], 2);
        tz_policy_destroy(policy);
    }
}

/* A fixed plan of a height alone is completed by predictions where the backend compiles; with a
 * tile it is what is given. */
TEST(test_a_fixed_height_is_predicted)
{
    static const int heights[] = {0};
    machine m = a_machine(flat);
    m.plans = three_plans;
    tz_policy *policy = make(&m, (tz_plan_wish){.policy = "fixed", .given = {.height = 4}});
    assert_int_equal(m.predicted_times, 0);
    tz_policy_destroy(policy);
    m.compiled = heights;
    policy = make(&m, (tz_plan_wish){.policy = "fixed", .given = {.height = 4}});
    assert_int_equal(height_now(policy), 4);
    assert_int_equal(tz_policy_plan(policy)->tile[0], 2);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "predicted: "));
    assert_true(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    m.predicted_times = 0;
    policy = make(&m, (tz_plan_wish){.policy = "fixed", .given = {.height = 4, .tile = {1}}});
    assert_int_equal(m.predicted_times, 0);
    tz_policy_destroy(policy);
}

TEST(test_given_plans_are_checked)
{
    for (int i = 1; tz_policy_name(i); i++) {
        machine m = a_machine(flat);
        const tz_plan_wish wish = {.policy = tz_policy_name(i), .given = {.height = 50}};
        tz_policy *policy = NULL;
        check_error(try_make(&m, &wish, &policy, &failure), TZ_RANGE, "", "up to 32");
        assert_null(policy);
    }
}

/* ---- A function ------------------------------------------------------------------------------ */

static int calls;

static tz_plan alternate(const tz_policy_view *view)
{
    tz_plan next = *view->plan;
    calls++;
    if (view->stages > 0)
        assert_true(view->seconds > 0 && view->iterations == view->stages * view->plan->height);
    next.height = view->plan->height == 2 ? 3 : 2;
    return next;
}

/* A million stages keep decisions, not stages. */
TEST(test_function_decisions_are_bounded)
{
    machine m = a_machine(flat);
    const tz_plan_wish wish = {.function = "the test's function"};
    tz_policy *policy = make(&m, wish);
    m.answer = alternate;
    calls = 0;
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
}

/* A plan that the backend refuses is an error; without an answer, or with height 0, the plan
 * stays. */
TEST(test_answers_are_checked)
{
    machine m = a_machine(flat);
    tz_policy *policy = make(&m, (tz_plan_wish){.function = "the test's function"});
    const tz_plan *plan = NULL;
    assert_null(tz_policy_question(policy));
    assert_ok(tz_policy_next(policy, 0, 10, &plan, &failure));
    assert_string_equal(tz_policy_question(policy)->name, "the test's function");
    check_error(tz_policy_answer(policy, &(tz_plan){.height = 50}, &failure), TZ_RANGE, "height",
                "up to 32");
    assert_null(tz_policy_question(policy));
    assert_ok(tz_policy_answer(policy, &(tz_plan){.height = 0}, &failure));
    assert_ok(tz_policy_next(policy, 6, 4, &plan, &failure));
    assert_int_equal(plan->height, 6);
    tz_policy_destroy(policy);
}
