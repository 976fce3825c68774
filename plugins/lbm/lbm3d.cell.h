/* Lattice Boltzmann in three dimensions: nineteen populations, else as channel.cell.h. Populations
 * 1 and 2 move by (1, 0, 0) and back, the other pairs as LBM3D_PAIRS says. */
// clang-format off
#define TZ_FIELDS(F)                                                                               \
    F(f0, real) F(f1, real) F(f2, real) F(f3, real) F(f4, real) F(f5, real) F(f6, real)            \
    F(f7, real) F(f8, real) F(f9, real) F(f10, real) F(f11, real) F(f12, real) F(f13, real)        \
    F(f14, real) F(f15, real) F(f16, real) F(f17, real) F(f18, real)                               \
    F(solid, int) F(wall_x, real) F(wall_y, real) F(wall_z, real)                                  \
    F(speed, real) F(vorticity, real) F(density, real)                                             \
    F(velocity_x, real) F(velocity_y, real) F(velocity_z, real)                                    \
    F(force_x, real) F(force_y, real) F(force_z, real)
/* As in channel.cell.h. */
#define TZ_CONSTANTS(K)                                                                            \
    K(keep, real) K(middle, real) K(side, real) K(corner, real) K(odd, real) K(even_time, real)    \
    K(odd_time, real) K(outlet, real) K(push_x, real) K(push_y, real) K(push_z, real)
/* P(i, j, dx, dy, dz): population i moves by (dx, dy, dz), j back. */
#define LBM3D_SIDES(P) P(1, 2, 1, 0, 0) P(3, 4, 0, 1, 0) P(5, 6, 0, 0, 1)
#define LBM3D_CORNERS(P)                                                                           \
    P(7, 8, 1, 1, 0) P(9, 10, 1, -1, 0) P(11, 12, 1, 0, 1)                                         \
    P(13, 14, 1, 0, -1) P(15, 16, 0, 1, 1) P(17, 18, 0, 1, -1)
#define LBM3D_PAIRS(P) LBM3D_SIDES(P) LBM3D_CORNERS(P)
#define TZ_READS(R)                                                                                \
    R(lbm3d, f0, 0, 0, 0, 0, 0, 0)                                                                 \
    R(lbm3d, f1, -1, 0, 0, 0, 0, 0)                                                                \
    R(lbm3d, f2, 0, 1, 0, 0, 0, 0)                                                                 \
    R(lbm3d, f3, 0, 0, -1, 0, 0, 0)                                                                \
    R(lbm3d, f4, 0, 0, 0, 1, 0, 0)                                                                 \
    R(lbm3d, f5, 0, 0, 0, 0, -1, 0)                                                                \
    R(lbm3d, f6, 0, 0, 0, 0, 0, 1)                                                                 \
    R(lbm3d, f7, -1, 0, -1, 0, 0, 0)                                                               \
    R(lbm3d, f8, 0, 1, 0, 1, 0, 0)                                                                 \
    R(lbm3d, f9, -1, 0, 0, 1, 0, 0)                                                                \
    R(lbm3d, f10, 0, 1, -1, 0, 0, 0)                                                               \
    R(lbm3d, f11, -1, 0, 0, 0, -1, 0)                                                              \
    R(lbm3d, f12, 0, 1, 0, 0, 0, 1)                                                                \
    R(lbm3d, f13, -1, 0, 0, 0, 0, 1)                                                               \
    R(lbm3d, f14, 0, 1, 0, 0, -1, 0)                                                               \
    R(lbm3d, f15, 0, 0, -1, 0, -1, 0)                                                              \
    R(lbm3d, f16, 0, 0, 0, 1, 0, 1)                                                                \
    R(lbm3d, f17, 0, 0, -1, 0, 0, 1)                                                               \
    R(lbm3d, f18, 0, 0, 0, 1, -1, 0)                                                               \
    R(lbm3d, solid, 0, 0, 0, 0, 0, 0)                                                              \
    R(lbm3d, wall_x, 0, 0, 0, 0, 0, 0)                                                             \
    R(lbm3d, wall_y, 0, 0, 0, 0, 0, 0) R(lbm3d, wall_z, 0, 0, 0, 0, 0, 0)
// clang-format on

