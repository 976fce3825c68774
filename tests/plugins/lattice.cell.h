/* D2Q9 lattice Boltzmann, one relaxation time, nearly incompressible: each cell pulls the
 * populations that stream into it, then relaxes them. Solid cells send them back. */
#define TZ_FIELDS(F)                                                                               \
    F(f0, real)                                                                                    \
    F(f1, real)                                                                                    \
    F(f2, real)                                                                                    \
    F(f3, real) F(f4, real) F(f5, real) F(f6, real) F(f7, real) F(f8, real) F(solid, int)
#define TZ_CONSTANTS(K) K(rate, real) K(speed, real)
#define TZ_READS(R)                                                                                \
    R(lattice, f0, 0, 0, 0, 0)                                                                     \
    R(lattice, f1, -1, 0, 0, 0)                                                                    \
    R(lattice, f2, 0, 0, -1, 0)                                                                    \
    R(lattice, f3, 0, 1, 0, 0)                                                                     \
    R(lattice, f4, 0, 0, 0, 1)                                                                     \
    R(lattice, f5, -1, 0, -1, 0)                                                                   \
    R(lattice, f6, 0, 1, -1, 0)                                                                    \
    R(lattice, f7, 0, 1, 0, 1)                                                                     \
    R(lattice, f8, -1, 0, 0, 1)                                                                    \
    R(lattice, solid, 0, 0, 0, 0)

#define RELAX(f, here, back, weight, along)                                                        \
    TZ_PUT(f, solid                                                                                \
                  ? back                                                                           \
                  : TZ_FMA(TZ_K(rate),                                                             \
                           TZ_FMA(weight, TZ_FMA(along, TZ_FMA((real)4.5, along, (real)3), still), \
                                  -here),                                                          \
                           here))

TZ_CELL(lattice)
{
    const int solid = TZ_AT(solid, 0, 0);
    const real g0 = TZ_AT(f0, 0, 0);
    const real g1 = TZ_AT(f1, -1, 0), g2 = TZ_AT(f2, 0, -1);
    const real g3 = TZ_AT(f3, 1, 0), g4 = TZ_AT(f4, 0, 1);
    const real g5 = TZ_AT(f5, -1, -1), g6 = TZ_AT(f6, 1, -1);
    const real g7 = TZ_AT(f7, 1, 1), g8 = TZ_AT(f8, -1, 1);
    const real density = (((g1 + g3) + (g2 + g4)) + ((g5 + g7) + (g6 + g8))) + g0;
    const real ux = TZ_K(speed) * ((g1 - g3) + ((g5 - g7) + (g8 - g6)));
    const real uy = TZ_K(speed) * ((g2 - g4) + ((g5 - g7) + (g6 - g8)));
    const real still = TZ_FMA((real)-1.5, TZ_FMA(ux, ux, uy * uy), density);
    const real none = (real)0, left = -ux, down = -uy;
    const real up_right = ux + uy, up_left = uy - ux;
    const real down_left = -up_right, down_right = -up_left;
    const real w0 = (real)(4.0 / 9.0), w1 = (real)(1.0 / 9.0), w2 = (real)(1.0 / 36.0);
    RELAX(f0, g0, g0, w0, none);
    RELAX(f1, g1, g3, w1, ux);
    RELAX(f2, g2, g4, w1, uy);
    RELAX(f3, g3, g1, w1, left);
    RELAX(f4, g4, g2, w1, down);
    RELAX(f5, g5, g7, w2, up_right);
    RELAX(f6, g6, g8, w2, up_left);
    RELAX(f7, g7, g5, w2, down_left);
    RELAX(f8, g8, g6, w2, down_right);
}
#undef RELAX
