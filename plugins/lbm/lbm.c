/* Lattice Boltzmann: flow past obstacles and in channels, on the lattices D2Q9 and D3Q19. */
#include <math.h>
#include <stdio.h>
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "lbm.cell.h"
#define TZ_CELL_ID plain
#define TZ_CELL_NAME lbm
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "lbm.cell.h"
#define TZ_CELL_ID plain_flow
#define TZ_CELL_NAME lbm_flow
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "lbm.cell.h"
#define TZ_CELL_ID plain_force
#define TZ_CELL_NAME lbm_force
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "channel.cell.h"
#define TZ_CELL_ID lbm
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "channel.cell.h"
#define TZ_CELL_ID lbm_flow
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "channel.cell.h"
#define TZ_CELL_ID lbm_force
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define LBM_CURVED 1
#define TZ_CELL_TEXT "channel.cell.h"
#define TZ_CELL_ID curved
#define TZ_CELL_NAME lbm
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "channel.cell.h"
#define TZ_CELL_ID curved_flow
#define TZ_CELL_NAME lbm_flow
#define TZ_CELL_DIMS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "channel.cell.h"
#define TZ_CELL_ID curved_force
#define TZ_CELL_NAME lbm_force
#define TZ_CELL_DIMS 2
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>
#undef LBM_CURVED

#define TZ_CELL_TEXT "lbm3d.cell.h"
#define TZ_CELL_ID lbm3d
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "lbm3d.cell.h"
#define TZ_CELL_ID lbm3d_flow
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "lbm3d.cell.h"
#define TZ_CELL_ID lbm3d_force
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

/* What differs between the lattices. */
typedef struct lattice {
    int populations;
    double middle, side, corner;   /* weights of populations that move along 0, 1 and 2 axes */
    const signed char (*moves)[3]; /* by what each moves */
    int solid, wall, speed;        /* fields: the kinds, the first velocity of walls, the speed */
    int kinds;                     /* of cells, 0 included; 0: fluid and solid, and no walls */
} lattice;

