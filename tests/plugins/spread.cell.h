/* Second pass of mixed1d: u spreads, with a conductivity read two cells away, and n stirs it. */
#define TZ_FIELDS(F) F(u, real) F(n, int) F(rows, int) F(k, real) F(mask, int)
#define TZ_CONSTANTS(K) K(share, real)
#define SPREAD_ONCE(D)                                                                             \
    D(share, real, TZ_K(share) * TZ_AT(k, 0)) D(twice, real, (real)2 * TZ_AT(k, 0))

TZ_CELL_ONCE(spread, SPREAD_ONCE)
{
    const real sides = TZ_FMA((real)-2, TZ_AT(u, 0), TZ_AT(u, -1) + TZ_AT(u, 1));
    const real slope = (TZ_AT(k, 2) - TZ_AT(k, -2)) + (real)0.5 * TZ_AT(k, 1) + TZ_ONCE(twice);
    const real push = (real)(TZ_AT(n, 1) - TZ_AT(n, -1)) * slope;
    TZ_PUT(u, TZ_AT(u, 0) + TZ_ONCE(share) * TZ_FMA((real)0.001, push, sides));
}
