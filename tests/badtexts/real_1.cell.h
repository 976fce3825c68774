/* error: TZ_CELL_REAL is 1, but no field or constant of real_1.cell.h has the type real */
#define TZ_FIELDS(F) F(u, int)
#define TZ_CONSTANTS(K) K(share, int)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
