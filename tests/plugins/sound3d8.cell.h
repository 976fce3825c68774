/* The wave equation in 3-D, of order 8 in space: two time levels and a static field of speeds. */
#define TZ_FIELDS(F) F(u, real) F(before, real) F(speed, real)
#define TZ_CONSTANTS(K) K(centre, real) K(side1, real) K(side2, real) K(side3, real) K(side4, real)
// clang-format off
#define TZ_READS(R) \
    R(sound3d8, u, -4, 4, -4, 4, -4, 4) \
    R(sound3d8, before, 0, 0, 0, 0, 0, 0) \
    R(sound3d8, speed, 0, 0, 0, 0, 0, 0)
// clang-format on
#define WAVE_RING(r)                                                                               \
    (((TZ_AT(u, -(r), 0, 0) + TZ_AT(u, r, 0, 0)) + (TZ_AT(u, 0, -(r), 0) + TZ_AT(u, 0, r, 0))) +   \
     (TZ_AT(u, 0, 0, -(r)) + TZ_AT(u, 0, 0, r)))

TZ_CELL(sound3d8)
{
    const real here = TZ_AT(u, 0, 0, 0);
    real bent = TZ_K(centre) * here;
    bent = TZ_FMA(TZ_K(side1), WAVE_RING(1), bent);
    bent = TZ_FMA(TZ_K(side2), WAVE_RING(2), bent);
    bent = TZ_FMA(TZ_K(side3), WAVE_RING(3), bent);
    bent = TZ_FMA(TZ_K(side4), WAVE_RING(4), bent);
    TZ_PUT(u, TZ_FMA(TZ_AT(speed, 0, 0, 0), bent, (here + here) - TZ_AT(before, 0, 0, 0)));
    TZ_PUT(before, here);
}
#undef WAVE_RING
