/* HotSpot: transient temperature of a chip from a map of its power (Rodinia's benchmark). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TZ_CELL_TEXT "hotspot.cell.h"
#define TZ_CELL_ID hotspot
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

enum {
    HEIGHT,
    WIDTH,
    THICKNESS,
    CONDUCTIVITY,
    HEAT,
    FACTOR,
    MAX_POWER,
    PRECISION,
    AMBIENT,
    DT,
    DT_S,
    ALLOW_UNSTABLE,
    PARAMS
};

static const tz_param params[PARAMS] = {
    [HEIGHT] = TZ_REAL_PARAM("chip_height_m", 0.016, 1e-9, 1e3, "m", "extent of the chip along y",
                             .role = TZ_PARAM_ROLE_EXTENT_Y_M),
    [WIDTH] = TZ_REAL_PARAM("chip_width_m", 0.016, 1e-9, 1e3, "m", "extent of the chip along x",
                            .role = TZ_PARAM_ROLE_EXTENT_X_M),
    [THICKNESS] = TZ_REAL_PARAM("thickness_m", 0.0005, 1e-9, 1e3, "m", "thickness of the die"),
    [CONDUCTIVITY] = TZ_REAL_PARAM("conductivity_w_mk", 100.0, 1e-9, 1e9, "W/(m K)",
                                   "thermal conductivity of silicon"),
    [HEAT] = TZ_REAL_PARAM("specific_heat_j_m3k", 1.75e6, 1e-9, 1e15, "J/(m3 K)",
                           "volumetric specific heat of silicon"),
    [FACTOR] = TZ_REAL_PARAM("capacitance_factor", 0.5, 1e-9, 1e9, "",
                             "share of the die's heat capacity that counts"),
    [MAX_POWER] = TZ_REAL_PARAM("max_power_density_w_m2", 3e6, 1e-9, 1e15, "W/m2",
                                "power density from which dt = \"rodinia\" follows"),
    [PRECISION] = TZ_REAL_PARAM("precision_k", 0.001, 1e-12, 1e3, "K",
                                "temperature step from which dt = \"rodinia\" follows"),
    [AMBIENT] = TZ_REAL_PARAM("ambient_k", 318.15, 0.0, 1e5, "K",
                              "ambient temperature (Rodinia's program uses 80)"),
    [DT] = TZ_CHOICE_PARAM("dt", "accurate", "accurate|stable|rodinia",
                           "how the default of dt_s is chosen: 0.9 of the largest stable step, but "
                           "at most 1/1000 of the die's time constant (accurate); only 0.9 of the "
                           "largest stable step, for steady states (stable); or precision / (max "
                           "power density / (factor * t * sh)), as in Rodinia's program (rodinia)"),
    [DT_S] = TZ_REAL_PARAM("dt_s", NAN, 1e-30, 1e9, "s", "time step; by default what dt says",
                           .role = TZ_PARAM_ROLE_TIME_STEP),
    [ALLOW_UNSTABLE] = TZ_FLAG_PARAM("allow_unstable", 0, "run even with a time step that diverges",
                                     .role = TZ_PARAM_ROLE_ALLOW_UNSTABLE),
};

/* An insulated cell: its heat capacity, and the resistances to a neighbour and to the package. */
typedef struct cell {
    double capacitance, rx, ry, rz;
} cell;

static double default_dt_s(const tz_value *p, double stable_s, double time_constant_s)
{
    if (strcmp(p[DT].text, "rodinia") == 0)
        return p[PRECISION].number /
               (p[MAX_POWER].number / (p[FACTOR].number * p[HEAT].number * p[THICKNESS].number));
    if (strcmp(p[DT].text, "stable") == 0)
        return 0.9 * stable_s;
    return fmin(0.9 * stable_s, 1e-3 * time_constant_s);
}

/* The weights of a cell's temperature, of its neighbours' and of the ambient temperature, which sum
 * to 1. The centre is at least 0 up to the largest stable step. */
typedef struct weights {
    double c, cx, cy, cz;
} weights;

static double rounded_down(const tz_setup *setup, double value)
{
    const double nearest = tz_rounded(setup, value);
    return nearest > value ? (double)nextafterf((float)nearest, 0.0f) : nearest;
}

/* The weights as the run holds them. Heat leaves the chip through the ambient's weight, which is
 * what the others leave of 1. It may be less than a thousandth of them: they are rounded such that
 * it stays nearly as it is. */
