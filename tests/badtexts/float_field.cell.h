/* error: float is no type of a field or constant, only real, int and tz_word are */
#define TZ_FIELDS(F) F(u, float)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
