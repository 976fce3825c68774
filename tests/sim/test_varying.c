/* Constants that vary with the iteration, held against a serial loop of its own. tests/contract
 * compares them on every grid, boundary, height and backend; tests/scenario/scalars.lua has what is
 * refused. */
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

TEST_GROUP(open_test_plugins, close_plugins)
