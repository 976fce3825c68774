/* First pass of yee3d: the magnetic field, from differences of the electric field to the high
 * side. */
#define TZ_FIELDS(F)                                                                               \
    F(ex, real) F(ey, real) F(ez, real) F(hx, real) F(hy, real) F(hz, real) F(eps, real)
#define TZ_CONSTANTS(K) K(step, real)
// clang-format off
#define TZ_READS(R) \
    R(yee3d_h, ex, 0, 0, 0, 1, 0, 1) \
    R(yee3d_h, ey, 0, 1, 0, 0, 0, 1) \
    R(yee3d_h, ez, 0, 1, 0, 1, 0, 0) \
    R(yee3d_h, hx, 0, 0, 0, 0, 0, 0) \
    R(yee3d_h, hy, 0, 0, 0, 0, 0, 0) \
    R(yee3d_h, hz, 0, 0, 0, 0, 0, 0) \
    R(yee3d_h, eps, 0, 0, 0, 0, 0, 0)
// clang-format on

TZ_CELL(yee3d_h)
{
    const real x = TZ_AT(ex, 0, 0, 0), y = TZ_AT(ey, 0, 0, 0), z = TZ_AT(ez, 0, 0, 0);
    TZ_PUT(hx, TZ_FMA(TZ_K(step), (TZ_AT(ey, 0, 0, 1) - y) - (TZ_AT(ez, 0, 1, 0) - z),
                      TZ_AT(hx, 0, 0, 0)));
    TZ_PUT(hy, TZ_FMA(TZ_K(step), (TZ_AT(ez, 1, 0, 0) - z) - (TZ_AT(ex, 0, 0, 1) - x),
                      TZ_AT(hy, 0, 0, 0)));
    TZ_PUT(hz, TZ_FMA(TZ_K(step), (TZ_AT(ex, 0, 1, 0) - x) - (TZ_AT(ey, 1, 0, 0) - y),
                      TZ_AT(hz, 0, 0, 0)));
}
