/* Strides and beginnings of arrays: padding, and where rows fall in caches, by simulated
 * addresses. */

#include "backend/host/store.h"
#include "tests/unit.h"

typedef struct grid {
    int dims;
    int64_t elements[3];
    int radius;
    tz_precision precision;
} grid;

static const grid grids[] = {
    {2, {8192, 8192, 1}, 1, TZ_SINGLE},   {2, {8192, 8192, 1}, 2, TZ_DOUBLE},
    {2, {4096, 4096, 1}, 1, TZ_SINGLE},   {2, {1000, 9000, 1}, 1, TZ_SINGLE},
    {2, {16384, 2048, 1}, 3, TZ_SINGLE},  {2, {10007, 1009, 1}, 1, TZ_DOUBLE},
    {3, {512, 512, 512}, 1, TZ_SINGLE},   {3, {512, 512, 128}, 1, TZ_DOUBLE},
    {3, {256, 256, 256}, 1, TZ_SINGLE},   {3, {100, 200, 300}, 1, TZ_SINGLE},
    {3, {768, 100, 100}, 2, TZ_SINGLE},   {3, {20, 2000, 200}, 1, TZ_SINGLE},
    {1, {100000000, 1, 1}, 1, TZ_SINGLE}, {2, {64, 64, 1}, 1, TZ_SINGLE},
    {2, {1024, 1024, 1}, 1, TZ_SINGLE},   {2, {1000, 500, 1}, 1, TZ_DOUBLE},
    {2, {512, 512, 1}, 1, TZ_SINGLE},     {3, {64, 64, 64}, 1, TZ_SINGLE},
    {3, {100, 100, 100}, 1, TZ_SINGLE},
};
enum { GRIDS = sizeof grids / sizeof *grids };

typedef struct chosen {
    tz_host_layout layout;
    int64_t size, array_bytes, dense_bytes;
} chosen;

static chosen choose(const grid *g, int ghost)
{
    const tz_field field = {.name = "u", .role = TZ_STATE, .type = TZ_REAL};
    const tz_pass pass = {.name = "pass", .radius = g->radius, .writes = 1};
    const tz_stencil stencil = {.struct_size = sizeof stencil,
                                .id = "counting",
                                .dims = g->dims,
                                .fields_count = 1,
                                .fields = &field,
                                .passes_count = 1,
                                .passes = &pass};
    tz_problem problem = {.stencil = &stencil, .dims = g->dims, .precision = g->precision};
    memcpy(problem.elements, g->elements, sizeof problem.elements);
    const int64_t *n = g->elements, size = g->precision == TZ_DOUBLE ? 8 : 4;
    const tz_host_layout layout = tz_host_layout_choose(&problem, ghost);
    return (chosen){layout, size, layout.plane * n[2] * size, n[0] * n[1] * n[2] * size};
}

TEST(test_padding_is_bounded)
{
    for (int i = 0; i < GRIDS; i++)
        for (int ghost = 0; ghost <= 2; ghost += 2) {
            const grid *g = &grids[i];
            const chosen c = choose(g, ghost);
            const int64_t rows = g->elements[1] + (g->dims == 3 ? 2 * ghost : 0);
            assert_true(c.layout.row >= g->elements[0] + 2 * ghost);
            assert_true(c.layout.plane >= c.layout.row * rows);
            const int64_t cells = g->elements[0] * rows * g->elements[2] * c.size;
            /* A sixteenth, or 24 MiB for four arrays of four bytes; ghosts; a page for each
             * plane. */
            const int64_t padding = cells / 16 > 12 << 20 ? cells / 16 : 12 << 20;
            const int64_t ghosts = 2 * ghost * rows * g->elements[2] * c.size;
            assert_true(c.array_bytes <= cells + padding + ghosts + 4096 * g->elements[2]);
        }
}

/* Ghosts of a row have room in the padding up to a line, so rows of any length begin at lines if
 * that takes a sixteenth. */
TEST(test_rows_begin_at_lines)
{
    int found = 0;
    for (int64_t n = 160; n < 600; n += 7) {
        const grid g = {3, {n, 300, 300}, 1, TZ_SINGLE};
        const chosen c = choose(&g, 1);
        const int64_t line = (n + 2 + 15) / 16 * 16;
        if (line - n > n / 16)
            continue;
        assert_int_equal(c.layout.row % 16, 0);
        found++;
    }
    assert_true(found > 40);
}

/* No load of a neighbour has a slightly lower address in its page than the value that is stored. On
 * some processors such loads wait, also if they touch only the last bytes of the vector that was
 * stored before. */
TEST(test_loads_do_not_wait_for_stores)
{
    for (int i = 0; i < GRIDS; i++) {
        const grid *g = &grids[i];
        const chosen c = choose(g, 1);
        if (c.array_bytes < TZ_HOST_STAGGERED || g->dims == 1)
            continue;
        int64_t begin[2];
        for (int copy = 0; copy < 2; copy++)
            begin[copy] = tz_host_layout_begin(&c.layout, c.array_bytes, 0, copy);
        const int z_far = g->dims == 3 ? g->radius : 0;
        for (int to = 0; to < 2; to++)
            for (int z = -z_far; z <= z_far; z++)
                for (int y = -g->radius; y <= g->radius; y++) {
                    /* The neighbour to the left, with which the load of a vector begins. */
                    const int64_t load =
                        begin[1 - to] +
                        (y * c.layout.row + z * c.layout.plane - g->radius) * c.size;
                    const int64_t ahead = ((load - begin[to]) % 4096 + 4096) % 4096;
                    if (ahead > 4096 - 256)
                        fail_msg("grid %d: a load at %d, %d begins %d bytes before the store", i, y,
                                 z, (int)(4096 - ahead));
                }
    }
}

/* The most lines of a tile that share a set of a second-level cache with 64 KiB or 128 KiB a way:
 * rows of both copies, side by side. */
static int crowd(const chosen *c, int rows, int row_bytes, int way)
{
    static int lines[2048];
    int most = 0;
    memset(lines, 0, sizeof lines);
    for (int copy = 0; copy < 2; copy++) {
        const int64_t begin = tz_host_layout_begin(&c->layout, c->array_bytes, 0, copy);
        for (int row = 0; row < rows; row++)
            for (int64_t at = 0; at < row_bytes; at += 64) {
                const int64_t address = begin + row * c->layout.row * c->size + at;
                int *set = &lines[address % way / 64];
                *set += 1;
                most = *set > most ? *set : most;
            }
    }
    return most;
}

/* A tile of 64 rows takes half of the cache, so about half of the ways of each set. */
TEST(test_rows_use_all_sets)
{
    for (int i = 0; i < 2; i++) {
        const chosen c = choose(&grids[i], 1);
        assert_true(crowd(&c, 64, 4096, 128 << 10) <= 8);
        assert_true(crowd(&c, 32, 4096, 64 << 10) <= 8);
    }
    const chosen c = choose(&grids[2], 1);
    assert_true(crowd(&c, 64, 4096, 128 << 10) <= 8);
}
