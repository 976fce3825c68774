/* A one-dimensional automaton over words of 32 cells: two cells to each side matter. */
#define TZ_FIELDS(F) F(alive, tz_word)
#define TZ_CONSTANTS(K) K(flip, int)

TZ_CELL(rule1d)
{
    const tz_word near = TZ_AT(alive, -1) | TZ_AT(alive, 0);
    TZ_PUT(alive, (TZ_AT(alive, -2) ^ near ^ TZ_AT(alive, 1)) |
                      (TZ_AT(alive, 2) & ~TZ_AT(alive, 0) & (tz_word)TZ_K(flip)));
}
