/* Heat in a rod of varying conductivity k, which is read one cell off centre. */
#define TZ_FIELDS(F) F(u, real) F(k, real)
#define TZ_CONSTANTS(K) K(half, real)

TZ_CELL(static1d)
{
    const real here = TZ_AT(u, 0), k = TZ_AT(k, 0);
    const real west = (TZ_AT(k, -1) + k) * (TZ_AT(u, -1) - here);
    const real east = (TZ_AT(k, 1) + k) * (TZ_AT(u, 1) - here);
    TZ_PUT(u, TZ_FMA(TZ_K(half), west + east, here));
}
