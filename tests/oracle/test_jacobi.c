/* The benchmark stencils against plain loops over the neighbourhood. */
#include "oracle.h"
#include "sim/fields.h"

/* Weights by how far off a cell is along each axis, the largest offset first. */
typedef struct weight {
    const char *name;
    int offsets[3];
    double default_value;
} weight;

typedef struct stencil {
    const char *id;
    int dims, radius;
    weight weights[8];
} stencil;

static const stencil stencils[] = {
    {"star2d1r", 2, 1, {{"center", {0}, 0.5}, {"axis_1", {1}, 0.125}}},
    {"star2d2r", 2, 2, {{"center", {0}, 0.5}, {"axis_1", {1}, 0.09375}, {"axis_2", {2}, 0.03125}}},
    {"box2d1r",
     2,
     1,
     {{"center", {0}, 0.25}, {"axis_1", {1}, 0.125}, {"diagonal_11", {1, 1}, 0.0625}}},
    {"box2d2r",
     2,
     2,
     {{"center", {0}, 36.0 / 256},
      {"axis_1", {1}, 24.0 / 256},
      {"diagonal_11", {1, 1}, 16.0 / 256},
      {"axis_2", {2}, 6.0 / 256},
      {"diagonal_21", {2, 1}, 4.0 / 256},
      {"diagonal_22", {2, 2}, 1.0 / 256}}},
    {"star3d1r", 3, 1, {{"center", {0}, 0.25}, {"axis_1", {1}, 0.125}}},
    {"star3d2r", 3, 2, {{"center", {0}, 0.25}, {"axis_1", {1}, 0.09375}, {"axis_2", {2}, 0.03125}}},
    {"box3d1r",
     3,
     1,
     {{"center", {0}, 0.125},
      {"axis_1", {1}, 0.0625},
      {"diagonal_11", {1, 1}, 0.03125},
      {"diagonal_111", {1, 1, 1}, 0.015625}}},
};

static double weight_of(const stencil *s, const double *values, int dx, int dy, int dz)
{
    int d[3] = {abs(dx), abs(dy), abs(dz)};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (d[j] < d[j + 1]) {
                const int swap = d[j];
                d[j] = d[j + 1];
                d[j + 1] = swap;
            }
    for (int w = 0; w < 8 && s->weights[w].name; w++)
        if (memcmp(s->weights[w].offsets, d, sizeof d) == 0)
            return values[w];
    return 0.0;
}

static void advance(const stencil *s, const double *weights, const int64_t n[3],
                    const char *boundary, const double *old, double *now)
{
    const int r = s->radius, rz = s->dims == 3 ? r : 0;
    for (int64_t at = 0; at < n[0] * n[1] * n[2]; at++) {
        double sum = 0.0;
        for (int dz = -rz; dz <= rz; dz++)
            for (int dy = -r; dy <= r; dy++)
                for (int dx = -r; dx <= r; dx++) {
                    const int64_t i = oracle_neighbour(at % n[0] + dx, n[0], boundary);
                    const int64_t j = oracle_neighbour(at / n[0] % n[1] + dy, n[1], boundary);
                    const int64_t k = oracle_neighbour(at / n[0] / n[1] + dz, n[2], boundary);
                    if (i >= 0 && j >= 0 && k >= 0)
                        sum += weight_of(s, weights, dx, dy, dz) * old[(k * n[1] + j) * n[0] + i];
                }
        now[at] = sum;
    }
}

static void check(const stencil *s, const int64_t n[3], const char *boundary, int defaults)
{
    enum { STEPS = 7 };
    static const double tolerance[] = {2e-6, 1e-14};
    const int64_t cells = n[0] * n[1] * n[2];
    double *start = oracle_numbers(cells), weights[8];
    double *a = oracle_numbers(cells), *b = oracle_numbers(cells);
    uint64_t seed = (uint64_t)cells;
    oracle_config config = oracle(s->id, TZ_SINGLE, boundary, n[0], n[1], s->dims > 2 ? n[2] : 0);
    for (int w = 0; w < 8 && s->weights[w].name; w++) {
        weights[w] = defaults ? s->weights[w].default_value : 0.05 * (oracle_random(&seed) - 0.3);
        if (!defaults)
            config = oracle_with(config, s->weights[w].name, weights[w], NULL);
    }
    for (int64_t i = 0; i < cells; i++)
        a[i] = start[i] = oracle_random(&seed) - 0.5;
    for (int k = 0; k < STEPS; k++) {
        advance(s, weights, n, boundary, a, b);
        memcpy(a, b, (size_t)cells * sizeof *a);
    }
    oracle_compare(config, STEPS, tolerance, 1, &(oracle_values){"u", start, a});
}

TEST(loops)
{
    static const int64_t sizes[][3] = {{21, 13, 5}, {1, 1, 1}, {2, 5, 3}, {36, 3, 2}};
    for (size_t s = 0; s < sizeof stencils / sizeof *stencils; s++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int b = 0; b < TZ_BOUNDARIES; b++)
                for (int defaults = 0; defaults < 2; defaults++) {
                    const int64_t n[3] = {sizes[i][0], sizes[i][1],
                                          stencils[s].dims == 3 ? sizes[i][2] : 1};
                    check(&stencils[s], n, tz_boundary_name((tz_boundary)b), defaults);
                }
}

