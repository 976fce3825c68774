/* Second pass of mixed3d: n counts neighbours below u, which the first pass wrote. */
#define TZ_FIELDS(F) F(u, real) F(n, int) F(k, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(mixed3d_count)
{
    const real here = TZ_AT(u, 0, 0, 0);
    int count = (int)(TZ_X + 3 * TZ_Y + 5 * TZ_Z + TZ_STEP) & 3;
    count += TZ_AT(u, -1, 0, 0) < here ? 1 : 0;
    count += TZ_AT(u, 0, 1, 0) < here ? 2 : 0;
    count += TZ_AT(u, 0, 0, 1) < here ? 4 : 0;
    count += TZ_AT(n, 1, 0, 0) > TZ_AT(n, 0, 0, -1) ? 8 : 0;
    count ^= TZ_AT(n, 0, -1, 0) & 15;
    TZ_PUT(n, count);
}
