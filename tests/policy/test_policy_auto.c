/* The policy "auto": plans are compiled while stages run, on a machine with made-up times. */
#include "machine.h"
#include "policy/class.h"
#include "tests/support.h"
#include <jansson.h>

static const tz_plan_wish automatic = {.policy = "auto"};
static const int all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 28, 32, 0};
static const int none[] = {0};

static int use_cache(void **state)
{
    return scratch_setup(state) || setenv("TRAPEZE_CACHE", ((scratch *)*state)->directory, 1);
}

static int drop_cache(void **state)
{
    unsetenv("TRAPEZE_CACHE");
    return scratch_teardown(state);
}

/* Heights are compiled in this order; the predictions are right. */
static machine compiling(double (*time)(int), const int *order)
{
    machine m = a_machine(time);
    m.predictions = time;
    m.compiled = order;
    m.pause = 10;
    m.wait = 1e-5;
    return m;
}

TEST(it_begins_at_once_and_becomes_the_fastest)
{
    for (int c = 0; c < CURVES; c++) {
        machine m = compiling(curves[c].time, all);
        tz_policy *policy = make(&m, automatic);
        assert_int_equal(m.explored, 0); /* a simulation that never runs compiles nothing */
        assert_int_equal(height_now(policy), 1);
        run(&m, policy, 5, 0);
        assert_int_equal(height_now(policy), 1);
        assert_int_equal(m.explorers, 1);
        run(&m, policy, 500, 0);
        assert_true(tz_policy_settled(policy));
        assert_int_equal(m.explorers, 0);
        if (m.time(height_now(policy)) > 1.02 * best_time(&m))
            fail_msg("%s: settled on height %d", curves[c].name, height_now(policy));
        const int64_t timed = m.timed;
        run(&m, policy, 100, 0);
        assert_int_equal(m.timed, timed);
        tz_policy_destroy(policy);
    }
}

/* A plan that is predicted to be faster and is not costs its trial alone. */
TEST(a_wrong_prediction_is_found_out)
{
    machine m = compiling(best_at_2, all);
    m.predictions = best_at_24;
    tz_policy *policy = make(&m, automatic);
    run(&m, policy, 1000, 0);
    assert_true(tz_policy_settled(policy));
    assert_true(m.time(height_now(policy)) <= m.time(1));
    assert_true(m.truth < 1.3 * (double)m.step * m.time(1));
    tz_policy_destroy(policy);
}

static double slow_at_1(int height)
{
    return height == 1 ? 2e-3 : 1.4e-3;
}
static double good_at_1(int height)
{
    return height == 1 ? 1e-3 : 1.4e-3;
}

/* The base plan takes longer than predicted. So another family is tried, which may be right. */
TEST(errors_of_one_family_say_nothing_of_another)
{
    static const int two[] = {1, 2, 0};
    machine m = compiling(slow_at_1, two);
    m.predictions = good_at_1;
    m.direct = true;
    tz_policy *policy = make(&m, automatic);
    run(&m, policy, 300, 0);
    assert_true(tz_policy_settled(policy));
    assert_int_equal(height_now(policy), 2);
    tz_policy_destroy(policy);
}

TEST(a_plan_that_fails_is_left_out)
{
    machine m = compiling(best_at_8, all);
    m.refused = 8;
    tz_policy *policy = make(&m, automatic);
    run(&m, policy, 500, 0);
    assert_true(tz_policy_settled(policy));
    assert_true(height_now(policy) == 7 || height_now(policy) == 9);
    tz_policy_destroy(policy);
    m = compiling(best_at_8, none); /* the base plan itself: the backend's choice runs */
    m.refused = 1;
    policy = make(&m, automatic);
    run(&m, policy, 50, 0);
    assert_int_equal(height_now(policy), m.chosen);
    tz_policy_destroy(policy);
}

/* Plans that are higher than outputs are apart have no full stage. */
TEST(heights_fit_between_outputs)
{
    machine m = compiling(best_at_8, all);
    tz_policy *policy = make(&m, automatic);
    run(&m, policy, 2000, 4);
    assert_true(tz_policy_settled(policy));
    assert_int_equal(height_now(policy), 4);
    tz_policy_destroy(policy);
}

TEST(a_run_that_ends_early_ends_at_once)
{
    machine m = compiling(best_at_8, all);
    tz_policy *policy = make(&m, automatic);
    run(&m, policy, 25, 0);
    assert_int_equal(m.explorers, 1);
    tz_policy_destroy(policy);
    assert_int_equal(m.explorers, 0);
}

