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
        count += sscanf(at, "%lf", &l->value) == 1 && !isnan(l->value); /* the paper has it */
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
