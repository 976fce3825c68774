/* Lattice Boltzmann in two dimensions: nine populations, one or two relaxation times (I. Ginzburg
 * and others, Commun. Comput. Phys. 3, 2008), nearly incompressible flow (X. He, L.-S. Luo, J.
 * Stat. Phys. 88, 1997). One pass pulls what streams to the cell, then lets it collide; a solid
 * cell sends everything back. Population i moves by:
 *
 *    6 2 5      Memory holds differences from the fluid at rest (origins), so that the density
 *    3 0 1      below is its difference from 1. Momenta and velocities below are three times
 *    7 4 8      what they are.
 *
 * With LBM_CURVED the field distance says where walls are, also between cells: populations come
 * back from there (M. Bouzidi and others, Phys. Fluids 13, 2001). */
// clang-format off
#undef LBM_SHAPE
#undef LBM_SHAPE_READ
#ifdef LBM_CURVED
#define LBM_SHAPE(F) F(distance, real)
#define LBM_SHAPE_READ(R) R(lbm, distance, -1, 1, -1, 1)
#else
#define LBM_SHAPE(F)
#define LBM_SHAPE_READ(R)
#endif
#define TZ_FIELDS(F)                                                                               \
    F(f0, real) F(f1, real) F(f2, real) F(f3, real) F(f4, real) F(f5, real) F(f6, real)            \
    F(f7, real) F(f8, real) F(solid, int) F(wall_x, real) F(wall_y, real) LBM_SHAPE(F)             \
    F(speed, real) F(vorticity, real) F(density, real) F(velocity_x, real) F(velocity_y, real)     \
    F(force_x, real) F(force_y, real)
/* 1 - omega, omega times the weights of the populations (omega: 1 over the relaxation time of the
 * even parts of opposite populations), omega less that of the odd parts, both relaxation times, the
 * density of outlets less 1, three times the momentum that the body force gives an iteration */
#define TZ_CONSTANTS(K)                                                                            \
    K(keep, real) K(middle, real) K(side, real) K(corner, real) K(odd, real) K(even_time, real)    \
    K(odd_time, real) K(outlet, real) K(push_x, real) K(push_y, real)
#define TZ_READS(R)                                                                                \
    R(lbm, f0, 0, 0, 0, 0) R(lbm, f1, -1, 0, 0, 0) R(lbm, f2, 0, 0, -1, 0)                         \
    R(lbm, f3, 0, 1, 0, 0) R(lbm, f4, 0, 0, 0, 1) R(lbm, f5, -1, 0, -1, 0)                         \
    R(lbm, f6, 0, 1, -1, 0) R(lbm, f7, 0, 1, 0, 1) R(lbm, f8, -1, 0, 0, 1)                         \
    R(lbm, solid, 0, 0, 0, 0) R(lbm, wall_x, 0, 0, 0, 0) R(lbm, wall_y, 0, 0, 0, 0)                \
    LBM_SHAPE_READ(R)
// clang-format on

/* What a cell is: the field solid. A mirror's normal is the axis in its name. */
#define LBM_IS_OBSTACLE(kind) ((kind) == 1)
#define LBM_IS_SOLID(kind) (((kind) == 1) | ((kind) == 2))
#define LBM_IS_INLET(kind) ((kind) == 3)
#define LBM_IS_OUTLET(kind) ((kind) == 4)
#define LBM_IS_FLUID(kind) (((kind) == 0) | ((kind) == 3) | ((kind) == 4))
#define LBM_IS_MIRROR(kind) ((kind) >= 5)
#define LBM_IS_MIRROR_X(kind) ((kind) == 5)
#define LBM_IS_MIRROR_Y(kind) ((kind) == 6)

#ifdef LBM_CURVED
/* What arrives from the direction of a cell: `come` from there, or what a wall sends back if that
 * cell is within it. `sent` is what left the cell for the wall, `behind` what left the cell on the
 * other side for it, `last` what left the cell the other way. `here` and `there` are the distances
 * from the wall of the cell and of that cell. */
