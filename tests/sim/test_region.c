/* Numbers about regions, against a count of every cell, on the backends without a device. */
#include "sim/numbers.h"
#include "tests/oracle/oracle.h"

static const char *const backends[] = {"reference", "cpu"};

static const struct grid {
    const char *stencil, *field;
    int precision;
    int64_t extent[TZ_AXES];
} grids[] = {
    {"hotspot", "temperature", TZ_SINGLE, {37, 23}},
    {"hotspot", "power", TZ_DOUBLE, {37, 23}},
    {"star3d1r", "u", TZ_SINGLE, {11, 7, 5}},
    {"life", "alive", -1, {77, 9}},
    {"cell", "alive", -1, {40, 3, 4}},
    {"pathfinder", "cost", -1, {200001}}, /* several pieces a row */
    {"life", "alive", -1, {70001, 3}},
};

static uint32_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int64_t)(seed >> 8) % n;
}

static tz_simulation *make(const struct grid *grid, const char *backend, int *field)
{
    oracle_config config = oracle(grid->stencil, grid->precision, NULL, grid->extent[0],
                                  grid->extent[1], grid->extent[2]);
    config.backend = backend;
    config.threads = 1;
    tz_simulation *simulation = oracle_create(config);
    *field = tz_stencil_field_index(tz_simulation_stencil(simulation), grid->field);
    const tz_random random = {.seed = 5, .low = -3, .high = 900, .density = 0.4};
    assert_ok(tz_simulation_fill_random(simulation, *field, NULL, &random, &failure));
    return simulation;
}

static tz_box random_box(const int64_t *extent)
{
    tz_box box;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        box.low[axis] = below(extent[axis]);
        box.high[axis] = box.low[axis] + 1 + below(extent[axis] - box.low[axis]);
    }
    return box;
}

/* `values` are all cells of the field; `mask` has a number for each cell of the box, or is NULL. */
static void count_cells(const double *values, const int64_t *extent, const tz_box *box,
                        const tz_array *mask, bool own, tz_region_facts *out)
{
    int64_t at = 0;
    *out = (tz_region_facts){.min = INFINITY, .max = -INFINITY};
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0]; x < box->high[0]; x++, at++) {
                const double value = values[x + extent[0] * (y + extent[1] * z)];
                if ((mask && tz_array_get(mask, at) == 0) || (own && value == 0))
                    continue;
                out->cells++;
                out->min = fmin(out->min, value);
                out->max = fmax(out->max, value);
                out->sum += value;
            }
}

static void check_region(const tz_simulation *simulation, int field, const double *values,
                         const tz_region *region)
{
    tz_region_facts got, wanted;
    count_cells(values, tz_simulation_extent(simulation), &region->box, region->mask,
                region->mask_field >= 0, &wanted);
    if (wanted.cells == 0) {
        check_error(tz_simulation_reduce_region(simulation, field, region, &got, &failure),
                    TZ_RANGE, "", "selects no cell");
        return;
    }
    assert_ok(tz_simulation_reduce_region(simulation, field, region, &got, &failure));
    assert_int_equal(got.cells, wanted.cells);
    assert_true(got.min == wanted.min && got.max == wanted.max);
    assert_true(fabs(got.sum - wanted.sum) <= 1e-12 * 900 * (double)wanted.cells);
}

static void check_grid(const struct grid *grid, const char *backend)
{
    int field;
    tz_simulation *simulation = make(grid, backend, &field);
    const int64_t *extent = tz_simulation_extent(simulation);
    double *values = test_room((size_t)tz_simulation_cells(simulation) * sizeof *values);
    assert_ok(tz_simulation_read(simulation, field, NULL, values, &failure));
    for (int i = 0; i < 12; i++) {
        tz_region region = {.box = random_box(extent), .mask_field = -1};
        check_region(simulation, field, values, &region);
        region.mask_field = field;
        check_region(simulation, field, values, &region);
        region.mask_field = -1;
        int64_t shape[TZ_AXES];
        for (int axis = 0; axis < TZ_AXES; axis++)
            shape[axis] = region.box.high[axis] - region.box.low[axis];
        tz_array *mask;
        assert_ok(tz_array_create(&mask, TZ_DTYPE_I8, 3, shape, &failure));
        for (int64_t k = 0; k < tz_shape_count(3, shape); k++)
            tz_array_set(mask, k, below(4) == 0 ? -1 : 0);
        region.mask = mask;
        check_region(simulation, field, values, &region);
        tz_array_destroy(mask);
    }
    tz_region outside = {.box = {{0, 0, 0}, {extent[0] + 1, 1, 1}}, .mask_field = -1};
    tz_region_facts facts;
    check_error(tz_simulation_reduce_region(simulation, field, &outside, &facts, &failure),
                TZ_RANGE, "", "is not inside the grid");
}

TEST(regions_are_counted)
{
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            check_grid(&grids[g], backends[b]);
}

/* All cells: the bits of the reduction of the field. Half: of the sum's cancelled part, nothing. */
TEST(sums_are_precise)
{
    int field;
    tz_simulation *simulation = make(&grids[1], "cpu", &field);
    const int64_t *extent = tz_simulation_extent(simulation);
    tz_region region = {.box = {{0, 0, 0}, {extent[0], extent[1], 1}}, .mask_field = -1};
    tz_reduction whole;
    tz_region_facts facts;
    assert_ok(tz_simulation_reduce(simulation, field, &whole, &failure));
    assert_ok(tz_simulation_reduce_region(simulation, field, &region, &facts, &failure));
    assert_true(facts.sum == whole.sum && facts.cells == 37 * 23);
    const double row[] = {1e16, 1, -1e16, 1};
    const tz_box part = {{0, 0, 0}, {4, 1, 1}};
    assert_ok(tz_simulation_write(simulation, field, &part, row, NULL, &failure));
    region.box = part;
    assert_ok(tz_simulation_reduce_region(simulation, field, &region, &facts, &failure));
    assert_true(facts.sum == 2 && facts.min == -1e16 && facts.max == 1e16);
}

TEST_GROUP(open_plugins, close_plugins)
