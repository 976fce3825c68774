/* A cell keeps its value. */
#define TZ_FIELDS(F) F(u, real) F(f, real)
#define TZ_CONSTANTS(K)

TZ_CELL(bad)
{
    TZ_PUT(u, TZ_AT(u, 0) + TZ_AT(f, 0));
}
