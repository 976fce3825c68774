/* Which thread block, by Tabik and others: their figures 5 and 7, and their measured tables. */
#include "model/papers/tabik2015.h"
#include "papers_support.h"

enum { LINES_MAX = 64 };

typedef struct line {
    int x, y;
    double value;
} line;

/* A table of the paper, a column of tabik.csv: in ms, or transactions. Returns its lines. */
static int table_read(const char *name, line *out)
{
    char *text, *rest = NULL;
    size_t length;
    int count = 0, column = 0;
    assert_ok(
        tz_file_read(TZ_TEST_SOURCE_DIR "/papers/tabik.csv", 1 << 16, &text, &length, &failure));
    char *row = strtok_r(text, "\n", &rest);
    for (const char *at = row; strncmp(at, name, strlen(name)) != 0; column++)
        assert_non_null(at = strchr(at, ',') + 1);
    while ((row = strtok_r(NULL, "\n", &rest)) && count < LINES_MAX) {
        line *l = &out[count];
        const char *at = row;
        assert_int_equal(sscanf(row, "%d,%d", &l->x, &l->y), 2);
        for (int k = 0; k < column; k++)
            at = strchr(at, ',') + 1;
        count += sscanf(at, "%lf", &l->value) == 1; /* not empty */
    }
    free(text);
    assert_in_range(count, 10, LINES_MAX - 1);
    return count;
}

/* Halos along x and y, low and high; outputs. */
static tz_tabik_kernel kernel_of(double n, int xl, int xh, int yl, int yh, int stores)
{
    return (tz_tabik_kernel){.extent = {n, n, n},
                             .low = {xl, yl},
                             .high = {xh, yh},
                             .element_bytes = 4,
                             .tiles = xl + xh + yl + yh > 0,
                             .loads = 1,
                             .stores = stores};
}

static tz_tabik_gpu gpu_named(const char *name)
{
    const tz_model_device device = device_named(name);
    tz_tabik_gpu gpu;
    assert_ok(tz_tabik_gpu_of(&device, &gpu, &failure));
    return gpu;
}

static tz_tabik_space chosen(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu)
{
    tz_tabik_space space;
    assert_ok(tz_tabik_choose(kernel, gpu, &space, &failure));
    return space;
}

static const tz_tabik_shape *shape_at(const tz_tabik_space *space, int x, int y)
{
    for (int i = 0; i < space->count; i++)
        if (space->shapes[i].x == x && space->shapes[i].y == y)
            return &space->shapes[i];
    fail_msg("no shape %d x %d", x, y);
    return NULL;
}

TEST(figures_5_and_7)
{
    const tz_tabik_kernel gx = kernel_of(256, 0, 2, 0, 0, 1);
    const tz_tabik_gpu titan = gpu_named("gtx-titan");
    const tz_tabik_space space = chosen(&gx, &titan);
    line lines[LINES_MAX];
    int count = table_read("gx-256-global-transactions", lines);
    for (int i = 0; i < count; i++)
        assert_close(shape_at(&space, lines[i].x, lines[i].y)->global_transactions, lines[i].value,
                     0);
    count = table_read("gx-256-shared-transactions", lines);
    for (int i = 0; i < count; i++)
        assert_close(shape_at(&space, lines[i].x, lines[i].y)->shared_transactions, lines[i].value,
                     0);
}

/* Eq. 3, where a row of a block is whole warps, for any halo along x that a warp holds. */
TEST(equation_3)
{
    const tz_tabik_gpu titan = gpu_named("gtx-titan");
    for (int halo = 1; halo <= 8; halo++) {
        const tz_tabik_kernel kernel = kernel_of(512, 0, halo, 0, 0, 1);
        for (int x = 32; x <= 512; x *= 2)
            for (int y = 1; x * y <= 1024; y *= 2)
                assert_close(tz_tabik_global_transactions(&kernel, &titan, x, y),
                             (2 * x / 32 + 1) * y, 0);
    }
}

