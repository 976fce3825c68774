/* Life in two and three dimensions against one byte a cell, and famous patterns against known
 * facts. */
#include "oracle.h"

typedef struct rule {
    const char *text;
    unsigned birth, survive;
    double density;
} rule;

static const rule flat_rules[] = {
    {"B3/S23", 1 << 3, 1 << 2 | 1 << 3, 0.4},
    {"B36/S23", 1 << 3 | 1 << 6, 1 << 2 | 1 << 3, 0.4},
    {"B2/S", 1 << 2, 0, 0.4},
    {"B1357/S1357", 0xaa, 0xaa, 0.4},
    {"B3678/S34678", 1 << 3 | 7 << 6, 3 << 3 | 7 << 6, 0.4},
    {"B018/S0458", 3 | 1 << 8, 1 | 3 << 4 | 1 << 8, 0.4}, /* B0: the void flashes */
    {"s5678/b45678", 0x1f0, 0x1e0, 0.4},
};
static const rule solid_rules[] = {
    {"4555", 1 << 5, 3 << 4, 0.2},
    {"5766", 1 << 6, 7 << 5, 0.25},
    {"B5/S45", 1 << 5, 3 << 4, 0.2}, /* 4555 in letters */
    {"B1,3,5,7,9,11,13,15,17,19,21,23,25/S0,2,4,6,8,10,12,14,16,18,20,22,24,26", 0x2aaaaaa,
     0x5555555, 0.5},
    {"B13,14,17,18,19,/S13,14,15,16,17,18,19,20,21,22,23,24,25,26,", 3u << 13 | 7u << 17,
     0x7ffffffu & ~0x1fffu, 0.5},
    {"B0,26,/S25,26,8,16,", 1u | 1u << 26, 3u << 25 | 1u << 8 | 1u << 16, 0.9},
};

/* nz 0: two dimensions. */
static void advance(const rule *r, const oracle_config *c, const double *old, double *now)
{
    const int64_t nx = c->extent[0], ny = c->extent[1], nz = c->extent[2] ? c->extent[2] : 1;
    const int first = c->extent[2] ? 0 : 9, last = c->extent[2] ? 27 : 18;
    for (int64_t at = 0; at < nx * ny * nz; at++) {
        int count = 0;
        for (int d = first; d < last; d++) {
            const int64_t i = oracle_neighbour(at % nx + d % 3 - 1, nx, c->boundary);
            const int64_t j = oracle_neighbour(at / nx % ny + d / 3 % 3 - 1, ny, c->boundary);
            const int64_t k = oracle_neighbour(at / nx / ny + d / 9 - 1, nz, c->boundary);
            count += d != 13 && i >= 0 && j >= 0 && k >= 0 && old[(k * ny + j) * nx + i] != 0.0;
        }
        now[at] = (old[at] != 0.0 ? r->survive : r->birth) >> count & 1;
    }
}

static void check(const rule *r, int64_t nx, int64_t ny, int64_t nz, const char *boundary,
                  int steps)
{
    static const double exact[2] = {0.0};
    const oracle_config config =
        oracle_with(oracle(nz ? "cell" : "life", -1, boundary, nx, ny, nz), "rule", 0.0, r->text);
    const int64_t cells = nx * ny * (nz ? nz : 1);
    double *start = oracle_numbers(cells), *a = oracle_numbers(cells), *b = oracle_numbers(cells);
    uint64_t seed = (uint64_t)(nx * 1000 + ny);
    for (int64_t i = 0; i < cells; i++)
        start[i] = a[i] = oracle_random(&seed) < r->density;
    for (int k = 0; k < steps; k++) {
        advance(r, &config, a, b);
        memcpy(a, b, (size_t)cells * sizeof *a);
    }
    oracle_compare(config, steps, exact, 1, &(oracle_values){"alive", start, a});
}

