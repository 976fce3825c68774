/* Constants that vary with the iteration, held against a serial loop of its own; and derived
 * fields in many blocks. tests/contract compares them on every grid, boundary, height and
 * backend. */
#include "sim/fields.h"
#include "sim/state.h"
#include "tests/registry.h"
#include "tests/run.h"

enum { NX = 37, NY = 23, CELLS = NX * NY, U = 0, V, DRAG, SPEED };

static tz_simulation_config config_of(const char *backend, const char *stencil)
{
    return (tz_simulation_config){.registry = registry,
                                  .stencil = stencil,
                                  .dims = 2,
                                  .extent = {NX, NY, 1},
                                  .precision = TZ_DOUBLE,
                                  .boundary = {"periodic", "periodic"},
                                  .backend = backend,
                                  .threads = 2};
}

/* ---- The serial loop ------------------------------------------------------------------------- */

/* Of a formula: it follows the parameter. */
static double formula(const void *context, const tz_value *params, int64_t step)
{
    return *(const double *)context * params[0].number / (double)(step + 1);
}

static double own_push(int64_t step)
{
    return 0.3 * (double)(step * step % 7 - 2);
}

typedef struct flow {
    double u[CELLS], v[CELLS]; /* less the origin of v, 0.5 */
} flow;

static double start(int field, int cell)
{
    return (double)((cell * 37 + field * 11) % 101) / 64.0 - 0.75;
}

static void advance(flow *f, double spread, double push, int phase)
{
    static flow next;
    const double keep = 1.0 - 2.0 * spread;
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            const int at = y * NX + x, west = y * NX + (x + NX - 1) % NX,
                      east = y * NX + (x + 1) % NX;
            const int low = (y + NY - 1) % NY * NX + x, high = (y + 1) % NY * NX + x;
            const double slow = keep - spread * start(DRAG, high);
            next.u[at] = fma(slow, f->u[at], spread * (f->u[west] + f->u[east])) +
                         ((x & 3) == phase ? push : 0.0);
            next.v[at] = fma(slow, f->v[at], spread * (f->v[low] + f->v[high])) * push;
        }
    *f = next;
}

static void check(const tz_simulation *simulation, const flow *f)
{
    static double u[CELLS], v[CELLS], speed[CELLS];
    assert_ok(tz_simulation_read(simulation, U, NULL, u, &failure));
    assert_ok(tz_simulation_read(simulation, V, NULL, v, &failure));
    assert_ok(tz_simulation_read(simulation, SPEED, NULL, speed, &failure));
    for (int i = 0; i < CELLS; i++) {
        assert_true(u[i] == f->u[i]);
        assert_true(v[i] == f->v[i] + 0.5);
        assert_true(speed[i] == fma(f->u[i], f->u[i], f->v[i] * f->v[i]));
    }
}

/* With the plugin's own values, or with those of a scenario: a formula and a list. */
static void compare(const char *backend, int height, bool given)
{
    static flow f;
    static const double phases[] = {2, 0, 3, 1}, factor = 1.75;
    const tz_series series[] = {{.name = "push", .value = formula, .context = &factor},
                                {.name = "phase", .count = 4, .values = phases}};
    tz_simulation_config config = config_of(backend, "swirl2d");
    config.plan.height = height;
    config.scalars = series;
    config.scalars_count = given ? 2 : 0;
    tz_simulation *simulation = NULL;
    double spread = 0.125, values[CELLS];
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    for (int field = U; field <= DRAG; field++) {
        for (int i = 0; i < CELLS; i++) {
            values[i] = start(field, i) + (field == V ? 0.5 : 0.0);
            (field == U ? f.u : f.v)[i] = field == DRAG ? f.v[i] : start(field, i);
        }
        assert_ok(tz_simulation_write(simulation, field, NULL, values, NULL, &failure));
    }
    for (int step = 0; step < 20; step++) {
        if (step == 13) { /* the formula uses it from now on */
            assert_ok(run_steps(simulation, 13, &failure));
            check(simulation, &f);
            spread = 0.0625;
            assert_ok(tz_simulation_set_params(
                simulation, 1, &(tz_assignment){.name = "spread", .number = spread}, &failure));
        }
        const double push = given ? factor * spread / (step + 1) : own_push(step);
        double told;
        assert_ok(tz_simulation_scalar(simulation, "push", step, &told, &failure));
        assert_true(told == push);
        advance(&f, spread, push, given ? (int)phases[step < 4 ? step : 3] : step % 4);
    }
    assert_ok(run_steps(simulation, 7, &failure));
    check(simulation, &f);
    tz_simulation_destroy(simulation);
}

