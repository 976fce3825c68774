/* error: TZ_CELL_DIMS is 1, so TZ_AT takes a field and 1 offset, as in TZ_AT(u, -1) */
/* options: -DDIMS=1 */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
