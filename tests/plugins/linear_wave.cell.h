/* u" = c^2 lap(u) - damping u' + q, with the level before as a second field. */
#define TZ_FIELDS(F) F(u, real) F(old, real) F(q, real)
#define TZ_CONSTANTS(K) K(c2, real) K(damping, real)

TZ_CELL(wave)
{
    const real here = TZ_AT(u, 0, 0), speed = here - TZ_AT(old, 0, 0);
    const real sides = (TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0)) + (TZ_AT(u, 0, -1) + TZ_AT(u, 0, 1));
    real t = here + (speed - TZ_K(damping) * speed);
    t = TZ_FMA(TZ_K(c2), sides - TZ_R(4) * here, t);
    TZ_PUT(u, t + TZ_AT(q, 0, 0));
    TZ_PUT(old, here);
}