TZ_HELPER(real, lbm_arrives, (real come, real sent, real behind, real last, real here, real there))
{
    const real all = there < TZ_R(0) ? here - there : TZ_R(1), twice = here + here;
    const real share = TZ_MIN(twice, all) / TZ_MAX(twice, all);
    const real other = twice < all ? behind : last;
    return there < TZ_R(0) ? TZ_FMA(share, sent - other, other) : come;
}
/* Population i, which moves by (dx, dy), as it arrives at the cell (x, y) away. */
#define LBM_COME_TO(i, opposite, dx, dy, x, y)                                                     \
    TZ_CALL(lbm_arrives, TZ_AT(f##i, (x) - (dx), (y) - (dy)), TZ_AT(f##opposite, x, y),            \
            TZ_AT(f##opposite, (x) + (dx), (y) + (dy)), TZ_AT(f##i, x, y), TZ_AT(distance, x, y),  \
            TZ_AT(distance, (x) - (dx), (y) - (dy)))
#define LBM_COME(i, opposite, dx, dy) LBM_COME_TO(i, opposite, dx, dy, 0, 0)
#define LBM_REST (TZ_AT(distance, 0, 0) < TZ_R(0))
#else
#define LBM_COME(i, opposite, dx, dy) TZ_AT(f##i, -(dx), -(dy))
#define LBM_REST 0
#endif

/* Two opposite populations relax to the equilibrium even + odd and even - odd, in which odd is
 * plain times move; cells that are not fluid send si and sj. */
#define LBM_PUT(i, j, si, sj, weight, plain, even, move)                                           \
    {                                                                                              \
        const real lag = TZ_K(odd) * TZ_FMA(TZ_R(-plain), move, TZ_R(0.5) * (f##i - f##j));        \
        const real ci = TZ_FMA(weight, (even) + (move), TZ_K(keep) * f##i) + lag;                  \
        const real cj = TZ_FMA(weight, (even) - (move), TZ_K(keep) * f##j) - lag;                  \
        TZ_PUT(f##i, TZ_SELECT(rest, TZ_R(0), TZ_SELECT(fluid, ci, si)));                          \
        TZ_PUT(f##j, TZ_SELECT(rest, TZ_R(0), TZ_SELECT(fluid, cj, sj)));                          \
    }
/* What comes back from a wall that moves. */
#define LBM_BACK(population, plain, move) TZ_FMA(TZ_R(2. * (plain)), move, population)
#define LBM_MIRROR(i, by_x, by_y, plain, move)                                                     \
    TZ_SELECT(LBM_IS_MIRROR_X(kind), by_x,                                                         \
              TZ_SELECT(LBM_IS_MIRROR_Y(kind), by_y, LBM_BACK(i, plain, move)))

TZ_CELL(lbm)
{
    const int kind = TZ_AT(solid, 0, 0), fluid = LBM_IS_FLUID(kind), rest = LBM_REST;
    const real f0 = TZ_AT(f0, 0, 0), f1 = LBM_COME(1, 3, 1, 0), f2 = LBM_COME(2, 4, 0, 1);
    const real f3 = LBM_COME(3, 1, -1, 0), f4 = LBM_COME(4, 2, 0, -1), f5 = LBM_COME(5, 7, 1, 1);
    const real f6 = LBM_COME(6, 8, -1, 1), f7 = LBM_COME(7, 5, -1, -1), f8 = LBM_COME(8, 6, 1, -1);
    const real a = f5 + f7, b = f6 + f8, c = f5 - f7, d = f8 - f6;
    const real came = ((f1 + f3) + (f2 + f4)) + ((a + b) + f0);
    const real came_x = TZ_R(3) * ((f1 - f3) + (c + d)), came_y = TZ_R(3) * ((f2 - f4) + (c - d));
    /* An outlet has its density after the collision, an inlet its momentum: the part that relaxes
     * is changed by so many times more. The fluid's velocity is the mean of before and after. */
    const real three = TZ_SELECT(LBM_IS_MIRROR(kind), TZ_R(0), TZ_R(3));
    const real wall_x = three * TZ_AT(wall_x, 0, 0), wall_y = three * TZ_AT(wall_y, 0, 0);
    const real gain_x = TZ_SELECT(LBM_IS_INLET(kind), wall_x - came_x, TZ_K(push_x));
    const real gain_y = TZ_SELECT(LBM_IS_INLET(kind), wall_y - came_y, TZ_K(push_y));
    const real move_x = TZ_FMA(TZ_K(odd_time), gain_x, came_x);
    const real move_y = TZ_FMA(TZ_K(odd_time), gain_y, came_y);
    const real x = TZ_FMA(TZ_R(0.5), gain_x, came_x), y = TZ_FMA(TZ_R(0.5), gain_y, came_y);
    const real gain = TZ_SELECT(LBM_IS_OUTLET(kind), TZ_K(outlet) - came, TZ_R(0));
    const real density = TZ_FMA(TZ_K(even_time), gain, came);
    const real xx = x * x, yy = y * y, squares = xx + yy, xy = x * y;
    const real still = TZ_FMA(TZ_R(-1. / 6), squares, density);
    const real even_x = TZ_FMA(TZ_R(0.5), xx, still), even_y = TZ_FMA(TZ_R(0.5), yy, still);
    const real even = TZ_FMA(TZ_R(0.5), squares, still);
    const real plus = wall_x + wall_y, minus = wall_x - wall_y;
    TZ_PUT(f0, TZ_SELECT(rest, TZ_R(0),
                         TZ_SELECT(fluid, TZ_FMA(TZ_K(middle), still, TZ_K(keep) * f0), f0)));
    LBM_PUT(1, 3, LBM_BACK(f3, 1. / 9, wall_x), LBM_BACK(f1, 1. / 9, -wall_x), TZ_K(side), 1. / 9,
            even_x, move_x)
    LBM_PUT(2, 4, LBM_BACK(f4, 1. / 9, wall_y), LBM_BACK(f2, 1. / 9, -wall_y), TZ_K(side), 1. / 9,
            even_y, move_y)
    LBM_PUT(5, 7, LBM_MIRROR(f7, f6, f8, 1. / 36, plus), LBM_MIRROR(f5, f8, f6, 1. / 36, -plus),
            TZ_K(corner), 1. / 36, even + xy, move_x + move_y)
    LBM_PUT(8, 6, LBM_MIRROR(f6, f7, f5, 1. / 36, minus), LBM_MIRROR(f8, f5, f7, 1. / 36, -minus),
            TZ_K(corner), 1. / 36, even - xy, move_x - move_y)
}

/* What the populations say about the flow. */
#define LBM_X(dx, dy)                                                                              \
    LBM_LESS(push_x,                                                                               \
             (TZ_AT(f1, dx, dy) - TZ_AT(f3, dx, dy)) + ((TZ_AT(f5, dx, dy) - TZ_AT(f7, dx, dy)) +  \
                                                        (TZ_AT(f8, dx, dy) - TZ_AT(f6, dx, dy))))
#define LBM_Y(dx, dy)                                                                              \
    LBM_LESS(push_y,                                                                               \
             (TZ_AT(f2, dx, dy) - TZ_AT(f4, dx, dy)) + ((TZ_AT(f5, dx, dy) - TZ_AT(f7, dx, dy)) -  \
                                                        (TZ_AT(f8, dx, dy) - TZ_AT(f6, dx, dy))))
/* Memory has what the body force has given in an iteration, the fluid's velocity half of it. */
#define LBM_LESS(push, momentum) TZ_FMA(TZ_R(-1. / 6), TZ_K(push), momentum)

/* A wall lies halfway to a solid cell and has that cell's velocity: beyond it the momentum is so
 * much larger than the wall's as the cell's own is smaller. Beyond a mirror it is the cell's. */
#define LBM_BEYOND(axis, part, own, dx, dy)                                                        \
    TZ_SELECT(LBM_IS_SOLID(TZ_AT(solid, dx, dy)),                                                  \
              TZ_FMA(TZ_R(2), TZ_AT(wall_##axis, dx, dy), -(own)),                                 \
              TZ_SELECT(LBM_IS_FLUID(TZ_AT(solid, dx, dy)), part(dx, dy), own))

TZ_CELL(lbm_flow)
{
    const int fluid = LBM_IS_FLUID(TZ_AT(solid, 0, 0));
    const real x = LBM_X(0, 0), y = LBM_Y(0, 0);
    const real curl = (LBM_BEYOND(y, LBM_Y, y, 1, 0) - LBM_BEYOND(y, LBM_Y, y, -1, 0)) -
                      (LBM_BEYOND(x, LBM_X, x, 0, 1) - LBM_BEYOND(x, LBM_X, x, 0, -1));
    const real straight = (TZ_AT(f1, 0, 0) + TZ_AT(f3, 0, 0)) + (TZ_AT(f2, 0, 0) + TZ_AT(f4, 0, 0));
    const real slanted = (TZ_AT(f5, 0, 0) + TZ_AT(f7, 0, 0)) + (TZ_AT(f6, 0, 0) + TZ_AT(f8, 0, 0));
    TZ_PUT(speed, TZ_SELECT(fluid, TZ_SQRT(TZ_FMA(x, x, y * y)), TZ_R(0)));
    TZ_PUT(vorticity, TZ_SELECT(fluid, TZ_R(0.5) * curl, TZ_R(0)));
    TZ_PUT(density, TZ_SELECT(fluid, TZ_R(1) + ((straight + slanted) + TZ_AT(f0, 0, 0)), TZ_R(1)));
    TZ_PUT(velocity_x, TZ_SELECT(fluid, x, TZ_R(0)));
    TZ_PUT(velocity_y, TZ_SELECT(fluid, y, TZ_R(0)));
}

/* What an obstacle's cell has got from the fluid beside it in an iteration, less what it sends. */
#ifdef LBM_CURVED
#define LBM_MET(i, j, dx, dy)                                                                      \
    TZ_SELECT(rest, TZ_AT(f##j, dx, dy) + LBM_COME_TO(i, j, dx, dy, dx, dy), LBM_SENT(i, dx, dy))
#define LBM_IS_BESIDE(dx, dy)                                                                      \
    (LBM_IS_FLUID(TZ_AT(solid, dx, dy)) & (TZ_AT(distance, dx, dy) >= TZ_R(0)))
#else
#define LBM_MET(i, j, dx, dy) LBM_SENT(i, dx, dy)
#define LBM_IS_BESIDE(dx, dy) LBM_IS_FLUID(TZ_AT(solid, dx, dy))
#endif
#define LBM_SENT(i, dx, dy)                                                                        \
    (TZ_R(2) * TZ_AT(f##i, 0, 0) -                                                                 \
     TZ_R((dx) * (dy) ? 1. / 6 : 2. / 3) * (TZ_R(dx) * wall_x + TZ_R(dy) * wall_y))
#define LBM_PART(i, j, dx, dy)                                                                     \
    const real g##i = TZ_SELECT(LBM_IS_BESIDE(dx, dy), LBM_MET(i, j, dx, dy), TZ_R(0));

TZ_CELL(lbm_force)
{
    const int rest = LBM_REST, obstacle = LBM_IS_OBSTACLE(TZ_AT(solid, 0, 0)) | rest;
    const real wall_x = TZ_AT(wall_x, 0, 0), wall_y = TZ_AT(wall_y, 0, 0);
    LBM_PART(1, 3, 1, 0)
    LBM_PART(2, 4, 0, 1)
    LBM_PART(3, 1, -1, 0)
    LBM_PART(4, 2, 0, -1)
    LBM_PART(5, 7, 1, 1)
    LBM_PART(6, 8, -1, 1)
    LBM_PART(7, 5, -1, -1)
    LBM_PART(8, 6, 1, -1)
    const real along = g5 - g7, across = g8 - g6;
    TZ_PUT(force_x, TZ_SELECT(obstacle, (g3 - g1) - (along + across), TZ_R(0)));
    TZ_PUT(force_y, TZ_SELECT(obstacle, (g4 - g2) - (along - across), TZ_R(0)));
}
#undef LBM_COME
#undef LBM_REST
#undef LBM_MET
#undef LBM_IS_BESIDE
