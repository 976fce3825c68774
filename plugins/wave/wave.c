/* Acoustic waves from a point source, and with open sides, as in seismic surveys. */
#include <math.h>
#include <stdio.h>
#include <trapeze/formulas.h>
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave2d
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave2d8
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 4
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave3d
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave3d8
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 4
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "seismic.cell.h"
#define TZ_CELL_NAME seismic
#define TZ_CELL_ID seismic2d8
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 4
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "seismic.cell.h"
#define TZ_CELL_NAME seismic
#define TZ_CELL_ID seismic3d8
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 4
#include <trapeze/rows.h>

/* For a cell, of waves that move. */
static const double ITERATIONS_MOST = 200.0;
static const double pi = 3.14159265358979323846;

enum { SPACING, FASTEST, DT_S, FREQUENCY, AMPLITUDE, SOURCE, PARAMS = SOURCE + TZ_AXES };

#define MEDIUM_PARAMS                                                                              \
    [SPACING] = TZ_REAL_PARAM("spacing_m", 10.0, 1e-6, 1e6, "m", "width of a cell on every axis",  \
                              .role = TZ_PARAM_ROLE_SPACING),                                      \
    [FASTEST] =                                                                                    \
        TZ_REAL_PARAM("max_speed_m_s", 4500.0, 1e-3, 1e9, "m/s",                                   \
                      "largest value of the field speed, on which the stable step depends"),       \
    [DT_S] = TZ_REAL_PARAM("dt_s", NAN, 1e-15, 1e6, "s",                                           \
                           "time step; by default 0.8 of the largest stable one",                  \
                           .role = TZ_PARAM_ROLE_TIME_STEP)

static const tz_param params[PARAMS] = {
    MEDIUM_PARAMS,
    [FREQUENCY] = TZ_REAL_PARAM("frequency_hz", 15.0, 1e-6, 1e12, "Hz",
                                "peak frequency of the source, a Ricker wavelet that begins with "
                                "the run"),
    [AMPLITUDE] = TZ_REAL_PARAM("amplitude", 1.0, -1e6, 1e6, "",
                                "strength of the source, which is one cell whatever its width: "
                                "with half the spacing the waves are a quarter as high in 2-D, an "
                                "eighth in 3-D; A / spacing_m^2 or A / spacing_m^3 keeps them"),
    [SOURCE] = TZ_INTEGER_PARAM("source_x", NAN, 0, 2e9, "", "its cell; by default in the middle"),
    [SOURCE + 1] = TZ_INTEGER_PARAM("source_y", NAN, 0, 2e9, "", "as source_x"),
    [SOURCE + 2] = TZ_INTEGER_PARAM("source_z", NAN, 0, 2e9, "", "as source_x; of no use in 2-D"),
};

/* What the source adds to u in an iteration: the wavelet comes 1.2 periods after the start. */
static int at_step(const tz_setup *setup, int64_t step, double *constants)
{
    const tz_value *p = setup->params;
    const double phase = pi * p[FREQUENCY].number * (double)step * p[DT_S].number - 1.2 * pi;
    const double unit = 2.0 * pi * p[FREQUENCY].number * p[DT_S].number;
    constants[TZ_CONSTANT(wave2d, kick)] =
        p[AMPLITUDE].number * unit * unit * (1.0 - 2.0 * phase * phase) * exp(-phase * phase);
    return 0;
}

/* The schemes. `roughest`: what the Laplacian makes of a checkerboard on one axis. `cells`: of a
 * wavelength at the source's frequency, at least; the wavelet has waves of half the length, too. */
typedef struct scheme {
    double roughest, cells;
} scheme;
static const scheme order2 = {4.0, 10.0};
static const scheme order8 = {205. / 72 + 2. * (8. / 5 + 1. / 5 + 8. / 315 + 1. / 560), 6.0};

static double stable_step(const tz_value *p, int dims, double fastest, const scheme *s)
{
    return 2.0 * p[SPACING].number / (fastest * sqrt(dims * s->roughest));
}

static int derive_medium(tz_setup *setup, const scheme *s)
{
    tz_value *p = setup->params;
    const double stable = stable_step(p, setup->dims, p[FASTEST].number, s);
    if (!p[DT_S].given)
        p[DT_S].number = 0.8 * stable;
    if (p[DT_S].number <= stable)
        return 0;
    snprintf(setup->message, setup->message_size,
             "dt_s = %.6g s is unstable; the largest stable step is %.6g s: leave dt_s out, or "
             "set it to at most that",
             p[DT_S].number, stable);
    return TZ_DIVERGES;
}

