/* Bits that spread from cell to cell unless a wall stands there; what is adjacent to a wall is
 * turned over. Two fields of words, the second of which never changes. */
#if TZ_CELL_DIMS == 1
#define WALLS_AT(f, dx, dy, dz) TZ_AT(f, dx)
#elif TZ_CELL_DIMS == 2
#define WALLS_AT(f, dx, dy, dz) TZ_AT(f, dx, dy)
#else
#define WALLS_AT(f, dx, dy, dz) TZ_AT(f, dx, dy, dz)
#endif
#define TZ_FIELDS(F) F(alive, tz_word) F(wall, tz_word)
#define TZ_CONSTANTS(K) K(flip, int)

TZ_CELL(walls)
{
    tz_word next =
        WALLS_AT(alive, -1, 0, 0) ^ (WALLS_AT(alive, 1, 0, 0) & WALLS_AT(alive, 0, 0, 0));
    tz_word adjacent = WALLS_AT(wall, -1, 0, 0) ^ WALLS_AT(wall, 1, 0, 0);
#if TZ_CELL_DIMS > 1
    next ^= WALLS_AT(alive, 0, -1, 0) | WALLS_AT(alive, 1, 1, 0);
    adjacent ^= WALLS_AT(wall, 0, 1, 0) & WALLS_AT(wall, -1, -1, 0);
#endif
#if TZ_CELL_DIMS > 2
    next ^= WALLS_AT(alive, 0, 0, 1) & ~WALLS_AT(alive, 0, 0, -1);
    adjacent ^= WALLS_AT(wall, 0, 0, -1) | WALLS_AT(wall, 0, 1, 1);
#endif
    TZ_PUT(alive, (next ^ (adjacent & (tz_word)TZ_K(flip))) & ~WALLS_AT(wall, 0, 0, 0));
}
#undef WALLS_AT
