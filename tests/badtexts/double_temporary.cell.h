/* error: implicit conversion.*float.*double */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    const real half = 0.5 * TZ_AT(u, 1, 0);
    TZ_PUT(u, half);
}
