/* Lattice Boltzmann: flow in two dimensions past obstacles, on the D2Q9 lattice. */
#include <math.h>
#include <stdio.h>
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

static const double weights[] = {MIDDLE, SIDE, SIDE, SIDE, SIDE, CORNER, CORNER, CORNER, CORNER};

static int derive(tz_setup *setup)
{
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

/* A speed of the fluid beyond which the method is wrong, and one for a viscosity of 1 beyond which
 * it mostly diverges: cells then have a Reynolds number of so much. */
static const double SPEED_MOST = 0.3, REYNOLDS_MOST = 100.0;

/* At the start, and of what fixed sides send in. */
static double largest_speed(const tz_run_facts *facts)
{
    static const int cx[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    double low, high, most = 0.0, bound = 0.0;
    for (int side = 0; side < 2 * facts->dims; side++) {
        double x = 0.0, y = 0.0;
        for (int i = 0; i < 9 && facts->boundary[side / 2][side % 2] == TZ_FIXED; i++) {
            x += cx[i] * facts->boundary_values[i * TZ_SIDES + side];
            y += cy[i] * facts->boundary_values[i * TZ_SIDES + side];
        }
        most = fmax(most, hypot(x, y));
    }
    /* The field speed takes longer to compute than this bound. */
    for (int i = 1; i < 9 && facts->range(facts->context, i, &low, &high) == 0; i++)
        bound += fmax(fabs(low - weights[i]), fabs(high - weights[i]));
    if (bound > fmin(SPEED_MOST, REYNOLDS_MOST * facts->params[0].number) &&
        facts->range(facts->context, TZ_FIELD(lbm_flow, speed), &low, &high) == 0)
        most = fmax(most, high);
    return most;
}

static int check_run(const tz_run_facts *facts)
{
    const double speed = largest_speed(facts), viscosity = facts->params[0].number;
    if (speed > SPEED_MOST)
        snprintf(facts->message, facts->message_size,
                 "the populations move at up to %.3g cells an iteration: above about %g the flow "
                 "is wrong or diverges; use smaller velocities, and a smaller viscosity for the "
                 "same Reynolds number",
                 speed, SPEED_MOST);
    else if (speed > REYNOLDS_MOST * viscosity)
        snprintf(facts->message, facts->message_size,
                 "at a speed of %.3g and viscosity = %.3g a cell has the Reynolds number %.3g: "
                 "above about %g the flow mostly diverges; set viscosity to %.3g or more, or use "
                 "more cells",
                 speed, viscosity, speed / viscosity, REYNOLDS_MOST, speed / REYNOLDS_MOST);
    else
        return 0;
    return TZ_WARNS;
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
    TZ_STATIC_FIELD("solid", TZ_INT, "",
                    "not 0 in cells of obstacles, which send everything back; the residual leaves "
                    "them out",
                    .radius = 1, .excludes = 1),
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
    .doc = "Flow past obstacles by a lattice Boltzmann method (D2Q9, one relaxation time); no side "
           "holds a pressure or a velocity: fixed sends in given populations, clamp lets go.",
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
    .boundaries = TZ_ALLOW_ALL,
    .boundary = TZ_PERIODIC,
    .picture = {"vorticity", "balance", -0.02, 0.02},
    .derive = derive,
    .check_run = check_run,
};

TZ_PLUGIN_DEFINE("lbm", "1.0.0", "lattice Boltzmann flow", &stencil)