#define LATTICE(id, first_wall, kinds_count, cells, w0, w1, w2)                                    \
    {                                                                                              \
        .populations = sizeof cells / sizeof *cells, .middle = w0, .side = w1, .corner = w2,       \
        .moves = cells, .solid = TZ_FIELD(id, solid), .wall = first_wall,                          \
        .speed = TZ_FIELD(id##_flow, speed), .kinds = kinds_count                                  \
    }
static const signed char moves2[][3] = {{0, 0}, {1, 0},  {0, 1},   {-1, 0}, {0, -1},
                                        {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
static const signed char moves3[][3] = {
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
static const lattice d2q9_plain = LATTICE(plain, -1, 0, moves2, 4. / 9, 1. / 9, 1. / 36);
static const lattice d2q9 = LATTICE(lbm, TZ_FIELD(lbm, wall_x), 7, moves2, 4. / 9, 1. / 9, 1. / 36);
static const lattice d2q9_curved =
    LATTICE(curved, TZ_FIELD(curved, wall_x), 7, moves2, 4. / 9, 1. / 9, 1. / 36);
static const lattice d3q19 =
    LATTICE(lbm3d, TZ_FIELD(lbm3d, wall_x), 8, moves3, 1. / 3, 1. / 18, 1. / 36);

static double weight_of(const lattice *on, int i)
{
    const signed char *move = on->moves[i];
    const int axes = (move[0] != 0) + (move[1] != 0) + (move[2] != 0);
    return axes == 0 ? on->middle : axes == 1 ? on->side : on->corner;
}

enum { VISCOSITY, MAGIC, OUTLET, GRAVITY };
#define GRAVITY_PARAM(axis)                                                                        \
    TZ_REAL_PARAM("gravity_" axis, 0.0, -0.1, 0.1, "",                                             \
                  "body force: how much faster along " axis                                        \
                  " the fluid gets in an iteration, in cells an iteration")
static const tz_param params[] = {
    [VISCOSITY] =
        TZ_REAL_PARAM("viscosity", 0.02, 1e-6, 10.0, "",
                      "kinematic viscosity in cells^2 an iteration; the Reynolds number is "
                      "velocity * size / viscosity"),
    [MAGIC] = TZ_REAL_PARAM("magic", 0.0, 0.0, 10.0, "",
                            "0: one relaxation time; else two, (one - 1/2) * (other - 1/2) = "
                            "magic: walls lie where they should at 3/16, 1/4 is most stable"),
    [OUTLET] = TZ_REAL_PARAM("outlet_density", 1.0, 0.5, 2.0, "",
                             "density of outlets; a third of it is the pressure"),
    [GRAVITY] = GRAVITY_PARAM("x"),
    GRAVITY_PARAM("y"),
    GRAVITY_PARAM("z"),
};

/* All stencils have these constants first, the plain one no more than four. */
static int derive(tz_setup *setup, const lattice *on)
{
    const tz_value *p = setup->params;
    const double even_time = 3.0 * p[VISCOSITY].number + 0.5, omega = 1.0 / even_time;
    double *constants = setup->constants;
    for (int i = 0; i < on->populations; i++)
        if (isnan(setup->origins[i]))
            setup->origins[i] = weight_of(on, i);
    constants[TZ_CONSTANT(lbm, keep)] = 1.0 - omega;
    constants[TZ_CONSTANT(lbm, middle)] = on->middle * omega;
    constants[TZ_CONSTANT(lbm, side)] = on->side * omega;
    constants[TZ_CONSTANT(lbm, corner)] = on->corner * omega;
    if (on->kinds == 0)
        return 0;
    const double odd_time =
        p[MAGIC].number > 0.0 ? p[MAGIC].number / (even_time - 0.5) + 0.5 : even_time;
    constants[TZ_CONSTANT(lbm, odd)] = omega - 1.0 / odd_time;
    constants[TZ_CONSTANT(lbm, even_time)] = even_time;
    constants[TZ_CONSTANT(lbm, odd_time)] = odd_time;
    constants[TZ_CONSTANT(lbm, outlet)] = p[OUTLET].number - 1.0;
    for (int axis = 0; axis < setup->dims; axis++)
        constants[TZ_CONSTANT(lbm, push_x) + axis] = 3.0 * p[GRAVITY + axis].number;
    return 0;
}

/* A speed of the fluid beyond which the method is wrong, and one for a viscosity of 1 beyond which
 * it mostly diverges: cells then have a Reynolds number of so much. */
static const double SPEED_MOST = 0.3, REYNOLDS_MOST = 100.0;

/* At the start, of what fixed sides send in, and of walls and inlets. */
static double largest_speed(const tz_run_facts *facts, const lattice *on)
{
    double low, high, most = 0.0, bound = 0.0, walls = 0.0;
    for (int side = 0; side < 2 * facts->dims; side++) {
        double v[3] = {0};
        for (int i = 0; i < on->populations && facts->boundary[side / 2][side % 2] == TZ_FIXED; i++)
            for (int axis = 0; axis < 3; axis++)
                v[axis] += on->moves[i][axis] * facts->boundary_values[i * TZ_SIDES + side];
        most = fmax(most, hypot(hypot(v[0], v[1]), v[2]));
    }
    for (int axis = 0; axis < facts->dims && on->kinds > 0; axis++)
        if (facts->range(facts->context, on->wall + axis, &low, &high) == 0)
            walls = hypot(walls, fmax(fabs(low), fabs(high)));
    /* The field speed takes longer to compute than this bound. */
    for (int i = 1; i < on->populations && facts->range(facts->context, i, &low, &high) == 0; i++)
        bound += fmax(fabs(low - weight_of(on, i)), fabs(high - weight_of(on, i)));
    if (bound > fmin(SPEED_MOST, REYNOLDS_MOST * facts->params[VISCOSITY].number) &&
        facts->range(facts->context, on->speed, &low, &high) == 0)
        most = fmax(most, high);
    return fmax(most, walls);
}

static int check_run(const tz_run_facts *facts, const lattice *on)
{
    double low, high;
    if (on->kinds > 0 && facts->range(facts->context, on->solid, &low, &high) == 0 &&
        (low < 0.0 || high >= on->kinds)) {
        snprintf(facts->message, facts->message_size,
                 "the field solid reaches from %g to %g, but there are kinds 0 to %d of cells: 0 "
                 "fluid, 1 obstacle, 2 wall, 3 inlet, 4 outlet, from 5 on mirrors",
                 low, high, on->kinds - 1);
        return TZ_REFUSED;
    }
    const double speed = largest_speed(facts, on), viscosity = facts->params[VISCOSITY].number;
    if (speed > SPEED_MOST)
        snprintf(facts->message, facts->message_size,
                 "the populations move at up to %.3g cells an iteration: above about %g the flow "
                 "is wrong or diverges; use smaller velocities, and a smaller viscosity for the "
                 "same Reynolds number",
                 speed, SPEED_MOST);
    else if (speed > REYNOLDS_MOST * viscosity)
        snprintf(facts->message, facts->message_size,
                 "at a speed of %.3g and viscosity = %.3g a cell has the Reynolds number %.3g: "
                 "above about %g the flow mostly diverges; set viscosity to %.3g or more, or use "
                 "more cells",
                 speed, viscosity, speed / viscosity, REYNOLDS_MOST, speed / REYNOLDS_MOST);
    else
        return 0;
    return TZ_WARNS;
}

#define POPULATION(name, weight, to)                                                               \
    TZ_STATE_FIELD(name, TZ_REAL, "", "share of the fluid that moves " to " in an iteration",      \
                   .initial = weight, .boundary_value = weight)
#define POPULATIONS2                                                                               \
    POPULATION("f0", 4. / 9, "nowhere"), POPULATION("f1", 1. / 9, "to x + 1"),                     \
        POPULATION("f2", 1. / 9, "to y + 1"), POPULATION("f3", 1. / 9, "to x - 1"),                \
        POPULATION("f4", 1. / 9, "to y - 1"), POPULATION("f5", 1. / 36, "to x + 1, y + 1"),        \
        POPULATION("f6", 1. / 36, "to x - 1, y + 1"),                                              \
        POPULATION("f7", 1. / 36, "to x - 1, y - 1"), POPULATION("f8", 1. / 36, "to x + 1, y - 1")
#define SOLID(mirrors)                                                                             \
    TZ_STATIC_FIELD("solid", TZ_INT, "",                                                           \
                    "what a cell is: 0 fluid, 1 obstacle, which sends everything back, 2 wall, "   \
                    "the same without a force, 3 inlet, 4 outlet, " mirrors                        \
                    "; the residual leaves out all but fluid",                                     \
                    .radius = 1, .excludes = 1)
#define WALL(axis)                                                                                 \
    TZ_STATIC_FIELD("wall_" axis, TZ_REAL, "",                                                     \
                    "velocity along " axis                                                         \
                    " of obstacles, walls and inlets, in cells an iteration",                      \
                    .radius = 1)
#define FLOW                                                                                       \
    TZ_DERIVED_FIELD("speed", TZ_REAL, "", "speed of the fluid, in cells an iteration"),           \
        TZ_DERIVED_FIELD("vorticity", TZ_REAL, "",                                                 \
                         "how the fluid turns, in radians an iteration"),                          \
        TZ_DERIVED_FIELD("density", TZ_REAL, "", "its density; a third of it is the pressure")
#define VELOCITY(axis)                                                                             \
    TZ_DERIVED_FIELD("velocity_" axis, TZ_REAL, "", "velocity of the fluid along " axis)
#define FORCE(axis)                                                                                \
    TZ_DERIVED_FIELD("force_" axis, TZ_REAL, "",                                                   \
                     "force along " axis " of the fluid on an obstacle's cell, more than at rest")

#define FIELDS2(...)                                                                               \
    POPULATIONS2, SOLID("5 and 6 mirrors whose normals are x and y"), WALL("x"), WALL("y"),        \
        __VA_ARGS__ FLOW, VELOCITY("x"), VELOCITY("y"), FORCE("x"), FORCE("y")
static const tz_field plain_fields[] = {
    POPULATIONS2,
    TZ_STATIC_FIELD("solid", TZ_INT, "",
                    "not 0: an obstacle, which sends everything back; the residual leaves it out",
                    .radius = 1, .excludes = 1),
    FLOW,
    VELOCITY("x"),
    VELOCITY("y"),
    FORCE("x"),
    FORCE("y"),
};
static const tz_field lbm_fields[] = {FIELDS2()};
static const tz_field curved_fields[] = {
    FIELDS2(TZ_STATIC_FIELD("distance", TZ_REAL, "",
                            "cells to the nearest point of an obstacle's surface, negative within "
                            "it, where all is at rest",
                            .initial = 1.0, .boundary_value = 1.0, .radius = 1), )};
static const tz_field lbm3d_fields[] = {
    POPULATION("f0", 1. / 3, "nowhere"),
    POPULATION("f1", 1. / 18, "to x + 1"),
    POPULATION("f2", 1. / 18, "to x - 1"),
    POPULATION("f3", 1. / 18, "to y + 1"),
    POPULATION("f4", 1. / 18, "to y - 1"),
    POPULATION("f5", 1. / 18, "to z + 1"),
    POPULATION("f6", 1. / 18, "to z - 1"),
    POPULATION("f7", 1. / 36, "to x + 1, y + 1"),
    POPULATION("f8", 1. / 36, "to x - 1, y - 1"),
    POPULATION("f9", 1. / 36, "to x + 1, y - 1"),
    POPULATION("f10", 1. / 36, "to x - 1, y + 1"),
    POPULATION("f11", 1. / 36, "to x + 1, z + 1"),
    POPULATION("f12", 1. / 36, "to x - 1, z - 1"),
    POPULATION("f13", 1. / 36, "to x + 1, z - 1"),
    POPULATION("f14", 1. / 36, "to x - 1, z + 1"),
    POPULATION("f15", 1. / 36, "to y + 1, z + 1"),
    POPULATION("f16", 1. / 36, "to y - 1, z - 1"),
    POPULATION("f17", 1. / 36, "to y + 1, z - 1"),
    POPULATION("f18", 1. / 36, "to y - 1, z + 1"),
    SOLID("5, 6 and 7 mirrors whose normals are x, y and z"),
    WALL("x"),
    WALL("y"),
    WALL("z"),
    FLOW,
    VELOCITY("x"),
    VELOCITY("y"),
    VELOCITY("z"),
    FORCE("x"),
    FORCE("y"),
    FORCE("z"),
};

/* A stencil, whose texts have the macros that `macros` says. The forces are the last fields. */
#define STENCIL(ID, label, sentence, dimensions, on, parameters, macros, map, low)                 \
    static int derive_##ID(tz_setup *setup)                                                        \
    {                                                                                              \
        return derive(setup, &on);                                                                 \
    }                                                                                              \
    static int check_##ID(const tz_run_facts *facts)                                               \
    {                                                                                              \
        return check_run(facts, &on);                                                              \
    }                                                                                              \
    static const tz_pass ID##_passes[] = {                                                         \
        {.name = "pull and collide",                                                               \
         .writes = TZ_WRITES(ID, solid) - 1u,                                                      \
         .text_defines = macros,                                                                   \
         TZ_PASS(ID)},                                                                             \
    };                                                                                             \
    static const tz_pass ID##_outputs[] = {                                                        \
        {.name = "flow",                                                                           \
         .writes = TZ_WRITES(ID, force_x) - TZ_WRITES(ID, speed),                                  \
         .text_defines = macros,                                                                   \
         TZ_PASS(ID##_flow)},                                                                      \
        {.name = "force",                                                                          \
         .writes = TZ_WRITES(ID, force_x) * ((1u << (dimensions)) - 1u),                           \
         .text_defines = macros,                                                                   \
         TZ_PASS(ID##_force)},                                                                     \
    };                                                                                             \
    static const tz_stencil ID = {                                                                 \
        TZ_STENCIL_HEADER,                                                                         \
        .id = label,                                                                               \
        .doc = sentence,                                                                           \
        .dims = dimensions,                                                                        \
        .fields_count = sizeof ID##_fields / sizeof *ID##_fields,                                  \
        .fields = ID##_fields,                                                                     \
        .params_count = parameters,                                                                \
        .params = params,                                                                          \
        .constants_count = TZ_CONSTANTS_COUNT(ID),                                                 \
        .constants = ID##_constants,                                                               \
        .passes_count = 1,                                                                         \
        .passes = ID##_passes,                                                                     \
        .outputs_count = 2,                                                                        \
        .outputs = ID##_outputs,                                                                   \
        .boundaries = TZ_ALLOW_ALL,                                                                \
        .boundary = TZ_PERIODIC,                                                                   \
        .picture = {"vorticity", map, low, 0.02},                                                  \
        .derive = derive_##ID,                                                                     \
        .check_run = check_##ID,                                                                   \
    };
STENCIL(plain, "lbm",
        "Flow past obstacles by a lattice Boltzmann method (D2Q9, one relaxation time).", 2,
        d2q9_plain, 1, NULL, "balance", -0.02)
STENCIL(lbm, "lbm_channel",
        "The same in channels, slower: the field solid says where inlets, outlets, walls that move "
        "and mirrors are; one or two relaxation times, a body force.",
        2, d2q9, GRAVITY + 2, NULL, "balance", -0.02)
STENCIL(curved, "lbm_curved",
        "The same with obstacles whose surface lies between cells, as the field distance says.", 2,
        d2q9_curved, GRAVITY + 2, "LBM_CURVED=1", "balance", -0.02)
STENCIL(lbm3d, "lbm3d",
        "Flow in three dimensions by a lattice Boltzmann method (D3Q19, one or two relaxation "
        "times); the field solid says what sides are.",
        3, d3q19, GRAVITY + 3, NULL, "viridis", 0.0)

TZ_PLUGIN_DEFINE("lbm", "1.1.0", "lattice Boltzmann flow", &plain, &lbm, &curved, &lbm3d)
