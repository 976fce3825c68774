/* Twenty fields in 3-D, of which each pass reads one neighbour. */
#include "common.h"

#define TZ_CELL_TEXT "d3q19.cell.h"
#define TZ_CELL_ID d3q19
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
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

#define DIRECTION(name) TZ_STATE_FIELD(name, TZ_REAL, "", "density of a direction", .initial = 0.05)
static const tz_field d3q19_fields[] = {
    DIRECTION("f0"),  DIRECTION("f1"),
    DIRECTION("f2"),  DIRECTION("f3"),
    DIRECTION("f4"),  DIRECTION("f5"),
    DIRECTION("f6"),  DIRECTION("f7"),
    DIRECTION("f8"),  DIRECTION("f9"),
    DIRECTION("f10"), DIRECTION("f11"),
    DIRECTION("f12"), DIRECTION("f13"),
    DIRECTION("f14"), DIRECTION("f15"),
    DIRECTION("f16"), DIRECTION("f17"),
    DIRECTION("f18"), TZ_STATIC_FIELD("open", TZ_REAL, "", "1 in the fluid", .initial = 1.0),
};

static const tz_pass d3q19_passes[] = {
    {.name = "stream and collide",
     .writes = TZ_WRITES(d3q19, f0) | TZ_WRITES(d3q19, f1) | TZ_WRITES(d3q19, f2) |
               TZ_WRITES(d3q19, f3) | TZ_WRITES(d3q19, f4) | TZ_WRITES(d3q19, f5) |
               TZ_WRITES(d3q19, f6) | TZ_WRITES(d3q19, f7) | TZ_WRITES(d3q19, f8) |
               TZ_WRITES(d3q19, f9) | TZ_WRITES(d3q19, f10) | TZ_WRITES(d3q19, f11) |
               TZ_WRITES(d3q19, f12) | TZ_WRITES(d3q19, f13) | TZ_WRITES(d3q19, f14) |
               TZ_WRITES(d3q19, f15) | TZ_WRITES(d3q19, f16) | TZ_WRITES(d3q19, f17) |
               TZ_WRITES(d3q19, f18),
     TZ_PASS(d3q19)},
};

TEST_STENCIL(d3q19, d3q19, 3, "f0")
TEST_PLUGIN(d3q19, &d3q19_stencil)
