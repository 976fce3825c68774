/* The acoustic wave equation in 3-D, of order 2 and 8 in space. Only the displacement is read
 * around a cell. */
#include "common.h"

#define TZ_CELL_TEXT "sound3d2.cell.h"
#define TZ_CELL_ID sound3d2
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "sound3d8.cell.h"
#define TZ_CELL_ID sound3d8
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 4
#include <trapeze/rows.h>

static int sound3d2_derive(tz_setup *setup)
{
    const double scale = 1.0 / (setup->params[0].number * setup->params[0].number);
    setup->constants[TZ_CONSTANT(sound3d2, centre)] = -6.0 * scale;
    setup->constants[TZ_CONSTANT(sound3d2, side)] = scale;
    return 0;
}

static int sound3d8_derive(tz_setup *setup)
{
    const double scale = 1.0 / (setup->params[0].number * setup->params[0].number);
    setup->constants[TZ_CONSTANT(sound3d8, centre)] = scale * -3.0 * 205.0 / 72.0;
    setup->constants[TZ_CONSTANT(sound3d8, side1)] = scale * 8.0 / 5.0;
    setup->constants[TZ_CONSTANT(sound3d8, side2)] = scale * -1.0 / 5.0;
    setup->constants[TZ_CONSTANT(sound3d8, side3)] = scale * 8.0 / 315.0;
    setup->constants[TZ_CONSTANT(sound3d8, side4)] = scale * -1.0 / 560.0;
    return 0;
}

#define SOUND(NAME)                                                                                \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_REAL_PARAM("spacing", 1.0, 0.5, 10.0, "", "distance of cells"),                         \
    };                                                                                             \
    static const tz_field NAME##_fields[] = {                                                      \
        TZ_STATE_FIELD("u", TZ_REAL, "", "displacement"),                                          \
        TZ_STATE_FIELD("before", TZ_REAL, "", "displacement one step ago"),                        \
        TZ_STATIC_FIELD("speed", TZ_REAL, "", "squared: cells a step", .radius = 0,                \
                        .initial = 0.125, .boundary_value = 0.125),                                \
    };                                                                                             \
    static const tz_pass NAME##_passes[] = {                                                       \
        {.name = "leapfrog",                                                                       \
         .writes = TZ_WRITES(NAME, u) | TZ_WRITES(NAME, before),                                   \
         TZ_TAKES(NAME, before, u),                                                                \
         TZ_PASS(NAME)},                                                                           \
    };                                                                                             \
    TEST_STENCIL(NAME, NAME, 3, "u")

SOUND(sound3d2)
SOUND(sound3d8)
TEST_PLUGIN(sound3d, &sound3d2_stencil, &sound3d8_stencil)
