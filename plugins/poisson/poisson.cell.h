/* Weighted Jacobi for lap(u) = f. With q = hx^2/hy^2 and w = omega / (2 + 2q) it is
 *   u' = u + w (E + W + q (N + S) - (2 + 2q) u - hx^2 f):
 * six operations a cell, and a constant u is kept to the last bit. */
#define TZ_FIELDS(F) F(u, real) F(f, real)
#define TZ_CONSTANTS(K) K(ratio, real) K(centre, real) K(source, real) K(weight, real)

TZ_CELL(poisson)
{
    const real here = TZ_AT(u, 0, 0);
    const real y = TZ_AT(u, 0, -1) + TZ_AT(u, 0, 1);
    const real x = TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0);
    real t = TZ_FMA(TZ_K(source), TZ_AT(f, 0, 0), x);
    t = TZ_FMA(TZ_K(ratio), y, t);
    t = TZ_FMA(TZ_K(centre), here, t);
    TZ_PUT(u, TZ_FMA(TZ_K(weight), t, here));
}
