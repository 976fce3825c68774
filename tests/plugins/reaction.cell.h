/* Gray and Scott's reaction of two substances that spread. */
#define TZ_FIELDS(F) F(u, real) F(v, real)
#define TZ_CONSTANTS(K) K(spread_u, real) K(spread_v, real) K(feed, real) K(loss, real)

TZ_CELL(reaction)
{
    const real u = TZ_AT(u, 0, 0), v = TZ_AT(v, 0, 0);
    const real around_u = (TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0)) + (TZ_AT(u, 0, -1) + TZ_AT(u, 0, 1));
    const real around_v = (TZ_AT(v, -1, 0) + TZ_AT(v, 1, 0)) + (TZ_AT(v, 0, -1) + TZ_AT(v, 0, 1));
    const real more = u * v * v;
    TZ_PUT(u, u + TZ_K(spread_u) * (around_u - (real)4 * u) - more + TZ_K(feed) * ((real)1 - u));
    TZ_PUT(v, v + TZ_K(spread_v) * (around_v - (real)4 * v) + more - TZ_K(loss) * v);
}
