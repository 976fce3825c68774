/* error: fabs() is a library function, so use TZ_ABS(), which has the same bits on CPU and GPU */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * fabs(TZ_AT(u, 1, 0)));
}
