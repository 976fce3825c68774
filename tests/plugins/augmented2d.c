/* augmented2d: Two steps of a wave at once, as tz.stencil writes it.
 * augmented2d.cell.h has the cell update. */
#include <math.h>
#include <stdio.h>

#define TZ_CELL_TEXT "augmented2d.cell.h"
#define TZ_CELL_ID tz_update_
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#define TZ_CELL_REAL 1
#define TZ_CELL_FRAME tz_k1_
#include <trapeze/rows.h>

enum { PARAM_v, PARAMS };

static const tz_param params[PARAMS] = {
    [PARAM_v] = TZ_REAL_PARAM("v", 0.9, 0, 2, "", "square of the speed"),
};

/* Where the cells past a side of such a kind begin, or those `inside` of it; far away from
 * the grid for other sides. */
static double side_at(const tz_setup *setup, int axis, int high, unsigned kinds, int inside)
{
    if (!(kinds >> setup->boundary[axis][high] & 1))
        return high ? 1 << 30 : -(1 << 30);
    return high ? (double)setup->extent[axis] - inside : inside;
}

/* Is there a clamp or fixed side? */
static int framed(const tz_setup *setup)
{
    int there = 0;
    for (int axis = 0; axis < 2; axis++)
        for (int high = 0; high < 2; high++)
            there |=
                setup->boundary[axis][high] == TZ_CLAMP || setup->boundary[axis][high] == TZ_FIXED;
    return there;
}

/* Cells that a mirror shows must not be past the other side. */
static int is_narrow(const tz_setup *setup, int axis, int radius)
{
    const tz_boundary low = setup->boundary[axis][0], high = setup->boundary[axis][1];
    return (low == TZ_MIRROR) != (high == TZ_MIRROR) && setup->extent[axis] <= radius;
}

/* The constants of the cell update, in double; each is rounded once. */
static int derive(tz_setup *setup)
{
    const tz_value *p = setup->params;
    double *constants = setup->constants;
    constants[TZ_CONSTANT(tz_update_, tz_k1_)] = framed(setup);
    constants[TZ_CONSTANT(tz_update_, tz_k2_)] =
        side_at(setup, 0, 0, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(tz_update_, tz_k3_)] =
        side_at(setup, 0, 1, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(tz_update_, tz_k4_)] =
        side_at(setup, 1, 0, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(tz_update_, tz_k5_)] =
        side_at(setup, 1, 1, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(tz_update_, tz_k6_)] = p[PARAM_v].number * 0.13;
    constants[TZ_CONSTANT(tz_update_, tz_k7_)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k8_)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k9_)] = p[PARAM_v].number * 0.11;
    constants[TZ_CONSTANT(tz_update_, tz_k10_)] = p[PARAM_v].number * (-0.5) + 2.0;
    constants[TZ_CONSTANT(tz_update_, tz_k11_)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k12_)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k13_)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k14_)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k15_)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k16_)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(tz_update_, tz_k17_)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(tz_update_, tz_k18_)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.11) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(tz_update_, tz_k19_)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * (-0.5) + 2.0) +
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(tz_update_, tz_k20_)] =
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(tz_update_, tz_k21_)] =
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * (-0.5) + 2.0) +
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(tz_update_, tz_k22_)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.13) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.11) +
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * (-0.5) + 2.0) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.11) +
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.13) + (-1.0);
    constants[TZ_CONSTANT(tz_update_, tz_k23_)] =
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.11) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * (-0.5) + 2.0);
    constants[TZ_CONSTANT(tz_update_, tz_k24_)] =
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.13) +
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(tz_update_, tz_k25_)] =
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.13) +
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * (-0.5) + 2.0);
    constants[TZ_CONSTANT(tz_update_, tz_k26_)] = -(p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(tz_update_, tz_k27_)] = -(p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(tz_update_, tz_k28_)] = -(p[PARAM_v].number * (-0.5) + 2.0);
    if (is_narrow(setup, 0, 2)) {
        snprintf(setup->message, setup->message_size,
                 "augment = 2: with a mirror side and another one along x, more than 2 "
                 "cells are needed there");
        return TZ_REFUSED;
    }
    if (is_narrow(setup, 1, 2)) {
        snprintf(setup->message, setup->message_size,
                 "augment = 2: with a mirror side and another one along y, more than 2 "
                 "cells are needed there");
        return TZ_REFUSED;
    }
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the height of a wave", .boundary_value = 0.25),
    TZ_STATE_FIELD("old", TZ_REAL, "", "the same a step before"),
};

static const tz_constant constants[] = {
    {"k1", TZ_INT, 0},   {"k2", TZ_INT, 0},   {"k3", TZ_INT, 0},   {"k4", TZ_INT, 0},
    {"k5", TZ_INT, 0},   {"k6", TZ_REAL, 0},  {"k7", TZ_INT, 0},   {"k8", TZ_INT, 0},
    {"k9", TZ_REAL, 0},  {"k10", TZ_REAL, 0}, {"k11", TZ_INT, 0},  {"k12", TZ_INT, 0},
    {"k13", TZ_INT, 0},  {"k14", TZ_INT, 0},  {"k15", TZ_INT, 0},  {"k16", TZ_INT, 0},
    {"k17", TZ_REAL, 0}, {"k18", TZ_REAL, 0}, {"k19", TZ_REAL, 0}, {"k20", TZ_REAL, 0},
    {"k21", TZ_REAL, 0}, {"k22", TZ_REAL, 0}, {"k23", TZ_REAL, 0}, {"k24", TZ_REAL, 0},
    {"k25", TZ_REAL, 0}, {"k26", TZ_REAL, 0}, {"k27", TZ_REAL, 0}, {"k28", TZ_REAL, 0},
};

static const tz_pass passes[] = {
    {.name = "update",
     .writes = TZ_WRITES(tz_update_, tz_u_) | TZ_WRITES(tz_update_, tz_old_),
     TZ_PASS(tz_update_)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "augmented2d",
    .doc = "Two steps of a wave at once, as tz.stencil writes it.",
    .dims = 2,
    .fields_count = 2,
    .fields = fields,
    .params_count = PARAMS,
    .params = params,
    .constants_count = TZ_CONSTANTS_COUNT(tz_update_),
    .constants = constants,
    .derive = derive,
    .passes_count = 1,
    .passes = passes,
    .boundaries =
        TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_FIXED) | TZ_ALLOW(TZ_MIRROR),
    .boundary = TZ_CLAMP,
    .steps = 2,
};

TZ_PLUGIN_DEFINE("augmented2d", "1.0.0", "Two steps of a wave at once, as tz.stencil writes it.",
                 &stencil)
