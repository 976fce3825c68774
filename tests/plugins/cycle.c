/* Integers with eight neighbours. */
#include "common.h"

#define TZ_CELL_TEXT "cycle.cell.h"
#define TZ_CELL_ID cycle
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

static const tz_param cycle_params[] = {
    TZ_INTEGER_PARAM("kinds", 14, 2, 1000, "", "states"),
    TZ_INTEGER_PARAM("enough", 1, 1, 8, "", "neighbours of the next state"),
};

static int cycle_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(cycle, kinds)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(cycle, enough)] = setup->params[1].number;
    return 0;
}

static const tz_field cycle_fields[] = {
    TZ_STATE_FIELD("kind", TZ_INT, "", "state"),
};

static const tz_pass cycle_passes[] = {
    {.name = "cycle", .writes = 1, TZ_PASS(cycle)},
};

TEST_STENCIL(cycle, cycle, 2, "kind")
TEST_PLUGIN(cycle, &cycle_stencil)
