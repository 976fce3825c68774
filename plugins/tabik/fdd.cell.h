/* A step of diffusion with central second differences of order 10 (TZ_CELL_RADIUS 5) or 14 (7):
 * stars of 31 and 43 cells. */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(rate, real)

#define FDD_PAIR(dx, dy, dz) (TZ_AT(u, -(dx), -(dy), -(dz)) + TZ_AT(u, dx, dy, dz))
#define FDD_RING(d) ((FDD_PAIR(d, 0, 0) + FDD_PAIR(0, d, 0)) + FDD_PAIR(0, 0, d))

TZ_CELL(fdd)
{
    const real here = TZ_AT(u, 0, 0, 0);
#if TZ_CELL_RADIUS == 5
    real sum = TZ_R(-3 * 5269. / 1800) * here;
    sum = TZ_FMA(TZ_R(5. / 3), FDD_RING(1), sum);
    sum = TZ_FMA(TZ_R(-5. / 21), FDD_RING(2), sum);
    sum = TZ_FMA(TZ_R(5. / 126), FDD_RING(3), sum);
    sum = TZ_FMA(TZ_R(-5. / 1008), FDD_RING(4), sum);
    sum = TZ_FMA(TZ_R(1. / 3150), FDD_RING(5), sum);
#else
    real sum = TZ_R(-3 * 266681. / 88200) * here;
    sum = TZ_FMA(TZ_R(7. / 4), FDD_RING(1), sum);
    sum = TZ_FMA(TZ_R(-7. / 24), FDD_RING(2), sum);
    sum = TZ_FMA(TZ_R(7. / 108), FDD_RING(3), sum);
    sum = TZ_FMA(TZ_R(-7. / 528), FDD_RING(4), sum);
    sum = TZ_FMA(TZ_R(7. / 3300), FDD_RING(5), sum);
    sum = TZ_FMA(TZ_R(-7. / 30888), FDD_RING(6), sum);
    sum = TZ_FMA(TZ_R(1. / 84084), FDD_RING(7), sum);
#endif
    TZ_PUT(u, TZ_FMA(TZ_K(rate), sum, here));
}
#undef FDD_PAIR
#undef FDD_RING
