/* Lattice Boltzmann against the textbook's two steps in a plain loop, and a shear wave's decay. */
#include "oracle.h"
#include "tests/run.h"

enum { NX = 33, NY = 25, CELLS = NX * NY, STEPS = 40, Q = 9 };

static const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const double weight[Q] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                                 1. / 36, 1. / 36, 1. / 36, 1. / 36};

/* Nearly incompressible: the density does not multiply the velocity. */
static double equilibrium(int i, double density, double ux, double uy)
{
    const double cu = cx[i] * ux + cy[i] * uy;
    return weight[i] * (density + 3.0 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
}

/* Streams, then collides; solid cells send everything back. */
static void step(double omega, const double *solid, double (*f)[CELLS])
{
    static double now[Q][CELLS];
    for (int64_t y = 0; y < NY; y++)
        for (int64_t x = 0; x < NX; x++) {
            double in[Q], density = 0.0, ux = 0.0, uy = 0.0;
            for (int i = 0; i < Q; i++) {
                in[i] = f[i][oracle_wrap(y - cy[i], NY) * NX + oracle_wrap(x - cx[i], NX)];
                density += in[i];
                ux += cx[i] * in[i];
                uy += cy[i] * in[i];
            }
            for (int i = 0; i < Q; i++)
                now[i][y * NX + x] =
                    solid[y * NX + x] != 0.0
                        ? in[opposite[i]]
                        : in[i] + omega * (equilibrium(i, density, ux, uy) - in[i]);
        }
    memcpy(f, now, sizeof now);
}

static const char *name_of(int i)
{
    static const char *const names[Q] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};
    return names[i];
}

TEST(two_steps)
{
    static const double tolerance[] = {1e-6, 1e-13};
    static double start[Q][CELLS], expected[Q][CELLS], solid[CELLS];
    oracle_values fields[Q + 1] = {[Q] = {"solid", solid, NULL}};
    const double viscosity = 0.05;
    uint64_t seed = 3;
    for (int k = 0; k < CELLS; k++) {
        const double ux = 0.1 * oracle_random(&seed), uy = 0.1 * oracle_random(&seed) - 0.05;
        for (int i = 0; i < Q; i++)
            start[i][k] = equilibrium(i, 1.0 + 0.01 * oracle_random(&seed), ux, uy);
        solid[k] = oracle_random(&seed) < 0.1;
    }
    memcpy(expected, start, sizeof expected);
    for (int k = 0; k < STEPS; k++)
        step(1.0 / (3.0 * viscosity + 0.5), solid, expected);
    for (int i = 0; i < Q; i++)
        fields[i] = (oracle_values){name_of(i), start[i], expected[i]};
    oracle_compare(
        oracle_with(oracle("lbm", TZ_SINGLE, "periodic", NX, NY, 0), "viscosity", viscosity, NULL),
        STEPS, tolerance, Q + 1, fields);
}

/* Velocity u0 sin(k y) along x decays as exp(-viscosity k^2 t): viscosity is what it says. */
TEST(shear_wave)
{
    enum { N = 64, M = 4, TIME = 600 };
    static double f[Q][N * M], got[N * M];
    const double viscosity = 0.1, k = 2.0 * 3.14159265358979323846 / N;
    oracle_config config =
        oracle_with(oracle("lbm", TZ_DOUBLE, "periodic", M, N, 0), "viscosity", viscosity, NULL);
    config.height = 2;
    tz_simulation *simulation = oracle_create(config);
    for (int i = 0; i < Q; i++) {
        for (int c = 0; c < N * M; c++)
            f[i][c] = equilibrium(i, 1.0, 0.01 * sin(k * (c / M)), 0.0);
        oracle_write(simulation, name_of(i), f[i]);
    }
    /* the derived fields: differences of order 2 of the velocity */
    for (int field = 0; field < 3; field++) {
        oracle_read(simulation, field == 0 ? "speed" : field == 1 ? "vorticity" : "density", got);
        for (int c = 0; c < N * M; c++) {
            const double y = c / M;
            const double expected = field == 0 ? 0.01 * fabs(sin(k * y))
                                    : field == 1
                                        ? -0.01 * (sin(k * (y + 1.0)) - sin(k * (y - 1.0))) / 2.0
                                        : 1.0;
            assert_true(fabs(got[c] - expected) < 1e-12);
        }
    }
    oracle_run(simulation, TIME);
    double amplitude = 0.0, mass = 0.0;
    for (int i = 0; i < Q; i++) {
        oracle_read(simulation, name_of(i), got);
        for (int c = 0; c < N * M; c++) {
            amplitude += cx[i] * got[c] * sin(k * (c / M)) / (N * M / 2);
            mass += got[c];
        }
    }
    const double expected = 0.01 * exp(-viscosity * k * k * TIME);
    assert_true(fabs(amplitude / expected - 1.0) < 2e-3);
    assert_true(fabs(mass - N * M) < 1e-9);
}

/* A channel between solids two cells thick, where populations bounce for ever: the flow beside them
 * sees walls at rest, and converges. The numbers are those of one backend and of slabs. */
TEST(channel)
{
    enum { W = 40, H = 16 };
    static const char *const backends[] = {"reference", "cpu", "cpu,cpu"};
    for (int b = 0; b < 3; b++) {
        tz_side_value outside[Q];
        tz_simulation *sim = NULL;
        tz_run_result result;
        double speed[W * H], first[W * H], second[W * H], solid[W * H];
        for (int i = 0; i < Q; i++)
            outside[i] = (tz_side_value){name_of(i), 0, equilibrium(i, 1.0, 0.05, 0.0)};
        assert_ok(tz_simulation_create(&sim,
                                       &(tz_simulation_config){
                                           .registry = registry,
                                           .stencil = "lbm",
                                           .dims = 2,
                                           .extent = {W, H, 1},
                                           .precision = TZ_DOUBLE,
                                           .boundary = {"fixed", "clamp"},
                                           .boundary_values_count = Q,
                                           .boundary_values = outside,
                                           .params_count = 1,
                                           .params = &(tz_assignment){"viscosity", 0.1, NULL},
                                           .backend = b < 2 ? backends[b] : NULL,
                                           .devices = b < 2 ? NULL : backends[b],
                                           .threads = 1,
                                       },
                                       &failure));
        for (int i = 0; i < Q; i++)
            assert_ok(tz_simulation_fill(sim, i, NULL, outside[i].value, &failure));
        for (int c = 0; c < W * H; c++)
            solid[c] = c / W < 2 || c / W >= H - 2;
        oracle_write(sim, "solid", solid);
        const tz_run run = {.steps = 20000, .until_residual = 1e-10};
        assert_ok(run_simulation(sim, &run, &result, &failure));
        assert_int_equal(result.status, TZ_RUN_CONVERGED);
        assert_true(result.steps > 100);
        oracle_read(sim, "speed", speed);
        oracle_read(sim, "vorticity", first);
        oracle_run(sim, 1);
        oracle_read(sim, "vorticity", second);
        const int wall = 2 * W + W / 2;
        assert_true(fabs(first[wall] + (speed[wall] + speed[wall + W]) / 2.0) < 1e-6);
        assert_true(speed[wall] > 1e-3 && fabs(first[wall] - second[wall]) < 1e-8);
        assert_true(first[wall - W] == 0.0);
        tz_simulation_destroy(sim);
    }
}

TEST_GROUP(open_plugins, close_plugins)
