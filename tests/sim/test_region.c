/* Numbers about regions are precise. What they select: tests/scenario/regions.lua. */
#include "sim/numbers.h"
#include "tests/oracle/oracle.h"

enum { NX = 37, NY = 23 };

/* All cells: the bits of the reduction of the field. Half: of the sum's cancelled part, nothing. */
TEST(sums_are_precise)
{
    tz_simulation *simulation = oracle_create(oracle("hotspot", TZ_DOUBLE, NULL, NX, NY, 0));
    const int field = oracle_field(simulation, "power");
    const tz_random random = {.seed = 5, .low = -3, .high = 900, .density = 0.4};
    tz_region region = {.box = {{0, 0, 0}, {NX, NY, 1}}, .mask_field = -1};
    tz_reduction whole;
    tz_region_facts facts;
    assert_ok(tz_simulation_fill_random(simulation, field, NULL, &random, &failure));
    assert_ok(tz_simulation_reduce(simulation, field, &whole, &failure));
    assert_ok(tz_simulation_reduce_region(simulation, field, &region, &facts, &failure));
    assert_true(facts.sum == whole.sum && facts.cells == NX * NY);
    const double row[] = {1e16, 1, -1e16, 1};
    const tz_box part = {{0, 0, 0}, {4, 1, 1}};
    assert_ok(tz_simulation_write(simulation, field, &part, row, NULL, &failure));
    region.box = part;
    assert_ok(tz_simulation_reduce_region(simulation, field, &region, &facts, &failure));
    assert_true(facts.sum == 2 && facts.min == -1e16 && facts.max == 1e16);
}

TEST_GROUP(open_plugins, close_plugins)
