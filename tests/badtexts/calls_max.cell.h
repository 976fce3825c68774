/* error: max() is a library function, so use TZ_MAX(), which has the same bits on CPU and GPU */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, max(TZ_AT(u, 1, 0), TZ_K(share)));
}
