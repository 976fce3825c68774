/* error: define TZ_CELL_DIMS before <trapeze/rows.h>: 1, 2 or 3 */
/* options: -DNO_DIMS */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
