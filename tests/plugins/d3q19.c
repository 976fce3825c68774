/* Twenty fields in 3-D, of which each pass reads one neighbour. */
#include "common.h"

#define TZ_CELL_TEXT "d3q19.cell.h"
#define TZ_CELL_ID d3q19
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

static const tz_param d3q19_params[] = {
    TZ_REAL_PARAM("omega", 1.0, 0.0, 2.0, "", "relaxation"),
};

static int d3q19_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(d3q19, omega)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(d3q19, rest)] = 1.0 / 3.0;
    setup->constants[TZ_CONSTANT(d3q19, axis)] = 1.0 / 18.0;
    setup->constants[TZ_CONSTANT(d3q19, diagonal)] = 1.0 / 36.0;
    return 0;
}

#define DIRECTION(X, f, dx, dy, dz, weight)                                                        \
    TZ_STATE_FIELD(#f, TZ_REAL, "", "density of a direction", .initial = 0.05),
static const tz_field d3q19_fields[] = {
    D3Q19(DIRECTION, ) TZ_STATIC_FIELD("open", TZ_REAL, "", "1 in the fluid", .initial = 1.0),
};

#define WRITTEN(X, f, dx, dy, dz, weight) | TZ_WRITES(d3q19, f)
static const tz_pass d3q19_passes[] = {
    {.name = "stream and collide", .writes = 0 D3Q19(WRITTEN, ), TZ_PASS(d3q19)},
};

TEST_STENCIL(d3q19, d3q19, 3, "f0")
TEST_PLUGIN(d3q19, &d3q19_stencil)