TEST(bytes)
{
    static const char *const boundaries[] = {"fixed", "periodic"};
    static const int widths[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 1025};
    static const int64_t sizes[][3] = {{1, 1, 1},  {2, 3, 1},  {31, 5, 4}, {32, 6, 4},
                                       {33, 4, 6}, {70, 6, 5}, {100, 1, 3}};
    for (int b = 0; b < 2; b++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t r = 0; r < sizeof flat_rules / sizeof *flat_rules; r++)
                check(&flat_rules[r], widths[w], 17, 0, boundaries[b], 13);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t r = 0; r < sizeof solid_rules / sizeof *solid_rules; r++)
                check(&solid_rules[r], sizes[s][0], sizes[s][1], sizes[s][2], boundaries[b], 7);
    }
    check(&flat_rules[0], 65, 1, 0, "periodic", 7);
    check(&flat_rules[0], 65, 2, 0, "periodic", 7);
    check(&flat_rules[0], 40, 1, 0, "fixed", 7);
}

/* The centre of a 3 x 3 x 3 world with n living neighbours is born under B{n} alone. */
TEST(counts)
{
    for (int n = 0; n <= 26; n++)
        for (int birth = 0; birth <= 26; birth++) {
            char text[16];
            snprintf(text, sizeof text, "B%d,/S", birth);
            tz_simulation *simulation =
                oracle_create(oracle_with(oracle("cell", -1, "fixed", 3, 3, 3), "rule", 0.0, text));
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
        }
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/* A world with a pattern at (x, y): rows of 'O' and '.'. */
static tz_simulation *world(int64_t nx, int64_t ny, const char *boundary, int64_t x, int64_t y,
                            const char *const *rows)
{
    oracle_config config = oracle("life", -1, boundary, nx, ny, 0);
    config.height = 4;
    tz_simulation *simulation = oracle_create(config);
    double *cells = oracle_numbers(nx * ny);
    for (int64_t j = 0; rows[j]; j++)
        for (int64_t i = 0; rows[j][i]; i++)
            cells[(y + j) * nx + x + i] = rows[j][i] == 'O';
    oracle_write(simulation, "alive", cells);
    return simulation;
}

static int64_t population(const tz_simulation *simulation)
{
    const int64_t cells = tz_simulation_cells(simulation);
    double *values = oracle_numbers(cells);
    int64_t count = 0;
    tz_reduction reduction;
    oracle_read(simulation, "alive", values);
    for (int64_t i = 0; i < cells; i++)
        count += values[i] != 0.0;
    assert_ok(tz_simulation_reduce(simulation, 0, &reduction, &failure));
    assert_int_equal(reduction.population, count);
    return count;
}

TEST(glider)
{
    enum { N = 41 };
    tz_simulation *simulation =
        world(N, N, "periodic", 30, 30, (const char *const[]){".O.", "..O", "OOO", NULL});
    double before[N * N], after[N * N];
    oracle_read(simulation, "alive", before);
    for (int step = 1; step <= N; step++) { /* once around the torus */
        oracle_run(simulation, 4);
        oracle_read(simulation, "alive", after);
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                assert_true(after[(y + step) % N * N + (x + step) % N] == before[y * N + x]);
    }
}

TEST(gosper_gun)
{
    tz_simulation *simulation =
        world(200, 180, "fixed", 5, 5,
              (const char *const[]){
                  "........................O...........", "......................O.O...........",
                  "............OO......OO............OO", "...........O...O....OO............OO",
                  "OO........O.....O...OO..............", "OO........O...O.OO....O.O...........",
                  "..........O.....O.......O...........", "...........O...O....................",
                  "............OO......................", NULL});
    assert_int_equal(population(simulation), 36);
    for (int gliders = 1; gliders <= 15; gliders++) {
        oracle_run(simulation, 30);
        assert_int_equal(population(simulation), 36 + 5 * gliders);
    }
}

TEST(r_pentomino)
{
    tz_simulation *simulation =
        world(700, 700, "fixed", 349, 349, (const char *const[]){".OO", "OO.", ".O.", NULL});
    oracle_run(simulation, 1102);
    assert_int_not_equal(population(simulation), 116);
    for (int k = 0; k < 41; k++) {
        oracle_run(simulation, 1);
        assert_int_equal(population(simulation), 116);
    }
}

TEST(unknown_rule)
{
    tz_simulation *simulation = NULL;
    const oracle_config config =
        oracle_with(oracle("life", -1, NULL, 8, 8, 0), "rule", 0.0, "B9/S23");
    assert_int_not_equal(oracle_try(&simulation, &config, &failure), TZ_OK);
    assert_null(simulation);
    assert_non_null(strstr(failure.message, "B9/S23"));
}

TEST_GROUP(open_plugins, close_plugins)
