/* Integer state and static fields in 2 and 3 dimensions. */
#include "common.h"

#define TZ_CELL_TEXT "integers.cell.h"
#define TZ_CELL_NAME integers
#define TZ_CELL_ID integers_2d
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "integers.cell.h"
#define TZ_CELL_NAME integers
#define TZ_CELL_ID integers_3d
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

#define INTEGERS(NAME, dimensions)                                                                 \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_INTEGER_PARAM("mask", 0x3fffffff, 0, 0x7fffffff, "", "bits that are kept"),             \
    };                                                                                             \
    static int NAME##_derive(tz_setup *setup)                                                      \
    {                                                                                              \
        setup->constants[TZ_CONSTANT(NAME, mask)] = setup->params[0].number;                       \
        return 0;                                                                                  \
    }                                                                                              \
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
