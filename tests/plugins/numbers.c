/* The functions of cell updates, of reals and of integers. */
#include "common.h"

#define TZ_CELL_TEXT "numbers.cell.h"
#define TZ_CELL_ID numbers
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

static const tz_param numbers_params[] = {
    TZ_REAL_PARAM("gain", 0.75, 0.0, 2.0, "", "of the sine"),
    TZ_REAL_PARAM("far", 1e6, 0.0, 1e9, "", "of the cosine"),
};

static int numbers_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(numbers, gain)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(numbers, far)] = setup->params[1].number;
    return 0;
}

static const tz_field numbers_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "a number", .initial = 0.5, .boundary_value = 0.25),
    TZ_STATE_FIELD("v", TZ_REAL, "", "another", .initial = 0.75, .boundary_value = 0.5),
    TZ_STATE_FIELD("n", TZ_INT, "", "an integer", .initial = 3, .boundary_value = 5),
};

static const tz_pass numbers_passes[] = {
    {.name = "numbers",
     .writes = TZ_WRITES(numbers, u) | TZ_WRITES(numbers, v) | TZ_WRITES(numbers, n),
     TZ_PASS(numbers)},
};

/* One boundary: the functions take long without fused arithmetic. */
TEST_STENCIL_OF(numbers, numbers, 2, TZ_ALLOW(TZ_CLAMP), TZ_CLAMP, "u", "viridis")
TEST_PLUGIN(numbers, &numbers_stencil)
