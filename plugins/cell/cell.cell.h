/* Life in three dimensions on the 3 x 3 x 3 neighbourhood, 32 cells a word: every operation below
 * works on all cells of a word, one bit each. The 26 neighbours are counted by a tree of full
 * adders: bits of weight 1 (a), then their carries of weight 2 (b), 4 (c) and 8 (d).
 *
 * Constants: bit n of `birth` and `survive` is set when a dead or living cell with n living
 * neighbours lives next; `bays` is 1 for 4555, which then takes the short way. */
#define TZ_FIELDS(F) F(alive, tz_word)
#define TZ_CONSTANTS(K) K(birth, int) K(survive, int) K(bays, int)

/* ones, twos = x + y + z, bit by bit: three operations where the machine has three-input logic. */
#define CELL_ADD3(ones, twos, x, y, z)                                                             \
    const tz_word ones##_half = (x) ^ (y), ones = ones##_half ^ (z),                               \
                  twos = (ones##_half & (z)) | (~ones##_half & (x))
#define CELL_ROW(ones, twos, dy, dz)                                                               \
    CELL_ADD3(ones, twos, TZ_AT(alive, -1, dy, dz), TZ_AT(alive, 0, dy, dz),                       \
              TZ_AT(alive, 1, dy, dz))
/* What a cell with n neighbours becomes; `here` says which of them live. */
#define CELL_LEAF(n)                                                                               \
    (((0u - ((tz_word)TZ_K(survive) >> (n)&1u)) & here) |                                          \
     ((0u - ((tz_word)TZ_K(birth) >> (n)&1u)) & ~here))
#define CELL_PICK(bit, set, clear) (((bit) & (set)) | (~(bit) & (clear)))
#define CELL_PICK4(n)                                                                              \
    CELL_PICK(bit1, CELL_PICK(bit0, CELL_LEAF((n) + 3), CELL_LEAF((n) + 2)),                       \
              CELL_PICK(bit0, CELL_LEAF((n) + 1), CELL_LEAF(n)))

TZ_CELL(cell)
{
    const tz_word here = TZ_AT(alive, 0, 0, 0);
    /* Weight 1: eight rows of three, and the centre's row of two. */
    CELL_ROW(a0, b0, -1, -1);
    CELL_ROW(a1, b1, 0, -1);
    CELL_ROW(a2, b2, 1, -1);
    CELL_ADD3(a8, b8, a0, a1, a2);
    CELL_ROW(a3, b3, -1, 0);
    CELL_ROW(a4, b4, 1, 0);
    const tz_word west = TZ_AT(alive, -1, 0, 0), east = TZ_AT(alive, 1, 0, 0);
    const tz_word a9 = west ^ east, b9 = west & east;
    CELL_ADD3(a10, b10, a3, a4, a9);
    CELL_ROW(a5, b5, -1, 1);
    CELL_ROW(a6, b6, 0, 1);
    CELL_ROW(a7, b7, 1, 1);
    CELL_ADD3(a11, b11, a5, a6, a7);
    CELL_ADD3(bit0, b12, a8, a10, a11);
    /* Weight 2: thirteen. */
    CELL_ADD3(b13, c0, b0, b1, b2);
    CELL_ADD3(b14, c1, b3, b4, b9);
    CELL_ADD3(b15, c2, b5, b6, b7);
    CELL_ADD3(b16, c3, b8, b10, b11);
    CELL_ADD3(b17, c4, b13, b14, b15);
    CELL_ADD3(bit1, c5, b16, b17, b12);
    /* Weight 4: six. */
    CELL_ADD3(c6, d0, c0, c1, c2);
    CELL_ADD3(c7, d1, c3, c4, c5);
    const tz_word bit2 = c6 ^ c7;
    if (TZ_K(bays)) {
        /* Five neighbours, or four and alive: one four, no two, no eight. */
        TZ_PUT(alive, bit2 & ~(d0 | d1) & ~bit1 & (bit0 | here));
    } else {
        const tz_word d2 = c6 & c7;
        CELL_ADD3(bit3, bit4, d0, d1, d2);
        const tz_word n0 = CELL_PICK(bit2, CELL_PICK4(4), CELL_PICK4(0));
        const tz_word n8 = CELL_PICK(bit2, CELL_PICK4(12), CELL_PICK4(8));
        const tz_word n16 = CELL_PICK(bit2, CELL_PICK4(20), CELL_PICK4(16));
        TZ_PUT(alive,
               CELL_PICK(bit4, CELL_PICK(bit3, CELL_PICK4(24), n16), CELL_PICK(bit3, n8, n0)));
    }
}
#undef CELL_ADD3
#undef CELL_ROW
#undef CELL_LEAF
#undef CELL_PICK
#undef CELL_PICK4