static int derive_order(tz_setup *setup, const scheme *s)
{
    tz_value *p = setup->params;
    const int status = derive_medium(setup, s);
    if (status)
        return status;
    setup->constants[TZ_CONSTANT(wave2d, step)] = p[DT_S].number / p[SPACING].number;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (!p[SOURCE + axis].given)
            p[SOURCE + axis].number = (double)(setup->extent[axis] / 2);
        if (axis < setup->dims)
            setup->constants[TZ_CONSTANT(wave2d, source_x) + axis] = p[SOURCE + axis].number;
    }
    return 0;
}
static int derive2(tz_setup *setup)
{
    return derive_order(setup, &order2);
}
static int derive8(tz_setup *setup)
{
    return derive_order(setup, &order8);
}

/* Waves that stand still, or that the mesh cannot carry. */
static int warn_of_speed(const tz_run_facts *facts, double slowest, double fastest, const scheme *s)
{
    const tz_value *p = facts->params;
    const double spacing = p[SPACING].number, frequency = p[FREQUENCY].number;
    const double iterations = spacing / (fastest * p[DT_S].number);
    const double cells = slowest / (frequency * spacing);
    if (!(iterations <= ITERATIONS_MOST)) {
        snprintf(
            facts->message, facts->message_size,
            "the field speed is at most %.6g m/s: a wave needs %.3g iterations for a cell, and "
            "hardly moves; %sset max_speed_m_s to that maximum%s",
            fastest, iterations, fastest < 20.0 ? "are the speeds in km/s? Give m/s, or " : "",
            p[DT_S].given ? " and leave dt_s out" : "");
        return TZ_WARNS;
    }
    if (p[AMPLITUDE].number == 0.0 || cells >= s->cells)
        return 0;
    snprintf(facts->message, facts->message_size,
             "a wavelength at frequency_hz = %.6g is %.3g cells long where speed is %.6g m/s, and "
             "this scheme needs %g: the mesh distorts such waves; set spacing_m to at most %.4g or "
             "frequency_hz to at most %.4g",
             frequency, cells, slowest, s->cells, slowest / (frequency * s->cells),
             slowest / (spacing * s->cells));
    return TZ_WARNS;
}

static int check_medium(const tz_run_facts *facts, double fastest, const scheme *s)
{
    const tz_value *p = facts->params;
    const double stable = stable_step(p, facts->dims, fastest, s);
    if (p[DT_S].number <= stable * (1.0 + 1e-6))
        return 0;
    snprintf(facts->message, facts->message_size,
             "the field speed reaches %.6g m/s, but max_speed_m_s = %.6g: dt_s = %.6g s is "
             "unstable with this field, the largest stable step is %.6g s; set max_speed_m_s = "
             "%.6g%s",
             fastest, p[FASTEST].number, p[DT_S].number, stable, fastest,
             p[DT_S].given ? " and leave dt_s out" : "");
    return TZ_DIVERGES;
}

static int check_order(const tz_run_facts *facts, const scheme *s)
{
    double low, high, least, sponge;
    if (facts->range(facts->context, TZ_FIELD(wave2d, speed), &low, &high) ||
        facts->range(facts->context, TZ_FIELD(wave2d, sponge), &least, &sponge))
        return 0;
    const double fastest = fmax(fabs(low), fabs(high));
    const int status = check_medium(facts, fastest, s);
    if (status)
        return status;
    if (sponge > 1.0) {
        snprintf(facts->message, facts->message_size,
                 "the field sponge reaches %.6g: above 1 each iteration makes waves larger; use at "
                 "most 1",
                 sponge);
        return TZ_WARNS;
    }
    /* A speed of 0 is a wall, not a slow rock. */
    return warn_of_speed(facts, low > 0.0 ? low : fastest, fastest, s);
}
static int check2(const tz_run_facts *facts)
{
    return check_order(facts, &order2);
}
static int check8(const tz_run_facts *facts)
{
    return check_order(facts, &order8);
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the wave: pressure"),
    TZ_STATE_FIELD("before", TZ_REAL, "", "u one iteration ago"),
    TZ_STATIC_FIELD("speed", TZ_REAL, "m/s", "speed of sound", .initial = 3000.0),
    TZ_STATIC_FIELD("sponge", TZ_REAL, "",
                    "share of the velocity that an iteration keeps: 1, or down to 0.8 near sides "
                    "that waves leave through",
                    .initial = 1.0),
};

