/* error: implicit conversion.*float.*double */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_AT(u, 1, 0) > 0.5 ? TZ_K(share) : 0);
}
