/* The weighted sum of 27 cells, plane by plane. A plane contributes one sum to its own cells, and
 * another to the cells above and below. */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(c0, real) K(c1, real) K(c11, real) K(c111, real)

/* In a plane: the two neighbours in a row, the four neighbours, the four corners. */
#define BOX_PAIR(dy, dz) (TZ_AT(u, -1, dy, dz) + TZ_AT(u, 1, dy, dz))
#define BOX_SIDES(dz) (BOX_PAIR(0, dz) + (TZ_AT(u, 0, -1, dz) + TZ_AT(u, 0, 1, dz)))
#define BOX_CORNERS(dz) (BOX_PAIR(-1, dz) + BOX_PAIR(1, dz))

#define BOX_INNER(dz)                                                                              \
    TZ_FMA(TZ_K(c11), BOX_CORNERS(dz),                                                             \
           TZ_FMA(TZ_K(c1), BOX_SIDES(dz), TZ_K(c0) * TZ_AT(u, 0, 0, dz)))
#define BOX_OUTER(dz)                                                                              \
    TZ_FMA(TZ_K(c111), BOX_CORNERS(dz),                                                            \
           TZ_FMA(TZ_K(c11), BOX_SIDES(dz), TZ_K(c1) * TZ_AT(u, 0, 0, dz)))
#define BOX_PLANES(D) D(BOX_INNER, real) D(BOX_OUTER, real)

TZ_CELL_PLANES(box3d, BOX_PLANES)
{
    const real below = TZ_PLANE(BOX_INNER, 0) + TZ_PLANE(BOX_OUTER, -1);
    TZ_PUT(u, below + TZ_PLANE(BOX_OUTER, 1));
}
#undef BOX_PAIR
#undef BOX_SIDES
#undef BOX_CORNERS
#undef BOX_INNER
#undef BOX_OUTER