static const struct row {
    const char *table, *gpu;
    double n;
    int xl, xh, yl, yh, stores;
    int chosen, space, best_x, best_y;
    double best_ms, worst_share;
} rows[] = {
    {"gx-titan-256", "gtx-titan", 256, 0, 2, 0, 0, 1, 11, 41, 128, 1, 0.75, 0.833},
    {"gx-gtx480-256", "gtx480", 256, 0, 2, 0, 0, 1, 8, 41, 256, 1, 0.98, 0.803},
    {"gx-gtx480-512", "gtx480", 512, 0, 2, 0, 0, 1, 9, 44, 512, 1, 7.87, 0.707},
    {"gy-titan-256", "gtx-titan", 256, 0, 0, 0, 2, 1, 9, 41, 32, 4, 0.79, 0.919},
    {"gz-titan-256", "gtx-titan", 256, 0, 0, 0, 0, 1, 15, 45, 64, 2, 0.66, 0.971},
    {"st-titan-256", "gtx-titan", 256, 1, 1, 1, 1, 6, 11, 45, 256, 2, 2.40, 0.909},
    {"fdd5-titan-256", "gtx-titan", 256, 5, 5, 5, 5, 1, 3, 15, 32, 8, 2.40, 0.857},
    {"fdd7-titan-256", "gtx-titan", 256, 7, 7, 7, 7, 1, 3, 15, 32, 8, 2.93, 0.859},
};
enum { ROWS = sizeof rows / sizeof *rows };

static tz_tabik_space space_of_row(const struct row *r)
{
    const tz_tabik_kernel kernel = kernel_of(r->n, r->xl, r->xh, r->yl, r->yh, r->stores);
    const tz_tabik_gpu gpu = gpu_named(r->gpu);
    return chosen(&kernel, &gpu);
}

/* The paper's tables: sizes of space and set, whether the fastest shape is in the set, and the
 * share of its speed that the slowest one of the set has. */
TEST(measured_tables)
{
    for (int i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        const tz_tabik_space space = space_of_row(r);
        line lines[LINES_MAX];
        const int count = table_read(r->table, lines);
        double best = 1e9, worst = 0;
        if (space.count != r->space || space.chosen != r->chosen)
            fail_msg("%s: %d of %d, not %d of %d", r->table, space.chosen, space.count, r->chosen,
                     r->space);
        for (int k = 0; k < count; k++) {
            best = fmin(best, lines[k].value);
            if (shape_at(&space, lines[k].x, lines[k].y)->chosen)
                worst = fmax(worst, lines[k].value);
            if (lines[k].x == r->best_x && lines[k].y == r->best_y)
                assert_close(lines[k].value, r->best_ms, 0);
        }
        assert_close(best, r->best_ms, 0);
        assert_true(shape_at(&space, r->best_x, r->best_y)->chosen);
        if (fabs(best / worst - r->worst_share) > 0.0006)
            fail_msg("%s: the worst share is %.4f", r->table, best / worst);
    }
}

/* The sets themselves, where they are printed. */
TEST(members)
{
    static const int gx[][2] = {{128, 1}, {256, 1}, {64, 2}, {128, 2}, {256, 2}, {32, 4},
                                {64, 4},  {128, 4}, {32, 8}, {64, 8},  {32, 16}};
    static const int fdd[][2] = {{32, 8}, {64, 8}, {32, 16}};
    const tz_tabik_space a = space_of_row(&rows[0]), b = space_of_row(&rows[6]),
                         c = space_of_row(&rows[7]);
    for (int i = 0; i < 11; i++)
        assert_true(shape_at(&a, gx[i][0], gx[i][1])->chosen);
    for (int i = 0; i < 3; i++) {
        assert_true(shape_at(&b, fdd[i][0], fdd[i][1])->chosen);
        assert_true(shape_at(&c, fdd[i][0], fdd[i][1])->chosen);
    }
    /* Figure 9: on the Titan the fewest active blocks are 2, of the shapes with 1024 threads. */
    for (int i = 0; i < a.count; i++)
        assert_int_equal(a.shapes[i].active_blocks == 2, a.shapes[i].x * a.shapes[i].y == 1024);
    /* Figure 10: (32, 2) reads enough at once but does not fill the multiprocessor. */
    assert_int_equal(shape_at(&a, 32, 2)->good, 11);
    assert_int_equal(shape_at(&a, 16, 8)->good, 12);
    assert_close(shape_at(&a, 32, 2)->occupancy, 0.5, 0);
}

