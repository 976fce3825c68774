/* HotSpot: transient temperature of a chip from a map of its power (Rodinia's benchmark). */
#include <math.h>
#include <stdio.h>

#define TZ_CELL_TEXT "hotspot.cell.h"
#define TZ_CELL_ID hotspot
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
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
                                "power density from which the time step is chosen"),
    [PRECISION] = TZ_REAL_PARAM("precision_k", 0.001, 1e-12, 1e3, "K",
                                "temperature step from which the time step is chosen"),
    [AMBIENT] = TZ_REAL_PARAM("ambient_k", 318.15, 0.0, 1e5, "K",
                              "ambient temperature (Rodinia's program uses 80)"),
    [DT] =
        TZ_REAL_PARAM("dt_s", NAN, 1e-30, 1e9, "s",
                      "time step; by default precision / (max power density / (factor * t * sh))",
                      .role = TZ_PARAM_ROLE_TIME_STEP),
    [ALLOW_UNSTABLE] = TZ_FLAG_PARAM("allow_unstable", 0, "run even with a time step that diverges",
                                     .role = TZ_PARAM_ROLE_ALLOW_UNSTABLE),
};

/* The largest step for which the weight of the centre is not negative: then the iteration does not
 * diverge. */
static double stable_dt_s(double capacitance, double rx, double ry, double rz)
{
    return capacitance / (2.0 / rx + 2.0 / ry + 1.0 / rz);
}

static int derive(tz_setup *setup)
{
    const tz_value *p = setup->params;
    const double h = p[HEIGHT].number / (double)setup->extent[1];
    const double w = p[WIDTH].number / (double)setup->extent[0];
    const double t = p[THICKNESS].number, k = p[CONDUCTIVITY].number;
    const double heat = p[FACTOR].number * p[HEAT].number * t;
    const double capacitance = heat * w * h;
    const double rx = w / (2.0 * k * t * h), ry = h / (2.0 * k * t * w), rz = t / (k * h * w);
    if (!p[DT].given)
        setup->params[DT].number = p[PRECISION].number / (p[MAX_POWER].number / heat);
    const double dt = p[DT].number, limit = stable_dt_s(capacitance, rx, ry, rz);
    if (dt > limit && p[ALLOW_UNSTABLE].number == 0.0) {
        snprintf(setup->message, setup->message_size,
                 "dt_s = %.6g s is unstable on this grid; the largest stable step is %.6g s: set "
                 "dt_s to at most that, or allow_unstable = true",
                 dt, limit);
        return TZ_DIVERGES;
    }
    const double scale = dt / capacitance;
    double cx = scale / rx, cy = scale / ry, cz = scale / rz;
    double c = 1.0 - 2.0 * cx - 2.0 * cy - cz;
    if (setup->precision == TZ_SINGLE) {
        /* Rounding c to float changes it by up to 3e-8, which is large compared with a small
         * weight. The larger of the lateral weights and the ambient's weight is corrected for it.
         * All weights must sum to 1, so that a chip at ambient temperature without power stays at
         * that temperature: the ambient's weight is 1 minus the other rounded weights. */
        c = (float)c;
        if (2.0 * (cx + cy) > cz) {
            const double lateral = (1.0 - c - cz) / (2.0 * (cx + cy));
            cx = (float)(cx * lateral);
            cy = (float)(cy * lateral);
        }
        cz = 1.0 - c - 2.0 * (float)cx - 2.0 * (float)cy;
    }
    double *constants = setup->constants;
    constants[TZ_CONSTANT(hotspot, c)] = c;
    constants[TZ_CONSTANT(hotspot, cx)] = cx;
    constants[TZ_CONSTANT(hotspot, cy)] = cy;
    constants[TZ_CONSTANT(hotspot, cp)] = scale;
    constants[TZ_CONSTANT(hotspot, ambient)] = cz * p[AMBIENT].number;
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
    .doc = "Temperature of a chip from its power map (Rodinia's HotSpot).",
    .dims = 2,
    .fields_count = 2,
    .fields = fields,
    .params_count = PARAMS,
    .params = params,
    .constants_count = TZ_CONSTANTS_COUNT(hotspot),
    .constants = hotspot_constants,
    .passes_count = 1,
    .passes = passes,
    .boundaries =
        TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_MIRROR),
    .boundary = TZ_CLAMP,
    .picture = {"temperature", "inferno", 318.0, 360.0},
    .derive = derive,
};

TZ_PLUGIN_DEFINE("hotspot", "1.0.0", "thermal simulation of a chip", &stencil)
