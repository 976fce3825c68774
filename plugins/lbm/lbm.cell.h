/* Lattice Boltzmann in two dimensions: nine populations, one relaxation time (BGK), nearly
 * incompressible flow (X. He, L.-S. Luo, J. Stat. Phys. 88, 1997). One pass pulls what streams to
 * the cell, then lets it collide; a solid cell sends everything back. Population i moves by:
 *
 *    6 2 5      Memory holds differences from the fluid at rest (origins), so that the density
 *    3 0 1      below is its difference from 1.
 *    7 4 8
 */
// clang-format off
#define TZ_FIELDS(F)                                                                               \
    F(f0, real) F(f1, real) F(f2, real) F(f3, real) F(f4, real) F(f5, real) F(f6, real)            \
    F(f7, real) F(f8, real) F(solid, int) F(speed, real) F(vorticity, real) F(density, real)       \
    F(velocity_x, real) F(velocity_y, real) F(force_x, real) F(force_y, real)
// clang-format on
/* 1 - omega, and omega times the weights of the populations */
#define TZ_CONSTANTS(K) K(keep, real) K(middle, real) K(side, real) K(corner, real)
#define TZ_READS(R)                                                                                \
    R(lbm, f0, 0, 0, 0, 0)                                                                         \
    R(lbm, f1, -1, 0, 0, 0)                                                                        \
    R(lbm, f2, 0, 0, -1, 0)                                                                        \
    R(lbm, f3, 0, 1, 0, 0)                                                                         \
    R(lbm, f4, 0, 0, 0, 1)                                                                         \
    R(lbm, f5, -1, 0, -1, 0)                                                                       \
    R(lbm, f6, 0, 1, -1, 0)                                                                        \
    R(lbm, f7, 0, 1, 0, 1)                                                                         \
    R(lbm, f8, -1, 0, 0, 1)                                                                        \
    R(lbm, solid, 0, 0, 0, 0)

/* The population that moves by (cx, cy) relaxes to an equilibrium even + odd; where the cell is
 * solid, it is the opposite one. */
