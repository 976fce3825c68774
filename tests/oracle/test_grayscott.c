/* Gray and Scott's reaction against its equations, in a plain loop, and in closed form. */
#include "oracle.h"

enum { NX = 37, NY = 29, CELLS = NX * NY, STEPS = 50 };

typedef struct rates {
    double feed, kill, du, dv, side, corner;
} rates;

static double at(const double *field, int64_t x, int64_t y, const char *boundary, double outside)
{
    const int64_t i = oracle_neighbour(x, NX, boundary), j = oracle_neighbour(y, NY, boundary);
    return i < 0 || j < 0 ? outside : field[j * NX + i];
}

static double laplacian(const double *f, int64_t x, int64_t y, const char *boundary, double outside,
                        const rates *r)
{
    double sum = 0.0;
    for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0)
                sum += (dx != 0 && dy != 0 ? r->corner : r->side) *
                       (at(f, x + dx, y + dy, boundary, outside) - f[y * NX + x]);
    return sum;
}

static void step(const rates *r, const char *boundary, double *u, double *v)
{
    static double un[CELLS], vn[CELLS];
    for (int64_t y = 0; y < NY; y++)
        for (int64_t x = 0; x < NX; x++) {
            const int64_t i = y * NX + x;
            const double reaction = u[i] * v[i] * v[i];
            un[i] = u[i] + r->du * laplacian(u, x, y, boundary, 1.0, r) - reaction +
                    r->feed * (1.0 - u[i]);
            vn[i] = v[i] + r->dv * laplacian(v, x, y, boundary, 0.0, r) + reaction -
                    (r->feed + r->kill) * v[i];
        }
    memcpy(u, un, sizeof un);
    memcpy(v, vn, sizeof vn);
}

/* STEPS steps from `u` and `v`, which become the values expected. */
static void compare(oracle_config config, const rates *r, double *u, double *v)
{
    static double start[2][CELLS], got[CELLS];
    memcpy(start[0], u, sizeof start[0]);
    memcpy(start[1], v, sizeof start[1]);
    for (int k = 0; k < STEPS; k++)
        step(r, config.boundary, u, v);
    for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++)
        for (int height = 0; height <= ORACLE_LAST; height++) {
            config.precision = precision;
            oracle_choose(&config, height);
            tz_simulation *simulation = oracle_create(&config);
            oracle_write(simulation, "u", start[0]);
            oracle_write(simulation, "v", start[1]);
            oracle_run(simulation, STEPS);
            for (int field = 0; field < 2; field++) {
                oracle_read(simulation, field ? "v" : "u", got);
                for (int i = 0; i < CELLS; i++) {
                    const double want = field ? v[i] : u[i];
                    if (!(fabs(got[i] - want) <= (precision == TZ_DOUBLE ? 1e-12 : 2e-5)))
                        fail_msg("%s %s height %d: %s of cell %d is %.17g, not %.17g",
                                 config.stencil, config.boundary, height, field ? "v" : "u", i,
                                 got[i], want);
                }
            }
            tz_simulation_destroy(simulation);
        }
}

static void fill(double *u, double *v)
{
    uint64_t seed = 5;
    for (int i = 0; i < CELLS; i++) {
        u[i] = 0.5 + 0.5 * oracle_random(&seed);
        v[i] = 0.4 * oracle_random(&seed);
    }
}

static void equations(void **state)
{
    static double u[CELLS], v[CELLS];
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        for (int eight = 0; eight < 2; eight++) {
            const rates r = eight ? (rates){0.0545, 0.062, 1.0, 0.5, 0.2, 0.05}
                                  : (rates){0.03, 0.055, 0.2097152, 0.1048576, 1.0, 0.0};
            /* the rates of a pattern, and the same reaction in its two forms */
            oracle_config config = {
                .stencil = eight ? "grayscott9" : "grayscott",
                .dims = 2,
                .nx = NX,
                .ny = NY,
                .boundary = tz_boundary_name((tz_boundary)b),
                .params_count = eight ? 1 : 2,
                .params = {{eight ? "pattern" : "feed", 0.03, "coral"},
                           {b % 2 ? "kill" : "removal", b % 2 ? r.kill : r.feed + r.kill, NULL}}};
            if (!eight)
                config.params[0].text = NULL;
            fill(u, v);
            compare(config, &r, u, v);
        }
}

/* Without V nothing happens to u = 1, to the last bit; and uniform U approaches 1 as (1 - F)^n. */
static void closed_forms(void **state)
{
    static double u[CELLS], v[CELLS];
    for (int uniform = 0; uniform < 2; uniform++) {
        oracle_config config = {.stencil = "grayscott9",
                                .dims = 2,
                                .nx = NX,
                                .ny = NY,
                                .boundary = "periodic",
                                .backend = "cpu",
                                .height = 3};
        tz_simulation *simulation = oracle_create(&config);
        for (int i = 0; i < CELLS; i++) {
            u[i] = uniform ? 0.5 : 1.0;
            v[i] = 0.0;
        }
        oracle_write(simulation, "u", u);
        oracle_write(simulation, "v", v);
        oracle_run(simulation, 100);
        oracle_read(simulation, "u", u);
        for (int i = 0; i < CELLS; i++)
            if (uniform)
                assert_true(fabs(u[i] - (1.0 - 0.5 * pow(1.0 - 0.0545, 100))) < 1e-5);
            else
                assert_true(u[i] == 1.0);
        tz_simulation_destroy(simulation);
    }
}

static void refused(void **state)
{
    tz_simulation *simulation = NULL;
    oracle_config config = {.stencil = "grayscott",
                            .dims = 2,
                            .nx = NX,
                            .ny = NY,
                            .boundary = "periodic",
                            .backend = "cpu",
                            .params_count = 2,
                            .params = {{"kill", 0.06, NULL}, {"removal", 0.06, NULL}}};
    assert_int_not_equal(oracle_try(&simulation, &config, &failure), TZ_OK);
    assert_non_null(strstr(failure.message, "leave kill or removal out"));
    config.params_count = 1;
    config.params[0] = (tz_assignment){"du", 0.25, NULL};
    assert_int_not_equal(oracle_try(&simulation, &config, &failure), TZ_OK);
    assert_non_null(strstr(failure.message, "unstable"));
    assert_null(simulation);
}

TEST_MAIN(open_plugins, close_plugins, TEST(equations), TEST(closed_forms), TEST(refused))
