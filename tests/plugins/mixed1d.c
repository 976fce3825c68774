/* One dimension with everything at once: two passes, fields of two types and all roles. */
#include "common.h"

#define TZ_CELL_TEXT "stir.cell.h"
#define TZ_CELL_ID stir
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 3
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "spread.cell.h"
#define TZ_CELL_ID spread
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param mixed1d_params[] = {
    {"share", TZ_PARAM_REAL, 0.25, NULL, 0.0, 0.5, "", "dt / h^2", NULL},
};

static int mixed1d_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(stir, share)] = setup->params[0].number;
    return 0;
}

#define mixed1d_FIRST_FIELD "u"
static const tz_field mixed1d_fields[] = {
    {"u", TZ_STATE, TZ_REAL, 0, "", "what spreads", 0, 0.0, 0.5},
    {"n", TZ_STATE, TZ_INT, 0, "", "what stirs it", 0, 0.0, 3.0},
    {"rows", TZ_STREAMED, TZ_INT, 0, "", "what stirs n, one row an iteration", 1, 0.0, 0.0},
    {"k", TZ_STATIC, TZ_REAL, 2, "", "conductivity", 0, 1.0, 0.25},
    {"mask", TZ_STATIC, TZ_INT, 0, "", "bits to turn", 0, 5.0, 0.0},
};

static const tz_pass mixed1d_passes[] = {
    {.name = "stir", .writes = TZ_WRITES(stir, n), .text_defines = "", TZ_PASS(stir)},
    {.name = "spread", .writes = TZ_WRITES(spread, u), .text_defines = "", TZ_PASS(spread)},
};

TEST_STENCIL(mixed1d, stir, 1)
TEST_PLUGIN(mixed1d, &mixed1d_stencil)
