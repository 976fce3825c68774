/* Half a Gauss-Seidel sweep: cells of one colour move towards the mean of their neighbours, which
 * have the other colour; the others stay. REDBLACK_COLOUR is 0 or 1. */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(keep, real) K(share, real)

TZ_CELL(redblack)
{
    const real here = TZ_AT(u, 0, 0);
    const real sides = (TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0)) + (TZ_AT(u, 0, -1) + TZ_AT(u, 0, 1));
    const real moved = TZ_FMA(TZ_K(share), sides, TZ_K(keep) * here);
    TZ_PUT(u, ((TZ_X + TZ_Y) & 1) == REDBLACK_COLOUR ? moved : here);
}
