/* For the oracle tests: short ways to create simulations of the shipped plugins. The expected
 * values come from plain loops in the tests, never from the engine. */
#ifndef TZ_TESTS_ORACLE_H
#define TZ_TESTS_ORACLE_H

#include "sim/fields.h"
#include "tests/registry.h"
#include "tests/run.h"

typedef struct oracle_config {
    const char *stencil;
    int precision; /* -1: none */
    const char *boundary;
    int64_t extent[TZ_AXES]; /* 0: there is no such axis */
    const char *backend;
    int height;
    bool mixed, dry;
    int threads;               /* 0: 2 */
    const tz_side_value *side; /* past fixed sides; NULL: the stencil's */
    size_t params_count;
    tz_assignment params[8];
} oracle_config;

static inline oracle_config oracle(const char *stencil, int precision, const char *boundary,
                                   int64_t nx, int64_t ny, int64_t nz)
{
    return (oracle_config){stencil, precision, boundary, {nx, ny, nz}, .backend = "cpu"};
}

/* The same with one more parameter: `text`, or the number if that is NULL. */
static inline oracle_config oracle_with(oracle_config c, const char *name, double number,
                                        const char *text)
{
    c.params[c.params_count++] = (tz_assignment){name, number, text};
    return c;
}

static inline tz_status oracle_try(tz_simulation **out, const oracle_config *c, tz_error *error)
{
    tz_simulation_config config = {.registry = registry,
                                   .stencil = c->stencil,
                                   .precision = c->precision,
                                   .params_count = c->params_count,
                                   .params = c->params,
                                   .backend = c->backend,
                                   .threads = c->threads ? c->threads : 2,
                                   .mixed = c->mixed,
                                   .dry = c->dry,
                                   .boundary_values_count = c->side ? 1 : 0,
                                   .boundary_values = c->side,
                                   .plan = {.height = c->height}};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        config.dims += c->extent[axis] > 0;
        config.extent[axis] = c->extent[axis] > 0 ? c->extent[axis] : 1;
        config.boundary[axis] = c->extent[axis] > 0 ? c->boundary : NULL;
    }
    return tz_simulation_create(out, &config, error);
}

/* It is destroyed when the test ends. */
static inline tz_simulation *oracle_create(oracle_config config)
{
    tz_simulation *simulation = NULL;
    assert_ok(oracle_try(&simulation, &config, &failure));
    at_end(tz_simulation_destroy, simulation);
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

static inline double oracle_param(const tz_simulation *simulation, const char *name)
{
    const int param = tz_stencil_param_index(tz_simulation_stencil(simulation), name);
    return tz_simulation_params(simulation)[param].number;
}

static inline int64_t oracle_wrap(int64_t i, int64_t n)
{
    return ((i % n) + n) % n;
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
    return test_room((size_t)count * sizeof(double));
}

/* A field's values at the start (NULL: its initial ones) and at the end (NULL: any). */
typedef struct oracle_values {
    const char *field;
    const double *start, *expected;
} oracle_values;

/* The reference and the cpu backend at heights 1 to 5 give the expected values: a real stencil in
 * single and double precision within these tolerances. */
static inline void oracle_compare(oracle_config c, int64_t steps, const double tolerance[2],
                                  int count, const oracle_values *fields)
{
    enum { HEIGHTS = 6 };
    const int64_t *n = c.extent, cells = n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1);
    const bool real = c.precision >= 0;
    double *got = oracle_numbers(cells);
    for (int k = 0; k < (real ? 2 : 1) * HEIGHTS; k++) {
        c.precision = real ? k / HEIGHTS : -1;
        c.height = k % HEIGHTS;
        c.backend = c.height ? "cpu" : "reference";
        tz_simulation *simulation = NULL;
        assert_ok(oracle_try(&simulation, &c, &failure));
        for (int f = 0; f < count; f++)
            if (fields[f].start)
                oracle_write(simulation, fields[f].field, fields[f].start);
        oracle_run(simulation, steps);
        for (int f = 0; f < count; f++) {
            const double *expected = fields[f].expected;
            if (expected)
                oracle_read(simulation, fields[f].field, got);
            for (int64_t i = 0; expected && i < cells; i++)
                if (!(fabs(got[i] - expected[i]) <= tolerance[k / HEIGHTS]))
                    fail_msg("%s %s %s %dx%dx%d %s height %d: cell %d is %.17g, not %.17g",
                             c.stencil, fields[f].field, c.boundary, (int)n[0], (int)n[1],
                             (int)n[2], c.params_count && c.params[0].text ? c.params[0].text : "",
                             c.height, (int)i, got[i], expected[i]);
        }
        tz_simulation_destroy(simulation);
    }
}

/* Index of the cell that a neighbour index means, or -1 where it lies outside (fixed). */
static inline int64_t oracle_neighbour(int64_t i, int64_t n, const char *boundary)
{
    if ((i >= 0 && i < n) || strcmp(boundary, "periodic") == 0)
        return oracle_wrap(i, n);
    if (strcmp(boundary, "clamp") == 0)
        return i < 0 ? 0 : n - 1;
    const int64_t period = n > 1 ? 2 * (n - 1) : 1, k = oracle_wrap(i, period);
    return strcmp(boundary, "mirror") != 0 ? -1 : k < n ? k : period - k;
}

/* A 2-D field at (x, y), which may lie past a side; `outside` past fixed ones. */
static inline double oracle_at(const double *field, int64_t nx, int64_t ny, int64_t x, int64_t y,
                               const char *boundary, double outside)
{
    const int64_t i = oracle_neighbour(x, nx, boundary), j = oracle_neighbour(y, ny, boundary);
    return i < 0 || j < 0 ? outside : field[j * nx + i];
}

/* max |f - lap u| of a poisson, by its formula, with this value past fixed sides. */
static inline double oracle_poisson_residual(const tz_simulation *simulation, int64_t nx,
                                             int64_t ny, const char *boundary, double side)
{
    double *u = oracle_numbers(nx * ny), *f = oracle_numbers(nx * ny), largest = 0.0;
    const double hx = oracle_param(simulation, "hx"), hy = oracle_param(simulation, "hy");
    oracle_read(simulation, "u", u);
    oracle_read(simulation, "f", f);
    for (int64_t y = 0, i = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++, i++) {
            double sum[2] = {-2.0 * u[i], -2.0 * u[i]}; /* along x, along y */
            for (int to = -1; to <= 1; to += 2) {
                sum[0] += oracle_at(u, nx, ny, x + to, y, boundary, side);
                sum[1] += oracle_at(u, nx, ny, x, y + to, boundary, side);
            }
            largest = fmax(largest, fabs(f[i] - sum[0] / (hx * hx) - sum[1] / (hy * hy)));
        }
    return largest;
}

#endif
