/* A star of radius 4. Each arm and distance has its own weight, so that reading a wrong neighbour
 * changes the sum. The weights are exact in float and sum to less than 1. */
#if TZ_CELL_DIMS == 1
#define RADIUS4_AT(dx, dy, dz) TZ_AT(u, dx)
#elif TZ_CELL_DIMS == 3
#define RADIUS4_AT(dx, dy, dz) TZ_AT(u, dx, dy, dz)
#endif
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(unit, real)

#if TZ_CELL_DIMS == 2
/* A sum of rows, of which constants make the cell. */
#define RADIUS4_LOW1(dy) ((real)6 * TZ_AT(u, 0, dy))
#define RADIUS4_LOW2(dy) ((real)5 * TZ_AT(u, 0, dy))
#define RADIUS4_LOW3(dy) ((real)4 * TZ_AT(u, 0, dy))
#define RADIUS4_LOW4(dy) ((real)3 * TZ_AT(u, 0, dy))
#define RADIUS4_HIGH1(dy) ((real)-4 * TZ_AT(u, 0, dy))
#define RADIUS4_HIGH2(dy) ((real)-3 * TZ_AT(u, 0, dy))
#define RADIUS4_HIGH3(dy) ((real)-2 * TZ_AT(u, 0, dy))
#define RADIUS4_HIGH4(dy) (-TZ_AT(u, 0, dy))
#define RADIUS4_ARMS(d, dy)                                                                        \
    ((real)(5 - (d)) * TZ_AT(u, -(d), dy) + (real)(6 - (d)) * TZ_AT(u, d, dy))
#define RADIUS4_MIDDLE(dy)                                                                         \
    ((real)8 * TZ_AT(u, 0, dy) + RADIUS4_ARMS(1, dy) + RADIUS4_ARMS(2, dy) + RADIUS4_ARMS(3, dy) + \
     RADIUS4_ARMS(4, dy))
#define RADIUS4_ROWS(D)                                                                            \
    D(-4, RADIUS4_LOW4)                                                                            \
    D(-3, RADIUS4_LOW3)                                                                            \
    D(-2, RADIUS4_LOW2)                                                                            \
    D(-1, RADIUS4_LOW1)                                                                            \
    D(0, RADIUS4_MIDDLE)                                                                           \
    D(1, RADIUS4_HIGH1) D(2, RADIUS4_HIGH2) D(3, RADIUS4_HIGH3) D(4, RADIUS4_HIGH4)
#define RADIUS4_RESULT(sum) (TZ_K(unit) * (sum))

TZ_CELL_ROWS_OF(radius4, u, real, RADIUS4_ROWS, RADIUS4_RESULT)

#undef RADIUS4_LOW1
#undef RADIUS4_LOW2
#undef RADIUS4_LOW3
#undef RADIUS4_LOW4
#undef RADIUS4_HIGH1
#undef RADIUS4_HIGH2
#undef RADIUS4_HIGH3
#undef RADIUS4_HIGH4
#undef RADIUS4_ARMS
#undef RADIUS4_MIDDLE
#undef RADIUS4_ROWS
#undef RADIUS4_RESULT
#else
TZ_CELL(radius4)
{
    real sum = (real)8 * RADIUS4_AT(0, 0, 0);
    TZ_UNROLL
    for (int d = 1; d <= 4; d++) {
        sum += (real)(5 - d) * RADIUS4_AT(-d, 0, 0) + (real)(6 - d) * RADIUS4_AT(d, 0, 0);
#if TZ_CELL_DIMS == 3
        sum += (real)(7 - d) * RADIUS4_AT(0, -d, 0) - (real)(5 - d) * RADIUS4_AT(0, d, 0);
        sum += (real)(8 - d) * RADIUS4_AT(0, 0, -d) - (real)(9 - d) * RADIUS4_AT(0, 0, d);
#endif
    }
    TZ_PUT(u, TZ_K(unit) * sum);
}
#endif
#undef RADIUS4_AT
