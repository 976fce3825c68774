/* Life against one byte a cell, and against known facts of famous patterns. */
#include "oracle.h"
#include "sim/fields.h"

typedef struct rule {
    const char *text;
    unsigned birth, survive;
} rule;

static const rule rules[] = {
    {"B3/S23", 1 << 3, 1 << 2 | 1 << 3},
    {"B36/S23", 1 << 3 | 1 << 6, 1 << 2 | 1 << 3},
    {"B2/S", 1 << 2, 0},
    {"B1357/S1357", 0xaa, 0xaa},
    {"B3678/S34678", 1 << 3 | 7 << 6, 3 << 3 | 7 << 6},
    {"B018/S0458", 3 | 1 << 8, 1 | 3 << 4 | 1 << 8}, /* B0: the void flashes */
    {"s5678/b45678", 0x1f0, 0x1e0},
};

static void advance(const rule *r, int64_t nx, int64_t ny, const char *boundary,
                    const unsigned char *old, unsigned char *now)
{
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++) {
            int n = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    const int64_t i = oracle_neighbour(x + dx, nx, boundary);
                    const int64_t j = oracle_neighbour(y + dy, ny, boundary);
                    n += (dx || dy) && i >= 0 && j >= 0 && old[j * nx + i];
                }
            now[y * nx + x] = (old[y * nx + x] ? r->survive : r->birth) >> n & 1;
        }
}

static void check(const rule *r, int64_t nx, int64_t ny, const char *boundary, int steps)
{
    unsigned char *a = malloc((size_t)(nx * ny)), *b = malloc((size_t)(nx * ny));
    double *start = oracle_numbers(nx * ny), *expected = oracle_numbers(nx * ny);
    uint64_t seed = (uint64_t)(nx * 1000 + ny);
    for (int64_t i = 0; i < nx * ny; i++)
        start[i] = a[i] = oracle_random(&seed) < 0.4;
    for (int k = 0; k < steps; k++) {
        advance(r, nx, ny, boundary, a, b);
        unsigned char *swap = a;
        a = b;
        b = swap;
    }
    for (int64_t i = 0; i < nx * ny; i++)
        expected[i] = a[i];
    oracle_compare((oracle_config){.stencil = "life",
                                   .dims = 2,
                                   .nx = nx,
                                   .ny = ny,
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
    static const int widths[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 1025};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            check(&rules[r], widths[w], 17, "fixed", 13);
            check(&rules[r], widths[w], 17, "periodic", 13);
        }
    check(&rules[0], 65, 1, "periodic", 7);
    check(&rules[0], 65, 2, "periodic", 7);
    check(&rules[0], 40, 1, "fixed", 7);
}

/* ---- Patterns -------------------------------------------------------------------------------- */

static tz_simulation *world(int64_t nx, int64_t ny, const char *boundary)
{
    return oracle_create(&(oracle_config){.stencil = "life",
                                          .dims = 2,
                                          .nx = nx,
                                          .ny = ny,
                                          .precision = -1,
                                          .boundary = boundary,
                                          .backend = "cpu",
                                          .height = 4});
}

/* Rows of 'O' and '.'. */
static void draw(tz_simulation *simulation, int64_t x, int64_t y, const char *const *rows)
{
    const int64_t *extent = tz_simulation_extent(simulation);
    double *cells = oracle_numbers(extent[0] * extent[1]);
    for (int64_t j = 0; rows[j]; j++)
        for (int64_t i = 0; rows[j][i]; i++)
            cells[(y + j) * extent[0] + x + i] = rows[j][i] == 'O';
    oracle_write(simulation, "alive", cells);
    free(cells);
}

static int64_t population(const tz_simulation *simulation)
{
    const int64_t *extent = tz_simulation_extent(simulation);
    double *cells = oracle_numbers(extent[0] * extent[1]);
    int64_t count = 0;
    oracle_read(simulation, "alive", cells);
    for (int64_t i = 0; i < extent[0] * extent[1]; i++)
        count += cells[i] != 0.0;
    tz_reduction reduction;
    assert_int_equal(tz_simulation_reduce(simulation, 0, &reduction, NULL), TZ_OK);
    assert_int_equal(reduction.population, count);
    free(cells);
    return count;
}

static void glider(void **state)
{
    enum { N = 41 };
    tz_simulation *simulation = world(N, N, "periodic");
    double before[N * N], after[N * N];
    draw(simulation, 30, 30, (const char *const[]){".O.", "..O", "OOO", NULL});
    oracle_read(simulation, "alive", before);
    for (int step = 1; step <= N; step++) { /* once around the torus */
        oracle_run(simulation, 4);
        oracle_read(simulation, "alive", after);
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                assert_true(after[(y + step) % N * N + (x + step) % N] == before[y * N + x]);
    }
    tz_simulation_destroy(simulation);
}

static void blinker(void **state)
{
    tz_simulation *simulation = world(9, 9, "fixed");
    double before[81], after[81];
    draw(simulation, 3, 4, (const char *const[]){"OOO", NULL});
    oracle_read(simulation, "alive", before);
    oracle_run(simulation, 1);
    oracle_read(simulation, "alive", after);
    assert_memory_not_equal(before, after, sizeof before);
    oracle_run(simulation, 1);
    oracle_read(simulation, "alive", after);
    assert_memory_equal(before, after, sizeof before);
    tz_simulation_destroy(simulation);
}

static void gosper_gun(void **state)
{
    tz_simulation *simulation = world(200, 180, "fixed");
    draw(simulation, 5, 5,
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
    tz_simulation_destroy(simulation);
}

static void r_pentomino(void **state)
{
    tz_simulation *simulation = world(700, 700, "fixed");
    draw(simulation, 349, 349, (const char *const[]){".OO", "OO.", ".O.", NULL});
    oracle_run(simulation, 1102);
    int64_t first = population(simulation);
    oracle_run(simulation, 1);
    assert_int_equal(population(simulation), 116);
    for (int k = 0; k < 40; k++) {
        oracle_run(simulation, 1);
        assert_int_equal(population(simulation), 116);
    }
    assert_int_not_equal(first, 116);
    tz_simulation_destroy(simulation);
}

static void unknown_rule(void **state)
{
    tz_simulation *simulation = NULL;
    assert_int_not_equal(oracle_try(&simulation,
                                    &(oracle_config){.stencil = "life",
                                                     .dims = 2,
                                                     .nx = 8,
                                                     .ny = 8,
                                                     .precision = -1,
                                                     .backend = "cpu",
                                                     .params_count = 1,
                                                     .params = {{"rule", 0.0, "B9/S23"}}},
                                    &failure),
                         TZ_OK);
    assert_null(simulation);
    assert_non_null(strstr(failure.message, "B9/S23"));
}

TEST_MAIN(open_plugins, close_plugins, TEST(bytes), TEST(glider), TEST(blinker), TEST(gosper_gun),
          TEST(r_pentomino), TEST(unknown_rule))
