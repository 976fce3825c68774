/* One dimension and a static field with a radius of its own. */
#include "common.h"

#define TZ_CELL_TEXT "static1d.cell.h"
#define TZ_CELL_ID static1d
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param static1d_params[] = {
    TZ_REAL_PARAM("share", 0.25, 0.0, 0.5, "", "dt / h^2"),
};

static int static1d_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(static1d, half)] = 0.5 * setup->params[0].number;
    return 0;
}

static const tz_field static1d_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "temperature", .boundary_value = 0.5),
    TZ_STATIC_FIELD("k", TZ_REAL, "", "conductivity, 0 to 1", .radius = 1, .initial = 1.0,
                    .boundary_value = 0.25),
};

static const tz_pass static1d_passes[] = {
    {.name = "update", .writes = TZ_WRITES(static1d, u), TZ_PASS(static1d)},
};

TEST_STENCIL(static1d, static1d, 1, "u")
TEST_PLUGIN(static1d, &static1d_stencil)
