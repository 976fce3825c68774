/* For the oracle tests: short ways to create simulations of the shipped plugins. The expected
 * values come from plain loops in the tests, never from the engine. */
#ifndef TZ_TESTS_ORACLE_H
#define TZ_TESTS_ORACLE_H

#include "sim/fields.h"
#include "tests/registry.h"
#include "tests/run.h"

typedef struct oracle_config {
    const char *stencil;
    int dims;
    int64_t nx, ny, nz; /* 0 is 1 */
    int precision;
    const char *boundary;
    const char *backend;
    int height;
    size_t params_count;
    tz_assignment params[8];
} oracle_config;

static inline tz_status oracle_try(tz_simulation **out, const oracle_config *c, tz_error *error)
{
    return tz_simulation_create(out,
                                &(tz_simulation_config){
                                    .registry = registry,
                                    .stencil = c->stencil,
                                    .dims = c->dims,
                                    .extent = {c->nx, c->ny ? c->ny : 1, c->nz ? c->nz : 1},
                                    .precision = c->precision,
                                    .boundary = {c->boundary, c->dims > 1 ? c->boundary : NULL,
                                                 c->dims > 2 ? c->boundary : NULL},
                                    .params_count = c->params_count,
                                    .params = c->params,
                                    .backend = c->backend,
                                    .threads = 2,
                                    .plan = {.height = c->height},
                                },
                                error);
}

static inline tz_simulation *oracle_create(const oracle_config *config)
{
    tz_simulation *simulation = NULL;
    assert_ok(oracle_try(&simulation, config, &failure));
    return simulation;
}

static inline int oracle_field(const tz_simulation *simulation, const char *name)
{
    const int field = tz_stencil_field_index(tz_simulation_stencil(simulation), name);
    assert_true(field >= 0);
    return field;
}

static inline void oracle_write(tz_simulation *simulation, const char *field, const double *values)
{
    assert_ok(tz_simulation_write(simulation, oracle_field(simulation, field), NULL, values, NULL,
                                  &failure));
}

static inline void oracle_read(const tz_simulation *simulation, const char *field, double *values)
{
    assert_ok(
        tz_simulation_read(simulation, oracle_field(simulation, field), NULL, values, &failure));
}

static inline void oracle_run(tz_simulation *simulation, int64_t steps)
{
    tz_run_result result;
    assert_ok(run_simulation(simulation, &(tz_run){.steps = steps, .until_residual = NAN}, &result,
                             &failure));
    assert_int_equal(result.steps, steps);
}

/* The reference, then the cpu backend at heights 1 to 5: `height` from 0 to ORACLE_LAST. */
enum { ORACLE_LAST = 5 };
static inline void oracle_choose(oracle_config *config, int height)
{
    config->backend = height ? "cpu" : "reference";
    config->height = height;
}

/* Random numbers in [0, 1). */
static inline double oracle_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static inline double *oracle_numbers(int64_t count)
{
    double *numbers = calloc((size_t)count, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

/* The reference, then the cpu backend at heights 1 to ORACLE_LAST, give `expected` within an
 * absolute `tolerance` after `steps` steps from `start`. */
static inline void oracle_compare(oracle_config config, const char *field, const double *start,
                                  int64_t steps, const double *expected, double tolerance)
{
    const int64_t cells = config.nx * (config.ny ? config.ny : 1) * (config.nz ? config.nz : 1);
    double *got = oracle_numbers(cells);
    for (int height = 0; height <= ORACLE_LAST; height++) {
        oracle_choose(&config, height);
        tz_simulation *simulation = oracle_create(&config);
        oracle_write(simulation, field, start);
        oracle_run(simulation, steps);
        oracle_read(simulation, field, got);
        for (int64_t i = 0; i < cells; i++)
            if (!(fabs(got[i] - expected[i]) <= tolerance))
                fail_msg("%s %s %dx%dx%d %s height %d: cell %d is %.17g, not %.17g", config.stencil,
                         config.boundary, (int)config.nx, (int)config.ny, (int)config.nz,
                         config.params_count && config.params[0].text ? config.params[0].text : "",
                         height, (int)i, got[i], expected[i]);
        tz_simulation_destroy(simulation);
    }
    free(got);
}

static inline int64_t oracle_wrap(int64_t i, int64_t n)
{
    return ((i % n) + n) % n;
}

/* Index of the cell that a neighbour index means, or -1 where it lies outside (fixed). */
static inline int64_t oracle_neighbour(int64_t i, int64_t n, const char *boundary)
{
    if (i >= 0 && i < n)
        return i;
    if (strcmp(boundary, "periodic") == 0)
        return oracle_wrap(i, n);
    if (strcmp(boundary, "clamp") == 0)
        return i < 0 ? 0 : n - 1;
    if (strcmp(boundary, "mirror") == 0) {
        const int64_t period = n > 1 ? 2 * (n - 1) : 1, k = oracle_wrap(i, period);
        return k < n ? k : period - k;
    }
    return -1;
}

/* max |f - lap u| of a poisson, by its formula, with this value past all sides. */
static inline double oracle_poisson_residual(const tz_simulation *simulation, int64_t nx,
                                             int64_t ny, double side)
{
    double *u = oracle_numbers(nx * ny), *f = oracle_numbers(nx * ny), largest = 0.0;
    const double hx = 1.0 / (double)(nx + 1), hy = 1.0 / (double)(ny + 1);
    oracle_read(simulation, "u", u);
    oracle_read(simulation, "f", f);
    for (int64_t y = 0, i = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++, i++) {
            const double west = x > 0 ? u[i - 1] : side, east = x < nx - 1 ? u[i + 1] : side;
            const double north = y > 0 ? u[i - nx] : side, south = y < ny - 1 ? u[i + nx] : side;
            const double laplacian =
                (west - 2.0 * u[i] + east) / (hx * hx) + (north - 2.0 * u[i] + south) / (hy * hy);
            largest = fmax(largest, fabs(f[i] - laplacian));
        }
    free(u);
    free(f);
    return largest;
}

#endif
