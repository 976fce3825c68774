/* The wave equation by leapfrog: u" = c^2 lap(u), with the previous time level as a second
 * field. */
#define TZ_FIELDS(F) F(u, real) F(before, real)
#define TZ_CONSTANTS(K) K(side, real) K(centre, real)

TZ_CELL(leapfrog)
{
    const real here = TZ_AT(u, 0, 0);
    const real sides = (TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0)) + (TZ_AT(u, 0, -1) + TZ_AT(u, 0, 1));
    const real old = TZ_FMA(TZ_K(centre), here, -TZ_AT(before, 0, 0));
    TZ_PUT(u, TZ_FMA(TZ_K(side), sides, old));
    TZ_PUT(before, here);
}
