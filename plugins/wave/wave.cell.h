/* Acoustic waves, u" = speed^2 lap(u) + source, by leapfrog: `before` is the last u but one. The
 * Laplacian is of order 2 (TZ_CELL_RADIUS 1) or 8 (4). In a sponge less than 1 an iteration keeps
 * only this share of the velocity, so that waves leave. */
#define TZ_FIELDS(F) F(u, real) F(before, real) F(speed, real) F(sponge, real)
#if TZ_CELL_DIMS == 2
#define TZ_CONSTANTS(K) K(step, real) K(kick, real, varies) K(source_x, int) K(source_y, int)
#define TZ_READS(R)                                                                                \
    R(wave, before, 0, 0, 0, 0) R(wave, speed, 0, 0, 0, 0) R(wave, sponge, 0, 0, 0, 0)
#define WAVE_AT(field, dx, dy, dz) TZ_AT(field, dx, dy)
#define WAVE_RING(k) ((TZ_AT(u, -(k), 0) + TZ_AT(u, k, 0)) + (TZ_AT(u, 0, -(k)) + TZ_AT(u, 0, k)))
#define WAVE_ELSEWHERE (((int)TZ_X - TZ_K(source_x)) | ((int)TZ_Y - TZ_K(source_y)))
#else
#define TZ_CONSTANTS(K)                                                                            \
    K(step, real) K(kick, real, varies) K(source_x, int) K(source_y, int) K(source_z, int)
#define TZ_READS(R)                                                                                \
    R(wave, before, 0, 0, 0, 0, 0, 0)                                                              \
    R(wave, speed, 0, 0, 0, 0, 0, 0) R(wave, sponge, 0, 0, 0, 0, 0, 0)
#define WAVE_AT(field, dx, dy, dz) TZ_AT(field, dx, dy, dz)
#define WAVE_RING(k)                                                                               \
    (((TZ_AT(u, -(k), 0, 0) + TZ_AT(u, k, 0, 0)) + (TZ_AT(u, 0, -(k), 0) + TZ_AT(u, 0, k, 0))) +   \
     (TZ_AT(u, 0, 0, -(k)) + TZ_AT(u, 0, 0, k)))
#define WAVE_ELSEWHERE                                                                             \
    (((int)TZ_X - TZ_K(source_x)) | ((int)TZ_Y - TZ_K(source_y)) | ((int)TZ_Z - TZ_K(source_z)))
#endif

TZ_CELL(wave)
{
    const real here = WAVE_AT(u, 0, 0, 0), before = WAVE_AT(before, 0, 0, 0);
#if TZ_CELL_RADIUS == 1
    const real lap = TZ_FMA(TZ_R(-2 * TZ_CELL_DIMS), here, WAVE_RING(1));
#else
    real lap = TZ_R(-205. / 72 * TZ_CELL_DIMS) * here;
    lap = TZ_FMA(TZ_R(8. / 5), WAVE_RING(1), lap);
    lap = TZ_FMA(TZ_R(-1. / 5), WAVE_RING(2), lap);
    lap = TZ_FMA(TZ_R(8. / 315), WAVE_RING(3), lap);
    lap = TZ_FMA(TZ_R(-1. / 560), WAVE_RING(4), lap);
#endif
    const real courant = TZ_K(step) * WAVE_AT(speed, 0, 0, 0);
    const real coasted = TZ_FMA(WAVE_AT(sponge, 0, 0, 0), here - before, here);
    const real kicked = TZ_SELECT(WAVE_ELSEWHERE, coasted, coasted + TZ_K(kick));
    TZ_PUT(u, TZ_FMA(courant * courant, lap, kicked));
    TZ_PUT(before, here);
}
#undef WAVE_AT
#undef WAVE_RING
#undef WAVE_ELSEWHERE
