/* error: none */
/* A text that uses whatever it may, so that nothing else is found to be wrong with it. */
#define TZ_FIELDS(F) F(u, real) F(count, int)
#define TZ_CONSTANTS(K) K(share, real) K(most, int)

TZ_CELL(text)
{
    const real log = TZ_AT(u, -1, 0), max = (real)0.5;
    const int here = TZ_AT(count, 0, 0);
    TZ_PUT(u, TZ_FMA(TZ_K(share), log + TZ_AT(u, 1, 0), max));
    TZ_PUT(count, here < TZ_K(most) ? here + 1 : 0);
}
