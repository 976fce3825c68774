/* Seven static fields that are read at the cell's own place alone. */
#include "common.h"

#define TZ_CELL_TEXT "conduct3d.cell.h"
#define TZ_CELL_ID conduct3d
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param conduct3d_params[] = {
    TZ_REAL_PARAM("share", 1.0, 0.0, 1.0, "", "of the sum that is kept"),
};

TEST_DERIVE(conduct3d, conduct3d, share)

#define CONDUCT_COEFFICIENT(name, value)                                                           \
    TZ_STATIC_FIELD(name, TZ_REAL, "", "coefficient of a neighbour", .radius = 0,                  \
                    .initial = (value), .boundary_value = (value))

static const tz_field conduct3d_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "temperature"),
    CONDUCT_COEFFICIENT("own", 0.25),
    CONDUCT_COEFFICIENT("west", 0.125),
    CONDUCT_COEFFICIENT("east", 0.125),
    CONDUCT_COEFFICIENT("south", 0.125),
    CONDUCT_COEFFICIENT("north", 0.125),
    CONDUCT_COEFFICIENT("below", 0.125),
    CONDUCT_COEFFICIENT("above", 0.125),
};

static const tz_pass conduct3d_passes[] = {
    {.name = "conduct", .writes = TZ_WRITES(conduct3d, u), TZ_PASS(conduct3d)},
};

TEST_STENCIL(conduct3d, conduct3d, 3, "u")
TEST_PLUGIN(conduct3d, &conduct3d_stencil)
