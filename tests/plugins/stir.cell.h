/* First pass of mixed1d: integers that mix cells three away with the streamed row. */
#define TZ_FIELDS(F) F(u, real) F(n, int) F(rows, int) F(k, real) F(mask, int)
#define TZ_CONSTANTS(K) K(share, real)
#define STIR_ONCE(D) D(turned, tz_word, (tz_word)TZ_AT(mask, 0) ^ 21u)

TZ_CELL_ONCE(stir, STIR_ONCE)
{
    tz_word mix = (tz_word)TZ_X + 7u * (tz_word)TZ_STEP;
    mix = 33u * mix + (tz_word)TZ_AT(n, 0);
    mix = 33u * mix + ((tz_word)TZ_AT(n, -3) ^ ((tz_word)TZ_AT(n, 3) << 1));
    mix = 33u * mix + ((tz_word)TZ_AT(n, -1) ^ ((tz_word)TZ_AT(n, 2) << 1));
    mix = 33u * mix + (tz_word)TZ_AT(rows, 0);
    TZ_PUT(n, (int)((mix ^ (mix >> 15) ^ TZ_ONCE(turned)) & 0xffffu));
}
