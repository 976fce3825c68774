/* error: has no TZ_CELL(text): define TZ_CELL_NAME, or TZ_CELL_ID, as the name in it */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(other)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
