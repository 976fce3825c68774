/* Ghost zones on one side, in 1-D, 2-D and 3-D. */
#include "common.h"

#define ONESIDED_DIMS 1
#define TZ_CELL_TEXT "onesided.cell.h"
#define TZ_CELL_ID line
#define TZ_CELL_NAME onesided
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#undef ONESIDED_DIMS
#define ONESIDED_DIMS 2
#define TZ_CELL_TEXT "onesided.cell.h"
#define TZ_CELL_ID sheet
#define TZ_CELL_NAME onesided
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#undef ONESIDED_DIMS
#define ONESIDED_DIMS 3
#define TZ_CELL_TEXT "onesided.cell.h"
#define TZ_CELL_ID block
#define TZ_CELL_NAME onesided
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

static const tz_param onesided1d_params[] = {
    TZ_REAL_PARAM("flow", 0.25, 0.0, 0.5, "", "share that comes from the nearest cell"),
};
#define onesided2d_params onesided1d_params
#define onesided3d_params onesided1d_params

static int onesided1d_derive(tz_setup *setup)
{
    const double flow = setup->params[0].number;
    setup->constants[TZ_CONSTANT(line, a)] = 1.0 - 1.5 * flow;
    setup->constants[TZ_CONSTANT(line, b)] = flow;
    setup->constants[TZ_CONSTANT(line, c)] = 0.5 * flow;
    return 0;
}
#define onesided2d_derive onesided1d_derive
#define onesided3d_derive onesided1d_derive

static const tz_field onesided1d_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what flows", .boundary_value = 0.5),
    TZ_STATIC_FIELD("k", TZ_REAL, "", "how fast", .radius = 1, .initial = 1.0,
                    .boundary_value = 0.25),
};
#define onesided2d_fields onesided1d_fields
static const tz_field onesided3d_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what flows", .boundary_value = 0.5),
    TZ_STATIC_FIELD("k", TZ_REAL, "", "how fast", .radius = 2, .initial = 1.0,
                    .boundary_value = 0.25),
};

static const tz_pass onesided1d_passes[] = {
    {.name = "flow",
     .writes = TZ_WRITES(line, u),
     .text_defines = "ONESIDED_DIMS=1",
     TZ_PASS(line)},
};
static const tz_pass onesided2d_passes[] = {
    {.name = "flow",
     .writes = TZ_WRITES(sheet, u),
     .text_defines = "ONESIDED_DIMS=2",
     TZ_PASS(sheet)},
};
static const tz_pass onesided3d_passes[] = {
    {.name = "flow",
     .writes = TZ_WRITES(block, u),
     .text_defines = "ONESIDED_DIMS=3",
     TZ_PASS(block)},
};

TEST_STENCIL(onesided1d, line, 1, "u")
TEST_STENCIL(onesided2d, sheet, 2, "u")
TEST_STENCIL(onesided3d, block, 3, "u")
TEST_PLUGIN(onesided, &onesided1d_stencil, &onesided2d_stencil, &onesided3d_stencil)