#define WAVE(ID, sentence, dimensions, order)                                                      \
    static const tz_pass ID##_passes[] = {                                                         \
        {.name = "leapfrog",                                                                       \
         .writes = TZ_WRITES(ID, u) | TZ_WRITES(ID, before),                                       \
         TZ_TAKES(ID, before, u),                                                                  \
         TZ_PASS(ID)},                                                                             \
    };                                                                                             \
    static const tz_stencil ID = {                                                                 \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #ID,                                                                                 \
        .doc = sentence,                                                                           \
        .dims = dimensions,                                                                        \
        TZ_STENCIL_TABLES(ID, fields, params, ID##_passes),                                        \
        .boundaries = TZ_ALLOW_ALL,                                                                \
        .boundary = TZ_FIXED,                                                                      \
        .picture = {"u", "balance", -0.1, 0.1},                                                    \
        .derive = derive##order,                                                                   \
        .check_run = check##order,                                                                 \
        .at_step = at_step,                                                                        \
    };
WAVE(wave2d, "Acoustic waves from a source, of order 2 in space.", 2, 2)
WAVE(wave2d8, "Acoustic waves from a source, of order 8 in space.", 2, 8)
WAVE(wave3d, "Acoustic waves from a source in three dimensions, of order 2 in space.", 3, 2)
WAVE(wave3d8, "Acoustic waves from a source in three dimensions, of order 8 in space.", 3, 8)

/* ---- Open sides ------------------------------------------------------------------------------ */

enum { OPEN = DT_S + 1, SURFACE, SEISMIC_PARAMS };
enum { VECTOR = 16 }; /* cells of a row that processors compute at once */

static const tz_param seismic_params[SEISMIC_PARAMS] = {
    MEDIUM_PARAMS,
    [OPEN] = TZ_INTEGER_PARAM("open_cells", 20, 0, 1e6, "",
                              "cells along fixed sides in which waves leave; 0: fixed sides "
                              "reflect all"),
    [SURFACE] = TZ_FLAG_PARAM("free_surface", 0,
                              "the last axis begins with a free surface, half of whose image is "
                              "past the grid, and not with an open side"),
};

static int derive_seismic(tz_setup *setup)
{
    const tz_value *p = setup->params;
    const int last = setup->dims - 1, open = (int)p[OPEN].number;
    const int surface = p[SURFACE].number != 0.0 && setup->boundary[last][0] == TZ_FIXED;
    const int status = derive_medium(setup, &order8);
    if (status)
        return status;
    const int shift = 2 * setup->dims - 4; /* of the constants after the bounds */
    double *low = &setup->constants[TZ_CONSTANT(seismic2d8, low_x)];
    for (int side = 0; side < 2 * setup->dims; side++)
        low[side] =
            tz_frame_side(setup, side, TZ_ALLOW(TZ_FIXED), side == 2 * last && surface ? 4 : open);
    setup->constants[TZ_CONSTANT(seismic2d8, open_x) + shift] = low[0];
    setup->constants[TZ_CONSTANT(seismic2d8, close_x) + shift] = low[1];
    low[0] = ceil(low[0] / VECTOR) * VECTOR;
    low[1] = floor(low[1] / VECTOR) * VECTOR;
    setup->constants[TZ_CONSTANT(seismic2d8, frame)] =
        (open > 0 || surface) && tz_frame_is_there(setup, TZ_ALLOW(TZ_FIXED));
    setup->constants[TZ_CONSTANT(seismic2d8, surface) + shift] = surface;
    setup->constants[TZ_CONSTANT(seismic2d8, step) + shift] = p[DT_S].number / p[SPACING].number;
    setup->constants[TZ_CONSTANT(seismic2d8, thinness) + shift] = open > 0 ? 1.0 / open : 0.0;
    setup->constants[TZ_CONSTANT(seismic2d8, strength) + shift] = open > 0 ? 20.0 / open : 0.0;
    return 0;
}

static int check_seismic(const tz_run_facts *facts)
{
    double low, high;
    return facts->range(facts->context, TZ_FIELD(seismic2d8, speed), &low, &high)
               ? 0
               : check_medium(facts, fmax(fabs(low), fabs(high)), &order8);
}

static const tz_field seismic_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the wave: pressure"),
    TZ_STATE_FIELD("before", TZ_REAL, "", "u one iteration ago"),
    TZ_STATIC_FIELD("speed", TZ_REAL, "m/s", "speed of sound", .initial = 3000.0),
};

#define SEISMIC(ID, sentence, dimensions)                                                          \
    static const tz_pass ID##_passes[] = {                                                         \
        {.name = "leapfrog",                                                                       \
         .writes = TZ_WRITES(ID, u) | TZ_WRITES(ID, before),                                       \
         TZ_TAKES(ID, before, u),                                                                  \
         TZ_PASS(ID)},                                                                             \
    };                                                                                             \
    static const tz_stencil ID = {                                                                 \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #ID,                                                                                 \
        .doc = sentence,                                                                           \
        .dims = dimensions,                                                                        \
        TZ_STENCIL_TABLES(ID, seismic_fields, seismic_params, ID##_passes),                        \
        .boundaries = TZ_ALLOW_ALL,                                                                \
        .boundary = TZ_FIXED,                                                                      \
        .picture = {"u", "balance", -0.1, 0.1},                                                    \
        .derive = derive_seismic,                                                                  \
        .check_run = check_seismic,                                                                \
    };
SEISMIC(seismic2d8, "Acoustic waves of order 8 that leave through fixed sides.", 2)
SEISMIC(seismic3d8, "Acoustic waves of order 8 in three dimensions that leave through fixed sides.",
        3)

TZ_PLUGIN_DEFINE("wave", "1.1.0", "acoustic waves", &wave2d, &wave2d8, &wave3d, &wave3d8,
                 &seismic2d8, &seismic3d8)
