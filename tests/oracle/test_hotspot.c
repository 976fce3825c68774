/* HotSpot against Rodinia's formula, a table computed with 50 digits, and closed forms. */
#include "oracle.h"
#include "sim/fields.h"
#include "stencil/problem.h"

enum { STEPS = 60 };

/* Rodinia's constants for a grid of nx by ny cells. */
typedef struct chip {
    double capacitance, rx, ry, rz, dt, ambient;
} chip;

static chip chip_make(int64_t nx, int64_t ny)
{
    const double height = 0.016, width = 0.016, t = 0.0005, k = 100.0, sh = 1.75e6, factor = 0.5;
    const double h = height / (double)ny, w = width / (double)nx;
    return (chip){.capacitance = factor * sh * t * w * h,
                  .rx = w / (2.0 * k * t * h),
                  .ry = h / (2.0 * k * t * w),
                  .rz = t / (k * h * w),
                  .dt = 0.001 / (3e6 / (factor * t * sh)),
                  .ambient = 318.15};
}

static void advance(const chip *c, int64_t nx, int64_t ny, const char *boundary,
                    const double *power, const double *old, double *now)
{
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++) {
            const double T = old[y * nx + x];
            double along[2] = {-2.0 * T, -2.0 * T};
            for (int to = -1; to <= 1; to += 2) {
                along[0] += oracle_at(old, nx, ny, x + to, y, boundary, c->ambient);
                along[1] += oracle_at(old, nx, ny, x, y + to, boundary, c->ambient);
            }
            now[y * nx + x] = T + c->dt / c->capacitance *
                                      (power[y * nx + x] + along[1] / c->ry + along[0] / c->rx +
                                       (c->ambient - T) / c->rz);
        }
}

/* STEPS steps of the plugin, in both precisions and by every backend and height, give
 * `expected`. */
static void compare(int64_t nx, int64_t ny, const char *boundary, const double *start,
                    const double *power, const double *expected)
{
    static const double tolerance[] = {6e-5, 1e-10}; /* K */
    const oracle_values fields[] = {{"temperature", start, expected}, {"power", power, NULL}};
    oracle_compare(
        oracle_with(oracle("hotspot", TZ_SINGLE, boundary, nx, ny, 0), "dt", 0.0, "rodinia"), STEPS,
        tolerance, 2, fields);
}

static void compare_with_formula(int64_t nx, int64_t ny, const char *boundary, const double *start,
                                 const double *power)
{
    const chip c = chip_make(nx, ny);
    const int64_t count = nx * ny;
    double *expected = oracle_numbers(count), *scratch = oracle_numbers(count);
    memcpy(expected, start, (size_t)count * sizeof *start);
    for (int k = 0; k < STEPS; k++) {
        advance(&c, nx, ny, boundary, power, expected, scratch);
        memcpy(expected, scratch, (size_t)count * sizeof *start);
    }
    compare(nx, ny, boundary, start, power, expected);
}

TEST(formula)
{
    static const int64_t sizes[][2] = {{64, 48}, {1, 1}, {1, 9}, {17, 1}, {37, 23}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int b = 0; b < TZ_BOUNDARIES; b++) {
            const int64_t count = sizes[s][0] * sizes[s][1];
            double *start = oracle_numbers(count), *power = oracle_numbers(count);
            uint64_t seed = s + 1;
            for (int64_t i = 0; i < count; i++) {
                start[i] = 310.0 + 40.0 * oracle_random(&seed);
                power[i] = 0.01 * oracle_random(&seed);
            }
            compare_with_formula(sizes[s][0], sizes[s][1], tz_boundary_name((tz_boundary)b), start,
                                 power);
        }
}

/* Reads `count` numbers of a text file. */
static void read_numbers(const char *folder, const char *name, double *values, int count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be opened", path);
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &values[i]) != 1)
            fail_msg("%s: number %d of %d is missing", path, i + 1, count);
    fclose(file);
}

/* hotspot_16x12.txt has the temperatures after STEPS steps between insulated edges. Explicit Euler
 * steps of 50 decimal digits gave them: heat flowed between each pair of adjacent cells, from each
 * cell to the package and into it. */
