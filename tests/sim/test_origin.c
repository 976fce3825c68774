/* The population of a field with an origin: cells that are zero are rare there, and counted one by
 * one. All other ways to write and read it: tests/contract/fields.c, tests/scenario/origins.lua. */
#include "tests/oracle/oracle.h"

enum { NX = 37, NY = 23, CELLS = NX * NY };

TEST(values_are_counted)
{
    tz_simulation *simulation = oracle_create(
        oracle_with(oracle("hotspot", TZ_SINGLE, "fixed", NX, NY, 0), "ambient_k", 300.0, NULL));
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
}

TEST_GROUP(open_plugins, close_plugins)