static weights round_weights(const tz_setup *setup, weights w)
{
    const double sides = 2.0 * (w.cx + w.cy);
    if (setup->precision == TZ_DOUBLE)
        return w;
    if (w.c < sides) { /* the centre is finer than the sides and takes their errors */
        w.cx = rounded_down(setup, w.cx);
        w.cy = rounded_down(setup, w.cy);
        if (w.c >= 0.0)
            w.c = fmax(0.0, 1.0 - 2.0 * w.cx - 2.0 * w.cy - w.cz);
        w.c = tz_rounded(setup, w.c);
    } else {
        w.c = tz_rounded(setup, w.c);
        const double right = sides > w.cz ? (1.0 - w.c - w.cz) / sides : 1.0;
        w.cx = tz_rounded(setup, w.cx * right);
        w.cy = tz_rounded(setup, w.cy * right);
    }
    w.cz = 1.0 - w.c - 2.0 * w.cx - 2.0 * w.cy;
    return w;
}

static int derive(tz_setup *setup)
{
    tz_value *p = setup->params;
    const double h = p[HEIGHT].number / (double)setup->extent[1];
    const double w = p[WIDTH].number / (double)setup->extent[0];
    const double t = p[THICKNESS].number, k = p[CONDUCTIVITY].number;
    const cell die = {.capacitance = p[FACTOR].number * p[HEAT].number * t * w * h,
                      .rx = w / (2.0 * k * t * h),
                      .ry = h / (2.0 * k * t * w),
                      .rz = t / (k * h * w)};
    /* For a larger step the weight of the centre is negative, and the iteration may diverge. */
    const double stable = die.capacitance / (2.0 / die.rx + 2.0 / die.ry + 1.0 / die.rz);
    if (!p[DT_S].given)
        p[DT_S].number = default_dt_s(p, stable, die.capacitance * die.rz);
    const double dt = p[DT_S].number;
    if (dt > stable && p[ALLOW_UNSTABLE].number == 0.0) {
        snprintf(setup->message, setup->message_size,
                 "dt_s = %.6g s is unstable on this grid; the largest stable step is %.6g s: leave "
                 "dt and dt_s out, or set dt_s to at most that, or allow_unstable = true",
                 dt, stable);
        return TZ_DIVERGES;
    }
    const double scale = dt / die.capacitance;
    weights exact = {.cx = scale / die.rx, .cy = scale / die.ry, .cz = scale / die.rz};
    exact.c = 1.0 - 2.0 * exact.cx - 2.0 * exact.cy - exact.cz;
    if (dt <= stable)
        exact.c = fmax(0.0, exact.c);
    const weights all = round_weights(setup, exact);
    /* Memory holds differences from the first ambient temperature. */
    double *origin = &setup->origins[TZ_FIELD(hotspot, temperature)];
    if (isnan(*origin))
        *origin = p[AMBIENT].number;
    double *constants = setup->constants;
    constants[TZ_CONSTANT(hotspot, c)] = all.c;
    constants[TZ_CONSTANT(hotspot, cx)] = all.cx;
    constants[TZ_CONSTANT(hotspot, cy)] = all.cy;
    /* What is left of an error of cz is in the power, too, and cancels in the steady state. */
    constants[TZ_CONSTANT(hotspot, cp)] = scale * (all.cz / exact.cz);
    constants[TZ_CONSTANT(hotspot, ambient)] = all.cz * (p[AMBIENT].number - *origin);
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("temperature", TZ_REAL, "K", "temperature of the die", .initial = 323.15,
                   .boundary_value = 318.15),
    TZ_STATIC_FIELD("power", TZ_REAL, "W", "power that each cell dissipates"),
};

static const tz_pass passes[] = {
    {.name = "update", .writes = TZ_WRITES(hotspot, temperature), TZ_PASS(hotspot)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "hotspot",
    .doc = "Temperature of a bare die from its power map by Rodinia's formula, which has no "
           "interface, spreader, sink and convection: rises are 7 to 145 times below HotSpot's.",
    .dims = 2,
    TZ_STENCIL_TABLES(hotspot, fields, params, passes),
    .boundaries = TZ_ALLOW_ALL,
    .boundary = TZ_CLAMP,
    .picture = {"temperature", "inferno", 318.0, 360.0},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("hotspot", "1.0.0", "thermal simulation of a chip", &stencil)