TEST(known_answer)
{
    enum { NX = 16, NY = 12, CELLS = NX * NY };
    static double start[CELLS], power[CELLS], expected[CELLS];
    read_numbers(TZ_TEST_SOURCE_DIR, "oracle/hotspot_16x12.txt", expected, CELLS);
    for (int y = 0, i = 0; y < NY; y++)
        for (int x = 0; x < NX; x++, i++) {
            const bool core = x >= 2 && x < 6 && y >= 2 && y < 5;
            const bool cache = x >= 9 && x < 15 && y >= 6 && y < 10;
            start[i] = 320.0 + (2 * x + (2 * x + 3 * y) % 5) / 8.0;
            power[i] = core ? 0.012 : cache ? 0.004 : 0.0005;
        }
    compare(NX, NY, "clamp", start, power, expected);
}

/* Inputs of the Rodinia suite, which are not part of this project. */
TEST(rodinia_inputs)
{
    enum { N = 64 };
    static double start[N * N], power[N * N];
    const char *folder = getenv("TZ_DATA_DIR");
    if (!folder)
        skip_test("TZ_DATA_DIR is not set: the folder of rodinia/temp_64.txt and power_64.txt");
    read_numbers(folder, "rodinia/temp_64.txt", start, N * N);
    read_numbers(folder, "rodinia/power_64.txt", power, N * N);
    compare_with_formula(N, N, "clamp", start, power);
}

/* Large steps lead to the steady state: uniform power P gives T_amb + P Rz everywhere, and any
 * power leaves through the package: sum P = sum (T - T_amb) / Rz. */
TEST(steady_state)
{
    enum { N = 12 };
    const chip c = chip_make(N, N);
    for (int uniform = 0; uniform < 2; uniform++) {
        double power[N * N], got[N * N], total = 0.0, leaving = 0.0;
        uint64_t seed = 3;
        for (int i = 0; i < N * N; i++)
            total += power[i] = uniform ? 0.25 : oracle_random(&seed);
        oracle_config config =
            oracle_with(oracle("hotspot", TZ_DOUBLE, "clamp", N, N, 0), "dt_s", 4e-4, NULL);
        config.height = 3;
        tz_simulation *simulation = oracle_create(config);
        oracle_write(simulation, "power", power);
        oracle_run(simulation, 400);
        oracle_read(simulation, "temperature", got);
        for (int i = 0; i < N * N; i++) {
            leaving += (got[i] - c.ambient) / c.rz;
            if (uniform)
                assert_true(fabs(got[i] - (c.ambient + power[i] * c.rz)) < 1e-9);
        }
        assert_true(fabs(leaving - total) < 1e-9 * total);
    }
}

/* A chip at ambient temperature without power stays there, to the last bit. */
TEST(equilibrium)
{
    double got[40 * 30];
    for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
        tz_simulation *simulation = oracle_create(oracle("hotspot", precision, "clamp", 40, 30, 0));
        assert_ok(tz_simulation_fill(simulation, 0, NULL, 318.15, &failure));
        oracle_run(simulation, 2000);
        oracle_read(simulation, "temperature", got);
        for (int i = 0; i < 40 * 30; i++)
            assert_true(got[i] == 318.15);
    }
}

TEST(unstable_step)
{
    oracle_config config = oracle("hotspot", TZ_DOUBLE, NULL, 64, 64, 0);
    config = oracle_with(config, "dt_s", 1.0, NULL);
    config.backend = "reference";
    tz_simulation *simulation = NULL;
    assert_int_equal(oracle_try(&simulation, &config, &failure), TZ_UNSTABLE);
    assert_null(simulation);
    const chip c = chip_make(64, 64);
    const double limit = c.capacitance / (2.0 / c.rx + 2.0 / c.ry + 1.0 / c.rz);
    char number[32];
    snprintf(number, sizeof number, "%.6g", limit);
    assert_non_null(strstr(failure.message, number));
    config = oracle_with(config, "allow_unstable", 1.0, NULL); /* the explicit override */
    oracle_create(config);
    config.params[0].number = limit * 0.999999;
    config.params_count = 1;
    oracle_create(config);
}

