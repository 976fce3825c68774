/* Maxwell's equations on a staggered grid in 3-D: two passes, each of which reads one side
 * alone. */
#include "common.h"

#define TZ_CELL_TEXT "yee3d_h.cell.h"
#define TZ_CELL_ID yee3d_h
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "yee3d_e.cell.h"
#define TZ_CELL_ID yee3d_e
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param yee3d_params[] = {
    TZ_REAL_PARAM("step", 0.5, 0.0, 0.57, "", "c dt / h"),
};

TEST_DERIVE(yee3d, yee3d_h, step)

static const tz_field yee3d_fields[] = {
    TZ_STATE_FIELD("ex", TZ_REAL, "", "electric field", .boundary_value = 0.25),
    TZ_STATE_FIELD("ey", TZ_REAL, "", "electric field"),
    TZ_STATE_FIELD("ez", TZ_REAL, "", "electric field"),
    TZ_STATE_FIELD("hx", TZ_REAL, "", "magnetic field"),
    TZ_STATE_FIELD("hy", TZ_REAL, "", "magnetic field", .boundary_value = -0.5),
    TZ_STATE_FIELD("hz", TZ_REAL, "", "magnetic field"),
    TZ_STATIC_FIELD("eps", TZ_REAL, "", "inverse permittivity", .radius = 0, .initial = 1.0),
};

static const tz_pass yee3d_passes[] = {
    {.name = "magnetic",
     .writes = TZ_WRITES(yee3d_h, hx) | TZ_WRITES(yee3d_h, hy) | TZ_WRITES(yee3d_h, hz),
     TZ_PASS(yee3d_h)},
    {.name = "electric",
     .writes = TZ_WRITES(yee3d_e, ex) | TZ_WRITES(yee3d_e, ey) | TZ_WRITES(yee3d_e, ez),
     TZ_PASS(yee3d_e)},
};

TEST_STENCIL(yee3d, yee3d_h, 3, "ez")
TEST_PLUGIN(yee3d, &yee3d_stencil)
