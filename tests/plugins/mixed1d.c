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
    TZ_REAL_PARAM("share", 0.25, 0.0, 0.5, "", "dt / h^2"),
};

TEST_DERIVE(mixed1d, stir, share)

static const tz_field mixed1d_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what spreads", .boundary_value = 0.5),
    TZ_STATE_FIELD("n", TZ_INT, "", "what stirs it", .boundary_value = 3.0),
    TZ_STREAMED_FIELD("rows", TZ_INT, "", "what stirs n, one row an iteration", .required = 1),
    TZ_STATIC_FIELD("k", TZ_REAL, "", "conductivity", .radius = 2, .initial = 1.0,
                    .boundary_value = 0.25),
    TZ_STATIC_FIELD("mask", TZ_INT, "", "bits to turn", .initial = 5.0),
};

static const tz_pass mixed1d_passes[] = {
    {.name = "stir", .writes = TZ_WRITES(stir, n), TZ_PASS(stir)},
    {.name = "spread", .writes = TZ_WRITES(spread, u), TZ_PASS(spread)},
};

TEST_STENCIL(mixed1d, stir, 1, "u")
TEST_PLUGIN(mixed1d, &mixed1d_stencil)