/* The constants of a grid of nx by ny cells, and the time step in *dt. */
static void constants_of(int64_t nx, int64_t ny, const char *choice, double dt_s, double *dt,
                         double c[4])
{
    const tz_stencil *stencil;
    tz_problem problem;
    const tz_assignment params[] = {{"dt", 0.0, choice}, {"dt_s", dt_s, NULL}};
    assert_ok(tz_registry_find(registry, "hotspot", &stencil, NULL, &failure));
    assert_ok(tz_problem_resolve(&problem, stencil,
                                 &(tz_simulation_config){.stencil = "hotspot",
                                                         .dims = 2,
                                                         .extent = {nx, ny, 1},
                                                         .precision = TZ_SINGLE,
                                                         .params_count = dt_s > 0.0 ? 2 : 1,
                                                         .params = params},
                                 &failure));
    *dt = problem.params[tz_stencil_param_index(stencil, "dt_s")].number;
    for (int k = 0; k < 4; k++) /* c, cx, cy, cp */
        c[k] = problem.constants[k].f;
    tz_problem_clear(&problem);
}

/* What rounded weights leave of 1 is how fast heat leaves the chip. No weight is negative. */
TEST(weights_leave_what_they_should)
{
    static const int64_t sizes[][2] = {{1, 1},     {2, 2},       {16, 16},    {64, 64},
                                       {64, 1024}, {512, 512},   {1000, 700}, {2048, 2048},
                                       {1, 4096},  {8192, 8192}, {300, 9}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int way = 0; way < 4; way++) {
            static const char *const choices[] = {"accurate", "stable", "rodinia", "stable"};
            const chip die = chip_make(sizes[s][0], sizes[s][1]);
            const double most = die.capacitance / (2.0 / die.rx + 2.0 / die.ry + 1.0 / die.rz);
            if (way == 2 && die.dt > most)
                continue;
            double dt, c[4];
            constants_of(sizes[s][0], sizes[s][1], choices[way], way == 3 ? most : 0.0, &dt, c);
            const double wanted[] = {most * 0.9 < 2.1875e-6 ? most * 0.9 : 2.1875e-6, most * 0.9,
                                     die.dt, most};
            assert_true(fabs(dt / wanted[way] - 1.0) < 1e-12);
            const double left = 1.0 - c[0] - 2.0 * c[1] - 2.0 * c[2];
            const double right = dt / die.capacitance / die.rz;
            /* Where the step is short, the centre's weight is near 1 and has steps of 6e-8. */
            const double error = way == 2 ? 5e-4 : 5e-5 + 4e-9 / right;
            if (!(fabs(left / right - 1.0) < error))
                fail_msg("%d x %d, %s: %.9g left of 1, not %.9g (%.3g)", (int)sizes[s][0],
                         (int)sizes[s][1], choices[way], left, right, left / right - 1.0);
            /* Power follows: the steady state of a uniform chip is right. */
            assert_true(fabs(c[3] / left / die.rz - 1.0) < 2e-7);
            assert_true(c[0] >= 0.0 && c[1] > 0.0 && c[2] > 0.0);
            assert_true(fabs(c[1] * die.rx * die.capacitance / dt - 1.0) < 1e-3);
            assert_true(fabs(c[2] * die.ry * die.capacitance / dt - 1.0) < 1e-3);
        }
}

/* 5 W spread evenly warm the chip alike in both precisions, whatever the step: in 29 ms by 0.098 K.
 * In Rodinia's step a cell warms by less than float's steps at 318 K. */
TEST(a_little_power_warms_the_chip)
{
    static const char *const choices[] = {"rodinia", "accurate", "stable"};
    enum { N = 8 };
    double rise[3][2];
    for (int way = 0; way < 3; way++)
        for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
            tz_simulation *simulation = oracle_create(oracle_with(
                oracle("hotspot", precision, "clamp", N, N, 0), "dt", 0.0, choices[way]));
            assert_ok(tz_simulation_fill(simulation, 0, NULL, 318.15, &failure));
            assert_ok(tz_simulation_fill(simulation, 1, NULL, 5.0 / (N * N), &failure));
            oracle_run(simulation,
                       (int64_t)(200000 * chip_make(N, N).dt / oracle_param(simulation, "dt_s")));
            tz_reduction r;
            assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
            rise[way][precision] = r.sum / (N * N) - 318.15;
        }
    for (int way = 0; way < 3; way++) {
        assert_true(fabs(rise[way][TZ_DOUBLE] - 0.09765625) < 1e-6);
        assert_true(fabs(rise[way][TZ_SINGLE] - rise[way][TZ_DOUBLE]) < (way ? 1e-5 : 9.8e-5));
    }
}

TEST_GROUP(open_plugins, close_plugins)
