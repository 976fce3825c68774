/* augmented2d: Three uneven averaging steps at once, as tz.stencil writes it.
 * augmented2d.cell.h has the cell update. */
#include <math.h>
#include <stdio.h>

#define TZ_CELL_TEXT "augmented2d.cell.h"
#define TZ_CELL_ID augmented2d
#define TZ_CELL_NAME update
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 3
#define TZ_CELL_REAL 1
#define TZ_CELL_FRAME k1
#include <trapeze/rows.h>

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
            there |= setup->boundary[axis][high] == TZ_CLAMP ||
                     setup->boundary[axis][high] == TZ_FIXED;
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
    double *constants = setup->constants;
    constants[TZ_CONSTANT(augmented2d, k1)] = framed(setup);
    constants[TZ_CONSTANT(augmented2d, k2)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_CLAMP) |
        TZ_ALLOW(TZ_FIXED), 2);
    constants[TZ_CONSTANT(augmented2d, k3)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_CLAMP) |
        TZ_ALLOW(TZ_FIXED), 2);
    constants[TZ_CONSTANT(augmented2d, k4)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_CLAMP) |
        TZ_ALLOW(TZ_FIXED), 2);
    constants[TZ_CONSTANT(augmented2d, k5)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_CLAMP) |
        TZ_ALLOW(TZ_FIXED), 2);
    constants[TZ_CONSTANT(augmented2d, k6)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k7)] = side_at(setup, 1, 0, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k8)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k9)] = side_at(setup, 0, 0, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k10)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k11)] = side_at(setup, 0, 1, TZ_ALLOW(TZ_CLAMP), 0);
    constants[TZ_CONSTANT(augmented2d, k12)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_FIXED), 0);
    constants[TZ_CONSTANT(augmented2d, k13)] = side_at(setup, 1, 1, TZ_ALLOW(TZ_CLAMP), 0);
    if (is_narrow(setup, 0, 3)) {
        snprintf(setup->message, setup->message_size,
                 "augment = 3: with a mirror side and another one along x, more than 3 "
                 "cells are needed there");
        return TZ_REFUSED;
    }
    if (is_narrow(setup, 1, 3)) {
        snprintf(setup->message, setup->message_size,
                 "augment = 3: with a mirror side and another one along y, more than 3 "
                 "cells are needed there");
        return TZ_REFUSED;
    }
    return 0;
}

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "a value that spreads", .boundary_value = 0.5),
};

static const tz_pass passes[] = {
    {.name = "update", .writes = TZ_WRITES(augmented2d, u), TZ_PASS(augmented2d)},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "augmented2d",
    .doc = "Three uneven averaging steps at once, as tz.stencil writes it.",
    .dims = 2,
    .fields_count = 1,
    .fields = fields,
    .constants_count = TZ_CONSTANTS_COUNT(augmented2d),
    .constants = augmented2d_constants,
    .derive = derive,
    .passes_count = 1,
    .passes = passes,
    .boundaries = TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_FIXED),
    .boundary = TZ_CLAMP,
    .steps = 3,
};

TZ_PLUGIN_DEFINE("augmented2d", "1.0.0", "Three uneven averaging steps at once, as tz.stencil writes it.", &stencil)
