/* Upwind advection along y, and diffusion along x and z. */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(a, real) K(k, real)

TZ_CELL(drift)
{
    const real here = TZ_AT(u, 0, 0, 0);
    const real x = TZ_AT(u, -1, 0, 0) + TZ_AT(u, 1, 0, 0);
    const real z = TZ_AT(u, 0, 0, -1) + TZ_AT(u, 0, 0, 1);
    real t = here + TZ_K(a) * (TZ_AT(u, 0, -1, 0) - here);
    t = TZ_FMA(TZ_K(k), x - TZ_R(2) * here, t);
    TZ_PUT(u, TZ_FMA(TZ_K(k), z - TZ_R(2) * here, t));
}
