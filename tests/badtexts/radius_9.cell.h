/* error: TZ_CELL_RADIUS is 0 to 8 */
/* options: -DRADIUS=9 */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
