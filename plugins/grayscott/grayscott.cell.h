/* Gray and Scott's reaction U + 2V -> 3V with diffusion; an iteration is one unit of time:
 *   u' = u + Du lap(u) - u v^2 + F (1 - u)
 *   v' = v + Dv lap(v) + u v^2 - (F + k) v
 * The Laplacian has the weights of four neighbours (GRAYSCOTT_CORNERS 0), or of eight. */
#define TZ_FIELDS(F) F(u, real) F(v, real)
#if GRAYSCOTT_CORNERS
#define TZ_CONSTANTS(K)                                                                            \
    K(feed, real)                                                                                  \
    K(u_here, real)                                                                                \
    K(u_side, real) K(v_here, real) K(v_side, real) K(u_corner, real) K(v_corner, real)
#else
#define TZ_CONSTANTS(K)                                                                            \
    K(feed, real) K(u_here, real) K(u_side, real) K(v_here, real) K(v_side, real)
#endif

#define GRAYSCOTT_SIDES(f) ((TZ_AT(f, -1, 0) + TZ_AT(f, 1, 0)) + (TZ_AT(f, 0, -1) + TZ_AT(f, 0, 1)))
#define GRAYSCOTT_FAR(f) ((TZ_AT(f, -1, -1) + TZ_AT(f, 1, -1)) + (TZ_AT(f, -1, 1) + TZ_AT(f, 1, 1)))

TZ_CELL(grayscott)
{
    const real u = TZ_AT(u, 0, 0), v = TZ_AT(v, 0, 0), vv = v * v;
    real u_new = TZ_FMA(TZ_K(u_here), u, TZ_K(feed));
    real v_new = TZ_K(v_here) * v;
    u_new = TZ_FMA(TZ_K(u_side), GRAYSCOTT_SIDES(u), u_new);
    v_new = TZ_FMA(TZ_K(v_side), GRAYSCOTT_SIDES(v), v_new);
#if GRAYSCOTT_CORNERS
    u_new = TZ_FMA(TZ_K(u_corner), GRAYSCOTT_FAR(u), u_new);
    v_new = TZ_FMA(TZ_K(v_corner), GRAYSCOTT_FAR(v), v_new);
#endif
    TZ_PUT(u, TZ_FMA(-u, vv, u_new));
    TZ_PUT(v, TZ_FMA(u, vv, v_new));
}
#undef GRAYSCOTT_SIDES
#undef GRAYSCOTT_FAR
