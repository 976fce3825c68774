/* Maxwell's equations in 2-D on a staggered grid: hz between ex and ey. Each pass reads neighbours
 * on one side only. */
#define TZ_FIELDS(F) F(hz, real) F(ex, real) F(ey, real) F(share, real)
#define TZ_CONSTANTS(K) K(courant, real)
#define TZ_READS(R)                                                                                \
    R(advance_h, hz, 0, 0, 0, 0)                                                                   \
    R(advance_h, ex, 0, 0, 0, 1)                                                                   \
    R(advance_h, ey, 0, 1, 0, 0)                                                                   \
    R(advance_e, hz, -1, 0, -1, 0) R(advance_e, ex, 0, 0, 0, 0) R(advance_e, ey, 0, 0, 0, 0)

TZ_CELL(advance_h)
{
    const real curl = (TZ_AT(ex, 0, 1) - TZ_AT(ex, 0, 0)) - (TZ_AT(ey, 1, 0) - TZ_AT(ey, 0, 0));
    TZ_PUT(hz, TZ_FMA(TZ_K(courant), curl, TZ_AT(hz, 0, 0)));
}

TZ_CELL(advance_e)
{
    const real here = TZ_AT(hz, 0, 0), share = TZ_AT(share, 0, 0);
    TZ_PUT(ex, TZ_FMA(share, here - TZ_AT(hz, 0, -1), TZ_AT(ex, 0, 0)));
    TZ_PUT(ey, TZ_FMA(-share, here - TZ_AT(hz, -1, 0), TZ_AT(ey, 0, 0)));
}
