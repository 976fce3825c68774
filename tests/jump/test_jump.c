/* Jumps against exact iterations, for every kind of side, odd and even extents, one to three
 * dimensions, up to a million steps. Worst errors are printed. */
#include "tests/jump/exact.h"
#include "tests/run.h"

#include "jump/host.h"
#include "sim/residual.h"
#include "sim/solve.h"
#include "stencil/registry.h"

static tz_registry *registry;

static int open_all(void **state)
{
    static const char *const folders[] = {TZ_TEST_PLUGIN_DIR,
                                          TZ_TEST_PLUGIN_DIR "/../jump-plugins"};
    return tz_registry_create(&registry, folders, 2, NULL) == TZ_OK ? 0 : -1;
}

static int close_all(void **state)
{
    tz_registry_destroy(registry);
    return 0;
}

static bool has_library(void)
{
    tz_fftw fftw;
    return tz_fftw_open(&fftw, NULL, NULL) == TZ_OK;
}

#define NEED_LIBRARY()                                                                             \
    do {                                                                                           \
        if (!has_library())                                                                        \
            skip_test("no libfftw3 on this machine");                                              \
    } while (0)

/* An update, and how it is described. */
typedef struct kind {
    const char *stencil;
    int dims;
    void (*describe)(exact_system *s);
    bool source; /* a static field of random values */
    tz_assignment params[2];
} kind;

typedef struct trial {
    const kind *of;
    int64_t extent[TZ_AXES];
    const char *boundary[TZ_AXES];
    double other; /* not 0: another value of the second parameter */
    bool single;
} trial;

static uint64_t seed = 1;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-52 - 1.0;
}

static double parameter(const exact_system *s, const char *name)
{
    const tz_problem *problem = &s->simulation->problem;
    return problem->params[tz_stencil_param_index(problem->stencil, name)].number;
}

static quad constant_of(const exact_system *s, int i)
{
    return s->simulation->problem.constants_in_double[i].d;
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void describe_heat(exact_system *s)
{
    const quad k = parameter(s, "k");
    exact_add(s, 0, 0, 0, 0, 0, 1 - 2 * k);
    exact_pair(s, 0, 1, k);
    s->source = 1;
    s->source_weight = 1;
}

static void describe_drift(exact_system *s)
{
    const quad a = parameter(s, "a"), k = parameter(s, "k");
    exact_add(s, 0, 0, 0, 0, 0, 1 - a - 4 * k);
    exact_add(s, 0, 0, 0, -1, 0, a);
    exact_pair(s, 0, 1, k);
    exact_pair(s, 2, 1, k);
}

static void describe_wave(exact_system *s)
{
    const quad c2 = parameter(s, "c2"), damping = parameter(s, "damping");
    exact_add(s, 0, 0, 0, 0, 0, 2 - damping - 4 * c2);
    exact_pair(s, 0, 1, c2);
    exact_pair(s, 1, 1, c2);
    exact_add(s, 0, 1, 0, 0, 0, damping - 1);
    exact_add(s, 1, 0, 0, 0, 0, 1);
    s->source = 2;
    s->source_weight = 1;
}

static void describe_spin(exact_system *s)
{
    const quad turn = parameter(s, "turn"), k = parameter(s, "k");
    exact_add(s, 0, 0, 0, 0, 0, 1 - k);
    exact_add(s, 0, 0, -1, 0, 0, k);
    exact_add(s, 0, 1, 0, 0, 0, turn);
    exact_add(s, 1, 1, 0, 0, 0, 1 - k);
    exact_add(s, 1, 1, 1, 0, 0, k);
    exact_add(s, 1, 0, 0, 0, 0, -turn);
}

static void describe_star(exact_system *s)
{
    exact_add(s, 0, 0, 0, 0, 0, parameter(s, "center"));
    for (int axis = 0; axis < s->simulation->problem.dims; axis++) {
        exact_pair(s, axis, 1, parameter(s, "axis_1"));
        if (tz_stencil_param_index(s->simulation->problem.stencil, "axis_2") >= 0)
            exact_pair(s, axis, 2, parameter(s, "axis_2"));
    }
}

static void describe_box(exact_system *s)
{
    exact_add(s, 0, 0, 0, 0, 0, parameter(s, "center"));
    exact_pair(s, 0, 1, parameter(s, "axis_1"));
    exact_pair(s, 1, 1, parameter(s, "axis_1"));
    for (int dy = -1; dy <= 1; dy += 2)
        for (int dx = -1; dx <= 1; dx += 2)
            exact_add(s, 0, 0, dx, dy, 0, parameter(s, "diagonal_11"));
}

/* u + w (E + W + q (N + S) - (2 + 2q) u - hx^2 f) */
static void describe_poisson(exact_system *s)
{
    const quad ratio = constant_of(s, 0), centre = constant_of(s, 1), w = constant_of(s, 3);
    exact_add(s, 0, 0, 0, 0, 0, 1 + w * centre);
    exact_pair(s, 0, 1, w);
    exact_pair(s, 1, 1, w * ratio);
    s->source = 1;
    s->source_weight = w * constant_of(s, 2);
}

static void describe_hotspot(exact_system *s)
{
    exact_add(s, 0, 0, 0, 0, 0, constant_of(s, 0));
    exact_pair(s, 0, 1, constant_of(s, 1));
    exact_pair(s, 1, 1, constant_of(s, 2));
    s->source = 1;
    s->source_weight = constant_of(s, 3);
    s->constant = constant_of(s, 4);
}

/* ---- A trial --------------------------------------------------------------------------------- */

static tz_status try_create(const trial *t, const char *backend, tz_simulation **out)
{
    tz_assignment params[] = {t->of->params[0], t->of->params[1]};
    tz_simulation_config config = {
        .registry = registry,
        .stencil = t->of->stencil,
        .dims = t->of->dims,
        .extent = {t->extent[0], t->extent[1] ? t->extent[1] : 1, t->extent[2] ? t->extent[2] : 1},
        .precision = t->single ? TZ_SINGLE : TZ_DOUBLE,
        .boundary = {t->boundary[0], t->boundary[1], t->boundary[2]},
        .params_count = params[0].name ? params[1].name ? 2 : 1 : 0,
        .params = params,
        .backend = backend,
        .threads = 2};
    params[1].number = t->other != 0.0 ? t->other : params[1].number;
    return tz_simulation_create(out, &config, &failure);
}

/* Random values in all fields, and other values past fixed sides. */
static void begin(exact_system *s, const trial *t, const char *backend)
{
    tz_simulation *simulation = NULL;
    assert_ok(try_create(t, backend, &simulation));
    *s = (exact_system){.simulation = simulation, .source = -1};
    const tz_stencil *stencil = simulation->problem.stencil;
    const int64_t cells = tz_simulation_cells(simulation);
    double *values = test_room((size_t)cells * sizeof *values);
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool is_state = stencil->fields[f].role == TZ_STATE;
        if (is_state)
            s->field[s->fields++] = f;
        for (int64_t cell = 0; cell < cells; cell++)
            values[cell] = is_state ? 1.0 + uniform() : t->of->source ? 0.01 * uniform() : 0.0;
        assert_ok(tz_simulation_write(simulation, f, NULL, values, NULL, &failure));
    }
    t->of->describe(s);
}

