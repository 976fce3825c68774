/* Weighted sums over a star, in 2-D and 3-D, of radius 1 and 2 (TZ_CELL_DIMS, TZ_CELL_RADIUS).
 * Cells with the same weight are summed first, in a fixed order, so that there is one
 * multiplication per weight: star2d1r is c0 u + c1 ((W + E) + (N + S)). */

/* PAIR: the two cells at an offset and opposite to it. AXIS: the cells at distance d on all
 * axes. */
#if TZ_CELL_DIMS == 2
#define JACOBI_AT(dx, dy) TZ_AT(u, dx, dy)
#define JACOBI_PAIR(dx, dy) (TZ_AT(u, -(dx), -(dy)) + TZ_AT(u, dx, dy))
#define JACOBI_AXIS(d) (JACOBI_PAIR(d, 0) + JACOBI_PAIR(0, d))
#else
#define JACOBI_AT(dx, dy) TZ_AT(u, dx, dy, 0)
#define JACOBI_PAIR(dx, dy, dz) (TZ_AT(u, -(dx), -(dy), -(dz)) + TZ_AT(u, dx, dy, dz))
#define JACOBI_AXIS(d) ((JACOBI_PAIR(d, 0, 0) + JACOBI_PAIR(0, d, 0)) + JACOBI_PAIR(0, 0, d))
#endif

#define TZ_FIELDS(F) F(u, real)
#if TZ_CELL_RADIUS == 1
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real)
#else
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c2, real)
#endif

TZ_CELL(jacobi)
{
    real sum = TZ_K(c0) * JACOBI_AT(0, 0);
    sum = TZ_FMA(TZ_K(c1), JACOBI_AXIS(1), sum);
#if TZ_CELL_RADIUS == 2
    sum = TZ_FMA(TZ_K(c2), JACOBI_AXIS(2), sum);
#endif
    TZ_PUT(u, sum);
}
#undef JACOBI_AT
#undef JACOBI_PAIR
#undef JACOBI_AXIS
