/* The wave equation in 3-D, of order 2 in space: two time levels and a static field of speeds. */
#define TZ_FIELDS(F) F(u, real) F(before, real) F(speed, real)
#define TZ_CONSTANTS(K) K(centre, real) K(side, real)
// clang-format off
#define TZ_READS(R) \
    R(sound3d2, u, -1, 1, -1, 1, -1, 1) \
    R(sound3d2, before, 0, 0, 0, 0, 0, 0) \
    R(sound3d2, speed, 0, 0, 0, 0, 0, 0)
// clang-format on

TZ_CELL(sound3d2)
{
    const real here = TZ_AT(u, 0, 0, 0);
    const real x = TZ_AT(u, -1, 0, 0) + TZ_AT(u, 1, 0, 0);
    const real y = TZ_AT(u, 0, -1, 0) + TZ_AT(u, 0, 1, 0);
    const real z = TZ_AT(u, 0, 0, -1) + TZ_AT(u, 0, 0, 1);
    const real bent = TZ_FMA(TZ_K(side), (x + y) + z, TZ_K(centre) * here);
    TZ_PUT(u, TZ_FMA(TZ_AT(speed, 0, 0, 0), bent, (here + here) - TZ_AT(before, 0, 0, 0)));
    TZ_PUT(before, here);
}