#define LBM_PUT(i, opposite, weight, even, odd)                                                    \
    TZ_PUT(f##i, TZ_SELECT(solid, f##opposite, TZ_FMA(weight, (even) + (odd), TZ_K(keep) * f##i)))

TZ_CELL(lbm)
{
    const int solid = TZ_AT(solid, 0, 0);
    const real f0 = TZ_AT(f0, 0, 0), f1 = TZ_AT(f1, -1, 0), f2 = TZ_AT(f2, 0, -1);
    const real f3 = TZ_AT(f3, 1, 0), f4 = TZ_AT(f4, 0, 1), f5 = TZ_AT(f5, -1, -1);
    const real f6 = TZ_AT(f6, 1, -1), f7 = TZ_AT(f7, 1, 1), f8 = TZ_AT(f8, -1, 1);
    const real a = f5 + f7, b = f6 + f8, c = f5 - f7, d = f8 - f6;
    const real density = ((f1 + f3) + (f2 + f4)) + ((a + b) + f0);
    /* three times the velocity */
    const real x = TZ_R(3) * ((f1 - f3) + (c + d)), y = TZ_R(3) * ((f2 - f4) + (c - d));
    const real xx = x * x, yy = y * y, squares = xx + yy, xy = x * y;
    const real rest = TZ_FMA(TZ_R(-1. / 6), squares, density);
    const real even_x = TZ_FMA(TZ_R(0.5), xx, rest), even_y = TZ_FMA(TZ_R(0.5), yy, rest);
    const real even = TZ_FMA(TZ_R(0.5), squares, rest), sum = x + y, difference = x - y;
    TZ_PUT(f0, TZ_SELECT(solid, f0, TZ_FMA(TZ_K(middle), rest, TZ_K(keep) * f0)));
    LBM_PUT(1, 3, TZ_K(side), even_x, x);
    LBM_PUT(3, 1, TZ_K(side), even_x, -x);
    LBM_PUT(2, 4, TZ_K(side), even_y, y);
    LBM_PUT(4, 2, TZ_K(side), even_y, -y);
    LBM_PUT(5, 7, TZ_K(corner), even + xy, sum);
    LBM_PUT(7, 5, TZ_K(corner), even + xy, -sum);
    LBM_PUT(8, 6, TZ_K(corner), even - xy, difference);
    LBM_PUT(6, 8, TZ_K(corner), even - xy, -difference);
}
#undef LBM_PUT

/* What the populations say about the flow. */
#define LBM_X(dx, dy)                                                                              \
    ((TZ_AT(f1, dx, dy) - TZ_AT(f3, dx, dy)) +                                                     \
     ((TZ_AT(f5, dx, dy) - TZ_AT(f7, dx, dy)) + (TZ_AT(f8, dx, dy) - TZ_AT(f6, dx, dy))))
#define LBM_Y(dx, dy)                                                                              \
    ((TZ_AT(f2, dx, dy) - TZ_AT(f4, dx, dy)) +                                                     \
     ((TZ_AT(f5, dx, dy) - TZ_AT(f7, dx, dy)) - (TZ_AT(f8, dx, dy) - TZ_AT(f6, dx, dy))))

/* A wall, halfway to a solid cell, is at rest: beyond it the momentum is minus the cell's own. */
#define LBM_BEYOND(part, own, dx, dy) TZ_SELECT(TZ_AT(solid, dx, dy), -(own), part(dx, dy))

TZ_CELL(lbm_flow)
{
    const int solid = TZ_AT(solid, 0, 0);
    const real x = LBM_X(0, 0), y = LBM_Y(0, 0);
    const real curl = (LBM_BEYOND(LBM_Y, y, 1, 0) - LBM_BEYOND(LBM_Y, y, -1, 0)) -
                      (LBM_BEYOND(LBM_X, x, 0, 1) - LBM_BEYOND(LBM_X, x, 0, -1));
    const real straight = (TZ_AT(f1, 0, 0) + TZ_AT(f3, 0, 0)) + (TZ_AT(f2, 0, 0) + TZ_AT(f4, 0, 0));
    const real slanted = (TZ_AT(f5, 0, 0) + TZ_AT(f7, 0, 0)) + (TZ_AT(f6, 0, 0) + TZ_AT(f8, 0, 0));
    TZ_PUT(speed, TZ_SELECT(solid, TZ_R(0), TZ_SQRT(TZ_FMA(x, x, y * y))));
    TZ_PUT(vorticity, TZ_SELECT(solid, TZ_R(0), TZ_R(0.5) * curl));
    TZ_PUT(density, TZ_R(1) + ((straight + slanted) + TZ_AT(f0, 0, 0)));
    TZ_PUT(velocity_x, TZ_SELECT(solid, TZ_R(0), x));
    TZ_PUT(velocity_y, TZ_SELECT(solid, TZ_R(0), y));
}

/* What a solid cell has got from the fluid beside it in an iteration, less what it sends: twice the
 * former. */
#define LBM_PART(i, dx, dy)                                                                        \
    const real g##i = TZ_SELECT(TZ_AT(solid, dx, dy), TZ_R(0), TZ_R(2) * TZ_AT(f##i, 0, 0));

TZ_CELL(lbm_force)
{
    const int solid = TZ_AT(solid, 0, 0);
    LBM_PART(1, 1, 0)
    LBM_PART(2, 0, 1)
    LBM_PART(3, -1, 0)
    LBM_PART(4, 0, -1)
    LBM_PART(5, 1, 1)
    LBM_PART(6, -1, 1)
    LBM_PART(7, -1, -1)
    LBM_PART(8, 1, -1)
    const real along = g5 - g7, across = g8 - g6;
    TZ_PUT(force_x, TZ_SELECT(solid, (g3 - g1) - (along + across), TZ_R(0)));
    TZ_PUT(force_y, TZ_SELECT(solid, (g4 - g2) - (along - across), TZ_R(0)));
}
#undef LBM_PART
#undef LBM_X
#undef LBM_Y
#undef LBM_BEYOND
