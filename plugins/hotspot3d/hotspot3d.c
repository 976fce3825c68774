/* HotSpot in three dimensions: transient temperature of a chip of layers (Rodinia's benchmark). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TZ_CELL_TEXT "hotspot3d.cell.h"
#define TZ_CELL_ID hotspot3d
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

enum {
    HEIGHT,
    WIDTH,
    THICKNESS,
    CONDUCTIVITY,
    MOST,
    HEAT,
    FACTOR,
    MAX_POWER,
    PRECISION,
    AMBIENT,
    LOSS,
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
    [THICKNESS] =
        TZ_REAL_PARAM("thickness_m", 0.0005, 1e-9, 1e3, "m", "thickness of all layers together",
                      .role = TZ_PARAM_ROLE_EXTENT_Z_M),
    [CONDUCTIVITY] = TZ_REAL_PARAM("conductivity_w_mk", 100.0, 1e-9, 1e9, "W/(m K)",
                                   "thermal conductivity where the fields lateral and vertical "
                                   "are 1: silicon's"),
    [MOST] = TZ_REAL_PARAM("most", 1.0, 1e-9, 1e9, "",
                           "largest value of lateral and vertical, on which the stable step "
                           "depends"),
    [HEAT] = TZ_REAL_PARAM("specific_heat_j_m3k", 1.75e6, 1e-9, 1e15, "J/(m3 K)",
                           "volumetric specific heat of silicon"),
    [FACTOR] = TZ_REAL_PARAM("capacitance_factor", 0.5, 1e-9, 1e9, "",
                             "share of the chip's heat capacity that counts"),
    [MAX_POWER] = TZ_REAL_PARAM("max_power_density_w_m2", 3e6, 1e-9, 1e15, "W/m2",
                                "power density from which dt = \"rodinia\" follows"),
    [PRECISION] = TZ_REAL_PARAM("precision_k", 0.001, 1e-12, 1e3, "K",
                                "temperature step from which dt = \"rodinia\" follows"),
    [AMBIENT] = TZ_REAL_PARAM("ambient_k", 318.15, 0.0, 1e5, "K",
                              "ambient temperature (Rodinia's program uses 80)"),
    [LOSS] = TZ_REAL_PARAM("loss", 1.0, 0.0, 1e9, "",
                           "heat that every cell gives to its surroundings, in terms of Rodinia's, "
                           "where a cell loses as to an adjacent layer"),
    [DT] =
        TZ_CHOICE_PARAM("dt", "stable", "stable|rodinia",
                        "how the default of dt_s is chosen: 0.9 of the largest stable step "
                        "(stable); or precision / (max power density / (factor * t * sh)), as in "
                        "Rodinia's program (rodinia)"),
    [DT_S] = TZ_REAL_PARAM("dt_s", NAN, 1e-30, 1e9, "s", "time step; by default what dt says",
                           .role = TZ_PARAM_ROLE_TIME_STEP),
    [ALLOW_UNSTABLE] = TZ_FLAG_PARAM("allow_unstable", 0, "run even with a time step that diverges",
                                     .role = TZ_PARAM_ROLE_ALLOW_UNSTABLE),
};

/* As Rodinia's program has it: capacity and lateral resistances are those of the whole chip. */
typedef struct cell {
    double heat; /* capacity, per area */
    double capacity, rx, ry, rz;
} cell;

static cell cell_of(const tz_value *p, const int64_t *extent)
{
    const double h = p[HEIGHT].number / (double)extent[1], w = p[WIDTH].number / (double)extent[0];
    const double t = p[THICKNESS].number, layer = t / (double)extent[2];
    const double k = p[CONDUCTIVITY].number, heat = p[FACTOR].number * p[HEAT].number * t;
    return (cell){.heat = heat,
                  .capacity = heat * w * h,
                  .rx = w / (2.0 * k * t * h),
                  .ry = h / (2.0 * k * t * w),
                  .rz = layer / (k * w * h)};
}

