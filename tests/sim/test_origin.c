/* A field with an origin: every way to write and read it sees values, never differences. HotSpot's
 * temperature has the ambient temperature as its origin. */
#include "sim/numbers.h"
#include "sim/state.h"
#include "tests/oracle/oracle.h"

enum { NX = 37, NY = 23, CELLS = NX * NY };

static const char *const backends[] = {"reference", "cpu"};

static tz_simulation *make(const char *backend, int precision, double ambient)
{
    oracle_config config =
        oracle_with(oracle("hotspot", precision, "fixed", NX, NY, 0), "ambient_k", ambient, NULL);
    config.backend = backend;
    return oracle_create(config);
}

/* Numbers of about the origin's size: their differences have steps of at most 1e-6 in float. */
static void check_reads(const tz_simulation *simulation, const double *wanted)
{
    double values[CELLS], cells[CELLS];
    assert_int_equal(tz_simulation_dtype(simulation, 0), TZ_DTYPE_F64);
    assert_ok(tz_simulation_read(simulation, 0, NULL, values, &failure));
    assert_ok(tz_simulation_read_cells(simulation, 0, NULL, cells, &failure));
    tz_array *array = NULL;
    assert_ok(tz_simulation_read_array(simulation, 0, &array, &failure));
    assert_int_equal(array->dtype, TZ_DTYPE_F64);
    tz_reduction r;
    assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
    double low = INFINITY, high = -INFINITY, sum = 0.0;
    int64_t population = 0;
    for (int i = 0; i < CELLS; i++) {
        assert_true(fabs(values[i] - wanted[i]) < 2e-6);
        assert_true(cells[i] == values[i]);
        assert_true(tz_array_get(array, i) == values[i]);
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        sum += values[i];
        population += values[i] != 0.0;
    }
    tz_array_destroy(array);
    assert_true(r.min == low && r.max == high && fabs(r.sum - sum) < 1e-12 * CELLS * 400);
    assert_int_equal(r.population, population);
    const tz_box part = {{5, 7, 0}, {NX - 3, 19, 1}};
    assert_ok(tz_simulation_read_cells(simulation, 0, &part, cells, &failure));
    for (int y = 7, i = 0; y < 19; y++)
        for (int x = 5; x < NX - 3; x++)
            assert_true(cells[i++] == values[y * NX + x]);
    double mean; /* a backend without it: frames average the cells that are read above */
    const tz_status status = tz_simulation_shrink(simulation, 0, 0, 1, 1, &mean, &failure);
    assert_true(status == TZ_UNSUPPORTED || (!status && fabs(mean - sum / CELLS) < 1e-9));
}

TEST(test_every_way_in_and_out)
{
    for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++)
        for (int b = 0; b < 2; b++) {
            tz_simulation *simulation = make(backends[b], precision, 300.0);
            double wanted[CELLS];
            for (int i = 0; i < CELLS; i++)
                wanted[i] = 323.15; /* the field's initial value */
            check_reads(simulation, wanted);
            for (int i = 0; i < CELLS; i++)
                wanted[i] = 300.0 + 0.01 * i;
            assert_ok(tz_simulation_write(simulation, 0, NULL, wanted, NULL, &failure));
            check_reads(simulation, wanted);
            const tz_box cell = {{4, 2, 0}, {5, 3, 1}};
            assert_ok(tz_simulation_fill(simulation, 0, &cell, 311.5, &failure));
            wanted[2 * NX + 4] = 311.5;
            check_reads(simulation, wanted);
            tz_array *array = NULL;
            assert_ok(tz_array_create(&array, TZ_DTYPE_F64, 2, (int64_t[]){NX, NY, 1}, &failure));
            for (int i = 0; i < CELLS; i++)
                tz_array_set(array, i, wanted[i] = 290.0 + 0.02 * i);
            assert_ok(tz_simulation_write_array(simulation, 0, array, NULL, NULL, &failure));
            tz_array_destroy(array);
            check_reads(simulation, wanted);
            const tz_random random = {.seed = 1, .low = 305.0, .high = 305.0 + 0x1p-10};
            assert_ok(tz_simulation_fill_random(simulation, 0, NULL, &random, &failure));
            tz_reduction r;
            assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
            assert_true(r.min >= 305.0 && r.min < 305.0001 && r.max > 305.0008 &&
                        r.max <= 305.0 + 0x1p-10);
        }
}

/* Cells that are zero are rare in a field with an origin, and counted one by one. */
TEST(test_population_counts_values)
{
    tz_simulation *simulation = make("cpu", TZ_SINGLE, 300.0);
    tz_reduction r;
    const tz_box box = {{3, 0, 0}, {10, 4, 1}};
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 300.0, &failure));
    assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
    assert_int_equal(r.population, CELLS);
    assert_ok(tz_simulation_fill(simulation, 0, &box, 0.0, &failure));
    assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
    assert_int_equal(r.population, CELLS - 28);
    assert_true(r.min == 0.0 && r.max == 300.0);
    assert_true(fabs(r.sum - 300.0 * (CELLS - 28)) < 1e-6);
    assert_ok(tz_simulation_fill(simulation, 0, NULL, 0.0, &failure));
    assert_ok(tz_simulation_reduce(simulation, 0, &r, &failure));
    assert_int_equal(r.population, 0);
}

TEST_GROUP(open_plugins, close_plugins)
