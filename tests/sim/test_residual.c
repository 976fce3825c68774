/* Residuals of the fields as they are, and how runs end: converged, stagnated or after
 * max_steps. */
#include "tests/oracle/oracle.h"

#include "sim/residual.h"
#include "sim/snapshot.h"

/* ---- Checks, without a simulation ------------------------------------------------------------ */

TEST(checks_come_at_fixed_steps)
{
    static const int64_t first[] = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072};
    const tz_checks checks = tz_checks_begin(100, 0), seventh = tz_checks_begin(100, 7);
    int64_t step = 100, distance = 0;
    for (int i = 0; i < 10; i++) {
        step = tz_checks_next(&checks, step);
        assert_int_equal(step, 100 + first[i]);
    }
    /* From any step between two checks the next one is the same. */
    for (int64_t from = 100, next = 108; next < 100 + (1 << 19); from++) {
        if (from == next) {
            distance = tz_checks_next(&checks, next) - next;
            assert_true(32 * distance <= next - 100 + 1 || distance <= 1024);
            next += distance;
        }
        assert_int_equal(tz_checks_next(&checks, from), next);
    }
    assert_true(distance >= 8192);
    assert_int_equal(tz_checks_next(&seventh, 100), 107);
    assert_int_equal(tz_checks_next(&seventh, 113), 114);
}

static uint64_t seed = 1;

/* Look at numbers that `next` makes of a step. The step at which the run is stuck; -1: never. */
static int64_t stuck_at(tz_update (*next)(int64_t step), int64_t every, int64_t steps)
{
    tz_checks checks = tz_checks_begin(0, every);
    for (int64_t step = 0; step < steps; step = tz_checks_next(&checks, step)) {
        const tz_update update = next(step);
        if (tz_checks_add(&checks, step, &update).stuck)
            return step;
    }
    return -1;
}

/* The slowest mode of Jacobi on 4096^2: it shrinks by 3e-7 an iteration. The largest change of the
 * field in single precision is noisy, their sum is less so. */
static tz_update slow(int64_t step)
{
    const double size = exp(-2.9e-7 * (double)step);
    return (tz_update){5e-7 * size + 3e-8 * oracle_random(&seed),
                       4.0 * size * (1.0 + 2e-5 * oracle_random(&seed)), 1.0};
}

/* A front that moves while the cell of the largest change waits. */
static tz_update front(int64_t step)
{
    return (tz_update){0.25, 100.0 - 1e-4 * (double)step, 1.0};
}

/* The largest change moves on while the sum stays. */
static tz_update spreading(int64_t step)
{
    return (tz_update){1.0 / sqrt(1.0 + 1e-4 * (double)step), 7.0, 1.0};
}

/* Converges for 20,000 steps, then cells go round in the last place. */
static tz_update cycle(int64_t step)
{
    const double size = exp(-1e-3 * (double)(step < 20000 ? step : 20000));
    return (tz_update){size + 1e-7 * (1.0 + oracle_random(&seed)),
                       100.0 * size + 1e-3 * (1.0 + oracle_random(&seed)), 1.0};
}

static tz_update grows(int64_t step)
{
    return (tz_update){1e-8 * (double)(step + 1), 1e-3 * (double)(step + 1), 1.0};
}

TEST(what_changes_is_not_stuck)
{
    static const struct {
        tz_update (*next)(int64_t step);
        int64_t every, steps;
        bool stuck;
    } cases[] = {{slow, 0, 3000000, false},     {slow, 1, 100000, false},
                 {front, 0, 900000, false},     {front, 1, 100000, false},
                 {spreading, 0, 900000, false}, {cycle, 0, 1000000, true},
                 {cycle, 500, 1000000, true},   {cycle, 1000, 1000000, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t step = stuck_at(cases[i].next, cases[i].every, cases[i].steps);
        assert_true(cases[i].stuck ? step > 20000 && step < 200000 : step == -1);
    }
    /* Growing changes are stuck, too, but no rounding: tz_simulation_is_rounding says so. */
    assert_true(stuck_at(grows, 0, 1000000) > 0);
}

/* ---- Poisson --------------------------------------------------------------------------------- */

static tz_simulation *poisson(int64_t n, int precision, const char *backend, int height, int tile)
{
    oracle_config config = oracle("poisson", precision, NULL, n, n, 0);
    config.backend = backend;
    config.height = height;
    tz_simulation *sim = oracle_create(config);
    tz_plan plan = {.height = height, .tile = {tile, 0, 0}};
    if (tile)
        assert_ok(tz_simulation_set_plan(sim, &plan, &failure));
    assert_ok(tz_simulation_fill(sim, oracle_field(sim, "f"), NULL, -100.0, &failure));
    return sim;
}

static double true_residual(const tz_simulation *sim, int64_t n)
{
    return oracle_poisson_residual(sim, n, n, "fixed", 0.0);
}

static tz_run_result run_until(tz_simulation *sim, double limit, int64_t most)
{
    tz_run_result result;
    assert_ok(
        run_simulation(sim, &(tz_run){.steps = most, .until_residual = limit}, &result, &failure));
    assert_int_equal(tz_simulation_last_run(sim)->status, result.status);
    return result;
}

/* In single precision a run stagnates, or has not done so yet; in double it converges. */
TEST(precision_decides)
{
    static const struct {
        int64_t n;
        int precision, height;
        int64_t most;
        tz_run_status status;
        double low, high; /* of the residual */
    } cases[] = {{63, TZ_SINGLE, 16, 1000000, TZ_RUN_STAGNATED, 0.0063, 0.0073},
                 {63, TZ_DOUBLE, 16, 1000000, TZ_RUN_CONVERGED, 0, 1e-4},
                 {127, TZ_SINGLE, 0, 4000, TZ_RUN_MAX_STEPS, 1, INFINITY}};
    for (int i = 0; i < 3; i++) {
        tz_simulation *sim = poisson(cases[i].n, cases[i].precision, "cpu", cases[i].height, 0);
        const tz_run_result result = run_until(sim, 1e-4, cases[i].most);
        assert_int_equal(result.status, cases[i].status);
        assert_true(result.steps < 1000000 && (i < 2 || result.steps == 4000));
        assert_true(result.residual >= cases[i].low && result.residual <= cases[i].high);
        assert_true(fabs(result.residual - true_residual(sim, cases[i].n)) <
                    1e-9 * (1.0 + result.residual));
        assert_true(tz_simulation_residual(sim) != 0.0);
        if (cases[i].status == TZ_RUN_CONVERGED) /* it is so already: no step is needed */
            assert_int_equal(run_until(sim, 1e-4, 1000000).steps, 0);
    }
}

/* until_update is the change of an iteration; a field that stopped has not converged. */
TEST(an_update_of_zero_is_no_convergence)
{
    for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
        tz_simulation *sim = poisson(31, precision, "cpu", 8, 0);
        tz_run_result result;
        const tz_run run = {.steps = 100000,
                            .until_residual = precision == TZ_SINGLE ? 0.0 : 1e-9,
                            .until_is_update = true};
        assert_ok(run_simulation(sim, &run, &result, &failure));
        assert_int_equal(result.status,
                         precision == TZ_SINGLE ? TZ_RUN_STAGNATED : TZ_RUN_CONVERGED);
        assert_true(precision == TZ_SINGLE ? result.update == 0.0 && result.residual > 1e-4
                                           : result.update <= 1e-9);
    }
}

