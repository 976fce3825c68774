/* Two state fields, both written by one pass. */
#include "common.h"

#define TZ_CELL_TEXT "leapfrog.cell.h"
#define TZ_CELL_ID leapfrog
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param leapfrog_params[] = {
    TZ_REAL_PARAM("courant", 0.5, 0.0, 10.0, "", "c dt / h"),
};

static int leapfrog_derive(tz_setup *setup)
{
    const double courant = setup->params[0].number;
    if (courant * courant > 0.5) {
        snprintf(setup->message, setup->message_size,
                 "courant = %.6g is unstable: the largest stable value is 0.707", courant);
        return TZ_DIVERGES;
    }
    setup->constants[TZ_CONSTANT(leapfrog, side)] = courant * courant;
    setup->constants[TZ_CONSTANT(leapfrog, centre)] = 2.0 - 4.0 * courant * courant;
    return 0;
}

static const tz_field leapfrog_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "displacement"),
    TZ_STATE_FIELD("before", TZ_REAL, "", "displacement one step ago"),
};

static const tz_pass leapfrog_passes[] = {
    {.name = "leapfrog",
     .writes = TZ_WRITES(leapfrog, u) | TZ_WRITES(leapfrog, before),
     TZ_TAKES(leapfrog, before, u),
     TZ_PASS(leapfrog)},
};

TEST_STENCIL(leapfrog, leapfrog, 2, "u")
TEST_PLUGIN(leapfrog, &leapfrog_stencil)
