/* Second pass of yee3d: the electric field, from differences of the magnetic field to the low
 * side. */
#define TZ_FIELDS(F)                                                                               \
    F(ex, real) F(ey, real) F(ez, real) F(hx, real) F(hy, real) F(hz, real) F(eps, real)
#define TZ_CONSTANTS(K) K(step, real)
// clang-format off
#define TZ_READS(R) \
    R(yee3d_e, hx, 0, 0, -1, 0, -1, 0) \
    R(yee3d_e, hy, -1, 0, 0, 0, -1, 0) \
    R(yee3d_e, hz, -1, 0, -1, 0, 0, 0) \
    R(yee3d_e, ex, 0, 0, 0, 0, 0, 0) \
    R(yee3d_e, ey, 0, 0, 0, 0, 0, 0) \
    R(yee3d_e, ez, 0, 0, 0, 0, 0, 0) \
    R(yee3d_e, eps, 0, 0, 0, 0, 0, 0)
// clang-format on

TZ_CELL(yee3d_e)
{
    const real x = TZ_AT(hx, 0, 0, 0), y = TZ_AT(hy, 0, 0, 0), z = TZ_AT(hz, 0, 0, 0);
    const real step = TZ_K(step) * TZ_AT(eps, 0, 0, 0);
    TZ_PUT(ex,
           TZ_FMA(step, (z - TZ_AT(hz, 0, -1, 0)) - (y - TZ_AT(hy, 0, 0, -1)), TZ_AT(ex, 0, 0, 0)));
    TZ_PUT(ey,
           TZ_FMA(step, (x - TZ_AT(hx, 0, 0, -1)) - (z - TZ_AT(hz, -1, 0, 0)), TZ_AT(ey, 0, 0, 0)));
    TZ_PUT(ez,
           TZ_FMA(step, (y - TZ_AT(hy, -1, 0, 0)) - (x - TZ_AT(hx, 0, -1, 0)), TZ_AT(ez, 0, 0, 0)));
}
