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
    enum { STEPS = 60 };
    static const double tolerance[] = {2e-3, 1e-11};
    const int64_t n[3] = {24, 18, dims > 2 ? 12 : 1}, cells = n[0] * n[1] * n[2];
    const double turns[3] = {2, 1, 1}, speed = 2000.0;
    double *u = oracle_numbers(cells), *before = oracle_numbers(cells), sum = 0.0;
    double *expected = oracle_numbers(cells), *fast = oracle_numbers(cells);
    const oracle_config config =
        oracle_with(oracle(stencil, TZ_DOUBLE, "periodic", n[0], n[1], dims > 2 ? n[2] : 0),
                    "amplitude", 0.0, NULL);
    tz_simulation *simulation = oracle_create(config);
    const double share = speed * oracle_param(simulation, "dt_s") / 10.0;
    /* The default time step is stable for a checkerboard at the greatest speed. */
    const double fastest = oracle_param(simulation, "max_speed_m_s") * share / speed;
    assert_true(fastest * fastest * dims * symbol(order, pi) <= 4.0);
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
        expected[i] = cos(phase) * cos(omega * STEPS);
        fast[i] = speed;
    }
    const oracle_values fields[] = {
        {"u", u, expected}, {"before", before, NULL}, {"speed", fast, NULL}};
    oracle_compare(config, STEPS, tolerance, 3, fields);
}

TEST(standing_waves)
{
    standing_wave("wave2d", 2, 2);
    standing_wave("wave2d8", 2, 8);
    standing_wave("wave3d", 3, 2);
    standing_wave("wave3d8", 3, 8);
}

/* Between closed sides the sum of u grows by the sum of all kicks so far, in each iteration. */
TEST(source)
{
    enum { N = 20, STEPS = 50 };
    for (int height = 0; height <= 5; height++) {
        oracle_config config = oracle("wave2d", TZ_DOUBLE, "clamp", N, N, 0);
        config = oracle_with(oracle_with(config, "source_x", 7, NULL), "source_y", 11, NULL);
        config = oracle_with(config, "amplitude", 3.0, NULL);
        config.backend = height ? "cpu" : "reference";
        config.height = height;
        tz_simulation *simulation = oracle_create(config);
        const double dt_s = oracle_param(simulation, "dt_s"), f = 15.0;
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
    }
}

/* The source is a cell: with half the spacing the same wave is a quarter as high. amplitude =
 * A / spacing_m^2 makes it as high. */
TEST(source_is_a_cell)
{
    double heard[2];
    for (int fine = 0; fine < 2; fine++) {
        const double spacing = fine ? 5.0 : 10.0;
        const int64_t n = fine ? 97 : 49;
        oracle_config config = oracle("wave2d8", TZ_DOUBLE, "fixed", n, n, 0);
        config = oracle_with(config, "spacing_m", spacing, NULL);
        config = oracle_with(config, "max_speed_m_s", 2000.0, NULL);
        config = oracle_with(config, "frequency_hz", 20.0, NULL);
        config = oracle_with(oracle_with(config, "dt_s", 0.001, NULL), "amplitude", 1.0, NULL);
        tz_simulation *sim = oracle_create(config);
        double value;
        const int64_t x = n / 2 + (fine ? 20 : 10);
        const tz_box cell = {{x, n / 2, 0}, {x + 1, n / 2 + 1, 1}};
        assert_ok(tz_simulation_fill(sim, oracle_field(sim, "speed"), NULL, 2000.0, &failure));
        oracle_run(sim, 110);
        assert_ok(tz_simulation_read(sim, oracle_field(sim, "u"), &cell, &value, &failure));
        heard[fine] = value;
    }
    assert_true(fabs(heard[0]) > 1e-3);
    assert_true(fabs(heard[1] / heard[0] - 0.25) < 0.01);
}

TEST_GROUP(open_plugins, close_plugins)
