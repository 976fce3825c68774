/* Second half: the electric field. */
#define TZ_FIELDS(F) F(ez, real) F(hx, real) F(hy, real) F(eps, real)
#define TZ_CONSTANTS(K) K(rate, real)
#define TZ_READS(R)                                                                                \
    R(maxwell_e, ez, 0, 0, 0, 0)                                                                   \
    R(maxwell_e, hx, 0, 0, -1, 0)                                                                  \
    R(maxwell_e, hy, -1, 0, 0, 0)

TZ_CELL(maxwell_e)
{
    const real curl = (TZ_AT(hy, 0, 0) - TZ_AT(hy, -1, 0)) - (TZ_AT(hx, 0, 0) - TZ_AT(hx, 0, -1));
    TZ_PUT(ez, TZ_AT(ez, 0, 0) + TZ_AT(eps, 0, 0) * curl);
}
