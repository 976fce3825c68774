/* Integer state and static fields in 2 and 3 dimensions. */
#include "common.h"

#define EACH_TEXT "integers.cell.h"
#define EACH_NAME integers
#define EACH_ID(dimension) integers_##dimension##d
#define EACH_FROM 2
#define EACH_RADIUS 1
#define EACH_REAL 0
#include "each_dimension.h"

#define INTEGERS(NAME, dimensions)                                                                 \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_INTEGER_PARAM("mask", 0x3fffffff, 0, 0x7fffffff, "", "bits that are kept"),             \
    };                                                                                             \
    TEST_DERIVE(NAME, NAME, mask)                                                                  \
    static const tz_field NAME##_fields[] = {                                                      \
        TZ_STATE_FIELD("n", TZ_INT, "", "what is mixed", .boundary_value = 17.0),                  \
        TZ_STATIC_FIELD("seed", TZ_INT, "", "what is mixed in"),                                   \
    };                                                                                             \
    static const tz_pass NAME##_passes[] = {                                                       \
        {.name = "mix", .writes = TZ_WRITES(NAME, n), TZ_PASS(NAME)},                              \
    };                                                                                             \
    TEST_STENCIL(NAME, NAME, dimensions, "n")

INTEGERS(integers_2d, 2)
INTEGERS(integers_3d, 3)
TEST_PLUGIN(integers, &integers_2d_stencil, &integers_3d_stencil)
