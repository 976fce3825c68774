/* Poisson against manufactured solutions, at second order, and one step against the formula. */
#include "oracle.h"
#include "sim/fields.h"
#include "tests/run.h"

static const double pi = 3.14159265358979323846;

/* u along one axis of length 1, at cell i of n: zero at fixed sides, flat at clamp and mirror. */
static double mode(int64_t i, int64_t n, const char *boundary)
{
    if (strcmp(boundary, "fixed") == 0)
        return sin(pi * (double)(i + 1) / (double)(n + 1));
    if (strcmp(boundary, "periodic") == 0)
        return cos(2.0 * pi * (double)i / (double)n);
    if (strcmp(boundary, "clamp") == 0)
        return cos(pi * ((double)i + 0.5) / (double)n);
    return cos(pi * (double)i / (double)(n - 1));
}

/* Error in the max norm of the converged solution on nx by ny cells. */
static double error_norm(int64_t nx, int64_t ny, const char *boundary, double omega)
{
    const double k = strcmp(boundary, "periodic") == 0 ? 2.0 * pi : pi;
    double *exact = oracle_numbers(nx * ny), *f = oracle_numbers(nx * ny);
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++) {
            exact[y * nx + x] = mode(x, nx, boundary) * mode(y, ny, boundary);
            f[y * nx + x] = -2.0 * k * k * exact[y * nx + x];
        }
    oracle_config config = oracle("poisson", TZ_DOUBLE, boundary, nx, ny, 0);
    config.height = 8;
    if (omega > 0.0)
        config = oracle_with(config, "omega", omega, NULL);
    tz_simulation *simulation = oracle_create(config);
    oracle_write(simulation, "f", f);
    tz_run_result result;
    assert_ok(run_simulation(simulation,
                             &(tz_run){.steps = 200000, .until_residual = 1e-9, .check_every = 200},
                             &result, &failure));
    assert_true(result.status == TZ_RUN_CONVERGED && result.residual <= 1e-9);
    double *u = oracle_numbers(nx * ny), norm = 0.0;
    oracle_read(simulation, "u", u);
    for (int64_t i = 0; i < nx * ny; i++)
        norm = fmax(norm, fabs(u[i] - exact[i]));
    return norm;
}

TEST(second_order)
{
    static const char *const boundaries[] = {"fixed", "periodic", "clamp", "mirror"};
    for (int b = 0; b < 4; b++) {
        /* Meshes that are exactly half as wide. */
        const int64_t off = b == 0 ? -1 : b == 3 ? 1 : 0;
        double norms[3];
        for (int g = 0; g < 3; g++)
            norms[g] = error_norm((16 << g) + off, (16 << g) + off, boundaries[b], 0.0);
        const double first = log2(norms[0] / norms[1]), second = log2(norms[1] / norms[2]);
        print_message("%s: errors %.3g %.3g %.3g, orders %.3f %.3f\n", boundaries[b], norms[0],
                      norms[1], norms[2], first, second);
        assert_true(fabs(first - 2.0) < 0.1 && fabs(second - 2.0) < 0.03);
    }
}

TEST(meshes_and_damping)
{
    /* hx is not hy, and omega is not 1: the answer converges all the same. */
    const double coarse = error_norm(15, 23, "fixed", 0.7), fine = error_norm(31, 47, "fixed", 0.7);
    assert_true(fabs(log2(coarse / fine) - 2.0) < 0.1);
}

