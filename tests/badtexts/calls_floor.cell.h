/* error: floor() is a library function, which a cell update cannot call */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, floor(TZ_AT(u, 1, 0)));
}
