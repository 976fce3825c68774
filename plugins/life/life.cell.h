/* Life-like automata on the 3 x 3 neighbourhood, 32 cells a word: every operation below works on
 * all cells of a word, one bit each. Columns are summed by full adders (ones, twos), then across.
 *
 * Constants: bit n of `birth` and `survive` is set when a dead or living cell with n living
 * neighbours lives next; `conway` is 1 for B3/S23, which then takes the short way. */
#define TZ_FIELDS(F) F(alive, tz_word)
#define TZ_CONSTANTS(K) K(birth, int) K(survive, int) K(conway, int)

/* ones, twos = a + b + c, bit by bit: three operations where the machine has three-input logic. */
#define LIFE_ADD3(ones, twos, a, b, c)                                                             \
    const tz_word ones##_half = (a) ^ (b), ones = ones##_half ^ (c),                               \
                  twos = (ones##_half & (c)) | (~ones##_half & (a))
/* What a cell with n neighbours becomes; `here` says which of them live. */
#define LIFE_LEAF(n)                                                                               \
    (((0u - ((tz_word)TZ_K(survive) >> (n)&1u)) & here) |                                          \
     ((0u - ((tz_word)TZ_K(birth) >> (n)&1u)) & ~here))
#define LIFE_PICK(bit, set, clear) (((bit) & (set)) | (~(bit) & (clear)))

TZ_CELL(life)
{
    const tz_word here = TZ_AT(alive, 0, 0);
    const tz_word north = TZ_AT(alive, 0, -1), south = TZ_AT(alive, 0, 1);
    LIFE_ADD3(west1, west2, TZ_AT(alive, -1, -1), TZ_AT(alive, -1, 0), TZ_AT(alive, -1, 1));
    LIFE_ADD3(east1, east2, TZ_AT(alive, 1, -1), TZ_AT(alive, 1, 0), TZ_AT(alive, 1, 1));
    const tz_word middle1 = north ^ south, middle2 = north & south;
    /* The count of neighbours is ones + 2 (carry + west2 + east2 + middle2). */
    LIFE_ADD3(ones, carry, west1, east1, middle1);
    if (TZ_K(conway)) {
        /* Two or three neighbours: just one of the four twos. Their sum is odd, and three of them
         * would take both carry and middle2 or both west2 and east2. Then three, or alive. */
        const tz_word odd = west2 ^ east2 ^ middle2;
        const tz_word one = (odd ^ (carry & (odd | ~middle2))) & ~(west2 & east2);
        TZ_PUT(alive, one & (ones | here));
    } else {
        LIFE_ADD3(odd, fours, west2, east2, middle2);
        const tz_word twos = odd ^ carry, more = odd & carry;
        const tz_word four = fours ^ more, eight = fours & more;
        const tz_word low = LIFE_PICK(twos, LIFE_PICK(ones, LIFE_LEAF(3), LIFE_LEAF(2)),
                                      LIFE_PICK(ones, LIFE_LEAF(1), LIFE_LEAF(0)));
        const tz_word high = LIFE_PICK(twos, LIFE_PICK(ones, LIFE_LEAF(7), LIFE_LEAF(6)),
                                       LIFE_PICK(ones, LIFE_LEAF(5), LIFE_LEAF(4)));
        TZ_PUT(alive, LIFE_PICK(eight, LIFE_LEAF(8), LIFE_PICK(four, high, low)));
    }
}
#undef LIFE_ADD3
#undef LIFE_LEAF
#undef LIFE_PICK
