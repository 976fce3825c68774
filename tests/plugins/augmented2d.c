/* augmented2d: Two steps of a wave at once, as tz.stencil writes it.
 * augmented2d.cell.h has the cell update. */
#include <math.h>
#include <stdio.h>

#define TZ_CELL_TEXT "augmented2d.cell.h"
#define TZ_CELL_ID augmented2d
#define TZ_CELL_NAME update
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#define TZ_CELL_REAL 1
#define TZ_CELL_FRAME k1
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
    constants[TZ_CONSTANT(augmented2d, k1)] = framed(setup);
    constants[TZ_CONSTANT(augmented2d, k2)] =
        side_at(setup, 0, 0, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(augmented2d, k3)] =
        side_at(setup, 0, 1, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(augmented2d, k4)] =
        side_at(setup, 1, 0, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(augmented2d, k5)] =
        side_at(setup, 1, 1, TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED), 1);
    constants[TZ_CONSTANT(augmented2d, k6)] = p[PARAM_v].number * 0.13;
    constants[TZ_CONSTANT(augmented2d, k7)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k8)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k9)] = p[PARAM_v].number * 0.11;
    constants[TZ_CONSTANT(augmented2d, k10)] = p[PARAM_v].number * (-0.5) + 2.0;
    constants[TZ_CONSTANT(augmented2d, k11)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k12)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k13)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k14)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k15)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k16)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k17)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(augmented2d, k18)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.11) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(augmented2d, k19)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * (-0.5) + 2.0) +
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(augmented2d, k20)] =
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(augmented2d, k21)] =
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * (-0.5) + 2.0) +
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(augmented2d, k22)] =
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.13) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.11) +
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * (-0.5) + 2.0) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.11) +
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.13) + (-1.0);
    constants[TZ_CONSTANT(augmented2d, k23)] =
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.11) +
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * (-0.5) + 2.0);
    constants[TZ_CONSTANT(augmented2d, k24)] =
        p[PARAM_v].number * 0.11 * (p[PARAM_v].number * 0.13) +
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(augmented2d, k25)] =
        (p[PARAM_v].number * (-0.5) + 2.0) * (p[PARAM_v].number * 0.13) +
        p[PARAM_v].number * 0.13 * (p[PARAM_v].number * (-0.5) + 2.0);
    constants[TZ_CONSTANT(augmented2d, k26)] = -(p[PARAM_v].number * 0.13);
    constants[TZ_CONSTANT(augmented2d, k27)] = -(p[PARAM_v].number * 0.11);
    constants[TZ_CONSTANT(augmented2d, k28)] = -(p[PARAM_v].number * (-0.5) + 2.0);
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

static const tz_pass passes[] = {
    {.name = "update",
     .writes = TZ_WRITES(augmented2d, u) | TZ_WRITES(augmented2d, old),
     TZ_PASS(augmented2d)},
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
    .constants_count = TZ_CONSTANTS_COUNT(augmented2d),
    .constants = augmented2d_constants,
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
