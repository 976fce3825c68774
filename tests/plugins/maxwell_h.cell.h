/* First half of a leapfrog step on a staggered grid: the magnetic field. */
#define TZ_FIELDS(F) F(ez, real) F(hx, real) F(hy, real) F(eps, real)
#define TZ_CONSTANTS(K) K(rate, real)
#define TZ_READS(R)                                                                                \
    R(maxwell_h, ez, 0, 1, 0, 1)                                                                   \
    R(maxwell_h, hx, 0, 0, 0, 0)                                                                   \
    R(maxwell_h, hy, 0, 0, 0, 0)

TZ_CELL(maxwell_h)
{
    const real here = TZ_AT(ez, 0, 0);
    TZ_PUT(hx, TZ_AT(hx, 0, 0) - TZ_K(rate) * (TZ_AT(ez, 0, 1) - here));
    TZ_PUT(hy, TZ_AT(hy, 0, 0) + TZ_K(rate) * (TZ_AT(ez, 1, 0) - here));
}
