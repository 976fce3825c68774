/* The simulated time: exact after many iterations and changes of the time step; which steps reach a
 * time; when intervals fall due. */
#include "tests/oracle/oracle.h"

static tz_simulation *make(const char *stencil, double dt)
{
    oracle_config config = oracle(stencil, -1, NULL, 4, 3, 0);
    config.dry = true;
    return oracle_create(dt > 0 ? oracle_with(config, "dt_s", dt, NULL) : config);
}

static void set_dt(tz_simulation *simulation, double dt)
{
    const tz_assignment step = {.name = "dt_s", .number = dt};
    assert_ok(tz_simulation_set_params(simulation, 1, &step, &failure));
}

static int64_t step_at(const tz_simulation *simulation, double time)
{
    int64_t step = -1;
    assert_ok(tz_simulation_step_at(simulation, time, &step, &failure));
    return step;
}

static void check_time(const tz_simulation *simulation, double wanted)
{
    const double time = tz_simulation_time(simulation);
    if (time != wanted)
        fail_msg("the time is %.17g, not %.17g", time, wanted);
}

TEST(a_derived_time_step_counts_too)
{
    tz_simulation *simulation = make("hotspot", 0);
    const tz_param *step = tz_simulation_time_step(simulation);
    assert_non_null(step);
    assert_string_equal(step->name, "dt_s");
    assert_string_equal(step->unit, "s");
    assert_true(tz_simulation_dt(simulation) > 0);
    tz_simulation_skip(simulation, 7);
    check_time(simulation, 7 * tz_simulation_dt(simulation));
}

TEST(a_time_step_must_be_positive)
{
    tz_simulation *simulation = make("hotspot", 1e-7);
    const tz_assignment step = {.name = "dt_s", .number = 0};
    tz_param *param = (tz_param *)tz_simulation_time_step(simulation);
    const double least = param->min;
    param->min = 0;
    check_error(tz_simulation_set_params(simulation, 1, &step, &failure), TZ_RANGE, "hotspot",
                "the time step 'dt_s' is 0; it must be positive");
    param->min = least;
}

/* A sum of 1e-7 a million times is off by 1e-13; a product is not. */
TEST(long_runs_do_not_drift)
{
    tz_simulation *simulation = make("hotspot", 1e-7);
    tz_simulation_skip(simulation, 1000000000);
    check_time(simulation, 1000000000 * 1e-7);
}

TEST(changes_of_the_time_step_keep_the_time_so_far)
{
    tz_simulation *simulation = make("hotspot", 1e-6);
    tz_simulation_skip(simulation, 1000);
    set_dt(simulation, 2e-6);
    check_time(simulation, 1e-3);
    tz_simulation_skip(simulation, 500);
    check_time(simulation, 2e-3);
    /* Parameters that leave the time step as it is change nothing. */
    const tz_assignment ambient = {.name = "ambient_k", .number = 300};
    assert_ok(tz_simulation_set_params(simulation, 1, &ambient, &failure));
    tz_simulation_skip(simulation, 500);
    check_time(simulation, 3e-3);
    /* A refused change neither. */
    const tz_assignment unstable = {.name = "dt_s", .number = 1e6};
    assert_int_equal(tz_simulation_set_params(simulation, 1, &unstable, &failure), TZ_UNSTABLE);
    check_time(simulation, 3e-3);
    tz_simulation_rewind(simulation);
    check_time(simulation, 0);
    tz_simulation_skip(simulation, 10);
    check_time(simulation, 10 * 2e-6);
}

/* Two steps in turn: 0.1 us and 0.3 us have no exact doubles. The exact sum of these doubles,
 * rounded once, is the product below. */
TEST(many_changes_do_not_drift)
{
    enum { PAIRS = 200000 };
    tz_simulation *simulation = make("hotspot", 1e-7);
    for (int i = 0; i < PAIRS; i++) {
        set_dt(simulation, 1e-7);
        tz_simulation_skip(simulation, 1);
        set_dt(simulation, 3e-7);
        tz_simulation_skip(simulation, 1);
    }
    const long double exact = PAIRS * ((long double)1e-7 + (long double)3e-7);
    check_time(simulation, (double)exact);
}

