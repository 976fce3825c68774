/* A state and a static field of bits, whose neighbours are read too, in 1, 2 and 3 dimensions. */
#include "common.h"

#define EACH_TEXT "walls.cell.h"
#define EACH_NAME walls
#define EACH_ID(dimension) walls_##dimension##d
#define EACH_FROM 1
#define EACH_RADIUS 1
#define EACH_REAL 0
#include "each_dimension.h"

#define WALLS(NAME, dimensions)                                                                    \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_FLAG_PARAM("flip", 1, "walls flip adjacent cells"),                                     \
    };                                                                                             \
    static int NAME##_derive(tz_setup *setup)                                                      \
    {                                                                                              \
        setup->constants[TZ_CONSTANT(NAME, flip)] = setup->params[0].number != 0.0 ? -1.0 : 0.0;   \
        return 0;                                                                                  \
    }                                                                                              \
    static const tz_field NAME##_fields[] = {                                                      \
        TZ_STATE_FIELD("alive", TZ_BITS, "", "cells that live"),                                   \
        TZ_STATIC_FIELD("wall", TZ_BITS, "", "cells that nothing enters", .radius = 1),            \
    };                                                                                             \
    static const tz_pass NAME##_passes[] = {                                                       \
        {.name = "step", .writes = TZ_WRITES(NAME, alive), TZ_PASS(NAME)},                         \
    };                                                                                             \
    TEST_STENCIL_BITS(NAME, dimensions)

WALLS(walls_1d, 1)
WALLS(walls_2d, 2)
WALLS(walls_3d, 3)
TEST_PLUGIN(walls, &walls_1d_stencil, &walls_2d_stencil, &walls_3d_stencil)
