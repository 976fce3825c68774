/* Two passes of different radius, each of which writes one of two fields. */
#include "common.h"

#define TZ_CELL_TEXT "gradient.cell.h"
#define TZ_CELL_ID gradient
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffuse.cell.h"
#define TZ_CELL_ID diffuse
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param twofields_params[] = {
    {"share", TZ_PARAM_REAL, 0.2, NULL, 0.0, 0.25, "", "dt / h^2", NULL},
    {"edge", TZ_PARAM_REAL, 0.25, NULL, 1e-6, 1e6, "", "fourth power of the slope that halves it",
     NULL},
};

static int twofields_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(gradient, share)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(gradient, edge)] = setup->params[1].number;
    return 0;
}

#define twofields_FIRST_FIELD "u"
static const tz_field twofields_fields[] = {
    {"u", TZ_STATE, TZ_REAL, 0, "", "what spreads", 0, 0.0, 0.0},
    {"slope", TZ_STATE, TZ_REAL, 0, "", "its squared gradient", 0, 0.0, 0.0},
};

static const tz_pass twofields_passes[] = {
    {.name = "gradient",
     .writes = TZ_WRITES(gradient, slope),
     .text_defines = "",
     TZ_PASS(gradient)},
    {.name = "diffuse", .writes = TZ_WRITES(diffuse, u), .text_defines = "", TZ_PASS(diffuse)},
};

TEST_STENCIL(twofields, gradient, 2)
TEST_PLUGIN(twofields, &twofields_stencil)