static void read_state(const exact_system *s, quad *values)
{
    const int64_t cells = tz_simulation_cells(s->simulation);
    double *cells_read = test_room((size_t)cells * sizeof *cells_read);
    for (int i = 0; i < s->fields; i++) {
        assert_ok(tz_simulation_read(s->simulation, s->field[i], NULL, cells_read, &failure));
        for (int64_t cell = 0; cell < cells; cell++)
            values[i * cells + cell] =
                (quad)cells_read[cell] - (quad)s->simulation->problem.origin[s->field[i]];
    }
    values[s->fields * cells] = 1;
}

static void jump_by(tz_simulation *simulation, int64_t steps)
{
    const tz_run run = {.steps = steps, .until_residual = NAN, .jumps = true};
    tz_run_result result;
    assert_ok(run_simulation(simulation, &run, &result, &failure));
    assert_int_equal(result.steps, steps);
}

static double larger(double a, quad b)
{
    const double size = fabs((double)b);
    return a > size ? a : size;
}

/* The largest error, as a part of the largest value, divided by the condition. */
static double worst_of(const exact_system *s, const quad *start, const quad *exact, int64_t size)
{
    const double condition = tz_simulation_jumps(s->simulation)->rounding / 4e-15;
    double error = 0.0, most = 0.0;
    quad *now = test_room((size_t)size * sizeof *now);
    read_state(s, now);
    for (int64_t i = 0; i + 1 < size; i++) {
        most = larger(larger(most, exact[i]), start[i]);
        double off = fabs((double)(now[i] - exact[i]));
        /* In single precision: rounded to one of the two nearest numbers. */
        if (s->simulation->problem.precision == TZ_SINGLE)
            off = fmax(0.0, off - ldexp(1.0, ilogb(larger(0x1p-126, exact[i])) - 23));
        error = fmax(error, off);
    }
    return error / most / condition;
}

static const int64_t steps[] = {1, 2, 17, 1000, 1000000};
enum { STEPS = sizeof steps / sizeof *steps };

