/* Weighted sums over a neighbourhood: one cell update for stars in 2-D and 3-D and boxes in 2-D, of
 * radius 1 and 2. Cells with the same weight are summed first, in a fixed order, so a stencil costs
 * one multiplication a weight: star2d1r is c0 u + c1 ((W + E) + (N + S)).
 *
 * TZ_CELL_DIMS, TZ_CELL_RADIUS and JACOBI_BOX (0: a star, 1: a box) say which one it is. */

/* The two cells at an offset and opposite to it; 2 cells an axis at distance d. */
#if TZ_CELL_DIMS == 2
#define JACOBI_AT(dx, dy) TZ_AT(u, dx, dy)
#define JACOBI_PAIR(dx, dy) (TZ_AT(u, -(dx), -(dy)) + TZ_AT(u, dx, dy))
#define JACOBI_AXIS(d) (JACOBI_PAIR(d, 0) + JACOBI_PAIR(0, d))
#else
#define JACOBI_AT(dx, dy) TZ_AT(u, dx, dy, 0)
#define JACOBI_PAIR(dx, dy, dz) (TZ_AT(u, -(dx), -(dy), -(dz)) + TZ_AT(u, dx, dy, dz))
#define JACOBI_AXIS(d) ((JACOBI_PAIR(d, 0, 0) + JACOBI_PAIR(0, d, 0)) + JACOBI_PAIR(0, 0, d))
#endif
/* 4 cells at distance (d, d). */
#define JACOBI_DIAGONAL(d) (JACOBI_PAIR(d, d) + JACOBI_PAIR(d, -(d)))
/* 8 cells at (a, b) and (b, a). */
#define JACOBI_KNIGHT(a, b)                                                                        \
    ((JACOBI_PAIR(a, b) + JACOBI_PAIR(a, -(b))) + (JACOBI_PAIR(b, a) + JACOBI_PAIR(b, -(a))))

#define TZ_FIELDS(F) F(u, real)
#if !JACOBI_BOX && TZ_CELL_RADIUS == 1
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real)
#elif !JACOBI_BOX
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c2, real)
#elif TZ_CELL_RADIUS == 1
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c11, real)
#else
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c11, real) K(c2, real) K(c21, real) K(c22, real)
#endif

TZ_CELL(jacobi)
{
    real sum = TZ_K(c0) * JACOBI_AT(0, 0);
    sum = TZ_FMA(TZ_K(c1), JACOBI_AXIS(1), sum);
#if JACOBI_BOX
    sum = TZ_FMA(TZ_K(c11), JACOBI_DIAGONAL(1), sum);
#endif
#if TZ_CELL_RADIUS == 2
    sum = TZ_FMA(TZ_K(c2), JACOBI_AXIS(2), sum);
#endif
#if JACOBI_BOX && TZ_CELL_RADIUS == 2
    sum = TZ_FMA(TZ_K(c21), JACOBI_KNIGHT(2, 1), sum);
    sum = TZ_FMA(TZ_K(c22), JACOBI_DIAGONAL(2), sum);
#endif
    TZ_PUT(u, sum);
}
#undef JACOBI_AT
#undef JACOBI_PAIR
#undef JACOBI_AXIS
#undef JACOBI_DIAGONAL
#undef JACOBI_KNIGHT
