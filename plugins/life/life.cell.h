/* Life-like automata on the 3 x 3 neighbourhood, 32 cells a word: every operation below works on
 * all cells of a word, one bit each. Full adders sum lines of three cells (ones, twos), then the
 * three lines.
 *
 * Constants: bit n of `birth` and `survive` is set when a dead or living cell with n living
 * neighbours lives next; `conway` is 1 for B3/S23, which has a shorter update. */
#define TZ_FIELDS(F) F(alive, tz_word)
#define TZ_CONSTANTS(K) K(birth, int) K(survive, int) K(conway, int)

/* What a cell becomes when n of the nine cells live; `here` says whether it is one of them. */
#define LIFE_LEAF(n)                                                                               \
    (((0u - ((tz_word)TZ_K(survive) >> ((n) > 0 ? (n)-1 : 31) & 1u)) & here) |                     \
     ((0u - ((tz_word)TZ_K(birth) >> (n)&1u)) & ~here))

/* Word (i, j) of the three by three. The rule is the same if rows and columns are exchanged. */
#if TZ_ROWS_FIRST
#define LIFE_AT(i, j) TZ_AT(alive, j, i)
#else
#define LIFE_AT(i, j) TZ_AT(alive, i, j)
#endif

TZ_CELL(life)
{
    const tz_word here = TZ_AT(alive, 0, 0);
    /* Lines of three, columns or rows: ones and twos. Adjacent words share them. */
    const tz_word low1 = TZ_XOR3(LIFE_AT(-1, -1), LIFE_AT(-1, 0), LIFE_AT(-1, 1));
    const tz_word low2 = TZ_MAJ3(LIFE_AT(-1, -1), LIFE_AT(-1, 0), LIFE_AT(-1, 1));
    const tz_word mid1 = TZ_XOR3(LIFE_AT(0, -1), here, LIFE_AT(0, 1));
    const tz_word mid2 = TZ_MAJ3(LIFE_AT(0, -1), here, LIFE_AT(0, 1));
    const tz_word high1 = TZ_XOR3(LIFE_AT(1, -1), LIFE_AT(1, 0), LIFE_AT(1, 1));
    const tz_word high2 = TZ_MAJ3(LIFE_AT(1, -1), LIFE_AT(1, 0), LIFE_AT(1, 1));
    /* All nine cells are ones + 2 (carry + odd + 2 more). */
    const tz_word ones = TZ_XOR3(low1, mid1, high1);
    const tz_word odd = TZ_XOR3(low2, mid2, high2), more = TZ_MAJ3(low2, mid2, high2);
    if (TZ_K(conway)) {
        /* The cell lives next if three of the nine cells live, or four and it is one of them. With
         * flip = carry ^ ones, both need odd == flip. Then three cells are an odd number with
         * more = 0, and four an even number with more != odd. */
        const tz_word flip = TZ_LOGIC3(0x7e, low1, mid1, high1, (low1 ^ mid1) | (mid1 ^ high1));
        const tz_word count = TZ_LOGIC3(0x36, ones, more, odd, more ^ (ones | odd));
        const tz_word right = TZ_LOGIC3(0x82, odd, flip, count, ~(odd ^ flip) & count);
        TZ_PUT(alive, TZ_LOGIC3(0xe0, right, ones, here, right & (ones | here)));
    } else {
        const tz_word carry = TZ_MAJ3(low1, mid1, high1);
        const tz_word twos = odd ^ carry, fours1 = odd & carry;
        const tz_word four = more ^ fours1, eight = more & fours1;
        /* The leaf of n cells in all: n neighbours of a dead cell, n - 1 of a living one. */
        const tz_word few = TZ_PICK3(twos, TZ_PICK3(ones, LIFE_LEAF(3), LIFE_LEAF(2)),
                                     TZ_PICK3(ones, LIFE_LEAF(1), LIFE_LEAF(0)));
        const tz_word many = TZ_PICK3(twos, TZ_PICK3(ones, LIFE_LEAF(7), LIFE_LEAF(6)),
                                      TZ_PICK3(ones, LIFE_LEAF(5), LIFE_LEAF(4)));
        const tz_word top = TZ_PICK3(ones, LIFE_LEAF(9), LIFE_LEAF(8));
        TZ_PUT(alive, TZ_PICK3(eight, top, TZ_PICK3(four, many, few)));
    }
}
#undef LIFE_LEAF
#undef LIFE_AT
