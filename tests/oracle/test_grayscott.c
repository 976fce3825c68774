/* Gray and Scott's reaction against its equations, in a plain loop, and in closed form. */
#include "oracle.h"

enum { NX = 37, NY = 29, CELLS = NX * NY, STEPS = 50 };

typedef struct rates {
    double feed, kill, du, dv, side, corner;
} rates;

static double laplacian(const double *f, int64_t x, int64_t y, const char *boundary, double outside,
                        const rates *r)
{
    double sum = 0.0;
    for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0)
                sum += (dx != 0 && dy != 0 ? r->corner : r->side) *
                       (oracle_at(f, NX, NY, x + dx, y + dy, boundary, outside) - f[y * NX + x]);
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

TEST(equations)
{
    static const double tolerance[] = {2e-5, 1e-12};
    static double u[CELLS], v[CELLS], start[2][CELLS];
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        for (int eight = 0; eight < 2; eight++) {
            const rates r = eight ? (rates){0.0545, 0.062, 1.0, 0.5, 0.2, 0.05}
                                  : (rates){0.03, 0.055, 0.2097152, 0.1048576, 1.0, 0.0};
            const char *boundary = tz_boundary_name((tz_boundary)b);
            /* the rates of a pattern, and the same reaction in its two forms */
            oracle_config c = oracle(eight ? "grayscott9" : "grayscott", 0, boundary, NX, NY, 0);
            c = eight ? oracle_with(c, "pattern", 0.0, "coral")
                      : oracle_with(c, "feed", r.feed, NULL);
            if (!eight)
                c = b % 2 ? oracle_with(c, "kill", r.kill, NULL)
                          : oracle_with(c, "removal", r.feed + r.kill, NULL);
            uint64_t seed = 5;
            for (int i = 0; i < CELLS; i++) {
                start[0][i] = u[i] = 0.5 + 0.5 * oracle_random(&seed);
                start[1][i] = v[i] = 0.4 * oracle_random(&seed);
            }
            for (int k = 0; k < STEPS; k++)
                step(&r, boundary, u, v);
            const oracle_values fields[] = {{"u", start[0], u}, {"v", start[1], v}};
            oracle_compare(c, STEPS, tolerance, 2, fields);
        }
}
/* Without V nothing happens to u = 1, to the last bit; and uniform U approaches 1 as (1 - F)^n. */
TEST(closed_forms)
{
    static double u[CELLS], v[CELLS];
    for (int uniform = 0; uniform < 2; uniform++) {
        oracle_config config = oracle("grayscott9", TZ_SINGLE, "periodic", NX, NY, 0);
        config.height = 3;
        tz_simulation *simulation = oracle_create(config);
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
    }
}

TEST(refused)
{
    tz_simulation *simulation = NULL;
    oracle_config config = oracle("grayscott", TZ_SINGLE, "periodic", NX, NY, 0);
    config = oracle_with(oracle_with(config, "kill", 0.06, NULL), "removal", 0.06, NULL);
    assert_int_not_equal(oracle_try(&simulation, &config, &failure), TZ_OK);
    assert_non_null(strstr(failure.message, "leave kill or removal out"));
    config.params_count = 1;
    config.params[0] = (tz_assignment){"du", 0.25, NULL};
    assert_int_not_equal(oracle_try(&simulation, &config, &failure), TZ_OK);
    assert_non_null(strstr(failure.message, "unstable"));
    assert_null(simulation);
}

TEST_GROUP(open_plugins, close_plugins)
