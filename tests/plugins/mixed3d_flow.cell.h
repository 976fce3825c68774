/* First pass of mixed3d: where n is odd u comes from corners, else from along the axes. */
#define TZ_FIELDS(F) F(u, real) F(n, int) F(k, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(mixed3d_flow)
{
    const real k = (real)0.5 * (TZ_AT(k, 0, 0, 0) + TZ_AT(k, -1, 1, 1));
    real sum = TZ_AT(u, 0, 0, 0) + (TZ_AT(u, -2, 0, 0) - TZ_AT(u, 0, 2, 0));
    if (TZ_AT(n, 0, 0, 0) & 1)
        sum += TZ_AT(u, 1, 1, -1) + TZ_AT(u, -1, -2, 2);
    else
        sum += (TZ_AT(u, 0, 0, -2) - TZ_AT(u, 0, 0, 2)) + TZ_AT(u, 2, -1, 0);
    TZ_PUT(u, TZ_FMA(TZ_K(share) * k, sum, (real)0.25 * TZ_AT(u, 0, 0, 0)));
}
