/* Two state fields, both written by one pass. */
#include "common.h"

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_ID wave
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const tz_param wave_params[] = {
    TZ_REAL_PARAM("courant", 0.5, 0.0, 10.0, "", "c dt / h"),
};

static int wave_derive(tz_setup *setup)
{
    const double courant = setup->params[0].number;
    if (courant * courant > 0.5) {
        snprintf(setup->message, setup->message_size,
                 "courant = %.6g is unstable: the largest stable value is 0.707", courant);
        return TZ_DIVERGES;
    }
    setup->constants[TZ_CONSTANT(wave, side)] = courant * courant;
    setup->constants[TZ_CONSTANT(wave, centre)] = 2.0 - 4.0 * courant * courant;
    return 0;
}

static const tz_field wave_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "displacement"),
    TZ_STATE_FIELD("before", TZ_REAL, "", "displacement one step ago"),
};

static const tz_pass wave_passes[] = {
    {.name = "leapfrog",
     .writes = TZ_WRITES(wave, u) | TZ_WRITES(wave, before),

     TZ_PASS(wave)},
};

TEST_STENCIL(wave, wave, 2, "u")
TEST_PLUGIN(wave, &wave_stencil)