static double check(const trial *t)
{
    double worst = 0.0;
    exact_system s;
    quad *results[STEPS];
    int64_t size;
    begin(&s, t, "cpu");
    quad *matrix = exact_matrix(&s, &size), *start = test_room((size_t)size * sizeof *start);
    double *values = test_room((size_t)size * sizeof *values);
    for (int i = 0; i < STEPS; i++)
        results[i] = test_room((size_t)size * sizeof **results);
    read_state(&s, start);
    exact_powers(matrix, size, start, steps, STEPS, results);
    const int64_t cells = tz_simulation_cells(s.simulation);
    for (int i = 0; i < STEPS; i++) {
        for (int f = 0; f < s.fields; f++) {
            for (int64_t cell = 0; cell < cells; cell++)
                values[cell] = (double)(start[f * cells + cell] +
                                        (quad)s.simulation->problem.origin[s.field[f]]);
            assert_ok(tz_simulation_write(s.simulation, s.field[f], NULL, values, NULL, &failure));
        }
        s.simulation->jumps.rounding = 0.0;
        jump_by(s.simulation, steps[i]);
        const double part = worst_of(&s, start, results[i], size);
        if (!(part <= 4e-15))
            print_message("%s, %s, %lld steps: %.3g of the largest value, condition %.3g\n",
                          t->of->stencil, t->boundary[0], (long long)steps[i], part,
                          s.simulation->jumps.rounding / 4e-15);
        worst = larger(worst, part);
    }
    tz_simulation_destroy(s.simulation);
    return worst;
}

static const kind heat = {.stencil = "heat", 1, describe_heat, true, {{"k", 0.3, NULL}}};
static const kind star = {.stencil = "star2d1r",
                          2,
                          describe_star,
                          .params = {{"center", 0.2, NULL}, {"axis_1", 0.2, NULL}}};
static const kind plain_star = {.stencil = "star2d1r", 2, describe_star};
static const kind box = {.stencil = "box2d1r", 2, describe_box};
static const kind wide = {.stencil = "star2d2r", 2, describe_star};
static const kind poisson = {.stencil = "poisson", 2, describe_poisson, true};
static const kind hotspot = {.stencil = "hotspot", 2, describe_hotspot, true};
static const kind star3 = {.stencil = "star3d1r", 3, describe_star};
static const kind drift = {
    .stencil = "drift", 3, describe_drift, .params = {{"a", 0.3, NULL}, {"k", 0.1, NULL}}};
static const kind wave = {
    .stencil = "wave", 2, describe_wave, true, {{"c2", 0.1, NULL}, {"damping", 0.0, NULL}}};
static const kind spin = {
    .stencil = "spin", 2, describe_spin, .params = {{"turn", 0.01, NULL}, {"k", 0.2, NULL}}};

