/* Three-dimensional Life against one byte a cell. */
#include "oracle.h"

typedef struct rule {
    const char *text;
    unsigned birth, survive;
    double density;
} rule;

static const rule rules[] = {
    {"4555", 1 << 5, 3 << 4, 0.2},
    {"5766", 1 << 6, 7 << 5, 0.25},
    {"B5/S45", 1 << 5, 3 << 4, 0.2}, /* 4555 in letters */
    {"B1,3,5,7,9,11,13,15,17,19,21,23,25/S0,2,4,6,8,10,12,14,16,18,20,22,24,26", 0x2aaaaaa,
     0x5555555, 0.5},
    {"B13,14,17,18,19,/S13,14,15,16,17,18,19,20,21,22,23,24,25,26,", 3u << 13 | 7u << 17,
     0x7ffffffu & ~0x1fffu, 0.5},
    {"B0,26,/S25,26,8,16,", 1u | 1u << 26, 3u << 25 | 1u << 8 | 1u << 16, 0.9},
};

static void advance(const rule *r, const int64_t n[3], const char *boundary,
                    const unsigned char *old, unsigned char *now)
{
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                int count = 0;
                for (int d = 0; d < 27; d++) {
                    const int64_t i = oracle_neighbour(x + d % 3 - 1, n[0], boundary);
                    const int64_t j = oracle_neighbour(y + d / 3 % 3 - 1, n[1], boundary);
                    const int64_t k = oracle_neighbour(z + d / 9 - 1, n[2], boundary);
                    count +=
                        d != 13 && i >= 0 && j >= 0 && k >= 0 && old[(k * n[1] + j) * n[0] + i];
                }
                const int64_t here = (z * n[1] + y) * n[0] + x;
                now[here] = (old[here] ? r->survive : r->birth) >> count & 1;
            }
}

static void check(const rule *r, const int64_t n[3], const char *boundary, int steps)
{
    const int64_t cells = n[0] * n[1] * n[2];
    unsigned char *a = malloc((size_t)cells), *b = malloc((size_t)cells);
    double *start = oracle_numbers(cells), *expected = oracle_numbers(cells);
    uint64_t seed = (uint64_t)cells;
    for (int64_t i = 0; i < cells; i++)
        start[i] = a[i] = oracle_random(&seed) < r->density;
    for (int k = 0; k < steps; k++) {
        advance(r, n, boundary, a, b);
        unsigned char *swap = a;
        a = b;
        b = swap;
    }
    for (int64_t i = 0; i < cells; i++)
        expected[i] = a[i];
    oracle_compare((oracle_config){.stencil = "cell",
                                   .dims = 3,
                                   .nx = n[0],
                                   .ny = n[1],
                                   .nz = n[2],
                                   .precision = -1,
                                   .boundary = boundary,
                                   .params_count = 1,
                                   .params = {{"rule", 0.0, r->text}}},
                   "alive", start, steps, expected, 0.0);
    free(a);
    free(b);
    free(start);
    free(expected);
}

static void bytes(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1},  {2, 3, 1},  {31, 5, 4}, {32, 6, 4},
                                       {33, 4, 6}, {70, 6, 5}, {100, 1, 3}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            check(&rules[r], sizes[s], "fixed", 7);
            check(&rules[r], sizes[s], "periodic", 7);
        }
}

/* A full block, three cells wide: its counts, from 7 to 26, are known. */
static void counts(void **state)
{
    for (int n = 0; n <= 26; n++) {
        /* The centre of a 3x3x3 world with n living neighbours is born under B{n} alone. */
        for (int birth = 0; birth <= 26; birth++) {
            char text[16];
            snprintf(text, sizeof text, "B%d,/S", birth);
            tz_simulation *simulation =
                oracle_create(&(oracle_config){.stencil = "cell",
                                               .dims = 3,
                                               .nx = 3,
                                               .ny = 3,
                                               .nz = 3,
                                               .precision = -1,
                                               .boundary = "fixed",
                                               .backend = "cpu",
                                               .params_count = 1,
                                               .params = {{"rule", 0.0, text}}});
            double cells[27] = {0};
            for (int i = 0, left = n; left > 0; i++)
                if (i * 10 % 27 != 13) {
                    cells[i * 10 % 27] = 1.0;
                    left--;
                }
            oracle_write(simulation, "alive", cells);
            oracle_run(simulation, 1);
            oracle_read(simulation, "alive", cells);
            assert_true((cells[13] != 0.0) == (n == birth));
            tz_simulation_destroy(simulation);
        }
    }
}

TEST_MAIN(open_plugins, close_plugins, TEST(bytes), TEST(counts))
