/* Two passes of different radius, each of which writes one of two fields. */
#include "common.h"

#define TZ_CELL_TEXT "gradient.cell.h"
#define TZ_CELL_ID gradient
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffuse.cell.h"
#define TZ_CELL_ID diffuse
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

static const tz_param twofields_params[] = {
    TZ_REAL_PARAM("share", 0.2, 0.0, 0.25, "", "dt / h^2"),
    TZ_REAL_PARAM("edge", 0.25, 1e-6, 1e6, "", "fourth power of the slope that halves it"),
};

static int twofields_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(gradient, share)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(gradient, edge)] = setup->params[1].number;
    return 0;
}

static const tz_field twofields_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what spreads"),
    TZ_STATE_FIELD("slope", TZ_REAL, "", "its squared gradient"),
};

static const tz_pass twofields_passes[] = {
    {.name = "gradient", .writes = TZ_WRITES(gradient, slope), TZ_PASS(gradient)},
    {.name = "diffuse", .writes = TZ_WRITES(diffuse, u), TZ_PASS(diffuse)},
};

TEST_STENCIL(twofields, gradient, 2, "u")
TEST_PLUGIN(twofields, &twofields_stencil)
