/* The weighted sum of 9 cells (radius 1) or 25 cells (radius 2), row by row. What a row contributes
 * depends on its distance, and is the same above and below. */
#define TZ_FIELDS(F) F(u, real)
#define BOX_PAIR(d, dy) (TZ_AT(u, -(d), dy) + TZ_AT(u, d, dy))

#if TZ_CELL_RADIUS == 1
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c11, real)
#define BOX_MIDDLE(dy) TZ_FMA(TZ_K(c1), BOX_PAIR(1, dy), TZ_K(c0) * TZ_AT(u, 0, dy))
#define BOX_NEXT(dy) TZ_FMA(TZ_K(c11), BOX_PAIR(1, dy), TZ_K(c1) * TZ_AT(u, 0, dy))
#define BOX_ROWS(D) D(-1, BOX_NEXT) D(0, BOX_MIDDLE) D(1, BOX_NEXT)
#else
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c11, real) K(c2, real) K(c21, real) K(c22, real)
#define BOX_ROW(dy, c, near, far)                                                                  \
    TZ_FMA(TZ_K(far), BOX_PAIR(2, dy),                                                             \
           TZ_FMA(TZ_K(near), BOX_PAIR(1, dy), TZ_K(c) * TZ_AT(u, 0, dy)))
#define BOX_MIDDLE(dy) BOX_ROW(dy, c0, c1, c2)
#define BOX_NEXT(dy) BOX_ROW(dy, c1, c11, c21)
#define BOX_OUTER(dy) BOX_ROW(dy, c2, c21, c22)
#define BOX_ROWS(D) D(-2, BOX_OUTER) D(-1, BOX_NEXT) D(0, BOX_MIDDLE) D(1, BOX_NEXT) D(2, BOX_OUTER)
#endif

TZ_CELL_ROWS(box2d, u, real, BOX_ROWS)

#undef BOX_PAIR
#undef BOX_ROW
#undef BOX_MIDDLE
#undef BOX_NEXT
#undef BOX_OUTER
#undef BOX_ROWS