TEST_WITH(use_cache, drop_cache, the_next_run_begins_with_the_best_plan)
{
    machine first = compiling(best_at_8, all);
    first.key = "here";
    tz_policy *policy = make(&first, automatic);
    run(&first, policy, 500, 0);
    const int best = height_now(policy);
    tz_policy_destroy(policy);
    machine second = compiling(best_at_8, all);
    second.key = "here";
    policy = make(&second, automatic);
    assert_int_equal(height_now(policy), best);
    assert_true(tz_policy_settled(policy));
    run(&second, policy, 100, 0);
    assert_int_equal(second.explored + second.timed, 0);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "remembered"));
    tz_policy_destroy(policy);
    machine third = compiling(best_at_8, all); /* another stencil */
    third.key = "elsewhere";
    policy = make(&third, automatic);
    assert_int_equal(height_now(policy), 1);
    tz_policy_destroy(policy);
    machine fourth = compiling(best_at_8, all); /* --forget */
    fourth.key = "here";
    policy = make(&fourth, (tz_plan_wish){.policy = "auto", .forget = true});
    assert_int_equal(height_now(policy), 1);
    run(&fourth, policy, 500, 0);
    assert_int_equal(fourth.explored, 1);
    tz_policy_destroy(policy);
}

/* What an unfinished search has found is the next one's first plan. */
TEST_WITH(use_cache, drop_cache, an_unfinished_search_goes_on)
{
    machine first = compiling(best_at_8, all);
    first.key = "here";
    tz_policy *policy = make(&first, automatic);
    while (height_now(policy) < 4)
        run(&first, policy, 1, 0);
    run(&first, policy, 5, 0);
    const int so_far = height_now(policy);
    tz_policy_destroy(policy);
    machine second = compiling(best_at_8, all);
    second.key = "here";
    policy = make(&second, automatic);
    assert_int_equal(height_now(policy), so_far);
    assert_false(tz_policy_settled(policy));
    run(&second, policy, 500, 0);
    assert_int_equal(second.explored, 1);
    assert_true(second.time(height_now(policy)) <= 1.02 * best_time(&second));
    tz_policy_destroy(policy);
}

/* A checkpoint's plan comes first, also where a better one is remembered. */
TEST_WITH(use_cache, drop_cache, a_resumed_run_begins_with_its_own_plan)
{
    machine first = compiling(best_at_8, all);
    first.key = "here";
    tz_policy *policy = make(&first, automatic);
    json_t *saved = tz_policy_save(policy); /* height 1 */
    run(&first, policy, 500, 0);
    tz_policy_destroy(policy);
    machine second = compiling(best_at_8, all);
    second.key = "here";
    policy = make(&second, automatic);
    tz_policy_load(policy, saved);
    assert_int_equal(height_now(policy), 1);
    run(&second, policy, 500, 0);
    assert_true(second.time(height_now(policy)) <= 1.02 * best_time(&second));
    tz_policy_destroy(policy);
    json_decref(saved);
}

/* Where nothing is predicted, the decisions say why, and the next run looks again. */
TEST_WITH(use_cache, drop_cache, what_is_not_predicted_is_said)
{
    machine first = compiling(best_at_8, none);
    first.key = "here";
    first.unknown = "no record";
    tz_policy *policy = make(&first, automatic);
    run(&first, policy, 50, 0);
    assert_true(tz_policy_settled(policy));
    assert_string_equal(tz_policy_plan(policy)->why, "kept; not predicted: no record");
    tz_policy_destroy(policy);
    machine second = compiling(best_at_8, all);
    second.key = "here";
    policy = make(&second, automatic);
    run(&second, policy, 500, 0);
    assert_int_equal(second.explored, 1);
    tz_policy_destroy(policy);
}

/* A height alone: the best plan of that height is looked for. With a tile or a policy the plan
 * stays as it is given. */
TEST(a_given_height_stays)
{
    static const int four[] = {4, 0};
    static const tz_plan_wish bare = {.given = {.height = 4}},
                              full = {.given = {.height = 4, .tile = {32, 0, 0}}},
                              named = {.given = {.height = 4}, .policy = "fixed"};
    const tz_plan_wish *const wishes[] = {&bare, &full, &named};
    for (int k = 0; k < 3; k++) {
        machine m = compiling(best_at_8, four);
        tz_policy *policy = make(&m, *wishes[k]);
        assert_int_equal(height_now(policy), 4);
        assert_string_equal(tz_policy_name_of(policy), "fixed");
        run(&m, policy, 100, 0);
        assert_int_equal(m.explored, k == 0);
        assert_int_equal(height_now(policy), 4);
        assert_true(tz_policy_settled(policy));
        tz_policy_destroy(policy);
    }
}

/* Without a base plan there is nothing to wait for. */
TEST(a_backend_that_compiles_nothing_predicts)
{
    machine m = a_machine(best_at_8);
    m.predictions = best_at_8;
    tz_policy *policy = make(&m, automatic);
    assert_int_equal(height_now(policy), 8);
    assert_string_equal(tz_policy_name_of(policy), "auto");
    char text[160];
    assert_string_equal(tz_policy_describe(policy, text, sizeof text), "predicted: height 8");
    run(&m, policy, 10, 0);
    assert_int_equal(m.timed, 0);
    tz_policy_destroy(policy);
}