/* The defaults average: a constant stays, bit for bit, in both precisions. */
TEST(averages)
{
    for (size_t s = 0; s < sizeof stencils / sizeof *stencils; s++)
        for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
            tz_simulation *simulation = oracle_create(
                oracle(stencils[s].id, precision, "mirror", 20, 9, stencils[s].dims == 3 ? 6 : 0));
            tz_reduction reduction;
            assert_int_equal(tz_simulation_fill(simulation, 0, NULL, 0.75, NULL), TZ_OK);
            oracle_run(simulation, 100);
            assert_int_equal(tz_simulation_reduce(simulation, 0, &reduction, NULL), TZ_OK);
            assert_true(reduction.min == 0.75 && reduction.max == 0.75);
        }
}

/* Weights of 0.2 sum to 1, and still do when they are rounded to float. */
TEST(averages_of_rounded_weights)
{
    oracle_config config = oracle("star2d1r", TZ_SINGLE, "clamp", 12, 9, 0);
    config = oracle_with(oracle_with(config, "center", 0.2, NULL), "axis_1", 0.2, NULL);
    tz_simulation *simulation = oracle_create(config);
    tz_reduction reduction;
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 0.7, &failure));
    oracle_run(simulation, 30000);
    assert_ok(tz_simulation_reduce(simulation, 0, &reduction, &failure));
    assert_true(fabs(reduction.min - 0.7) < 1e-6 && fabs(reduction.max - 0.7) < 1e-6);
}

static tz_status with_origin(tz_simulation **out, double center, double origin, const char *side)
{
    const tz_assignment params[] = {{"center", center, NULL}, {"origin", origin, NULL}};
    const tz_side_value outside = {.field = "u", .value = 300.0};
    return tz_simulation_create(out,
                                &(tz_simulation_config){.registry = registry,
                                                        .stencil = "star2d1r",
                                                        .dims = 2,
                                                        .extent = {16, 12, 1},
                                                        .precision = TZ_SINGLE,
                                                        .boundary = {side, "clamp"},
                                                        .boundary_values_count = 1,
                                                        .boundary_values = &outside,
                                                        .params_count = isnan(origin) ? 1 : 2,
                                                        .params = params,
                                                        .backend = "cpu"},
                                &failure);
}

/* An origin is given, or the value outside fixed sides; it needs weights that sum to 1. */
TEST(origins)
{
    tz_simulation *s = NULL;
    assert_ok(with_origin(&s, 0.5, NAN, "clamp"));
    assert_true(tz_simulation_origin(s, 0) == 0.0);
    tz_simulation_destroy(s);
    assert_ok(with_origin(&s, 0.6, NAN, "fixed"));
    assert_true(tz_simulation_origin(s, 0) == 0.0);
    tz_simulation_destroy(s);
    check_error(with_origin(&s, 0.6, 1.0, "fixed"), TZ_RANGE, "star2d1r", "they sum to 1.1");
    assert_ok(with_origin(&s, 0.5, 250.0, "fixed"));
    assert_true(tz_simulation_origin(s, 0) == 250.0);
    tz_simulation_destroy(s);
    assert_ok(with_origin(&s, 0.5, NAN, "fixed"));
    assert_true(tz_simulation_origin(s, 0) == 300.0);
    assert_true(tz_simulation_params(s)[2].number == 300.0);
    tz_reduction first; /* the field's initial value is 0 nevertheless */
    assert_ok(tz_simulation_reduce(s, 0, &first, &failure));
    assert_true(first.min == 0.0 && first.max == 0.0 && first.population == 0);
    const tz_assignment other = {"origin", 1.0, NULL}, same = {"origin", 300.0, NULL};
    const tz_assignment grows = {"center", 0.6, NULL};
    check_error(tz_simulation_set_params(s, 1, &other, &failure), TZ_RANGE, "star2d1r",
                "cannot become 1: set it where the simulation is created");
    check_error(tz_simulation_set_params(s, 1, &grows, &failure), TZ_RANGE, "star2d1r",
                "the weights must sum to 1");
    assert_ok(tz_simulation_set_params(s, 1, &same, &failure));
    /* A small difference far from zero spreads; float's steps at 300 are 3e-5. */
    const tz_box cell = {{8, 6, 0}, {9, 7, 1}};
    double value;
    assert_ok(tz_simulation_fill(s, 0, NULL, 300.0, &failure));
    assert_ok(tz_simulation_fill(s, 0, &cell, 300.0 + 1e-6, &failure));
    oracle_run(s, 1);
    assert_ok(tz_simulation_read(s, 0, &cell, &value, &failure));
    assert_true(fabs(value - 300.0 - 5e-7) < 1e-12);
    tz_simulation_destroy(s);
}

TEST_GROUP(open_plugins, close_plugins)
