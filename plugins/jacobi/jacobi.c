/* The usual benchmark stencils: constant coefficients on stars and boxes. This plugin has several
 * stencils. All stars share a text, and so do all 2-D boxes; the texts use TZ_CELL_DIMS and
 * TZ_CELL_RADIUS. */
#include <float.h>
#include <trapeze/origin.h>
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "jacobi.cell.h"
#define TZ_CELL_NAME jacobi
#define TZ_CELL_ID star2d1r
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "jacobi.cell.h"
#define TZ_CELL_NAME jacobi
#define TZ_CELL_ID star2d2r
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "jacobi.cell.h"
#define TZ_CELL_NAME jacobi
#define TZ_CELL_ID star3d1r
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "jacobi.cell.h"
#define TZ_CELL_NAME jacobi
#define TZ_CELL_ID star3d2r
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "box2d.cell.h"
#define TZ_CELL_NAME box2d
#define TZ_CELL_ID box2d1r
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "box2d.cell.h"
#define TZ_CELL_NAME box2d
#define TZ_CELL_ID box2d2r
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "box3d.cell.h"
#define TZ_CELL_NAME box3d
#define TZ_CELL_ID box3d1r
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

/* A weight as a parameter. The default weights of all cells of a stencil sum to 1 and are exact in
 * float: the update averages, and nothing grows. NAME_cells has how often each weight counts. */
#define WEIGHT(name, value, doc) TZ_REAL_PARAM(name, value, -1e6, 1e6, "", doc)
#define CENTER(value) WEIGHT("center", value, "weight of the cell itself")
#define ORIGIN                                                                                     \
    TZ_REAL_PARAM("origin", NAN, -1e30, 1e30, "",                                                  \
                  "memory holds u minus this, which single precision resolves better; by default " \
                  "u's boundary value with a fixed side, else 0; other than 0 only if the "        \
                  "weights sum to 1")

static const tz_param star2d1r_params[] = {
    CENTER(0.5),
    WEIGHT("axis_1", 0.125, "weight of the 4 cells 1 off along an axis"),
    ORIGIN,
};
static const int star2d1r_cells[] = {1, 4};
static const tz_param star2d2r_params[] = {
    CENTER(0.5),
    WEIGHT("axis_1", 0.09375, "weight of the 4 cells 1 off along an axis"),
    WEIGHT("axis_2", 0.03125, "weight of the 4 cells 2 off along an axis"),
    ORIGIN,
};
static const int star2d2r_cells[] = {1, 4, 4};
static const tz_param star3d1r_params[] = {
    CENTER(0.25),
    WEIGHT("axis_1", 0.125, "weight of the 6 cells 1 off along an axis"),
    ORIGIN,
};
static const int star3d1r_cells[] = {1, 6};
static const tz_param star3d2r_params[] = {
    CENTER(0.25),
    WEIGHT("axis_1", 0.09375, "weight of the 6 cells 1 off along an axis"),
    WEIGHT("axis_2", 0.03125, "weight of the 6 cells 2 off along an axis"),
    ORIGIN,
};
static const int star3d2r_cells[] = {1, 6, 6};
static const tz_param box2d1r_params[] = {
    CENTER(0.25),
    WEIGHT("axis_1", 0.125, "weight of the 4 cells 1 off along an axis"),
    WEIGHT("diagonal_11", 0.0625, "weight of the 4 cells at (+-1, +-1)"),
    ORIGIN,
};
static const int box2d1r_cells[] = {1, 4, 4};
static const tz_param box2d2r_params[] = {
    CENTER(0.140625),
    WEIGHT("axis_1", 0.09375, "weight of the 4 cells 1 off along an axis"),
    WEIGHT("diagonal_11", 0.0625, "weight of the 4 cells at (+-1, +-1)"),
    WEIGHT("axis_2", 0.0234375, "weight of the 4 cells 2 off along an axis"),
    WEIGHT("diagonal_21", 0.015625, "weight of the 8 cells at (+-2, +-1) and (+-1, +-2)"),
    WEIGHT("diagonal_22", 0.00390625, "weight of the 4 cells at (+-2, +-2)"),
    ORIGIN,
};
static const int box2d2r_cells[] = {1, 4, 4, 4, 8, 4};
static const tz_param box3d1r_params[] = {
    CENTER(0.125),
    WEIGHT("axis_1", 0.0625, "weight of the 6 cells 1 off along an axis"),
    WEIGHT("diagonal_11", 0.03125, "weight of the 12 cells 1 off along two axes"),
    WEIGHT("diagonal_111", 0.015625, "weight of the 8 cells 1 off along three axes"),
    ORIGIN,
};
static const int box3d1r_cells[] = {1, 6, 12, 8};

