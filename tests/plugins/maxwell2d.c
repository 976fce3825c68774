/* Two passes on a staggered grid, which say what they read: one reads to the high sides, the other
 * to the low ones. */
#include "common.h"

#define TZ_CELL_TEXT "maxwell2d.cell.h"
#define TZ_CELL_ID maxwell_h
#define TZ_CELL_NAME advance_h
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "maxwell2d.cell.h"
#define TZ_CELL_ID maxwell_e
#define TZ_CELL_NAME advance_e
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

static const tz_param maxwell2d_params[] = {
    TZ_REAL_PARAM("courant", 0.5, 0.0, 0.7, "", "c dt / h"),
};

TEST_DERIVE(maxwell2d, maxwell_h, courant)

static const tz_field maxwell2d_fields[] = {
    TZ_STATE_FIELD("hz", TZ_REAL, "", "magnetic field"),
    TZ_STATE_FIELD("ex", TZ_REAL, "", "electric field along x"),
    TZ_STATE_FIELD("ey", TZ_REAL, "", "electric field along y"),
    TZ_STATIC_FIELD("share", TZ_REAL, "", "courant / permittivity", .initial = 0.5),
};

static const tz_pass maxwell2d_passes[] = {
    {.name = "h", .writes = TZ_WRITES(maxwell_h, hz), TZ_PASS(maxwell_h)},
    {.name = "e",
     .writes = TZ_WRITES(maxwell_e, ex) | TZ_WRITES(maxwell_e, ey),
     TZ_PASS(maxwell_e)},
};

TEST_STENCIL(maxwell2d, maxwell_h, 2, "hz")
TEST_PLUGIN(maxwell2d, &maxwell2d_stencil)
