/* Policies in a simulation. Stages of an asynchronous device are timed until their end, remainders
 * are not timed as whole stages, and a plan that fails is replaced. */
#include "policy/policy.h"
#include "sim/state.h"

#include "base/machine.h"
#include "tests/made_up_clock.h"
#include "tests/oracle/oracle.h"

/* The cpu backend, with a device's manners: stage() returns at once, and the device is done when
 * the made-up time of each stage has passed, on a clock that is made up too. */
static struct {
    double (*stage_s)(int height);
    double done; /* on the clock */
    int64_t waits, stages, plans;
    int refused_above; /* heights; 0: none */
} device;

static tz_backend slow;

static double long_stage(int height)
{
    return 1e-3 + 0.1e-3 * height * height; /* best at 3, a stage of 1.9 ms */
}

static tz_status slow_stage(void *state, const tz_plan *plan, int height, int64_t step,
                            tz_error *error)
{
    if (device.refused_above > 0 && plan->height > device.refused_above)
        return tz_error_set(error, TZ_MEMORY, "registers", "there are too few");
    const double now = tz_machine_clock_s();
    device.done = (device.done > now ? device.done : now) + device.stage_s(height);
    device.stages++;
    return tz_backend_cpu.stage(state, plan, height, step, error);
}

static tz_status slow_wait(void *state, tz_error *error)
{
    device.waits++;
    if (made_up_clock.now_s < device.done)
        made_up_clock.now_s = device.done;
    return TZ_OK;
}

static tz_status counted_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                              tz_error *error)
{
    device.plans++;
    return tz_backend_cpu.plan(problem, place, plan, error);
}

static int set_up(void **state)
{
    setenv("TRAPEZE_CACHE", "", 1);
    slow = tz_backend_cpu;
    slow.stage = slow_stage;
    slow.wait = slow_wait;
    slow.plan = counted_plan;
    /* Times are made up: without these no model predicts them. */
    slow.work = NULL;
    slow.candidates = NULL;
    const int failed = open_plugins(state);
    made_up_clock.is_in_use = true;
    return failed;
}

static int tear_down(void **state)
{
    made_up_clock.is_in_use = false;
    return close_plugins(state);
}

static tz_simulation *make(const tz_plan_wish *wish)
{
    oracle_config config = oracle("star2d1r", -1, NULL, 16, 16, 0);
    config.threads = 1;
    tz_simulation *simulation = oracle_create(config);
    simulation->backend = &slow;
    device.plans = 0;
    assert_ok(tz_simulation_set_policy(simulation, wish, &failure));
    device.stage_s = long_stage;
    device.done = 0;
    device.waits = device.stages = 0;
    device.refused_above = 0;
    return simulation;
}

static tz_run_result advance(tz_simulation *simulation, int64_t steps, const test_output *output)
{
    const tz_run run = {.steps = steps, .until_residual = NAN};
    tz_run_result result;
    assert_ok(run_with(simulation, &run, output, NULL, &result, &failure));
    return result;
}

/* Measured times include the complete stage, not only its launch: at least `least` plans were
 * measured, and none took less than its made-up time. */
static bool times_are_complete(const tz_simulation *simulation, int least)
{
    const tz_policy *policy = tz_simulation_policy(simulation);
    tz_policy_measurement m;
    int measured = 0;
    bool complete = true;
    for (size_t i = 0; tz_policy_measured(policy, i, &m); i++) {
        if (isnan(m.time_s))
            continue;
        complete = complete && m.time_s > 0.99 * long_stage(m.plan.height) / m.plan.height;
        measured++;
    }
    return complete && measured >= least;
}

TEST(test_a_fixed_plan_is_made_once)
{
    const char *const names[] = {"fixed", "predicted"};
    for (int k = 0; k < 2; k++) {
        tz_simulation *simulation = make(&(tz_plan_wish){.policy = names[k]});
        assert_int_equal(device.plans, 1);
        advance(simulation, 50, NULL);
        assert_int_equal(device.plans, 1);
    }
}

TEST(test_asynchronous_stages_are_waited_for)
{
    const tz_plan_wish adaptive = {.policy = "adaptive", .start = 1};
    tz_simulation *simulation = make(&adaptive);
    const tz_policy *policy = tz_simulation_policy(simulation);
    advance(simulation, 300, NULL);
    assert_true(tz_policy_settled(policy));
    assert_in_range(tz_simulation_plan(simulation)->height, 3,
                    4); /* 3 % apart: the policy may take either */
    assert_true(times_are_complete(simulation, 2));
    /* After the policy has settled, only the checks of cells and of the time wait. */
    const int64_t waits = device.waits, stages = device.stages;
    advance(simulation, 600, NULL);
    assert_true(device.stages - stages >= 100);
    assert_true(5 * (device.waits - waits) < device.stages - stages);
}

static tz_status count(void *context, tz_simulation *simulation, tz_error *error)
{
    assert_int_equal(tz_simulation_step(simulation) % 7, 0);
    ++*(int *)context;
    return TZ_OK;
}

/* Outputs every 7 iterations: heights above never run whole; 2, 3, 4, … leave a remainder. */
TEST(test_remainders_are_not_timed)
{
    int fired = 0;
    const test_output output = {.every = {.steps = 7}, .write = count, .context = &fired};
    const tz_plan_wish exhaustive = {.policy = "exhaustive"};
    tz_simulation *simulation = make(&exhaustive);
    for (int i = 0; i < 30 && !tz_policy_settled(tz_simulation_policy(simulation)); i++)
        advance(simulation, 70, &output);
    assert_true(fired > 5);
    assert_true(tz_policy_settled(tz_simulation_policy(simulation)));
    assert_true(times_are_complete(simulation, 7));
    assert_in_range(tz_simulation_plan(simulation)->height, 1, 7);
}

TEST(test_a_plan_that_does_not_work_is_left)
{
    const tz_plan_wish adaptive = {.policy = "adaptive", .start = 1};
    const tz_plan_wish fixed = {.policy = "fixed", .given = {.height = 3}};
    tz_simulation *simulation = make(&adaptive);
    device.refused_above = 1;
    advance(simulation, 100, NULL);
    assert_int_equal(tz_simulation_step(simulation), 100);
    assert_int_equal(tz_simulation_plan(simulation)->height, 1);
    tz_policy_measurement m;
    bool noted = false;
    for (size_t i = 0; tz_policy_measured(tz_simulation_policy(simulation), i, &m); i++)
        noted = noted || strcmp(m.note, "refused: there are too few") == 0;
    assert_true(noted);
    assert_ok(tz_simulation_set_policy(simulation, &fixed, &failure));
    const tz_run run = {.steps = 10, .until_residual = NAN};
    tz_run_result result;
    assert_int_equal(run_simulation(simulation, &run, &result, &failure), TZ_MEMORY);
    assert_int_equal(tz_simulation_step(simulation), 100);
}

TEST_GROUP(set_up, tear_down)
