/* error: TZ_CELL_DIMS is 3, so TZ_AT takes a field and 3 offsets, as in TZ_AT(u, -1, 0, 0) */
/* options: -DDIMS=3 */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