static int derive(tz_setup *setup)
{
    tz_value *p = setup->params;
    const cell chip = cell_of(p, setup->extent);
    const double heat = chip.heat, capacity = chip.capacity, loss = p[LOSS].number;
    const double rx = chip.rx, ry = chip.ry, rz = chip.rz;
    const double stable = capacity / (p[MOST].number * (2.0 / rx + 2.0 / ry + (2.0 + loss) / rz));
    if (!p[DT_S].given)
        p[DT_S].number = strcmp(p[DT].text, "rodinia") == 0
                             ? p[PRECISION].number / (p[MAX_POWER].number / heat)
                             : 0.9 * stable;
    const double dt = p[DT_S].number;
    if (dt > stable && p[ALLOW_UNSTABLE].number == 0.0) {
        snprintf(setup->message, setup->message_size,
                 "dt_s = %.6g s is unstable on this grid; the largest stable step is %.6g s: leave "
                 "dt and dt_s out, or set dt_s to at most that, or allow_unstable = true",
                 dt, stable);
        return TZ_DIVERGES;
    }
    /* Memory holds differences from the first ambient temperature. */
    double *origin = &setup->origins[TZ_FIELD(hotspot3d, temperature)];
    if (isnan(*origin))
        *origin = p[AMBIENT].number;
    double *constants = setup->constants;
    const double scale = dt / capacity;
    constants[TZ_CONSTANT(hotspot3d, ce)] = scale / rx;
    constants[TZ_CONSTANT(hotspot3d, cn)] = scale / ry;
    constants[TZ_CONSTANT(hotspot3d, ct)] = scale / rz;
    constants[TZ_CONSTANT(hotspot3d, ca)] = scale / rz * loss;
    constants[TZ_CONSTANT(hotspot3d, cp)] = scale;
    constants[TZ_CONSTANT(hotspot3d, ambient)] = p[AMBIENT].number - *origin;
    return 0;
}

/* The stable step with the conductivities that the fields have, where derive() had `most`. */
static int check_run(const tz_run_facts *facts)
{
    const tz_value *p = facts->params;
    const cell chip = cell_of(p, facts->extent);
    double low, lateral, down, vertical;
    if (facts->range(facts->context, TZ_FIELD(hotspot3d, lateral), &low, &lateral) ||
        facts->range(facts->context, TZ_FIELD(hotspot3d, vertical), &down, &vertical))
        return 0;
    if (fmin(low, down) < 0.0) {
        snprintf(facts->message, facts->message_size,
                 "the least value of lateral is %.6g and of vertical %.6g: with a negative "
                 "conductivity heat flows from cold to warm; set the fields to 0 or more",
                 low, down);
        return TZ_REFUSED;
    }
    const double most = fmax(lateral, vertical);
    const double rate = lateral * (2.0 / chip.rx + 2.0 / chip.ry + p[LOSS].number / chip.rz) +
                        2.0 * vertical / chip.rz;
    if (most <= p[MOST].number || p[DT_S].number * rate <= chip.capacity * (1.0 + 1e-6) ||
        p[ALLOW_UNSTABLE].number != 0.0)
        return 0;
    snprintf(facts->message, facts->message_size,
             "lateral reaches %.6g and vertical %.6g, but most = %.6g: dt_s = %.6g s is unstable "
             "with these fields, the largest stable step is %.6g s; set most = %.6g%s",
             lateral, vertical, p[MOST].number, p[DT_S].number, chip.capacity / rate, most,
             p[DT_S].given ? " and leave dt_s out" : "");
    return TZ_DIVERGES;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("temperature", TZ_REAL, "K", "temperature of the chip", .initial = 323.15,
                   .boundary_value = 318.15),
    TZ_STATIC_FIELD("power", TZ_REAL, "W", "power that each cell dissipates"),
    TZ_STATIC_FIELD("lateral", TZ_REAL, "",
                    "conductivity within the layer, in terms of conductivity_w_mk", .initial = 1.0,
                    .boundary_value = 1.0),
    TZ_STATIC_FIELD("vertical", TZ_REAL, "",
                    "conductivity to the next layer up (z + 1), in terms of conductivity_w_mk",
                    .radius = 1, .initial = 1.0, .boundary_value = 1.0),
};

static const tz_pass passes[] = {
    {.name = "update", .writes = TZ_WRITES(hotspot3d, temperature), TZ_PASS(hotspot3d)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "hotspot3d",
    .doc = "Temperature of a chip of layers from their power maps (Rodinia's hotspot3D).",
    .dims = 3,
    TZ_STENCIL_TABLES(hotspot3d, fields, params, passes),
    .boundaries = TZ_ALLOW_ALL,
    .boundary = TZ_CLAMP,
    .picture = {"temperature", "inferno", 318.0, 360.0},
    .derive = derive,
    .check_run = check_run,
};

TZ_PLUGIN_DEFINE("hotspot3d", "1.0.0", "thermal simulation of a chip of layers", &stencil)
