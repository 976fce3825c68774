/* Derived fields and constants that vary, in every dimension and for bits. Only swirl2d lists what
 * it reads. */
#include "common.h"

#define SWIRL(NAME, D)                                                                             \
    static const tz_field NAME##_fields[] = {                                                      \
        TZ_STATE_FIELD("u", TZ_REAL, "m/s", "velocity along x"),                                   \
        TZ_STATE_FIELD("v", TZ_REAL, "m/s", "velocity along the last axis", .initial = 0.5,        \
                       .boundary_value = 0.25),                                                    \
        TZ_STATIC_FIELD("drag", TZ_REAL, "", "what slows the flow", .radius = 1, .initial = 0.5),  \
        TZ_DERIVED_FIELD("speed", TZ_REAL, "m2/s2", "square of the speed"),                        \
        TZ_DERIVED_FIELD("turn", TZ_REAL, "1/s", "how the flow turns"),                            \
        TZ_DERIVED_FIELD("kind", TZ_INT, "", "which way, and where"),                              \
    };                                                                                             \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_REAL_PARAM("spread", 0.125, 0.0, 0.25, "", "what each neighbour gives"),                \
    };                                                                                             \
    static int NAME##_derive(tz_setup *setup)                                                      \
    {                                                                                              \
        setup->constants[TZ_CONSTANT(NAME, spread)] = setup->params[0].number;                     \
        setup->constants[TZ_CONSTANT(NAME, keep)] = 1.0 - 2.0 * setup->params[0].number;           \
        setup->origins[TZ_FIELD(NAME, v)] = 0.5;                                                   \
        return 0;                                                                                  \
    }                                                                                              \
    static int NAME##_at_step(const tz_setup *setup, int64_t step, double *constants)              \
    {                                                                                              \
        if (step > 1000000)                                                                        \
            return snprintf(setup->message, setup->message_size, "the pump is empty"), TZ_REFUSED; \
        constants[TZ_CONSTANT(NAME, push)] = 0.3 * (double)(step * step % 7 - 2);                  \
        constants[TZ_CONSTANT(NAME, phase)] = (double)(step % 4);                                  \
        return 0;                                                                                  \
    }                                                                                              \
    static const tz_pass NAME##_passes[] = {                                                       \
        {.name = "flow", .writes = TZ_WRITES(NAME, u) | TZ_WRITES(NAME, v), TZ_PASS(NAME)},        \
    };                                                                                             \
    static const tz_pass NAME##_outputs[] = {                                                      \
        {.name = "speed", .writes = TZ_WRITES(NAME, speed), TZ_PASS(NAME##_speed)},                \
        {.name = "turn",                                                                           \
         .writes = TZ_WRITES(NAME, turn) | TZ_WRITES(NAME, kind),                                  \
         TZ_PASS(NAME##_turn)},                                                                    \
    };                                                                                             \
    TEST_STENCIL_WITH(NAME, NAME, D, TZ_ALLOW_ALL, TZ_CLAMP, "turn", "viridis",                    \
                      .at_step = NAME##_at_step, .outputs = NAME##_outputs,                        \
                      .outputs_count = COUNT(NAME##_outputs))

#define EACH_TEXT "swirl.cell.h"
#define EACH_FROM 1
#define EACH_REAL 1
#define EACH_NAME swirl
#define EACH_ID(dimension) swirl##dimension##d
#define EACH_RADIUS 1
#include "each_dimension.h"
#define EACH_NAME swirl_speed
#define EACH_ID(dimension) swirl##dimension##d_speed
#define EACH_RADIUS 0
#include "each_dimension.h"
#define EACH_NAME swirl_turn
#define EACH_ID(dimension) swirl##dimension##d_turn
#define EACH_RADIUS 2
#include "each_dimension.h"

SWIRL(swirl1d, 1)
SWIRL(swirl2d, 2)
SWIRL(swirl3d, 3)

#define TZ_CELL_TEXT "edges.cell.h"
#define TZ_CELL_ID edges
#define TZ_CELL_DIMS 2
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>
#define TZ_CELL_TEXT "edges.cell.h"
#define TZ_CELL_ID edges_found
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

static const tz_field edges_fields[] = {
    TZ_STATE_FIELD("alive", TZ_BITS, "", "cells that live", .boundary_value = 1),
    TZ_DERIVED_FIELD("edge", TZ_BITS, "", "cells that differ from another one"),
};
static const tz_param edges_params[] = {TZ_FLAG_PARAM("flip", 1, "the second rule is on")};
static int edges_derive(tz_setup *setup)
{
    setup->constants[TZ_CONSTANT(edges, flip)] = setup->params[0].number != 0.0 ? -1.0 : 0.0;
    return 0;
}
static int edges_at_step(const tz_setup *setup, int64_t step, double *constants)
{
    (void)setup;
    constants[TZ_CONSTANT(edges, pulse)] = (double)(step * step % 7 % 2);
    return 0;
}
static const tz_pass edges_passes[] = {
    {.name = "step", .writes = TZ_WRITES(edges, alive), TZ_PASS(edges)},
};
static const tz_pass edges_outputs[] = {
    {.name = "edge", .writes = TZ_WRITES(edges_found, edge), TZ_PASS(edges_found)},
};
TEST_STENCIL_WITH(edges, edges, 2, TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC), TZ_FIXED, "edge",
                  "gray", .at_step = edges_at_step, .outputs = edges_outputs,
                  .outputs_count = COUNT(edges_outputs))

TEST_PLUGIN(swirl, &swirl1d_stencil, &swirl2d_stencil, &swirl3d_stencil, &edges_stencil)