/* One iteration against the formula, and the residual against max|f - lap u|. */
TEST(one_step)
{
    enum { NX = 21, NY = 13, CELLS = NX * NY };
    static const double tolerance[] = {4e-7, 1e-14};
    const double hx = 0.05, hy = 0.08, omega = 0.6, d = 2.0 / (hx * hx) + 2.0 / (hy * hy);
    double u[CELLS], f[CELLS], expected[CELLS];
    uint64_t seed = 11;
    for (int i = 0; i < CELLS; i++) {
        u[i] = oracle_random(&seed) - 0.5;
        f[i] = 100.0 * (oracle_random(&seed) - 0.5);
    }
    for (int k = 0; k < 2 * TZ_BOUNDARIES; k++) {
        const char *boundary = tz_boundary_name((tz_boundary)(k / 2));
        oracle_config config = oracle("poisson", k % 2, boundary, NX, NY, 0);
        config = oracle_with(oracle_with(config, "hx", hx, NULL), "hy", hy, NULL);
        config = oracle_with(config, "omega", omega, NULL);
        for (int i = 0; i < CELLS; i++) {
            double lap = -d * u[i];
            for (int to = -1; to <= 1; to += 2)
                lap += oracle_at(u, NX, NY, i % NX + to, i / NX, boundary, 0.0) / (hx * hx) +
                       oracle_at(u, NX, NY, i % NX, i / NX + to, boundary, 0.0) / (hy * hy);
            expected[i] = u[i] + omega / d * (lap - f[i]);
        }
        const oracle_values fields[] = {{"u", u, expected}, {"f", f, NULL}};
        if (k % 2 == 0)
            oracle_compare(config, 1, tolerance, 2, fields);
        tz_simulation *simulation = oracle_create(config);
        tz_update update;
        oracle_write(simulation, "u", u);
        oracle_write(simulation, "f", f);
        assert_ok(tz_simulation_measure(simulation, &update, &failure));
        assert_true(fabs(tz_simulation_residual_of(simulation, &update) -
                         oracle_poisson_residual(simulation, NX, NY, boundary, 0.0)) <=
                    4.0 * tolerance[k % 2] / omega * d);
    }
}

/* In single precision a constant stays constant to the last bit, on any mesh. */
TEST(constants_stay)
{
    double got[33 * 17];
    oracle_config config = oracle("poisson", TZ_SINGLE, "periodic", 33, 17, 0);
    config = oracle_with(oracle_with(config, "hx", 0.0371, NULL), "hy", 0.0913, NULL);
    tz_simulation *simulation = oracle_create(config);
    assert_ok(tz_simulation_fill(simulation, 0, NULL, (double)0.1f, &failure));
    oracle_run(simulation, 500);
    oracle_read(simulation, "u", got);
    for (int i = 0; i < 33 * 17; i++)
        assert_true(fabs(got[i] - 0.1) < 1e-7);
}

/* Sides at 1000, and a source that changes u by millionths: the solution between them is as good as
 * between sides at 0. */
TEST(a_small_source_between_high_sides)
{
    enum { N = 31, STEPS = 6000 };
    double u[2][N * N], most = 0.0;
    for (int high = 0; high < 2; high++) {
        const tz_side_value outside = {.field = "u", .value = high ? 1000.0 : 0.0};
        tz_simulation *simulation = NULL;
        assert_ok(tz_simulation_create(&simulation,
                                       &(tz_simulation_config){.registry = registry,
                                                               .stencil = "poisson",
                                                               .dims = 2,
                                                               .extent = {N, N, 1},
                                                               .precision = TZ_SINGLE,
                                                               .boundary = {"fixed", "fixed"},
                                                               .boundary_values_count = 1,
                                                               .boundary_values = &outside,
                                                               .backend = "cpu"},
                                       &failure));
        assert_true(tz_simulation_origin(simulation, 0) == outside.value);
        assert_ok(tz_simulation_fill(simulation, 0, NULL, outside.value, &failure));
        assert_ok(tz_simulation_fill(simulation, 1, NULL, -1e-4, &failure));
        oracle_run(simulation, STEPS);
        oracle_read(simulation, "u", u[high]);
        tz_simulation_destroy(simulation);
    }
    for (int i = 0; i < N * N; i++) {
        most = fmax(most, u[0][i]);
        assert_true(fabs(u[1][i] - 1000.0 - u[0][i]) < 1e-12);
    }
    assert_true(fabs(most - 7.367e-6) < 1e-8); /* 0.07367 of the source on the unit square */
}

TEST(refused)
{
    tz_simulation *simulation = NULL;
    oracle_config config = oracle("poisson", TZ_DOUBLE, NULL, 8, 8, 0);
    config = oracle_with(config, "omega", 1.5, NULL);
    assert_int_equal(oracle_try(&simulation, &config, &failure), TZ_RANGE);
    config = oracle_with(config, "hy", 1.0, NULL);
    config.params[0] = (tz_assignment){"hx", 1e-4, NULL};
    assert_int_not_equal(oracle_try(&simulation, &config, &failure), TZ_OK);
    assert_non_null(strstr(failure.message, "thousandfold"));
    assert_null(simulation);
}

TEST_GROUP(open_plugins, close_plugins)
