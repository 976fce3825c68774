/* First pass of twofields: the squared gradient of u. */
#define TZ_FIELDS(F) F(u, real) F(slope, real)
#define TZ_CONSTANTS(K) K(share, real) K(edge, real)

TZ_CELL(gradient)
{
    const real x = TZ_AT(u, 1, 0) - TZ_AT(u, -1, 0), y = TZ_AT(u, 0, 1) - TZ_AT(u, 0, -1);
    TZ_PUT(slope, TZ_FMA(x, x, y * y));
}
