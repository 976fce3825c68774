/* Bits in one dimension. */
#include "common.h"

#define TZ_CELL_TEXT "rule1d.cell.h"
#define TZ_CELL_ID rule1d
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 2
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

static const tz_param rule1d_params[] = {
    TZ_FLAG_PARAM("flip", 1, "the second rule is on"),
};

static int rule1d_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(rule1d, flip)] = setup->params[0].number != 0.0 ? -1.0 : 0.0;
    return 0;
}

static const tz_field rule1d_fields[] = {
    TZ_STATE_FIELD("alive", TZ_BITS, "", "cells that live"),
};

static const tz_pass rule1d_passes[] = {
    {.name = "step", .writes = TZ_WRITES(rule1d, alive), TZ_PASS(rule1d)},
};

TEST_STENCIL_BITS(rule1d, 1)
TEST_PLUGIN(rule1d, &rule1d_stencil)
