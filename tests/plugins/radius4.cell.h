/* A star of radius 4. Each arm and distance has its own weight, so that reading a wrong neighbour
 * changes the sum. The weights are exact in float and sum to less than 1. */
#if TZ_CELL_DIMS == 1
#define RADIUS4_AT(dx, dy, dz) TZ_AT(u, dx)
#elif TZ_CELL_DIMS == 2
#define RADIUS4_AT(dx, dy, dz) TZ_AT(u, dx, dy)
#else
#define RADIUS4_AT(dx, dy, dz) TZ_AT(u, dx, dy, dz)
#endif
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(unit, real)

TZ_CELL(radius4)
{
    real sum = (real)8 * RADIUS4_AT(0, 0, 0);
    TZ_UNROLL
    for (int d = 1; d <= 4; d++) {
        sum += (real)(5 - d) * RADIUS4_AT(-d, 0, 0) + (real)(6 - d) * RADIUS4_AT(d, 0, 0);
#if TZ_CELL_DIMS >= 2
        sum += (real)(7 - d) * RADIUS4_AT(0, -d, 0) - (real)(5 - d) * RADIUS4_AT(0, d, 0);
#endif
#if TZ_CELL_DIMS == 3
        sum += (real)(8 - d) * RADIUS4_AT(0, 0, -d) - (real)(9 - d) * RADIUS4_AT(0, 0, d);
#endif
    }
    TZ_PUT(u, TZ_K(unit) * sum);
}
#undef RADIUS4_AT
