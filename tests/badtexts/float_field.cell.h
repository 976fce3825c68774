/* error: float is no type of a field or constant: these are real, int and tz_word */
#define TZ_FIELDS(F) F(u, float)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
