/* Diffusion with a coefficient of its own for each neighbour of each cell. */
// clang-format off
#define TZ_FIELDS(F) \
    F(u, real) \
    F(own, real) \
    F(west, real) \
    F(east, real) \
    F(south, real) \
    F(north, real) \
    F(below, real) \
    F(above, real)
#define TZ_CONSTANTS(K) K(share, real)
#define TZ_READS(R) \
    R(conduct3d, u, -1, 1, -1, 1, -1, 1) \
    R(conduct3d, own, 0, 0, 0, 0, 0, 0) \
    R(conduct3d, west, 0, 0, 0, 0, 0, 0) \
    R(conduct3d, east, 0, 0, 0, 0, 0, 0) \
    R(conduct3d, south, 0, 0, 0, 0, 0, 0) \
    R(conduct3d, north, 0, 0, 0, 0, 0, 0) \
    R(conduct3d, below, 0, 0, 0, 0, 0, 0) \
    R(conduct3d, above, 0, 0, 0, 0, 0, 0)
// clang-format on

TZ_CELL(conduct3d)
{
    real sum = TZ_AT(own, 0, 0, 0) * TZ_AT(u, 0, 0, 0);
    sum = TZ_FMA(TZ_AT(west, 0, 0, 0), TZ_AT(u, -1, 0, 0), sum);
    sum = TZ_FMA(TZ_AT(east, 0, 0, 0), TZ_AT(u, 1, 0, 0), sum);
    sum = TZ_FMA(TZ_AT(south, 0, 0, 0), TZ_AT(u, 0, -1, 0), sum);
    sum = TZ_FMA(TZ_AT(north, 0, 0, 0), TZ_AT(u, 0, 1, 0), sum);
    sum = TZ_FMA(TZ_AT(below, 0, 0, 0), TZ_AT(u, 0, 0, -1), sum);
    sum = TZ_FMA(TZ_AT(above, 0, 0, 0), TZ_AT(u, 0, 0, 1), sum);
    TZ_PUT(u, TZ_K(share) * sum);
}
