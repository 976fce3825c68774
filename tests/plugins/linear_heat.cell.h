/* u' = u + k (W - 2u + E) + q, in 1-D: a sum that is exactly 1. */
#define TZ_FIELDS(F) F(u, real) F(q, real)
#define TZ_CONSTANTS(K) K(k, real)

TZ_CELL(heat)
{
    const real here = TZ_AT(u, 0), sides = TZ_AT(u, -1) + TZ_AT(u, 1);
    TZ_PUT(u, here + TZ_K(k) * (sides - TZ_R(2) * here) + TZ_AT(q, 0));
}
