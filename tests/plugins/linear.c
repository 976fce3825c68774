/* Linear updates for the tests of jumps. */
#include "common.h"

#define TZ_CELL_TEXT "linear_heat.cell.h"
#define TZ_CELL_ID heat
#define TZ_CELL_DIMS 1
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "linear_drift.cell.h"
#define TZ_CELL_ID drift
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "linear_wave.cell.h"
#define TZ_CELL_ID wave
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "linear_spin.cell.h"
#define TZ_CELL_ID spin
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

/* All constants are parameters. */
#define TWO_PARAMS(NAME, first, second)                                                            \
    static const tz_param NAME##_params[] = {                                                      \
        TZ_REAL_PARAM(#first, 0.1, -10.0, 10.0, "", "a constant"),                                 \
        TZ_REAL_PARAM(#second, 0.1, -10.0, 10.0, "", "a constant"),                                \
    };                                                                                             \
    static int NAME##_derive(tz_setup *setup)                                                      \
    {                                                                                              \
        setup->constants[TZ_CONSTANT(NAME, first)] = setup->params[0].number;                      \
        setup->constants[TZ_CONSTANT(NAME, second)] = setup->params[1].number;                     \
        return 0;                                                                                  \
    }

static const tz_param heat_params[] = {
    TZ_REAL_PARAM("k", 0.1, -10.0, 10.0, "", "a constant"),
};

TEST_DERIVE(heat, heat, k)

TWO_PARAMS(drift, a, k)
TWO_PARAMS(wave, c2, damping)
TWO_PARAMS(spin, turn, k)

static const tz_field heat_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "a field"),
    TZ_STATIC_FIELD("q", TZ_REAL, "", "a source"),
};
static const tz_field drift_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "a field"),
};
static const tz_field wave_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "a field"),
    TZ_STATE_FIELD("old", TZ_REAL, "", "the field before"),
    TZ_STATIC_FIELD("q", TZ_REAL, "", "a source"),
};
static const tz_field spin_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "a field"),
    TZ_STATE_FIELD("v", TZ_REAL, "", "another field"),
};

static const tz_pass heat_passes[] = {
    {.name = "heat", .writes = TZ_WRITES(heat, u), TZ_PASS(heat)},
};
static const tz_pass drift_passes[] = {
    {.name = "drift", .writes = TZ_WRITES(drift, u), TZ_PASS(drift)},
};
static const tz_pass wave_passes[] = {
    {.name = "wave",
     .writes = TZ_WRITES(wave, u) | TZ_WRITES(wave, old),
     TZ_TAKES(wave, old, u),
     TZ_PASS(wave)},
};
static const tz_pass spin_passes[] = {
    {.name = "spin", .writes = TZ_WRITES(spin, u) | TZ_WRITES(spin, v), TZ_PASS(spin)},
};
TEST_STENCIL(heat, heat, 1, "u")
TEST_STENCIL(drift, drift, 3, "u")
TEST_STENCIL(wave, wave, 2, "u")
TEST_STENCIL(spin, spin, 2, "u")
TEST_PLUGIN(linear, &heat_stencil, &drift_stencil, &wave_stencil, &spin_stencil)
