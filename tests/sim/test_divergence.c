/* A run that diverges is reported in the same words by every backend and plan. The steps at which
 * cells are checked do not depend on heights or on the iterations of a call. */
#include "sim/state.h"
#include "tests/oracle/oracle.h"

enum { SPAN = 16384 };

/* The cpu backend, running many stages in a call. */
static tz_backend spanning;
static int64_t longest_call, scans;

static tz_status spanning_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                               tz_error *error)
{
    const tz_status status = tz_backend_cpu.plan(problem, place, plan, error);
    if (!status)
        plan->launch_iterations = SPAN / plan->height * plan->height;
    return status;
}

static tz_status spanning_stage(void *state, const tz_plan *plan, int height, int64_t step,
                                tz_error *error)
{
    tz_status status = TZ_OK;
    longest_call = height > longest_call ? height : longest_call;
    for (int done = 0; !status && done < height;) {
        const int more = height - done < plan->height ? height - done : plan->height;
        status = tz_backend_cpu.stage(state, plan, more, step + done, error);
        done += more;
    }
    return status;
}

static tz_status counted_scan(const void *state, bool *finite, tz_error *error)
{
    scans++;
    return tz_backend_cpu.all_finite(state, finite, error);
}

static int set_up(void **state)
{
    setenv("TRAPEZE_CACHE", "", 1);
    spanning = tz_backend_cpu;
    spanning.plan = spanning_plan;
    spanning.stage = spanning_stage;
    spanning.all_finite = counted_scan;
    return open_plugins(state);
}

/* Every iteration multiplies each cell by `growth`; all begin at 1. */
static tz_simulation *make(const char *backend, int height, bool spans, double growth)
{
    oracle_config config = oracle("star2d1r", TZ_SINGLE, "periodic", 24, 20, 0);
    config = oracle_with(oracle_with(config, "center", growth - 0.8, NULL), "axis_1", 0.2, NULL);
    config.backend = backend;
    config.threads = 1;
    tz_simulation *simulation = oracle_create(config);
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 1.0, &failure));
    if (spans)
        simulation->backend = &spanning;
    assert_ok(tz_simulation_set_plan(simulation, &(tz_plan){.height = height}, &failure));
    longest_call = scans = 0;
    return simulation;
}

static tz_status run(tz_simulation *simulation, int64_t steps, const test_output *output,
                     tz_error *error)
{
    const tz_run what = {.steps = steps, .until_residual = NAN};
    tz_run_result result;
    return run_with(simulation, &what, output, NULL, &result, error);
}

static tz_status nothing(void *context, tz_simulation *simulation, tz_error *error)
{
    return TZ_OK;
}

/* Every backend and height reports what the reference reports. */
static void check_reports(double growth, int64_t steps, const test_output *output,
                          const char *wanted)
{
    static const struct {
        const char *backend;
        int height;
        bool spans;
    } ways[] = {{"reference", 1, false}, {"cpu", 1, false}, {"cpu", 5, false}, {"cpu", 7, false},
                {"cpu", 1, true},        {"cpu", 4, true},  {"cpu", 6, true}};
    tz_error first = {0};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        tz_simulation *simulation = make(ways[w].backend, ways[w].height, ways[w].spans, growth);
        assert_int_equal(run(simulation, steps, output, &failure), TZ_DIVERGED);
        if (w == 0)
            first = failure;
        assert_non_null(strstr(failure.message, wanted));
        assert_string_equal(failure.message, first.message);
    }
}

TEST(test_one_report_whatever_the_plan)
{
    /* 3.4e38 is reached after 50 iterations, after 931, after 1,818, and before an output. */
    check_reports(6.0, 400, NULL,
                  "(0, 0, 0) at step 256 (480 such cells; all were finite at step 0)");
    check_reports(1.1, 3000, NULL, "at step 1024 (480 such cells; all were finite at step 512)");
    check_reports(1.05, 2000, NULL, "at step 2000 (480 such cells; all were finite at step 1024)");
    const test_output output = {.every = {.steps = 90}, .write = nothing};
    check_reports(1.1, 3000, &output, "at step 990 (480 such cells; all were finite at step 900)");
}

TEST(test_scans_are_few)
{
    tz_simulation *simulation = make("cpu", 4, true, 1.0);
    assert_ok(run(simulation, 3 * SPAN, NULL, &failure));
    assert_int_equal(scans, 7 + 2); /* 256, 512, ... 16384, and then as often as that */
    assert_int_equal(longest_call, SPAN);
}

/* A run that continues after the report is checked and reported again. */
TEST(test_a_run_may_go_on_after_its_report)
{
    for (int spans = 0; spans < 2; spans++) {
        tz_simulation *simulation = make("cpu", 3, spans, 6.0);
        assert_int_equal(run(simulation, 1000, NULL, &failure), TZ_DIVERGED);
        assert_int_equal(tz_simulation_step(simulation), 256);
        check_error(run(simulation, 1000, NULL, &failure), TZ_DIVERGED, "", "at step 512 (");
        assert_non_null(strstr(failure.message, "all were finite at step 0)"));
    }
}

TEST_GROUP(set_up, close_plugins)
