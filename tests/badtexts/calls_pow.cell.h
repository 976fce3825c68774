/* error: pow() is a library function, so use TZ_POW(), which has the same bits on CPU and GPU */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, pow(TZ_AT(u, 1, 0), 2));
}
