/* The exhaustive policy and its memory, on a machine with made-up times. */
#include "machine.h"
#include "policy/class.h"
#include "policy/policy.h"
#include "tests/support.h"
#include <fcntl.h>
#include <sys/stat.h>

/* ---- exhaustive ------------------------------------------------------------------------------ */

static const tz_plan_wish exhaustive = {.policy = "exhaustive"};

static int use_cache(void **state)
{
    return scratch_setup(state) || setenv("TRAPEZE_CACHE", ((scratch *)*state)->directory, 1);
}

static int drop_cache(void **state)
{
    unsetenv("TRAPEZE_CACHE");
    return scratch_teardown(state);
}

#define CACHE_TEST(function) TEST_WITH(use_cache, drop_cache, function)

CACHE_TEST(test_exhaustive_finds_the_best)
{
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

/* What is predicted to be fast is measured first: a run that ends early has used it. */
CACHE_TEST(test_exhaustive_begins_with_the_fastest_prediction)
{
    machine m = a_machine(best_at_8);
    m.predictions = best_at_4;
    tz_policy *policy = make(&m, exhaustive);
    run(&m, policy, 2, 0);
    assert_true(m.ran[4]);
    assert_false(m.ran[m.height_max]);
    tz_policy_destroy(policy);
}

TEST(test_exhaustive_finds_ties)
{
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

CACHE_TEST(test_exhaustive_remembers)
{
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
    /* Another key. */
    second.key = "a plugin 1.1; a grid";
    policy = make(&second, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    /* Another given knob. */
    second.key = first.key;
    policy = make(&second, (tz_plan_wish){.policy = "exhaustive", .given = {.warps = 2}});
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    /* The remembered plan is no candidate any more. */
    second.height_max = 7;
    policy = make(&second, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    second.height_max = 32;
    tz_plan_wish forget = exhaustive;
    forget.forget = true;
    policy = make(&second, forget);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    policy = make(&second, exhaustive); /* a policy that does not run forgets nothing */
    assert_true(tz_policy_settled(policy));
    tz_policy_destroy(policy);
    policy = make(&second, forget);
    run(&second, policy, 1, 0);
    tz_policy_destroy(policy);
    policy = make(&second, exhaustive);
    assert_false(tz_policy_settled(policy));
    tz_policy_destroy(policy);
}

/* The oldest files are removed; other files are not counted and stay. */
CACHE_TEST(test_old_memories_are_removed)
{
    static const char *const keys[] = {"new", "oldest", "old"};
    static const int64_t seconds[] = {3000, 1000, 2000};
    tz_policy_measurement plan = {.plan = {.height = 1, .family = "stream"}, .time_s = 1};
    const tz_policy_memory memory = {.count = 1, .finished = true, .plans = &plan};
    tz_policy_memory got;
    char path[4200], other[4300];
    int count, before;
    int64_t bytes, each, all;
    tz_policy_memory_tidy(0, &before, &bytes);
    assert_true(before == 0 && bytes == 0);
    for (int i = 0; i < 3; i++) {
        const struct timespec times[2] = {{.tv_sec = seconds[i]}, {.tv_sec = seconds[i]}};
        assert_ok(tz_policy_memory_write(keys[i], &memory, &failure));
        assert_true(tz_policy_memory_path(keys[i], path, sizeof path));
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    snprintf(other, sizeof other, "%s.txt", path);
    fclose(fopen(other, "w"));
    tz_policy_memory_tidy(INT64_MAX, &count, &all);
    assert_int_equal(count, 3);
    each = all / 3;
    tz_policy_memory_tidy(all - 1, &count, &bytes);
    assert_true(count == 2 && !tz_policy_memory_read("oldest", &got));
    tz_policy_memory_tidy(each + each / 2, &count, &bytes);
    assert_true(count == 1 && bytes <= each + each / 2);
    assert_true(tz_policy_memory_read("new", &got));
    tz_policy_memory_clear(&got);
    assert_int_equal(access(other, F_OK), 0);
    unlink(other);
    tz_policy_memory_forget("new");
}

static void count_plans(const tz_policy *policy, int *remembered, int *measured)
{
    tz_policy_measurement m;
    *remembered = *measured = 0;
    for (size_t i = 0; tz_policy_measured(policy, i, &m); i++) {
        *remembered += m.remembered;
        *measured += !m.remembered && !isnan(m.time_s);
    }
}

/* A later run measures only the missing plans, and repeats those that are close to the best. */
CACHE_TEST(test_interrupted_search_goes_on)
{
    int remembered, measured, before = 0, runs = 0;
    char text[200], path[4200];
    assert_true(tz_policy_memory_path("interrupted", path, sizeof path));
    assert_int_equal(strncmp(path, getenv("TRAPEZE_CACHE"), strlen(getenv("TRAPEZE_CACHE"))), 0);
    machine alone = a_machine(best_at_8);
    tz_policy *policy = make(&alone, exhaustive);
    for (; !tz_policy_settled(policy); runs++)
        run(&alone, policy, 1, 0);
    tz_policy_destroy(policy);
    int64_t stages = 0;
    for (int part = 0; part < 20; part++) {
        machine m = a_machine(best_at_8);
        m.key = "interrupted";
        policy = make(&m, exhaustive);
        assert_int_equal(m.stages, 0);
        if (part == 1)
            assert_non_null(strstr(tz_policy_describe(policy, text, sizeof text),
                                   "measures 32 plans, 13 of them before"));
        run(&m, policy, 40, 0);
        stages += m.stages;
        count_plans(policy, &remembered, &measured);
        assert_true(remembered + measured > before || remembered + measured == 32);
        before = remembered + measured;
        for (int h = 1; part == 1 && h <= 13; h++)
            assert_false(m.ran[h] && h != 8);
        if (part == 1)
            assert_non_null(strstr(tz_policy_describe(policy, text, sizeof text),
                                   "of 32 plans measured, 13 of them before"));
        const bool settled = tz_policy_settled(policy);
        if (settled && measured > 0) { /* in this part */
            assert_int_equal(before, 32);
            assert_true(remembered > 16);
            assert_non_null(strstr(tz_policy_describe(policy, text, sizeof text),
                                   "measured as best of 32 plans, "));
        }
        tz_policy_destroy(policy);
        if (settled)
            break;
    }
    /* Each part repeats the set-up stage of the plan that it was measuring. */
    if (stages > runs + 60)
        fail_msg("%d stages in parts, %d at once", (int)stages, runs);
    machine m = a_machine(best_at_8);
    m.key = "interrupted";
    policy = make(&m, exhaustive);
    assert_true(tz_policy_settled(policy));
    assert_int_equal(height_now(policy), 8);
    assert_non_null(strstr(tz_policy_plan(policy)->why, "remembered as the best of 32"));
    count_plans(policy, &remembered, &measured);
    assert_int_equal(remembered, 32);
    assert_int_equal(measured, 0);
    tz_policy_destroy(policy);
}
