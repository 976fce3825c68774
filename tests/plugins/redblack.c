/* Two passes over one field that depend on coordinates. In a ghost zone, TZ_X and TZ_Y are the
 * coordinates of the cell of the grid that the ghost cell repeats. */
#include "common.h"

#define REDBLACK_COLOUR 0
#define TZ_CELL_TEXT "redblack.cell.h"
#define TZ_CELL_ID red
#define TZ_CELL_NAME redblack
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#undef REDBLACK_COLOUR
#define REDBLACK_COLOUR 1
#define TZ_CELL_TEXT "redblack.cell.h"
#define TZ_CELL_ID black
#define TZ_CELL_NAME redblack
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

static const tz_param redblack_params[] = {
    TZ_REAL_PARAM("omega", 0.75, 0.0, 1.0, "", "share of the move"),
};

static int redblack_derive(tz_setup *setup)
{
    const double omega = setup->params[0].number;
    setup->constants[TZ_CONSTANT(red, keep)] = 1.0 - omega;
    setup->constants[TZ_CONSTANT(red, share)] = 0.25 * omega;
    return 0;
}

static const tz_field redblack_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what is smoothed"),
};

static const tz_pass redblack_passes[] = {
    {.name = "red", .writes = TZ_WRITES(red, u), .text_defines = "REDBLACK_COLOUR=0", TZ_PASS(red)},
    {.name = "black",
     .writes = TZ_WRITES(black, u),
     .text_defines = "REDBLACK_COLOUR=1",
     TZ_PASS(black)},
};

TEST_STENCIL(redblack, red, 2, "u")
TEST_PLUGIN(redblack, &redblack_stencil)
