/* Second pass of twofields: u spreads, less where it is steep, and slope is read off centre. */
#define TZ_FIELDS(F) F(u, real) F(slope, real)
#define TZ_CONSTANTS(K) K(share, real) K(edge, real)

TZ_CELL(diffuse)
{
    const real here = TZ_AT(u, 0, 0);
    const real slopes = TZ_AT(slope, 0, 0) + (real)0.5 * (TZ_AT(slope, 2, 0) + TZ_AT(slope, 0, -2));
    const real conductivity = TZ_K(edge) / TZ_FMA(slopes, slopes, TZ_K(edge));
    const real sides = (TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0)) + (TZ_AT(u, 0, -1) + TZ_AT(u, 0, 1));
    const real pull = TZ_FMA((real)-4, here, sides);
    TZ_PUT(u, TZ_FMA(TZ_K(share) * conductivity, pull, here));
}