/* The cell's own weight, for others that are rounded: if they did not sum to 1, every value would
 * grow or shrink a little in each iteration. */
static double rounded_center(const tz_setup *setup, const int *cells, int count)
{
    double rest = 1.0;
    for (int k = 1; k < count; k++)
        rest -= cells[k] * tz_rounded(setup, setup->params[k].number);
    return rest;
}

/* The first parameters are the constants, in the same order; the last is the origin. */
static int derive(tz_setup *setup, const int *cells, int count)
{
    tz_value *p = setup->params;
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        setup->constants[k] = p[k].number;
        sum += cells[k] * p[k].number;
    }
    const int averages = fabs(sum - 1.0) <= 64 * DBL_EPSILON;
    if (averages && setup->precision == TZ_SINGLE)
        setup->constants[0] = rounded_center(setup, cells, count);
    const int refused =
        tz_origin_choose(setup, 0, count, averages ? tz_origin_outside(setup, 0) : 0.0);
    if (refused || averages || p[count].number == 0.0)
        return refused;
    snprintf(setup->message, setup->message_size,
             "with the origin %.9g the weights must sum to 1, and they sum to %.9g: correct the "
             "weights, or create the simulation with origin = 0",
             p[count].number, sum);
    return TZ_REFUSED;
}

#define DERIVE(id)                                                                                 \
    static int id##_derive(tz_setup *setup)                                                        \
    {                                                                                              \
        _Static_assert(sizeof id##_params / sizeof(tz_param) == TZ_CONSTANTS_COUNT(id) + 1, #id);  \
        _Static_assert(sizeof id##_cells / sizeof(int) == TZ_CONSTANTS_COUNT(id), #id);            \
        return derive(setup, id##_cells, TZ_CONSTANTS_COUNT(id));                                  \
    }

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the values that are averaged"),
};

#define STENCIL(ID, dimensions, sentence)                                                          \
    DERIVE(ID)                                                                                     \
    static const tz_pass ID##_passes[] = {                                                         \
        {.name = "sum", .writes = TZ_WRITES(ID, u), TZ_PASS(ID)},                                  \
    };                                                                                             \
    static const tz_stencil ID##_stencil = {                                                       \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #ID,                                                                                 \
        .doc = sentence,                                                                           \
        .dims = dimensions,                                                                        \
        TZ_STENCIL_TABLES(ID, fields, ID##_params, ID##_passes),                                   \
        .boundaries = TZ_ALLOW_ALL,                                                                \
        .boundary = TZ_CLAMP,                                                                      \
        .picture = {"u", "viridis", 0.0, 1.0},                                                     \
        .derive = ID##_derive,                                                                     \
    };

STENCIL(star2d1r, 2, "Weighted sum of 5 cells: a 2-D star of radius 1.")
STENCIL(star2d2r, 2, "Weighted sum of 9 cells: a 2-D star of radius 2.")
STENCIL(box2d1r, 2, "Weighted sum of 9 cells: a 2-D box of radius 1.")
STENCIL(box2d2r, 2, "Weighted sum of 25 cells: a 2-D box of radius 2.")
STENCIL(star3d1r, 3, "Weighted sum of 7 cells: a 3-D star of radius 1.")
STENCIL(star3d2r, 3, "Weighted sum of 13 cells: a 3-D star of radius 2.")
STENCIL(box3d1r, 3, "Weighted sum of 27 cells: a 3-D box of radius 1.")

TZ_PLUGIN_DEFINE("jacobi", "1.0.0", "benchmark stencils with constant coefficients",
                 &star2d1r_stencil, &star2d2r_stencil, &box2d1r_stencil, &box2d2r_stencil,
                 &star3d1r_stencil, &star3d2r_stencil, &box3d1r_stencil)
