/* A chip with its interface, spreader, sink and convection. tz.chip makes the fields of it from
 * HotSpot's files or from a table of layers. */
#include <math.h>
#include <stdio.h>

#define TZ_CELL_TEXT "chip.cell.h"
#define TZ_CELL_ID chip
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "chip.cell.h"
#define TZ_CELL_ID chip_decay
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

enum { AMBIENT, DT_S, ALLOW_UNSTABLE, INLET, PARAMS };

static const tz_param params[PARAMS] = {
    [AMBIENT] = TZ_REAL_PARAM("ambient_k", 318.15, 0.0, 1e5, "K", "ambient temperature"),
    [DT_S] = TZ_REAL_PARAM("dt_s", 1e-3, 1e-30, 1e9, "s",
                           "time step; tz.chip gives 0.9 of the largest stable one",
                           .role = TZ_PARAM_ROLE_TIME_STEP),
    [ALLOW_UNSTABLE] = TZ_FLAG_PARAM("allow_unstable", 0, "run even with a time step that diverges",
                                     .role = TZ_PARAM_ROLE_ALLOW_UNSTABLE),
    [INLET] =
        TZ_REAL_PARAM("inlet_k", 300.0, 0.0, 1e5, "K", "temperature of the coolant at inlets"),
};

static int derive(tz_setup *setup)
{
    const tz_value *p = setup->params;
    /* Memory holds differences from the first ambient temperature. */
    double *origin = &setup->origins[TZ_FIELD(chip, temperature)];
    if (isnan(*origin))
        *origin = p[AMBIENT].number;
    setup->constants[TZ_CONSTANT(chip, dt)] = p[DT_S].number;
    setup->constants[TZ_CONSTANT(chip, ambient)] = p[AMBIENT].number - *origin;
    setup->constants[TZ_CONSTANT(chip, coolant)] = p[INLET].number - *origin;
    return 0;
}

/* What fields must not be below 0: heat would flow from cold to warm. */
static const int positive[] = {TZ_FIELD(chip, conductance_x), TZ_FIELD(chip, conductance_y),
                               TZ_FIELD(chip, conductance_z), TZ_FIELD(chip, convection),
                               TZ_FIELD(chip, warming),       TZ_FIELD(chip, inlet)};
static const char *const positive_names[] = {"conductance_x", "conductance_y", "conductance_z",
                                             "convection",    "warming",       "inlet"};

static int check_run(const tz_run_facts *facts)
{
    double low, high;
    for (int i = 0; i < (int)(sizeof positive / sizeof *positive); i++) {
        if (facts->range(facts->context, positive[i], &low, &high))
            return 0;
        if (low >= 0.0)
            continue;
        snprintf(facts->message, facts->message_size,
                 "the least value of %s is %.6g, so that heat flows from cold to warm: set the "
                 "field to 0 or more",
                 positive_names[i], low);
        return TZ_REFUSED;
    }
    const double dt = facts->params[DT_S].number;
    if (facts->params[ALLOW_UNSTABLE].number != 0.0 ||
        facts->range(facts->context, TZ_FIELD(chip, decay), &low, &high) || dt * high <= 1.0 + 1e-6)
        return 0;
    snprintf(facts->message, facts->message_size,
             "dt_s = %.6g s is unstable with these conductances; the largest stable step is %.6g "
             "s: set dt_s to at most that, or allow_unstable = true",
             dt, 1.0 / high);
    return TZ_DIVERGES;
}

#define CONDUCTANCE(axis)                                                                          \
    TZ_STATIC_FIELD("conductance_" axis, TZ_REAL, "W/K",                                           \
                    "conductance to the next cell along " axis "; 0: none", .radius = 1,           \
                    .initial = 0.02)
#define FLOW(axis)                                                                                 \
    TZ_STATIC_FIELD("flow_" axis, TZ_REAL, "W/K",                                                  \
                    "heat capacity of the coolant that flows to the next cell along " axis         \
                    " in a second; below 0: that comes from there",                                \
                    .radius = 1)
static const tz_field fields[] = {
    TZ_STATE_FIELD("temperature", TZ_REAL, "K", "temperature of the cell", .initial = 318.15,
                   .boundary_value = 318.15),
    TZ_STATIC_FIELD("power", TZ_REAL, "W", "power that the cell dissipates"),
    CONDUCTANCE("x"),
    CONDUCTANCE("y"),
    CONDUCTANCE("z"),
    TZ_STATIC_FIELD("convection", TZ_REAL, "W/K", "conductance to the ambient", .initial = 1e-5),
    TZ_STATIC_FIELD("warming", TZ_REAL, "K/J",
                    "by how much a joule warms the cell: 1 / its heat capacity", .initial = 1e3),
    FLOW("x"),
    FLOW("y"),
    TZ_STATIC_FIELD("inlet", TZ_REAL, "W/K", "the same of what enters the grid in the cell"),
    TZ_DERIVED_FIELD("decay", TZ_REAL, "1/s",
                     "warming times all conductances of the cell: the largest value is the inverse "
                     "of the largest stable dt_s"),
};

static const tz_pass passes[] = {
    {.name = "update", .writes = TZ_WRITES(chip, temperature), TZ_PASS(chip)},
};

static const tz_pass outputs[] = {
    {.name = "decay", .writes = TZ_WRITES(chip, decay), TZ_PASS(chip_decay)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "chip",
    .doc = "Temperature of a chip or a stack with interface, spreader, sink, convection and "
           "coolant in channels, as HotSpot has them; tz.chip makes the fields.",
    .dims = 3,
    TZ_STENCIL_TABLES(chip, fields, params, passes),
    .outputs_count = 1,
    .outputs = outputs,
    .boundaries = TZ_ALLOW_ALL,
    .boundary = TZ_CLAMP,
    .picture = {"temperature", "inferno", 318.0, 360.0},
    .derive = derive,
    .check_run = check_run,
};

TZ_PLUGIN_DEFINE("chip", "1.1.0", "thermal simulation of a chip with its package", &stencil)
