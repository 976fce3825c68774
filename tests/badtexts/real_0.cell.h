/* error: TZ_CELL_REAL is 0, but a field or constant of real_0.cell.h has the type real */
/* options: -DREAL=0 */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
