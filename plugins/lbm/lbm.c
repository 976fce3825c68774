/* Lattice Boltzmann: flow in two dimensions past obstacles, on the D2Q9 lattice. */
#include <math.h>
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "lbm.cell.h"
#define TZ_CELL_ID lbm
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "lbm.cell.h"
#define TZ_CELL_ID lbm_flow
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define MIDDLE (4. / 9)
#define SIDE (1. / 9)
#define CORNER (1. / 36)

static const tz_param params[] = {
    TZ_REAL_PARAM("viscosity", 0.02, 1e-6, 10.0, "",
                  "kinematic viscosity in cells^2 an iteration; the Reynolds number is velocity * "
                  "size / viscosity"),
};

static int derive(tz_setup *setup)
{
    static const double weights[] = {MIDDLE, SIDE,   SIDE,   SIDE,  SIDE,
                                     CORNER, CORNER, CORNER, CORNER};
    const double omega = 1.0 / (3.0 * setup->params[0].number + 0.5);
    double *constants = setup->constants;
    constants[TZ_CONSTANT(lbm, keep)] = 1.0 - omega;
    constants[TZ_CONSTANT(lbm, middle)] = MIDDLE * omega;
    constants[TZ_CONSTANT(lbm, side)] = SIDE * omega;
    constants[TZ_CONSTANT(lbm, corner)] = CORNER * omega;
    for (int i = 0; i < 9; i++)
        if (isnan(setup->origins[i]))
            setup->origins[i] = weights[i];
    return 0;
}

#define POPULATION(name, weight, to)                                                               \
    TZ_STATE_FIELD(name, TZ_REAL, "", "share of the fluid that moves " to " in an iteration",      \
                   .initial = weight, .boundary_value = weight)
static const tz_field fields[] = {
    POPULATION("f0", MIDDLE, "nowhere"),
    POPULATION("f1", SIDE, "to x + 1"),
    POPULATION("f2", SIDE, "to y + 1"),
    POPULATION("f3", SIDE, "to x - 1"),
    POPULATION("f4", SIDE, "to y - 1"),
    POPULATION("f5", CORNER, "to x + 1, y + 1"),
    POPULATION("f6", CORNER, "to x - 1, y + 1"),
    POPULATION("f7", CORNER, "to x - 1, y - 1"),
    POPULATION("f8", CORNER, "to x + 1, y - 1"),
    TZ_STATIC_FIELD("solid", TZ_INT, "", "not 0 in cells of obstacles"),
    TZ_DERIVED_FIELD("speed", TZ_REAL, "", "speed of the fluid, in cells an iteration"),
    TZ_DERIVED_FIELD("vorticity", TZ_REAL, "", "how the fluid turns, in radians an iteration"),
    TZ_DERIVED_FIELD("density", TZ_REAL, "", "its density; a third of it is the pressure"),
};

static const tz_pass passes[] = {
    {.name = "pull and collide", .writes = (1u << 9) - 1u, TZ_PASS(lbm)},
};

static const tz_pass outputs[] = {
    {.name = "flow",
     .writes = TZ_WRITES(lbm, speed) | TZ_WRITES(lbm, vorticity) | TZ_WRITES(lbm, density),
     TZ_PASS(lbm_flow)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "lbm",
    .doc = "Flow past obstacles by a lattice Boltzmann method (D2Q9, one relaxation time).",
    .dims = 2,
    .fields_count = sizeof fields / sizeof *fields,
    .fields = fields,
    .params_count = sizeof params / sizeof *params,
    .params = params,
    .constants_count = TZ_CONSTANTS_COUNT(lbm),
    .constants = lbm_constants,
    .passes_count = 1,
    .passes = passes,
    .outputs_count = 1,
    .outputs = outputs,
    .boundaries =
        TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_MIRROR),
    .boundary = TZ_PERIODIC,
    .picture = {"vorticity", "balance", -0.02, 0.02},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("lbm", "1.0.0", "lattice Boltzmann flow", &stencil)