/* What is not in the paper: diagonals, double precision, sectors, half warps. */
TEST(beyond_the_paper)
{
    tz_tabik_kernel star = kernel_of(256, 1, 1, 1, 1, 1), box = star, wide = star;
    tz_tabik_gpu h200 = gpu_named("h200"), gtx280 = gpu_named("gtx280");
    box.diagonals = true;
    wide.element_bytes = 8;
    /* 32 x 8 on 32-byte sectors: a row is 4 sectors; the halo is one a row and side, and 4 above
     * and below. A corner is one. */
    assert_close(tz_tabik_global_transactions(&star, &h200, 32, 8), 2 * 32 + 2 * 8 + 2 * 4, 0);
    assert_close(tz_tabik_global_transactions(&box, &h200, 32, 8), 88 + 4, 0);
    assert_close(tz_tabik_global_transactions(&wide, &h200, 32, 8), 2 * 64 + 2 * 8 + 2 * 8, 0);
    /* In shared memory: the tile, its halo, and 5 or 9 reads, each 8 rows of a warp. */
    assert_close(tz_tabik_shared_transactions(&star, &h200, 32, 8), 8 + 8 + 8 + 1 + 1 + 5 * 8, 0);
    assert_close(tz_tabik_shared_transactions(&box, &h200, 32, 8), 26 + 4 + 9 * 8, 0);
    assert_int_equal(gtx280.request_threads, 16);
    assert_int_equal(gtx280.banks, 16);
    assert_close(tz_tabik_shared_transactions(&star, &gtx280, 32, 8), 16 + 16 + 2 + 2 + 5 * 16, 0);
    assert_close(tz_tabik_shared_bytes(&wide, 32, 8), 34 * 10 * 8, 0);
    /* 1-D: one row. */
    tz_tabik_kernel row = kernel_of(256, 1, 1, 0, 0, 1);
    row.extent[1] = row.extent[2] = 1;
    const tz_tabik_space space = chosen(&row, &h200);
    assert_int_equal(space.count, 4); /* 32 to 256 */
    assert_true(space.chosen > 0);
}

TEST(refusals)
{
    const tz_tabik_gpu titan = gpu_named("gtx-titan");
    tz_tabik_kernel kernel = kernel_of(4, 1, 1, 1, 1, 1);
    tz_model_device device = device_named("gtx-titan");
    tz_tabik_space space;
    tz_tabik_gpu gpu;
    check_error(tz_tabik_choose(&kernel, &titan, &space, &failure), TZ_RANGE, "", "no block of 32");
    kernel = kernel_of(256, 1, 65, 0, 0, 1);
    check_error(tz_tabik_choose(&kernel, &titan, &space, &failure), TZ_RANGE, "",
                "halos of 0 to 64");
    kernel = kernel_of(0, 1, 1, 0, 0, 1);
    check_error(tz_tabik_choose(&kernel, &titan, &space, &failure), TZ_RANGE, "", "1 to 1e9");
    kernel = kernel_of(256, 1, 1, 0, 0, 1);
    kernel.tiles = 2;
    check_error(tz_tabik_choose(&kernel, &titan, &space, &failure), TZ_RANGE, "", "tiles");
    device.blocks_per_sm.known = false;
    check_error(tz_tabik_gpu_of(&device, &gpu, &failure), TZ_UNSUPPORTED, "", "blocks_per_sm");
    device = device_named("gtx-titan");
    device.warp_size.value = 128;
    check_error(tz_tabik_gpu_of(&device, &gpu, &failure), TZ_UNSUPPORTED, "", "at most 64");
}
