/* Bits in one dimension. */
#include "common.h"

#define TZ_CELL_TEXT "rule1d.cell.h"
#define TZ_CELL_ID rule1d
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 2
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

static const tz_param rule1d_params[] = {
    TZ_FLAG_PARAM("turn", 1, "the second rule is on"),
};

static int rule1d_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(rule1d, turn)] = setup->params[0].number != 0.0 ? -1.0 : 0.0;
    return 0;
}

static const tz_field rule1d_fields[] = {
    TZ_STATE_FIELD("alive", TZ_BITS, "", "cells that live"),
};

static const tz_pass rule1d_passes[] = {
    {.name = "step", .writes = TZ_WRITES(rule1d, alive), TZ_PASS(rule1d)},
};

static const tz_stencil rule1d_stencil = {
    TZ_STENCIL_HEADER,
    .id = "rule1d",
    .doc = "Test-only: rule1d.",
    .dims = 1,
    .fields_count = COUNT(rule1d_fields),
    .fields = rule1d_fields,
    .params_count = COUNT(rule1d_params),
    .params = rule1d_params,
    .constants_count = TZ_CONSTANTS_COUNT(rule1d),
    .constants = rule1d_constants,
    .passes_count = COUNT(rule1d_passes),
    .passes = rule1d_passes,
    .boundaries = TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC),
    .boundary = TZ_FIXED,
    .picture = {"alive", "gray", 0.0, 1.0},
    .derive = rule1d_derive,
};
TEST_PLUGIN(rule1d, &rule1d_stencil)
