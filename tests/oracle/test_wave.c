/* Acoustic waves against the exact solution of the difference equations. */
#include "oracle.h"

static const double pi = 3.14159265358979323846;

/* What the Laplacian of each order makes of cos(k x), on one axis, without the minus sign. */
static double symbol(int order, double k)
{
    if (order == 2)
        return 2.0 - 2.0 * cos(k);
    return 205. / 72 - 2. * (8. / 5 * cos(k) - 1. / 5 * cos(2. * k) + 8. / 315 * cos(3. * k) -
                             1. / 560 * cos(4. * k));
}

/* cos(k . x) cos(omega n) with 4 sin(omega / 2)^2 = (speed dt / h)^2 symbol. */
static void standing_wave(const char *stencil, int dims, int order)
{
    const int64_t n[3] = {24, 18, dims > 2 ? 12 : 1}, cells = n[0] * n[1] * n[2];
    const double turns[3] = {2, 1, 1}, speed = 2000.0;
    enum { STEPS = 60 };
    double *u = oracle_numbers(cells), *before = oracle_numbers(cells),
           *got = oracle_numbers(cells);
    double *fast = oracle_numbers(cells);
    for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++)
        for (int height = 0; height <= ORACLE_LAST; height++) {
            oracle_config config = {.stencil = stencil,
                                    .dims = dims,
                                    .nx = n[0],
                                    .ny = n[1],
                                    .nz = dims > 2 ? n[2] : 0,
                                    .precision = precision,
                                    .boundary = "periodic",
                                    .params_count = 1,
                                    .params = {{"amplitude", 0.0, NULL}}};
            oracle_choose(&config, height);
            tz_simulation *simulation = oracle_create(&config);
            const int dt = tz_stencil_param_index(tz_simulation_stencil(simulation), "dt_s");
            const double share = speed * tz_simulation_params(simulation)[dt].number / 10.0;
            /* The default time step is stable for a checkerboard at the greatest speed. */
            const int most =
                tz_stencil_param_index(tz_simulation_stencil(simulation), "max_speed_m_s");
            const double fastest = tz_simulation_params(simulation)[most].number * share / speed;
            assert_true(fastest * fastest * dims * symbol(order, pi) <= 4.0);
            double sum = 0.0;
            for (int axis = 0; axis < dims; axis++)
                sum += symbol(order, 2.0 * pi * turns[axis] / (double)n[axis]);
            const double omega = 2.0 * asin(0.5 * share * sqrt(sum));
            for (int64_t i = 0; i < cells; i++) {
                double phase = 0.0;
                const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
                for (int axis = 0; axis < dims; axis++)
                    phase += 2.0 * pi * turns[axis] * (double)at[axis] / (double)n[axis];
                u[i] = cos(phase);
                before[i] = cos(phase) * cos(omega);
                fast[i] = speed;
            }
            oracle_write(simulation, "u", u);
            oracle_write(simulation, "before", before);
            oracle_write(simulation, "speed", fast);
            oracle_run(simulation, STEPS);
            oracle_read(simulation, "u", got);
            for (int64_t i = 0; i < cells; i++)
                if (!(fabs(got[i] - u[i] * cos(omega * STEPS)) <=
                      (precision == TZ_DOUBLE ? 1e-11 : 2e-3)))
                    fail_msg("%s height %d: cell %d is %.17g, not %.17g", stencil, height, (int)i,
                             got[i], u[i] * cos(omega * STEPS));
            tz_simulation_destroy(simulation);
        }
    free(u);
    free(before);
    free(got);
    free(fast);
}

static void standing_waves(void **state)
{
    standing_wave("wave2d", 2, 2);
    standing_wave("wave2d8", 2, 8);
    standing_wave("wave3d", 3, 2);
    standing_wave("wave3d8", 3, 8);
}

/* Between closed sides the sum of u grows by the sum of all kicks so far, in each iteration. */
static void source(void **state)
{
    enum { N = 20, STEPS = 50 };
    for (int height = 0; height <= ORACLE_LAST; height++) {
        oracle_config config = {
            .stencil = "wave2d",
            .dims = 2,
            .nx = N,
            .ny = N,
            .precision = TZ_DOUBLE,
            .boundary = "clamp",
            .params_count = 3,
            .params = {{"source_x", 7, NULL}, {"source_y", 11, NULL}, {"amplitude", 3.0, NULL}}};
        oracle_choose(&config, height);
        tz_simulation *simulation = oracle_create(&config);
        const int dt = tz_stencil_param_index(tz_simulation_stencil(simulation), "dt_s");
        const double dt_s = tz_simulation_params(simulation)[dt].number, f = 15.0;
        double sum = 0.0, rate = 0.0;
        for (int k = 0; k < STEPS; k++) {
            const double t = k * dt_s - 1.2 / f, a = pi * pi * f * f * t * t; /* Ricker's wavelet */
            rate += 3.0 * pow(2.0 * pi * f * dt_s, 2.0) * (1.0 - 2.0 * a) * exp(-a);
            sum += rate;
        }
        oracle_run(simulation, STEPS);
        tz_reduction r;
        assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
        if (!(fabs(r.sum - sum) <= 1e-10 * (1.0 + fabs(sum))))
            fail_msg("height %d: the sum is %.17g, not %.17g", height, r.sum, sum);
        assert_true(fabs(sum) > 1e-3);
        tz_simulation_destroy(simulation);
    }
}

/* The source is a cell: with half the spacing the same wave is a quarter as high. amplitude =
 * A / spacing_m^2 makes it as high. */
static void source_is_a_cell(void **state)
{
    double heard[2];
    for (int fine = 0; fine < 2; fine++) {
        const double spacing = fine ? 5.0 : 10.0;
        const int64_t n = fine ? 97 : 49;
        tz_simulation *sim =
            oracle_create(&(oracle_config){.stencil = "wave2d8",
                                           .dims = 2,
                                           .nx = n,
                                           .ny = n,
                                           .precision = TZ_DOUBLE,
                                           .boundary = "fixed",
                                           .backend = "cpu",
                                           .params_count = 5,
                                           .params = {{"spacing_m", spacing, NULL},
                                                      {"max_speed_m_s", 2000.0, NULL},
                                                      {"frequency_hz", 20.0, NULL},
                                                      {"dt_s", 0.001, NULL},
                                                      {"amplitude", 1.0, NULL}}});
        double value;
        const int64_t x = n / 2 + (fine ? 20 : 10);
        const tz_box cell = {{x, n / 2, 0}, {x + 1, n / 2 + 1, 1}};
        assert_ok(tz_simulation_fill(sim, oracle_field(sim, "speed"), NULL, 2000.0, &failure));
        oracle_run(sim, 110);
        assert_ok(tz_simulation_read(sim, oracle_field(sim, "u"), &cell, &value, &failure));
        heard[fine] = value;
        tz_simulation_destroy(sim);
    }
    assert_true(fabs(heard[0]) > 1e-3);
    assert_true(fabs(heard[1] / heard[0] - 0.25) < 0.01);
}

TEST_MAIN(open_plugins, close_plugins, TEST(standing_waves), TEST(source), TEST(source_is_a_cell))
