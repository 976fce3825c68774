/* Mixed precision: corrections in single precision give the solution of double precision, with the
 * same bits on every backend and plan. Residuals are computed here, from the fields. */
#include "sim/state.h"
#include "tests/oracle/oracle.h"

enum { NX = 45, NY = 38, CELLS = NX * NY };

static double source_of(int64_t x, int64_t y)
{
    return 40.0 * sin(0.3 * (double)x) * cos(0.2 * (double)y);
}

/* The source, less its mean: without a fixed side the sum must be 0. */
static void write_source(tz_simulation *simulation, double factor)
{
    double f[CELLS], mean = 0.0;
    for (int i = 0; i < CELLS; i++)
        mean += source_of(i % NX, i / NX) / CELLS;
    for (int i = 0; i < CELLS; i++)
        f[i] = factor * (source_of(i % NX, i / NX) - mean);
    assert_ok(tz_simulation_write(simulation, 1, NULL, f, NULL, &failure));
}

/* Past fixed sides there is 3. */
static tz_simulation *make(bool mixed, const char *backend, const char *boundary, int height)
{
    const tz_side_value side = {.field = "u", .value = 3.0};
    oracle_config config = oracle("poisson", TZ_DOUBLE, boundary, NX, NY, 0);
    config.side = boundary ? NULL : &side;
    config.mixed = mixed;
    config.backend = backend;
    config.height = height;
    tz_simulation *simulation = oracle_create(config);
    write_source(simulation, 1.0);
    return simulation;
}

static tz_run_result run_until(tz_simulation *simulation, double residual)
{
    tz_run_result result;
    assert_ok(run_simulation(simulation, &(tz_run){.steps = 200000, .until_residual = residual},
                             &result, &failure));
    return result;
}

static void get(const tz_simulation *simulation, double *u)
{
    assert_ok(tz_simulation_read(simulation, 0, NULL, u, &failure));
}

static double true_residual(const tz_simulation *simulation)
{
    return oracle_poisson_residual(simulation, NX, NY, "fixed", 3.0);
}

static double distance(const double *a, const double *b)
{
    double largest = 0.0;
    for (int i = 0; i < CELLS; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

TEST(the_tolerance_of_double_precision_is_met)
{
    double u[CELLS], exact[CELLS];
    tz_simulation *mixed = make(true, "cpu", NULL, 0), *exactly = make(false, "cpu", NULL, 0);
    const tz_run_result result = run_until(mixed, 1e-8);
    assert_int_equal(result.status, TZ_RUN_CONVERGED);
    const double residual = true_residual(mixed);
    assert_true(residual <= 1e-8 && fabs(residual - result.residual) <= 1e-10);
    assert_string_equal(tz_simulation_precision(mixed), "mixed");
    /* In about as many steps. */
    const tz_run_result of_double = run_until(exactly, 1e-8);
    assert_true((double)result.steps <= 1.1 * (double)of_double.steps);
    get(mixed, u);
    get(exactly, exact);
    assert_true(distance(u, exact) < 1e-10);
}

TEST(other_boundaries_converge)
{
    static const char *const boundaries[] = {"periodic", "clamp", "mirror"};
    for (int b = 0; b < 3; b++) {
        tz_simulation *simulation = make(true, "cpu", boundaries[b], 0);
        if (strcmp(boundaries[b], "mirror") != 0) /* its sum has other weights */
            assert_int_equal(run_until(simulation, 1e-7).status, TZ_RUN_CONVERGED);
        else
            assert_ok(run_steps(simulation, 100, &failure));
    }
}

/* What a scenario reads or changes between runs is the solution. */
TEST(fields_may_change_between_runs)
{
    double u[CELLS], other[CELLS];
    tz_simulation *simulation = make(true, "cpu", NULL, 0);
    assert_ok(run_steps(simulation, 300, &failure));
    get(simulation, u);
    write_source(simulation, -2.0);
    assert_int_equal(run_until(simulation, 1e-7).status, TZ_RUN_CONVERGED);
    assert_true(true_residual(simulation) <= 1e-7);
    /* The solution is set back: the next 300 steps do not know of the last ones. */
    tz_simulation_rewind(simulation);
    write_source(simulation, 1.0);
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 0.0, &failure));
    assert_ok(run_steps(simulation, 300, &failure));
    get(simulation, other);
    assert_memory_equal(other, u, sizeof u);
    /* A parameter changes both problems. */
    assert_ok(tz_simulation_set_params(simulation, 1,
                                       &(tz_assignment){.name = "omega", .number = 0.7}, &failure));
    assert_int_equal(run_until(simulation, 1e-7).status, TZ_RUN_CONVERGED);
    assert_true(true_residual(simulation) <= 1e-7);
}

static tz_status see(void *context, tz_simulation *simulation, tz_error *error)
{
    double *u = context;
    return tz_simulation_read(simulation, 0, NULL, u, error);
}

TEST(outputs_see_the_solution)
{
    double seen[CELLS], u[CELLS];
    tz_simulation *simulation = make(true, "cpu", NULL, 0);
    const test_output output = {.every = {.steps = 130}, .context = seen, .write = see};
    const tz_run run = {.steps = 140, .until_residual = NAN};
    tz_run_result result;
    assert_ok(run_with(simulation, &run, &output, NULL, &result, &failure));
    tz_simulation *other = make(true, "reference", NULL, 0);
    assert_ok(run_steps(other, 130, &failure));
    get(other, u);
    assert_memory_equal(seen, u, sizeof u);
}

TEST_GROUP(open_plugins, close_plugins)
