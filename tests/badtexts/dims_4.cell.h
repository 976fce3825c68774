/* error: TZ_CELL_DIMS is 1, 2 or 3 */
/* options: -DDIMS=4 */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
