/* A first plugin: heat spreads in a plate, dT/dt = diffusivity lap(T). The other files here build
 * it (CMakeLists.txt) and run it (heat.lua). */
#include <math.h>
#include <stdio.h>
#include <trapeze/origin.h>

/* rows.h compiles the cell update in heat.cell.h for each precision and instruction set. It defines
 * what begins with heat_ below, and the numbers TZ_FIELD(heat, ...) and TZ_CONSTANT(heat, ...). A
 * cell reads cells up to one cell away, else TZ_CELL_RADIUS would say how far. */
#define TZ_CELL_TEXT "heat.cell.h"
#define TZ_CELL_ID heat
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

/* The parameters that a scenario may set: name, default, range, unit and one sentence. The engine
 * checks the range; `trapeze plugins heat` prints the table. NAN: derive() computes the default. */
enum { DIFFUSIVITY, CELL, DT, ORIGIN, PARAMS };
static const tz_param params[PARAMS] = {
    [DIFFUSIVITY] = TZ_REAL_PARAM("diffusivity", 1.11e-4, 0, 1, "m2/s",
                                  "thermal diffusivity (copper by default)"),
    [CELL] = TZ_REAL_PARAM("cell_m", 0.001, 1e-9, 1e3, "m", "side of a cell",
                           .role = TZ_PARAM_ROLE_SPACING),
    [DT] = TZ_REAL_PARAM("dt_s", NAN, 1e-30, 1e9, "s",
                         "time step; by default 0.8 of the largest stable one",
                         .role = TZ_PARAM_ROLE_TIME_STEP),
    [ORIGIN] = TZ_REAL_PARAM("origin_k", NAN, 0, 1e6, "K",
                             "memory holds differences from this temperature, which single "
                             "precision resolves better; by default the boundary value"),
};

/* Computes the constants of the cell update from the parameters, in double. For parameters that
 * cannot work, it returns an error and a message of one line that says what to do. */
static int derive(tz_setup *setup)
{
    tz_value *p = setup->params;
    const double cell = p[CELL].number;
    /* fmax: a diffusivity of 0 allows any step. */
    const double stable = cell * cell / (4 * fmax(p[DIFFUSIVITY].number, 1e-30));
    if (!p[DT].given)
        p[DT].number = fmin(0.8 * stable, 1e9);
    if (p[DT].number > stable) {
        snprintf(setup->message, setup->message_size,
                 "dt_s = %g s is unstable: with this cell_m and diffusivity set it to %g s or less",
                 p[DT].number, stable);
        return TZ_DIVERGES;
    }
    setup->constants[TZ_CONSTANT(heat, share)] =
        p[DIFFUSIVITY].number * p[DT].number / (cell * cell);
    /* The update only sees differences between cells, so any origin is right. */
    const int field = TZ_FIELD(heat, temperature);
    return tz_origin_choose(setup, field, ORIGIN, setup->boundary_values[field * TZ_SIDES]);
}

/* Name, type, unit and one sentence, then any other members of tz_field. Here these are the value
 * of all cells unless a scenario sets them, and the value outside the grid if the boundary is
 * "fixed". */
static const tz_field fields[] = {
    TZ_STATE_FIELD("temperature", TZ_REAL, "K", "temperature of the plate", .initial = 293.15,
                   .boundary_value = 293.15),
};

/* An iteration is one pass, which writes the temperature. */
static const tz_pass passes[] = {
    {.name = "spread", .writes = TZ_WRITES(heat, temperature), TZ_PASS(heat)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "heat", /* the name in scenarios */
    .doc = "Heat conduction in a plate.",
    .dims = 2,
    TZ_STENCIL_TABLES(heat, fields, params, passes),
    .boundaries = TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_PERIODIC),
    .boundary = TZ_CLAMP,                                  /* no heat leaves through the edges */
    .picture = {"temperature", "inferno", 293.15, 373.15}, /* what a frame shows by default */
    .derive = derive,
};

/* The only symbol that the shared object exports. */
TZ_PLUGIN_DEFINE("heat", "1.0.0", "an example: heat conduction in a plate", &stencil)