/* ---- Plain runs ------------------------------------------------------------------------------ */

static void run_plainly(tz_simulation *sim, int64_t steps, said *heard)
{
    tz_run_result result;
    const tz_run run = {.steps = steps, .until_residual = NAN};
    assert_ok(run_with(sim, &run, NULL, heard, &result, &failure));
    assert_int_equal(result.status, TZ_RUN_DONE);
}

/* A field of ones, which grows by this much in an iteration. */
static tz_simulation *growing(double rate, int precision, const char *backend)
{
    oracle_config config = oracle("poisson", precision, "clamp", 40, 40, 0);
    config.backend = backend;
    tz_simulation *sim = oracle_create(config);
    assert_ok(tz_simulation_fill(sim, oracle_field(sim, "u"), NULL, 1.0, &failure));
    assert_ok(
        tz_simulation_fill(sim, oracle_field(sim, "f"), NULL, -rate * 4.0 * 1600.0, &failure));
    return sim;
}

/* 1e-9 is below half an ulp of 1 in single precision. */
TEST(a_plain_run_says_that_nothing_moves)
{
    static const char *const backends[] = {"cpu", "reference"};
    for (int b = 0; b < 2; b++) {
        said heard = {0};
        tz_simulation *sim = growing(1e-9, TZ_SINGLE, backends[b]);
        run_plainly(sim, 200, &heard);
        assert_int_equal(heard.count, 0);
        run_plainly(sim, 1000, &heard);
        assert_int_equal(heard.count, 1);
        assert_non_null(strstr(heard.text, "stagnates: "));
        assert_non_null(strstr(heard.text, "step 256 "));
        assert_non_null(strstr(heard.text, "up to 1e-09"));
        assert_non_null(strstr(heard.text, "precision = \"double\""));
    }
}

TEST(what_moves_is_not_said_to_stagnate)
{
    static const struct {
        double rate;
        int precision;
    } cases[] = {{1e-9, TZ_DOUBLE}, {1e-5, TZ_SINGLE}, {0.0, TZ_SINGLE} /* nor in double */};
    said heard = {0};
    for (int i = 0; i < 3; i++) {
        tz_simulation *sim = growing(cases[i].rate, cases[i].precision, "cpu");
        run_plainly(sim, 3000, &heard);
    }
    assert_int_equal(heard.count, 0);
}

/* ---- Where there is none --------------------------------------------------------------------- */

/* Cells and parameters that are set change the residual. */
TEST(it_is_that_of_the_present_fields)
{
    tz_simulation *sim = poisson(20, TZ_SINGLE, "cpu", 4, 0);
    tz_update update;
    assert_true(isnan(tz_simulation_residual(sim)));
    assert_ok(tz_simulation_measure(sim, &update, &failure));
    assert_true(fabs(tz_simulation_residual(sim) - 100.0) < 1e-10);
    assert_ok(tz_simulation_fill(sim, oracle_field(sim, "f"), NULL, -7.0, &failure));
    assert_true(isnan(tz_simulation_residual(sim)));
    assert_ok(tz_simulation_measure(sim, &update, &failure));
    assert_true(fabs(tz_simulation_residual(sim) - 7.0) < 1e-10);
    oracle_run(sim, 1);
    assert_true(isnan(tz_simulation_residual(sim)));
}

TEST_GROUP(open_plugins, close_plugins)
