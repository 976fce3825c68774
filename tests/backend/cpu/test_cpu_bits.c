/* Ghosts of rows of bits (kernels/cpu/finish.h). Bit b of word w is column b * words + w, so a
 * column may be in several words: in a row, in the unused bits at its end, and in ghost words. */
#include "kernels/cpu/finish.h"
#include "tests/unit.h"

enum { GUARD = 3, WORDS_MAX = 400 };

static uint32_t next(uint32_t *state)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return *state ^ *state >> 15;
}

/* Random cells and random bits elsewhere; afterwards each bit that stands for a column of the grid
 * or for a ghost has the value that the boundary says, and words outside are as before. */
static void check_row(int64_t columns, int ghost, tz_boundary low, tz_boundary high,
                      uint32_t *state)
{
    const int64_t words = (columns + 31) / 32;
    static const uint32_t values[2] = {0, UINT32_MAX};
    static uint32_t memory[WORDS_MAX], before[WORDS_MAX];
    uint32_t *row = memory + GUARD + ghost;
    tz_stage stage = {.dims = 2, .elements = {words, 1, 1}, .columns = columns, .bits = true};
    const tz_patch patch = {.at = (char *)row, .row_stride = words, .x_high = words, .y_high = 1};
    const int64_t all = words + 2 * (GUARD + ghost);
    assert_true(all <= WORDS_MAX);
    stage.boundary[0][0] = low;
    stage.boundary[0][1] = high;
    stage.element_size[0] = sizeof *row;
    for (int side = 0; side < 2; side++)
        stage.outside[0][side].at = &values[next(state) >> 9 & 1];
    for (int64_t i = 0; i < all; i++)
        memory[i] = before[i] = next(state);
    tz_patch_finish(&stage, 0, &patch, ghost);
    for (int64_t i = 0; i < GUARD; i++) {
        assert_int_equal(memory[i], before[i]);
        assert_int_equal(memory[all - 1 - i], before[all - 1 - i]);
    }
    for (int64_t word = -ghost; word < words + ghost; word++)
        for (int64_t b = 0; b < 32; b++) {
            const int64_t column = b * words + word;
            if (column < -ghost || column >= columns + ghost)
                continue;
            const int64_t from = tz_ghost_source(stage.boundary[0], column, columns);
            const uint32_t value = from < 0
                                       ? *(const uint32_t *)stage.outside[0][-1 - from].at & 1
                                       : before[GUARD + ghost + from % words] >> (from / words) & 1;
            if ((row[word] >> b & 1) != value)
                fail_msg("%d columns, %d ghosts, sides %d and %d: bit %d of word %d, column %d",
                         (int)columns, ghost, low, high, (int)b, (int)word, (int)column);
        }
}

TEST(test_every_bit_of_a_row_has_its_column)
{
    static const tz_boundary sides[][2] = {{TZ_FIXED, TZ_FIXED},
                                           {TZ_PERIODIC, TZ_PERIODIC},
                                           {TZ_CLAMP, TZ_MIRROR},
                                           {TZ_MIRROR, TZ_FIXED}};
    uint32_t random = 1;
    for (int64_t columns = 1; columns < 12000; columns += columns < 200 ? 1 : 97)
        for (size_t s = 0; s < sizeof sides / sizeof *sides; s++)
            for (int ghost = 1; ghost <= 3; ghost++)
                for (int turn = 0; turn < 2; turn++)
                    check_row(columns, ghost, sides[s][0], sides[s][1], &random);
}