/* What a cell is: the field solid. A mirror's normal is the axis in its name. */
#define LBM3D_IS_OBSTACLE(kind) ((kind) == 1)
#define LBM3D_IS_SOLID(kind) (((kind) == 1) | ((kind) == 2))
#define LBM3D_IS_INLET(kind) ((kind) == 3)
#define LBM3D_IS_OUTLET(kind) ((kind) == 4)
#define LBM3D_IS_FLUID(kind) (((kind) == 0) | ((kind) == 3) | ((kind) == 4))
#define LBM3D_IS_MIRROR(kind) ((kind) >= 5)
#define LBM3D_IS_MIRROR_X(kind) ((kind) == 5)
#define LBM3D_IS_MIRROR_Y(kind) ((kind) == 6)
#define LBM3D_IS_MIRROR_Z(kind) ((kind) == 7)

/* The part of (x, y, z) along a population. */
#define LBM3D_ALONG(x, y, z, dx, dy, dz) (TZ_R(dx) * (x) + (TZ_R(dy) * (y) + TZ_R(dz) * (z)))

#define LBM3D_COME(i, j, dx, dy, dz)                                                               \
    const real f##i = TZ_AT(f##i, -(dx), -(dy), -(dz)), f##j = TZ_AT(f##j, dx, dy, dz);
