/* Acoustic waves from a point source, as in seismic surveys. */
#include <math.h>
#include <stdio.h>
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave2d
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave2d8
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 4
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave3d
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "wave.cell.h"
#define TZ_CELL_NAME wave
#define TZ_CELL_ID wave3d8
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 4
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

static const double pi = 3.14159265358979323846;

enum { SPACING, FASTEST, DT_S, FREQUENCY, AMPLITUDE, SOURCE, PARAMS = SOURCE + TZ_AXES };

static const tz_param params[PARAMS] = {
    [SPACING] = TZ_REAL_PARAM("spacing_m", 10.0, 1e-6, 1e6, "m", "width of a cell on every axis",
                              .role = TZ_PARAM_ROLE_SPACING),
    [FASTEST] = TZ_REAL_PARAM("max_speed_m_s", 4500.0, 1e-3, 1e9, "m/s",
                              "largest value of the field speed, on which the stable step depends"),
    [DT_S] = TZ_REAL_PARAM("dt_s", NAN, 1e-15, 1e6, "s",
                           "time step; by default 0.8 of the largest stable one",
                           .role = TZ_PARAM_ROLE_TIME_STEP),
    [FREQUENCY] = TZ_REAL_PARAM("frequency_hz", 15.0, 1e-6, 1e12, "Hz",
                                "peak frequency of the source, a Ricker wavelet that begins with "
                                "the run"),
    [AMPLITUDE] = TZ_REAL_PARAM("amplitude", 1.0, -1e6, 1e6, "", "its strength"),
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

/* `roughest`: what the Laplacian makes of a checkerboard on one axis. */
static int derive_order(tz_setup *setup, double roughest)
{
    tz_value *p = setup->params;
    const double stable =
        2.0 * p[SPACING].number / (p[FASTEST].number * sqrt(setup->dims * roughest));
    if (!p[DT_S].given)
        p[DT_S].number = 0.8 * stable;
    if (p[DT_S].number > stable) {
        snprintf(setup->message, setup->message_size,
                 "dt_s = %.6g s is unstable; the largest stable step is %.6g s: leave dt_s out, or "
                 "set it to at most that",
                 p[DT_S].number, stable);
        return TZ_DIVERGES;
    }
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
    return derive_order(setup, 4.0);
}
static int derive8(tz_setup *setup)
{
    return derive_order(setup, 205. / 72 + 2. * (8. / 5 + 1. / 5 + 8. / 315 + 1. / 560));
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

#define WAVE(ID, sentence, dimensions, its_derive)                                                 \
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
        .fields_count = sizeof fields / sizeof *fields,                                            \
        .fields = fields,                                                                          \
        .params_count = PARAMS,                                                                    \
        .params = params,                                                                          \
        .constants_count = TZ_CONSTANTS_COUNT(ID),                                                 \
        .constants = ID##_constants,                                                               \
        .passes_count = 1,                                                                         \
        .passes = ID##_passes,                                                                     \
        .boundaries =                                                                              \
            TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_MIRROR), \
        .boundary = TZ_FIXED,                                                                      \
        .picture = {"u", "balance", -0.1, 0.1},                                                    \
        .derive = its_derive,                                                                      \
        .at_step = at_step,                                                                        \
    };
WAVE(wave2d, "Acoustic waves from a source, of order 2 in space.", 2, derive2)
WAVE(wave2d8, "Acoustic waves from a source, of order 8 in space.", 2, derive8)
WAVE(wave3d, "Acoustic waves from a source in three dimensions, of order 2 in space.", 3, derive2)
WAVE(wave3d8, "Acoustic waves from a source in three dimensions, of order 8 in space.", 3, derive8)

TZ_PLUGIN_DEFINE("wave", "1.0.0", "acoustic waves", &wave2d, &wave2d8, &wave3d, &wave3d8)
