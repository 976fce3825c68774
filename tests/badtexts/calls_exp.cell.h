/* error: exp() is a library function, so use TZ_EXP(), which has the same bits on CPU and GPU */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_FMA(exp(TZ_AT(u, 0, 0)), TZ_AT(u, 1, 0), TZ_K(share)));
}
