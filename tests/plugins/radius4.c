/* A wide stencil in 1, 2 and 3 dimensions. */
#include "common.h"

#define TZ_CELL_TEXT "radius4.cell.h"
#define TZ_CELL_NAME radius4
#define TZ_CELL_ID radius4_1d
#define TZ_CELL_DIMS 1
#define TZ_CELL_RADIUS 4
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "radius4.cell.h"
#define TZ_CELL_NAME radius4
#define TZ_CELL_ID radius4_2d
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 4
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "radius4.cell.h"
#define TZ_CELL_NAME radius4
#define TZ_CELL_ID radius4_3d
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 4
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define RADIUS4(NAME, dimensions)                                                                  \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_REAL_PARAM("unit", 0.0078125, -1.0, 1.0, "", "unit of the weights"),                    \
    };                                                                                             \
    static int NAME##_derive(tz_setup *setup)                                                      \
    {                                                                                              \
        setup->constants[TZ_CONSTANT(NAME, unit)] = setup->params[0].number;                       \
        return 0;                                                                                  \
    }                                                                                              \
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
