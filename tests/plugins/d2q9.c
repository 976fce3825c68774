/* Nine state fields, each read at one neighbour, and a static field of integers. */
#include "common.h"

#define TZ_CELL_TEXT "d2q9.cell.h"
#define TZ_CELL_ID d2q9
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

static const tz_param d2q9_params[] = {
    TZ_REAL_PARAM("tau", 0.8, 0.51, 10.0, "", "relaxation time in iterations"),
};

static int d2q9_derive(tz_setup *setup)
{
    const double share = 1.0 / setup->params[0].number;
    setup->constants[TZ_CONSTANT(d2q9, keep)] = 1.0 - share;
    setup->constants[TZ_CONSTANT(d2q9, share)] = share;
    return 0;
}

#define POPULATION(name, weight)                                                                   \
    TZ_STATE_FIELD(name, TZ_REAL, "", "a population", .initial = (weight),                         \
                   .boundary_value = (weight))
static const tz_field d2q9_fields[] = {
    POPULATION("f0", 4.0 / 9.0),   POPULATION("fe", 1.0 / 9.0),
    POPULATION("fn", 1.0 / 9.0),   POPULATION("fw", 1.0 / 9.0),
    POPULATION("fs", 1.0 / 9.0),   POPULATION("fne", 1.0 / 36.0),
    POPULATION("fnw", 1.0 / 36.0), POPULATION("fsw", 1.0 / 36.0),
    POPULATION("fse", 1.0 / 36.0), TZ_STATIC_FIELD("wall", TZ_INT, "", "solid if above 4"),
};

static const tz_pass d2q9_passes[] = {
    {.name = "update",
     .writes = TZ_WRITES(d2q9, f0) | TZ_WRITES(d2q9, fe) | TZ_WRITES(d2q9, fn) |
               TZ_WRITES(d2q9, fw) | TZ_WRITES(d2q9, fs) | TZ_WRITES(d2q9, fne) |
               TZ_WRITES(d2q9, fnw) | TZ_WRITES(d2q9, fsw) | TZ_WRITES(d2q9, fse),
     TZ_PASS(d2q9)},
};

TEST_STENCIL(d2q9, d2q9, 2, "f0")
TEST_PLUGIN(d2q9, &d2q9_stencil)
