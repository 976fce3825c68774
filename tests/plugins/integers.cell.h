/* Integers that mix all bits of a neighbourhood with the coordinates and the step: an error in one
 * cell shows in every cell that depends on it. */
#if TZ_CELL_DIMS == 2
#define INTEGERS_AT(dx, dy, dz) (tz_word) TZ_AT(n, dx, dy)
#define INTEGERS_SEED TZ_AT(seed, 0, 0)
#define INTEGERS_Z 0u
#else
#define INTEGERS_AT(dx, dy, dz) (tz_word) TZ_AT(n, dx, dy, dz)
#define INTEGERS_SEED TZ_AT(seed, 0, 0, 0)
#define INTEGERS_Z (tz_word) TZ_Z
#endif
#define TZ_FIELDS(F) F(n, int) F(seed, int)
#define TZ_CONSTANTS(K) K(mask, int)

TZ_CELL(integers)
{
    tz_word mix = (tz_word)TZ_X + 3u * (tz_word)TZ_Y + 5u * INTEGERS_Z + 7u * (tz_word)TZ_STEP;
    mix = 33u * mix + (tz_word)INTEGERS_SEED;
    mix = 33u * mix + INTEGERS_AT(0, 0, 0);
    mix = 33u * mix + (INTEGERS_AT(-1, 0, 0) ^ (INTEGERS_AT(1, 0, 0) << 1));
    mix = 33u * mix + (INTEGERS_AT(0, -1, 0) ^ (INTEGERS_AT(0, 1, 0) << 1));
    mix = 33u * mix + (INTEGERS_AT(-1, -1, 0) ^ (INTEGERS_AT(1, 1, 0) << 1));
#if TZ_CELL_DIMS == 3
    mix = 33u * mix + (INTEGERS_AT(0, 0, -1) ^ (INTEGERS_AT(0, 0, 1) << 1));
    mix = 33u * mix + (INTEGERS_AT(1, -1, 1) ^ (INTEGERS_AT(-1, 1, -1) << 1));
#endif
    TZ_PUT(n, (int)((mix ^ (mix >> 15)) & (tz_word)TZ_K(mask)));
}
#undef INTEGERS_AT
#undef INTEGERS_SEED
#undef INTEGERS_Z
