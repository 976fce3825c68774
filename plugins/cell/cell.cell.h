/* Life in three dimensions on the 3 x 3 x 3 neighbourhood, 32 cells a word: every operation below
 * works on all cells of a word, one bit each. Full adders sum the 27 cells, the one in the middle
 * among them: along rows, across the rows of a plane, then over the three planes.
 *
 * Constants: bit n of `birth` and `survive` is set when a dead or living cell with n living
 * neighbours lives next; `bays` is 1 for 4555, which has a shorter update. */
#define TZ_FIELDS(F) F(alive, tz_word)
#define TZ_CONSTANTS(K) K(birth, int) K(survive, int) K(bays, int)

/* Three cells of a row, as ones and twos. */
#define CELL_ROW1(dy, dz)                                                                          \
    TZ_XOR3(TZ_AT(alive, -1, dy, dz), TZ_AT(alive, 0, dy, dz), TZ_AT(alive, 1, dy, dz))
#define CELL_ROW2(dy, dz)                                                                          \
    TZ_MAJ3(TZ_AT(alive, -1, dy, dz), TZ_AT(alive, 0, dy, dz), TZ_AT(alive, 1, dy, dz))
/* Nine cells of a plane: ones, twos that are carried, twos that were there, fours. */
#define CELL_ONES(dz) TZ_XOR3(CELL_ROW1(-1, dz), CELL_ROW1(0, dz), CELL_ROW1(1, dz))
#define CELL_CARRIED(dz) TZ_MAJ3(CELL_ROW1(-1, dz), CELL_ROW1(0, dz), CELL_ROW1(1, dz))
#define CELL_TWOS(dz) TZ_XOR3(CELL_ROW2(-1, dz), CELL_ROW2(0, dz), CELL_ROW2(1, dz))
#define CELL_FOURS(dz) TZ_MAJ3(CELL_ROW2(-1, dz), CELL_ROW2(0, dz), CELL_ROW2(1, dz))
#define CELL_HERE(dz) TZ_AT(alive, 0, 0, dz)
#define CELL_PLANES(D)                                                                             \
    D(CELL_ONES, tz_word)                                                                          \
    D(CELL_CARRIED, tz_word) D(CELL_TWOS, tz_word) D(CELL_FOURS, tz_word) D(CELL_HERE, tz_word)
/* The sum of three planes: the bit that stays at its weight, and the carry to the next. */
#define CELL_STAYS(sum) TZ_XOR3(TZ_PLANE(sum, -1), TZ_PLANE(sum, 0), TZ_PLANE(sum, 1))
#define CELL_GOES(sum) TZ_MAJ3(TZ_PLANE(sum, -1), TZ_PLANE(sum, 0), TZ_PLANE(sum, 1))

/* What a cell becomes when n of the 27 live; `here` says whether it is one of them. */
#define CELL_LEAF(n)                                                                               \
    (((0u - ((tz_word)TZ_K(survive) >> ((n) > 0 ? (n)-1 : 31) & 1u)) & here) |                     \
     ((0u - ((tz_word)TZ_K(birth) >> (n)&1u)) & ~here))
#define CELL_PICK4(n)                                                                              \
    TZ_PICK3(bit1, TZ_PICK3(bit0, CELL_LEAF((n) + 3), CELL_LEAF((n) + 2)),                         \
             TZ_PICK3(bit0, CELL_LEAF((n) + 1), CELL_LEAF(n)))

TZ_CELL_PLANES(cell, CELL_PLANES)
{
    const tz_word here = TZ_PLANE(CELL_HERE, 0);
    const tz_word bit0 = CELL_STAYS(CELL_ONES), two1 = CELL_GOES(CELL_ONES);
    const tz_word two2 = CELL_STAYS(CELL_CARRIED), four1 = CELL_GOES(CELL_CARRIED);
    const tz_word two3 = CELL_STAYS(CELL_TWOS), four2 = CELL_GOES(CELL_TWOS);
    const tz_word bit1 = TZ_XOR3(two1, two2, two3), four3 = TZ_MAJ3(two1, two2, two3);
    const tz_word four4 = TZ_XOR3(four1, four2, four3), eight1 = TZ_MAJ3(four1, four2, four3);
    const tz_word four5 = CELL_STAYS(CELL_FOURS), eight2 = CELL_GOES(CELL_FOURS);
    if (TZ_K(bays)) {
        /* The cell lives next if five of the 27 cells live, or six and it is one of them: a four
         * and no eight, with either a one or a two. */
        const tz_word right = TZ_LOGIC3(0x38, bit0, bit1, here, (bit0 ^ bit1) & (bit0 | here));
        const tz_word four = TZ_LOGIC3(0x14, four4, four5, eight1, (four4 ^ four5) & ~eight1);
        TZ_PUT(alive, TZ_LOGIC3(0x40, right, four, eight2, right & four & ~eight2));
    } else {
        const tz_word bit2 = four4 ^ four5, eight3 = four4 & four5;
        const tz_word bit3 = TZ_XOR3(eight1, eight2, eight3);
        const tz_word bit4 = TZ_MAJ3(eight1, eight2, eight3);
        const tz_word n0 = TZ_PICK3(bit2, CELL_PICK4(4), CELL_PICK4(0));
        const tz_word n8 = TZ_PICK3(bit2, CELL_PICK4(12), CELL_PICK4(8));
        const tz_word n16 = TZ_PICK3(bit2, CELL_PICK4(20), CELL_PICK4(16));
        TZ_PUT(alive, TZ_PICK3(bit4, TZ_PICK3(bit3, CELL_PICK4(24), n16), TZ_PICK3(bit3, n8, n0)));
    }
}
#undef CELL_ROW1
#undef CELL_ROW2
#undef CELL_ONES
#undef CELL_CARRIED
#undef CELL_TWOS
#undef CELL_FOURS
#undef CELL_HERE
#undef CELL_PLANES
#undef CELL_STAYS
#undef CELL_GOES
#undef CELL_LEAF
#undef CELL_PICK4
