/* Two passes that read on one side, three fields, and a static one. */
#include "common.h"

#define TZ_CELL_TEXT "maxwell_h.cell.h"
#define TZ_CELL_ID maxwell_h
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "maxwell_e.cell.h"
#define TZ_CELL_ID maxwell_e
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param maxwell_params[] = {
    TZ_REAL_PARAM("rate", 0.5, 0.0, 0.7, "", "Courant number"),
};

static int maxwell_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(maxwell_h, rate)] = setup->params[0].number;
    return 0;
}

static const tz_field maxwell_fields[] = {
    TZ_STATE_FIELD("ez", TZ_REAL, "", "electric field"),
    TZ_STATE_FIELD("hx", TZ_REAL, "", "magnetic field along x, half a cell above"),
    TZ_STATE_FIELD("hy", TZ_REAL, "", "magnetic field along y, half a cell to the right"),
    TZ_STATIC_FIELD("eps", TZ_REAL, "", "Courant number over permittivity", .initial = 0.5),
};

static const tz_pass maxwell_passes[] = {
    {.name = "h",
     .writes = TZ_WRITES(maxwell_h, hx) | TZ_WRITES(maxwell_h, hy),
     TZ_PASS(maxwell_h)},
    {.name = "e", .writes = TZ_WRITES(maxwell_e, ez), TZ_PASS(maxwell_e)},
};

TEST_STENCIL(maxwell, maxwell_h, 2, "ez")
TEST_PLUGIN(maxwell, &maxwell_stencil)
