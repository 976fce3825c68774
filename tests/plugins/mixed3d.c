/* Two passes of different radius over fields of different types, with a static field that is read
 * off centre and branches that depend on what is read. */
#include "common.h"

#define TZ_CELL_TEXT "mixed3d_flow.cell.h"
#define TZ_CELL_ID mixed3d_flow
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "mixed3d_count.cell.h"
#define TZ_CELL_ID mixed3d_count
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

static const tz_param mixed3d_params[] = {
    TZ_REAL_PARAM("share", 0.125, 0.0, 0.25, "", "what a neighbour counts"),
};

TEST_DERIVE(mixed3d, mixed3d_flow, share)

static const tz_field mixed3d_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what flows", .initial = 0.5, .boundary_value = 0.25),
    TZ_STATE_FIELD("n", TZ_INT, "", "what is counted", .boundary_value = 5.0),
    TZ_STATIC_FIELD("k", TZ_REAL, "", "how well it flows, -1 to 1", .radius = 1, .initial = 0.75,
                    .boundary_value = 0.5),
};

static const tz_pass mixed3d_passes[] = {
    {.name = "flow", .writes = TZ_WRITES(mixed3d_flow, u), TZ_PASS(mixed3d_flow)},
    {.name = "count", .writes = TZ_WRITES(mixed3d_count, n), TZ_PASS(mixed3d_count)},
};

TEST_STENCIL(mixed3d, mixed3d_flow, 3, "u")
TEST_PLUGIN(mixed3d, &mixed3d_stencil)
