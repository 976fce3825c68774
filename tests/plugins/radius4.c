/* A wide stencil in 1, 2 and 3 dimensions. */
#include "common.h"

#define EACH_TEXT "radius4.cell.h"
#define EACH_NAME radius4
#define EACH_ID(dimension) radius4_##dimension##d
#define EACH_FROM 1
#define EACH_RADIUS 4
#define EACH_REAL 1
#include "each_dimension.h"

#define RADIUS4(NAME, dimensions)                                                                  \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_REAL_PARAM("unit", 0.0078125, -1.0, 1.0, "", "unit of the weights"),                    \
    };                                                                                             \
    TEST_DERIVE(NAME, NAME, unit)                                                                  \
    static const tz_field NAME##_fields[] = {                                                      \
        TZ_STATE_FIELD("u", TZ_REAL, "", "what is summed", .boundary_value = 0.25),                \
    };                                                                                             \
    static const tz_pass NAME##_passes[] = {                                                       \
        {.name = "sum", .writes = TZ_WRITES(NAME, u), TZ_PASS(NAME)},                              \
    };                                                                                             \
    TEST_STENCIL(NAME, NAME, dimensions, "u")

RADIUS4(radius4_1d, 1)
RADIUS4(radius4_2d, 2)
RADIUS4(radius4_3d, 3)
TEST_PLUGIN(radius4, &radius4_1d_stencil, &radius4_2d_stencil, &radius4_3d_stencil)