TEST(every_iteration_has_its_own)
{
    static const int heights[] = {1, 3, 8};
    for (int given = 0; given < 2; given++) {
        compare("reference", 0, given);
        for (int i = 0; i < 3; i++)
            compare("cpu", heights[i], given);
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static double no_number(const void *context, const tz_value *params, int64_t step)
{
    return step < 5 ? 1.0 : NAN;
}

static void create_fails(const tz_series *series, tz_status wanted, const char *message)
{
    tz_simulation_config config = config_of("cpu", "swirl2d");
    tz_simulation *simulation = NULL;
    config.scalars = series;
    config.scalars_count = 1;
    check_error(tz_simulation_create(&simulation, &config, &failure), wanted, "scalars", message);
}

TEST(mistakes_are_plain)
{
    static const double half[] = {0, 0.5}, not_finite[] = {0, 1, INFINITY};
    create_fails(&(tz_series){.name = "phase", .count = 2, .values = half}, TZ_RANGE,
                 "number 2 of the list 'phase' is 0.5, which must be an integer");
    create_fails(&(tz_series){.name = "push", .count = 3, .values = not_finite}, TZ_RANGE,
                 "number 3 of the list 'push' is inf");
    const char *const backends[] = {"reference", "cpu"};
    for (int b = 0; b < 2; b++) {
        const tz_series series = {.name = "push", .text = "sqrt(4 - step)", .value = no_number};
        tz_simulation_config config = config_of(backends[b], "swirl2d");
        config.scalars = &series;
        config.scalars_count = 1;
        tz_simulation *simulation = NULL;
        assert_ok(tz_simulation_create(&simulation, &config, &failure));
        check_error(run_steps(simulation, 8, &failure), TZ_SCRIPT, "scalars",
                    "in iteration 5, which is NaN: sqrt(4 - step)");
        tz_simulation_destroy(simulation);
    }
}

/* A plugin without at_step() leaves its constants to scenarios. */
TEST(a_plugin_may_need_them)
{
    const tz_stencil *theirs;
    static const double zero[] = {0};
    const tz_series series[] = {{.name = "push", .count = 1, .values = zero},
                                {.name = "phase", .count = 1, .values = zero}};
    tz_simulation_config config = config_of("cpu", "swirl2d");
    tz_problem problem;
    assert_ok(tz_registry_find(registry, "swirl2d", &theirs, NULL, &failure));
    tz_stencil stencil = *theirs;
    stencil.at_step = NULL;
    config.scalars = series;
    config.scalars_count = 1;
    check_error(tz_problem_resolve(&problem, &stencil, &config, &failure), TZ_RANGE, "scalars",
                "needs a value for each iteration: scalars = { phase = ");
    config.scalars_count = 2;
    assert_ok(tz_problem_resolve(&problem, &stencil, &config, &failure));
    tz_problem_clear(&problem);
    tz_slot slots[TZ_CONSTANTS_MAX];
    config.scalars_count = 0;
    assert_ok(tz_problem_resolve(&problem, theirs, &config, &failure));
    check_error(tz_problem_constants_at(&problem, 1000001, slots, &failure), TZ_PLUGIN, "swirl2d",
                "iteration 1000001: the pump is empty");
    tz_problem_clear(&problem);
}

/* ---- Derived fields -------------------------------------------------------------------------- */

/* More cells than a block has: parts agree with the whole, and reductions with stored fields. */
TEST(blocks_fit_together)
{
    tz_simulation_config config = config_of("cpu", "swirl2d");
    tz_simulation *simulation = NULL, *copy = NULL;
    const int64_t nx = 2000, ny = 701;
    config.extent[0] = nx;
    config.extent[1] = ny;
    config.boundary[0] = "mirror:fixed";
    config.boundary[1] = "clamp";
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    assert_ok(tz_simulation_create(&copy, &config, &failure));
    const tz_random random = {.seed = 3, .low = -1, .high = 1};
    assert_ok(tz_simulation_fill_random(simulation, U, NULL, &random, &failure));
    const int turn = tz_stencil_field_index(tz_simulation_stencil(simulation), "turn");
    tz_array *all = NULL;
    tz_reduction one, two;
    assert_ok(tz_simulation_read_array(simulation, turn, &all, &failure));
    const double *cells = all->data;
    static const tz_box boxes[] = {{{0, 0, 0}, {1, 1, 1}},
                                   {{1999, 700, 0}, {2000, 701, 1}},
                                   {{3, 520, 0}, {1998, 530, 1}},
                                   {{700, 0, 0}, {702, 701, 1}}};
    for (int b = 0; b < 4; b++) {
        const tz_box *box = &boxes[b];
        static double part[1995 * 10];
        assert_ok(tz_simulation_read(simulation, turn, box, part, &failure));
        const double *at = part;
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0]; x < box->high[0]; x++)
                assert_true(*at++ == cells[x + nx * y]);
    }
    assert_ok(tz_simulation_write_array(copy, U, all, NULL, NULL, &failure));
    assert_ok(tz_simulation_reduce(simulation, turn, &one, &failure));
    assert_ok(tz_simulation_reduce(copy, U, &two, &failure));
    assert_memory_equal(&one, &two, sizeof one);
    tz_array_destroy(all);
    tz_simulation_destroy(simulation);
    tz_simulation_destroy(copy);
}

TEST_GROUP(open_test_plugins, close_plugins)