TEST(times_are_reached_in_spite_of_rounding)
{
    static const double steps[] = {1e-6, 1e-7, 3e-7, 1.4583333e-7, 7e-8};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        tz_simulation *simulation = make("hotspot", steps[i]);
        for (int64_t n = 1; n < 3000000000; n = n * 7 / 3 + 1) {
            assert_int_equal(step_at(simulation, (double)n * steps[i]), n);
            assert_int_equal(step_at(simulation, nextafter((double)n * steps[i], 1e9)), n);
            assert_int_equal(step_at(simulation, nextafter((double)n * steps[i], 0)), n);
            assert_int_equal(step_at(simulation, ((double)n - 0.4) * steps[i]), n);
        }
    }
    tz_simulation *simulation = make("hotspot", 1e-6);
    int64_t step;
    assert_int_equal(step_at(simulation, 2e-3), 2000);
    assert_int_equal(step_at(simulation, 0), 0);
    tz_simulation_skip(simulation, 3000);
    assert_int_equal(step_at(simulation, 2e-3), 3000); /* reached before */
    set_dt(simulation, 5e-7);
    assert_int_equal(step_at(simulation, 4e-3), 5000);
    assert_int_equal(tz_simulation_step_at(simulation, 1e300, &step, &failure), TZ_RANGE);
}

/* Every step at which an interval is due, up to a step, by each of the functions. */
static void check_interval(const tz_simulation *simulation, const tz_interval *interval,
                           int64_t count, const int64_t *wanted)
{
    const int64_t first = tz_simulation_step(simulation), last = wanted[count - 1];
    int64_t at = first;
    for (int64_t i = 0; i < count; i++) {
        at = tz_interval_next(interval, simulation, at);
        assert_int_equal(at, wanted[i]);
        assert_true(tz_interval_is_due(interval, simulation, at));
        assert_int_equal(tz_interval_count(interval, simulation, first, at), i + 1);
        assert_int_equal(tz_interval_count(interval, simulation, at - 1, at), 1);
        if (i > 0 && wanted[i - 1] + 1 < at)
            assert_false(tz_interval_is_due(interval, simulation, at - 1));
    }
    assert_true(tz_interval_next(interval, simulation, last) > last);
}

TEST(intervals_fall_due_at_the_first_step_that_reaches_them)
{
    tz_simulation *simulation = make("hotspot", 4e-7);
    const tz_interval micro = {.time = 1e-6}, tiny = {.time = 1e-9}, same = {.time = 4e-7};
    const tz_interval third = {.steps = 3};
    check_interval(simulation, &micro, 6, (const int64_t[]){3, 5, 8, 10, 13, 15});
    check_interval(simulation, &tiny, 3, (const int64_t[]){1, 2, 3});
    check_interval(simulation, &same, 3, (const int64_t[]){1, 2, 3});
    check_interval(simulation, &third, 3, (const int64_t[]){3, 6, 9});
    assert_true(tz_interval_is_due(&micro, simulation, 0));
    assert_true(tz_interval_is_due(&third, simulation, 0));
    tz_simulation_skip(simulation, 5); /* 2 us */
    set_dt(simulation, 1e-7);
    check_interval(simulation, &micro, 3, (const int64_t[]){15, 25, 35});
}

TEST(intervals_do_not_drift)
{
    tz_simulation *simulation = make("hotspot", 1e-7);
    const tz_interval interval = {.time = 1e-4};
    for (int64_t n = 1; n < 1000000000; n = n * 3 + 1) {
        assert_int_equal(tz_interval_next(&interval, simulation, n * 1000 - 1), n * 1000);
        assert_int_equal(tz_interval_next(&interval, simulation, n * 1000), (n + 1) * 1000);
    }
    assert_int_equal(tz_interval_count(&interval, simulation, 0, 1000000000), 1000000);
}

TEST_GROUP(open_plugins, close_plugins)