#define LBM3D_ADD(i, j, dx, dy, dz) +(f##i + f##j)
/* Two opposite populations, as in channel.cell.h; cells that are not fluid send si and sj. */
#define LBM3D_PUT(i, j, si, sj, weight, plain, dx, dy, dz)                                         \
    {                                                                                              \
        const real along = LBM3D_ALONG(x, y, z, dx, dy, dz);                                       \
        const real even = TZ_FMA(TZ_R(0.5) * along, along, still);                                 \
        const real move = LBM3D_ALONG(move_x, move_y, move_z, dx, dy, dz);                         \
        const real back = TZ_R(2. * (plain)) * LBM3D_ALONG(wall_x, wall_y, wall_z, dx, dy, dz);    \
        const real lag = TZ_K(odd) * TZ_FMA(TZ_R(-plain), move, TZ_R(0.5) * (f##i - f##j));        \
        const real ci = TZ_FMA(weight, even + move, TZ_K(keep) * f##i) + lag;                      \
        const real cj = TZ_FMA(weight, even - move, TZ_K(keep) * f##j) - lag;                      \
        TZ_PUT(f##i, TZ_SELECT(fluid, ci, (si) + back));                                           \
        TZ_PUT(f##j, TZ_SELECT(fluid, cj, (sj)-back));                                             \
    }
#define LBM3D_PUT_SIDE(i, j, dx, dy, dz)                                                           \
    LBM3D_PUT(i, j, f##j, f##i, TZ_K(side), 1. / 18, dx, dy, dz)
/* A mirror sends back what has come from the reflected direction: population ia, if its normal is
 * the axis a, and ib if that is b. What moves along it is of no use to others. */
#define LBM3D_PUT_CORNER(i, j, a, ia, ja, b, ib, jb, dx, dy, dz)                                   \
    LBM3D_PUT(i, j,                                                                                \
              TZ_SELECT(LBM3D_IS_MIRROR_##a(kind), f##ia,                                          \
                        TZ_SELECT(LBM3D_IS_MIRROR_##b(kind), f##ib, f##j)),                        \
              TZ_SELECT(LBM3D_IS_MIRROR_##a(kind), f##ja,                                          \
                        TZ_SELECT(LBM3D_IS_MIRROR_##b(kind), f##jb, f##i)),                        \
              TZ_K(corner), 1. / 36, dx, dy, dz)

TZ_CELL(lbm3d)
{
    const int kind = TZ_AT(solid, 0, 0, 0), fluid = LBM3D_IS_FLUID(kind);
    const real f0 = TZ_AT(f0, 0, 0, 0);
    LBM3D_PAIRS(LBM3D_COME)
    const real came = f0 LBM3D_PAIRS(LBM3D_ADD);
    const real came_x =
        TZ_R(3) * ((f1 - f2) + (((f7 - f8) + (f9 - f10)) + ((f11 - f12) + (f13 - f14))));
    const real came_y =
        TZ_R(3) * ((f3 - f4) + (((f7 - f8) - (f9 - f10)) + ((f15 - f16) + (f17 - f18))));
    const real came_z =
        TZ_R(3) * ((f5 - f6) + (((f11 - f12) - (f13 - f14)) + ((f15 - f16) - (f17 - f18))));
    const real three = TZ_SELECT(LBM3D_IS_MIRROR(kind), TZ_R(0), TZ_R(3));
    const real wall_x = three * TZ_AT(wall_x, 0, 0, 0), wall_y = three * TZ_AT(wall_y, 0, 0, 0);
    const real wall_z = three * TZ_AT(wall_z, 0, 0, 0);
    const real gain_x = TZ_SELECT(LBM3D_IS_INLET(kind), wall_x - came_x, TZ_K(push_x));
    const real gain_y = TZ_SELECT(LBM3D_IS_INLET(kind), wall_y - came_y, TZ_K(push_y));
    const real gain_z = TZ_SELECT(LBM3D_IS_INLET(kind), wall_z - came_z, TZ_K(push_z));
    const real move_x = TZ_FMA(TZ_K(odd_time), gain_x, came_x);
    const real move_y = TZ_FMA(TZ_K(odd_time), gain_y, came_y);
    const real move_z = TZ_FMA(TZ_K(odd_time), gain_z, came_z);
    const real x = TZ_FMA(TZ_R(0.5), gain_x, came_x), y = TZ_FMA(TZ_R(0.5), gain_y, came_y);
    const real z = TZ_FMA(TZ_R(0.5), gain_z, came_z);
    const real gain = TZ_SELECT(LBM3D_IS_OUTLET(kind), TZ_K(outlet) - came, TZ_R(0));
    const real density = TZ_FMA(TZ_K(even_time), gain, came);
    const real still = TZ_FMA(TZ_R(-1. / 6), TZ_FMA(x, x, TZ_FMA(y, y, z * z)), density);
    TZ_PUT(f0, TZ_SELECT(fluid, TZ_FMA(TZ_K(middle), still, TZ_K(keep) * f0), f0));
    LBM3D_SIDES(LBM3D_PUT_SIDE)
    LBM3D_PUT_CORNER(7, 8, X, 10, 9, Y, 9, 10, 1, 1, 0)
    LBM3D_PUT_CORNER(9, 10, X, 8, 7, Y, 7, 8, 1, -1, 0)
    LBM3D_PUT_CORNER(11, 12, X, 14, 13, Z, 13, 14, 1, 0, 1)
    LBM3D_PUT_CORNER(13, 14, X, 12, 11, Z, 11, 12, 1, 0, -1)
    LBM3D_PUT_CORNER(15, 16, Y, 18, 17, Z, 17, 18, 0, 1, 1)
    LBM3D_PUT_CORNER(17, 18, Y, 16, 15, Z, 15, 16, 0, 1, -1)
}

/* What the populations say about the flow. */
#define LBM3D_PAIR(i, j, dx, dy, dz) (TZ_AT(f##i, dx, dy, dz) - TZ_AT(f##j, dx, dy, dz))
#define LBM3D_X(dx, dy, dz)                                                                        \
    LBM3D_LESS(push_x, LBM3D_PAIR(1, 2, dx, dy, dz) +                                              \
                           ((LBM3D_PAIR(7, 8, dx, dy, dz) + LBM3D_PAIR(9, 10, dx, dy, dz)) +       \
                            (LBM3D_PAIR(11, 12, dx, dy, dz) + LBM3D_PAIR(13, 14, dx, dy, dz))))
#define LBM3D_Y(dx, dy, dz)                                                                        \
    LBM3D_LESS(push_y, LBM3D_PAIR(3, 4, dx, dy, dz) +                                              \
                           ((LBM3D_PAIR(7, 8, dx, dy, dz) - LBM3D_PAIR(9, 10, dx, dy, dz)) +       \
                            (LBM3D_PAIR(15, 16, dx, dy, dz) + LBM3D_PAIR(17, 18, dx, dy, dz))))
#define LBM3D_Z(dx, dy, dz)                                                                        \
    LBM3D_LESS(push_z, LBM3D_PAIR(5, 6, dx, dy, dz) +                                              \
                           ((LBM3D_PAIR(11, 12, dx, dy, dz) - LBM3D_PAIR(13, 14, dx, dy, dz)) +    \
                            (LBM3D_PAIR(15, 16, dx, dy, dz) - LBM3D_PAIR(17, 18, dx, dy, dz))))
#define LBM3D_LESS(push, momentum) TZ_FMA(TZ_R(-1. / 6), TZ_K(push), momentum)
/* As in channel.cell.h. */
#define LBM3D_BEYOND(axis, part, own, dx, dy, dz)                                                  \
    TZ_SELECT(LBM3D_IS_SOLID(TZ_AT(solid, dx, dy, dz)),                                            \
              TZ_FMA(TZ_R(2), TZ_AT(wall_##axis, dx, dy, dz), -(own)),                             \
              TZ_SELECT(LBM3D_IS_FLUID(TZ_AT(solid, dx, dy, dz)), part(dx, dy, dz), own))
#define LBM3D_STILL(i, j, dx, dy, dz) +(TZ_AT(f##i, 0, 0, 0) + TZ_AT(f##j, 0, 0, 0))

TZ_CELL(lbm3d_flow)
{
    const int fluid = LBM3D_IS_FLUID(TZ_AT(solid, 0, 0, 0));
    const real x = LBM3D_X(0, 0, 0), y = LBM3D_Y(0, 0, 0), z = LBM3D_Z(0, 0, 0);
    const real curl_x =
        (LBM3D_BEYOND(z, LBM3D_Z, z, 0, 1, 0) - LBM3D_BEYOND(z, LBM3D_Z, z, 0, -1, 0)) -
        (LBM3D_BEYOND(y, LBM3D_Y, y, 0, 0, 1) - LBM3D_BEYOND(y, LBM3D_Y, y, 0, 0, -1));
    const real curl_y =
        (LBM3D_BEYOND(x, LBM3D_X, x, 0, 0, 1) - LBM3D_BEYOND(x, LBM3D_X, x, 0, 0, -1)) -
        (LBM3D_BEYOND(z, LBM3D_Z, z, 1, 0, 0) - LBM3D_BEYOND(z, LBM3D_Z, z, -1, 0, 0));
    const real curl_z =
        (LBM3D_BEYOND(y, LBM3D_Y, y, 1, 0, 0) - LBM3D_BEYOND(y, LBM3D_Y, y, -1, 0, 0)) -
        (LBM3D_BEYOND(x, LBM3D_X, x, 0, 1, 0) - LBM3D_BEYOND(x, LBM3D_X, x, 0, -1, 0));
    const real curl = TZ_FMA(curl_x, curl_x, TZ_FMA(curl_y, curl_y, curl_z * curl_z));
    const real more = TZ_AT(f0, 0, 0, 0) LBM3D_PAIRS(LBM3D_STILL);
    TZ_PUT(speed, TZ_SELECT(fluid, TZ_SQRT(TZ_FMA(x, x, TZ_FMA(y, y, z * z))), TZ_R(0)));
    TZ_PUT(vorticity, TZ_SELECT(fluid, TZ_R(0.5) * TZ_SQRT(curl), TZ_R(0)));
    TZ_PUT(density, TZ_SELECT(fluid, TZ_R(1) + more, TZ_R(1)));
    TZ_PUT(velocity_x, TZ_SELECT(fluid, x, TZ_R(0)));
    TZ_PUT(velocity_y, TZ_SELECT(fluid, y, TZ_R(0)));
    TZ_PUT(velocity_z, TZ_SELECT(fluid, z, TZ_R(0)));
}

/* What an obstacle's cell has got from the fluid beside it in an iteration, less what it sends. */
#define LBM3D_SENT(i, sign, six, dx, dy, dz)                                                       \
    TZ_SELECT(LBM3D_IS_FLUID(TZ_AT(solid, sign(dx), sign(dy), sign(dz))),                          \
              TZ_R(2) * TZ_AT(f##i, 0, 0, 0) - sign(TZ_R(six)) * along, TZ_R(0))
#define LBM3D_PART(i, j, six, dx, dy, dz)                                                          \
    {                                                                                              \
        const real along = LBM3D_ALONG(wall_x, wall_y, wall_z, dx, dy, dz);                        \
        const real part = LBM3D_SENT(j, -, six, dx, dy, dz) - LBM3D_SENT(i, +, six, dx, dy, dz);   \
        x = x + TZ_R(dx) * part;                                                                   \
        y = y + TZ_R(dy) * part;                                                                   \
        z = z + TZ_R(dz) * part;                                                                   \
    }
#define LBM3D_SIDE(i, j, dx, dy, dz) LBM3D_PART(i, j, 1. / 3, dx, dy, dz)
#define LBM3D_CORNER(i, j, dx, dy, dz) LBM3D_PART(i, j, 1. / 6, dx, dy, dz)

TZ_CELL(lbm3d_force)
{
    const int obstacle = LBM3D_IS_OBSTACLE(TZ_AT(solid, 0, 0, 0));
    const real wall_x = TZ_AT(wall_x, 0, 0, 0), wall_y = TZ_AT(wall_y, 0, 0, 0);
    const real wall_z = TZ_AT(wall_z, 0, 0, 0);
    real x = TZ_R(0), y = TZ_R(0), z = TZ_R(0);
    LBM3D_SIDES(LBM3D_SIDE)
    LBM3D_CORNERS(LBM3D_CORNER)
    TZ_PUT(force_x, TZ_SELECT(obstacle, x, TZ_R(0)));
    TZ_PUT(force_y, TZ_SELECT(obstacle, y, TZ_R(0)));
    TZ_PUT(force_z, TZ_SELECT(obstacle, z, TZ_R(0)));
}