static const trial trials[] = {
    {.of = &heat, {16}, {"clamp"}},
    {.of = &heat, {17}, {"clamp"}},
    {.of = &heat, {16}, {"periodic"}},
    {.of = &heat, {15}, {"periodic"}},
    {.of = &heat, {16}, {"mirror"}},
    {.of = &heat, {13}, {"mirror"}},
    {.of = &heat, {16}, {"fixed"}},
    {.of = &heat, {9}, {"fixed"}},
    {.of = &heat, {1}, {"clamp"}},
    {.of = &heat, {1}, {"mirror"}},
    {.of = &heat, {1}, {"fixed"}},
    {.of = &heat, {1}, {"periodic"}},
    {.of = &heat, {2}, {"mirror"}},
    {.of = &heat, {2}, {"periodic"}},
    {.of = &star, {5, 6}, {"clamp", "clamp"}},
    {.of = &star, {6, 5}, {"periodic", "periodic"}},
    {.of = &star, {4, 5}, {"mirror", "mirror"}},
    {.of = &star, {5, 6}, {"fixed", "fixed"}},
    {.of = &star, {5, 4}, {"clamp", "periodic"}},
    {.of = &star, {4, 7}, {"fixed", "mirror"}},
    {.of = &star, {1, 7}, {"clamp", "fixed"}},
    {.of = &box, {5, 4}, {"clamp", "clamp"}},
    {.of = &box, {4, 5}, {"fixed", "fixed"}},
    {.of = &box, {5, 5}, {"periodic", "fixed"}},
    {.of = &box, {5, 4}, {"mirror", "clamp"}},
    {.of = &wide, {6, 5}, {"periodic", "periodic"}},
    {.of = &wide, {5, 4}, {"mirror", "mirror"}},
    {.of = &wide, {3, 2}, {"mirror", "periodic"}},
    {.of = &poisson, {5, 6}, {"fixed", "fixed"}},
    {.of = &poisson, {4, 5}, {"clamp", "clamp"}},
    {.of = &poisson, {6, 4}, {"periodic", "periodic"}},
    {.of = &poisson, {5, 4}, {"mirror", "mirror"}},
    {.of = &hotspot, {5, 6}, {"clamp", "clamp"}},
    {.of = &hotspot, {5, 5}, {"fixed", "fixed"}},
    {.of = &hotspot, {4, 5}, {"periodic", "periodic"}},
    {.of = &hotspot, {5, 4}, {"mirror", "mirror"}},
    {.of = &star3, {3, 4, 3}, {"clamp", "periodic", "fixed"}},
    {.of = &star3, {3, 4, 3}, {"mirror", "fixed", "periodic"}},
    {.of = &drift, {3, 5, 2}, {"clamp", "periodic", "fixed"}},
    {.of = &drift, {3, 5, 2}, {"periodic", "periodic", "periodic"}},
    {.of = &drift, {3, 5, 2}, {"mirror", "periodic", "periodic"}},
    {.of = &wave, {4, 3}, {"fixed", "fixed"}},
    {.of = &wave, {4, 3}, {"clamp", "clamp"}},
    {.of = &wave, {3, 4}, {"periodic", "mirror"}},
    {.of = &wave, {4, 3}, {"fixed", "clamp"}, 0.01},
    {.of = &wave, {3, 4}, {"mirror", "mirror"}, 1e-5},
    {.of = &wave, {3, 3}, {"clamp", "periodic"}, 1.5},
    {.of = &spin, {5, 3}, {"periodic", "clamp"}},
    {.of = &spin, {4, 3}, {"periodic", "fixed"}, 0.02},
    /* In single precision: computed in double, rounded once. */
    {.of = &plain_star, {5, 6}, {"clamp", "clamp"}, .single = true},
    {.of = &box, {5, 4}, {"fixed", "fixed"}, .single = true},
    {.of = &wide, {4, 5}, {"mirror", "mirror"}, .single = true},
    {.of = &poisson, {4, 5}, {"fixed", "fixed"}, .single = true},
};

TEST(jumps_are_iterations)
{
    double worst = 0.0;
    NEED_LIBRARY();
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const trial *t = &trials[i];
        const double one = check(t);
        print_message("%-9s %s %s %s: %.2g\n", t->of->stencil, t->boundary[0],
                      t->boundary[1] ? t->boundary[1] : "", t->boundary[2] ? t->boundary[2] : "",
                      one);
        worst = larger(worst, one);
    }
    assert_true(worst <= 4e-15);
}

/* ---- Steady states --------------------------------------------------------------------------- */

/* lap(u) = f on the unit square with u = 0 past its sides: u = sin(pi x) sin(pi y) up to h^2. */
TEST(poisson_steady)
{
    enum { N = 31 };
    static const trial plate = {.of = &poisson, {N, N}, {"fixed", "fixed"}};
    const double pi = 3.14159265358979323846;
    static const tz_steady by = {.by = TZ_STEADY_TRANSFORM};
    double f[N * N], u[N * N], off = 0.0, off_discrete = 0.0;
    tz_steady_result found;
    exact_system s;
    NEED_LIBRARY();
    begin(&s, &plate, "cpu");
    for (int i = 0; i < N * N; i++)
        f[i] = -2.0 * pi * pi * sin(pi * (i % N + 1) / (N + 1)) * sin(pi * (i / N + 1) / (N + 1));
    assert_ok(tz_simulation_write(s.simulation, 1, NULL, f, NULL, &failure));
    assert_ok(tz_simulation_steady(s.simulation, &by, &found, &failure));
    assert_ok(tz_simulation_read(s.simulation, 0, NULL, u, &failure));
    /* The difference quotient of this wave is -4 sin^2(pi h / 2) / h^2 on each axis. */
    const double h = 1.0 / (N + 1), sine = sin(0.5 * pi * h);
    const double ratio = pi * pi / (4.0 * sine * sine / (h * h));
    for (int i = 0; i < N * N; i++) {
        const double exact = f[i] / (-2.0 * pi * pi);
        off = fmax(off, fabs(u[i] - exact));
        off_discrete = fmax(off_discrete, fabs(u[i] - ratio * exact));
    }
    assert_true(off < 1e-3 && off_discrete < 4e-15);
    tz_simulation_destroy(s.simulation);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(without_the_library)
{
    static const char *const names[] = {"libfftw3-of-nobody.so.3", NULL};
    tz_fftw fftw;
    check_error(tz_fftw_open(&fftw, names, &failure), TZ_UNSUPPORTED, "jump",
                "apt-get install libfftw3-double3");
}

TEST_GROUP(open_all, close_all)
