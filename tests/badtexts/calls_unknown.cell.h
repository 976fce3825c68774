/* error: implicit declaration of function.*frobnicate */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, frobnicate(TZ_AT(u, 1, 0)));
}
