/* A cell is dead (0), alive (1) or dying (2 to states - 1). A living one that does not survive, and
 * a dying one, take the next state; behind the last one they are dead. Living cells alone are
 * neighbours.
 *
 * Constants: `counts` is 1 if only their number matters; then bit n of `birth` and `survive` is set
 * when a dead or living cell with n of them lives next. Else bit n & 31 of map(n >> 5) is, where
 * the bits of n are the cells of the 3 x 3 that live, row by row, north-west first (256). */
#define TZ_FIELDS(F) F(state, int)
// clang-format off
#define TZ_CONSTANTS(K)                                                                     \
    K(states, int) K(counts, int) K(birth, int) K(survive, int)                             \
    K(map0, int) K(map1, int) K(map2, int) K(map3, int) K(map4, int) K(map5, int)           \
    K(map6, int) K(map7, int) K(map8, int) K(map9, int) K(map10, int) K(map11, int)         \
    K(map12, int) K(map13, int) K(map14, int) K(map15, int)
// clang-format on

#define GENERATIONS_AT(dx, dy) (TZ_AT(state, dx, dy) == 1)
/* The word of map a to a + 3, where the cells to the north-east and west say which. */
#define GENERATIONS_FOUR(a, b, c, d)                                                               \
    TZ_SELECT(ne, TZ_SELECT(w, TZ_K(d), TZ_K(c)), TZ_SELECT(w, TZ_K(b), TZ_K(a)))

TZ_CELL(generations)
{
    const int here = TZ_AT(state, 0, 0), alive = here == 1, more = here + 1;
    const int nw = GENERATIONS_AT(-1, -1), n = GENERATIONS_AT(0, -1), ne = GENERATIONS_AT(1, -1);
    const int w = GENERATIONS_AT(-1, 0), e = GENERATIONS_AT(1, 0);
    const int sw = GENERATIONS_AT(-1, 1), s = GENERATIONS_AT(0, 1), se = GENERATIONS_AT(1, 1);
    int lives;
    if (TZ_K(counts)) {
        lives = TZ_SELECT(alive, TZ_K(survive), TZ_K(birth)) >> (nw + n + ne + w + e + sw + s + se);
    } else {
        const int north = TZ_SELECT(n, GENERATIONS_FOUR(map4, map5, map6, map7),
                                    GENERATIONS_FOUR(map0, map1, map2, map3));
        const int both = TZ_SELECT(n, GENERATIONS_FOUR(map12, map13, map14, map15),
                                   GENERATIONS_FOUR(map8, map9, map10, map11));
        lives = TZ_SELECT(nw, both, north) >> (16 * alive + 8 * e + 4 * sw + 2 * s + se);
    }
    const int next = TZ_SELECT(more < TZ_K(states), more, 0);
    const int old = TZ_SELECT(here == 0, 0, next);
    TZ_PUT(state, TZ_SELECT(here < 2, TZ_SELECT(lives & 1, 1, old), old));
}
#undef GENERATIONS_AT
#undef GENERATIONS_FOUR
