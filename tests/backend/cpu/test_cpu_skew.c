/* The family "skew" with any number of threads: the same bits whoever computes a tile, also if
 * there are more threads than processors, jobs or tiles, or fewer than wanted. */
#include "kernels/cpu/skew.h"
#include "tests/unit.h"
#include <time.h>

/* A row function of unequal weights, whose sums depend on their order. In 3-D it reads y, too. */
static void weigh(const tz_span *span, bool planes)
{
    for (int64_t r = 0; r < span->rows; r++)
        for (int64_t x = 0; x < span->count; x++) {
            const ptrdiff_t stride = span->in[1].row_stride;
            const float *here = (const float *)span->in[1].at + r * stride + x;
            const float *low = (const float *)span->in[0].at + r * span->in[0].row_stride + x;
            const float *high = (const float *)span->in[2].at + r * span->in[2].row_stride + x;
            float sum = 0.3f * here[0] + 0.17f * here[-1] + 0.13f * here[1] + 0.21f * *low;
            sum += 0.11f * *high;
            if (planes)
                sum += 0.05f * here[-stride] + 0.03f * here[stride];
            ((float *)span->out[0].at)[r * span->out[0].row_stride + x] = sum;
        }
}

static void rows_2d(const tz_span *span)
{
    weigh(span, false);
}

static void rows_3d(const tz_span *span)
{
    weigh(span, true);
}

/* Row functions of several slabs at once. */
static _Atomic int together_calls;

static void weigh_together(const tz_span *span, bool planes)
{
    together_calls++;
    for (int s = 0; s < TZ_SLABS_TOGETHER; s++) {
        tz_span one = *span;
        one.in += s;
        one.out += s;
        weigh(&one, planes);
    }
}

static void together_2d(const tz_span *span)
{
    weigh_together(span, false);
}

static void together_3d(const tz_span *span)
{
    weigh_together(span, true);
}

/* A grid of numbers in two arrays, and a stage over it. */
typedef struct grid {
    tz_row_form form, form_together;
    tz_kernels kernels, together;
    tz_field field;
    tz_pass pass;
    tz_stencil stencil;
    tz_stage stage;
    float *arrays[2], *outside;
    ptrdiff_t origin;
} grid;

static void grid_make(grid *g, int dims, const int64_t *n, tz_boundary boundary)
{
    enum { GHOST = 1, PAD = 16 };
    const ptrdiff_t stride = n[0] + 2 * PAD, plane = stride * (n[1] + 2 * GHOST);
    const size_t count = (size_t)(plane * (n[2] + 2 * GHOST));
    *g = (grid){
        .form = {.isa = "base", .rows = {[TZ_SINGLE] = dims == 2 ? rows_2d : rows_3d}},
        .form_together = {.isa = "base",
                          .rows = {[TZ_SINGLE] = dims == 2 ? together_2d : together_3d}},
        .kernels = {.forms_count = 1, .forms = &g->form},
        .together = {.forms_count = 1, .forms = &g->form_together},
        .field = {.name = "u", .role = TZ_STATE, .type = TZ_REAL},
        .pass = {.name = "pass", .radius = 1, .writes = 1, .kernels = &g->kernels},
        .stencil = {.struct_size = sizeof(tz_stencil),
                    .id = "weigh",
                    .dims = dims,
                    .fields_count = 1,
                    .fields = &g->field,
                    .passes_count = 1,
                    .passes = &g->pass},
        .arrays = {calloc(count, sizeof(float)), calloc(count, sizeof(float))},
        .outside = calloc((size_t)(plane + 2 * PAD), sizeof(float)),
        .origin = (dims == 3 ? plane : 0) + GHOST * stride + PAD,
    };
    assert_true(g->arrays[0] && g->arrays[1] && g->outside);
    g->stage = (tz_stage){
        .stencil = &g->stencil,
        .dims = dims,
        .elements = {n[0], n[1], n[2]},
        .columns = n[0],
        .boundary = {{boundary, boundary}, {boundary, boundary}, {boundary, boundary}},
        .element_size = {4},
        .ghost = GHOST,
        .in = {{(char *)(g->arrays[0] + g->origin), stride, plane, false}},
        .out = {{(char *)(g->arrays[1] + g->origin), stride, plane, false}},
        .height = 1,
        .tile = {n[0], n[1], n[2]},
        .batch = 1,
        .threads = 1,
    };
    for (int side = 0; side < TZ_SIDES; side++)
        g->stage.outside[0][side] = (tz_view){g->outside + stride + PAD, 0};
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++)
                (g->arrays[0] + g->origin)[z * plane + y * stride + x] =
                    (float)((x * 37 + y * 101 + z * 61 + x * y % 7) % 1009);
}

/* Runs the stage; the values are then in stage.in[0]. */
static void grid_run(grid *g)
{
    tz_host_field_finish(&g->stage, 0, &g->stage.in[0]);
    if (tz_skew_run(&g->stage).values[0] == 1) {
        const tz_host_field kept = g->stage.in[0];
        g->stage.in[0] = g->stage.out[0];
        g->stage.out[0] = kept;
    }
}

static bool grids_equal(const grid *a, const grid *b)
{
    const int64_t *n = a->stage.elements;
    const tz_host_field *f = &a->stage.in[0];
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            const size_t at = (size_t)(z * f->plane_stride + y * f->row_stride) * sizeof(float);
            if (memcmp(f->origin + at, b->stage.in[0].origin + at, (size_t)n[0] * sizeof(float)))
                return false;
        }
    return true;
}

static void grid_clear(grid *g)
{
    free(g->arrays[0]), free(g->arrays[1]), free(g->outside);
}

static void test_threads_and_slabs_together_leave_the_same_bits(void **state)
{
    static const tz_boundary boundaries[] = {TZ_CLAMP, TZ_PERIODIC, TZ_FIXED, TZ_MIRROR};
    static const struct {
        int dims;
        int64_t n[3];
        int height;
        int64_t tile[3];
    } cases[] = {
        {2, {300, 150, 1}, 6, {32, 150, 1}},  /* one part, many tiles */
        {2, {300, 150, 1}, 5, {64, 40, 1}},   /* four parts */
        {2, {100, 90, 1}, 1, {16, 30, 1}},    /* nothing is open between parts */
        {2, {70, 300, 1}, 7, {4096, 300, 1}}, /* one tile */
        {2, {70, 300, 1}, 7, {70, 60, 1}},    /* whole rows, several parts */
        {2, {9, 200, 1}, 12, {9, 70, 1}},     /* more levels than a row has cells */
        {3, {20, 50, 60}, 5, {20, 4, 60}},    {3, {20, 50, 60}, 4, {20, 7, 25}},
        {3, {9, 33, 31}, 3, {9, 1, 31}},      {3, {9, 7, 90}, 8, {9, 7, 30}}, /* whole planes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t b = 0; b < sizeof boundaries / sizeof *boundaries; b++) {
            grid want, got;
            grid_make(&want, cases[i].dims, cases[i].n, boundaries[b]);
            for (int k = 0; k < cases[i].height; k++) /* one thread, one iteration a stage */
                grid_run(&want);
            /* Half of them with the row function of several slabs, too. */
            for (int k = 0; k < 16; k++) {
                const int threads = k < 9 ? k + 1 : k - 6; /* from 3 on again, with two that run */
                grid_make(&got, cases[i].dims, cases[i].n, boundaries[b]);
                got.pass.together = (threads + (int)b) % 2 ? &got.together : NULL;
                together_calls = 0;
                got.stage.height = cases[i].height;
                got.stage.threads = threads;
                memcpy(got.stage.tile, cases[i].tile, sizeof got.stage.tile);
                tz_threads *pool = NULL;
                assert_ok(tz_threads_create(&pool, k < 9 ? threads : 2, &failure));
                got.stage.pool = pool;
                grid_run(&got);
                tz_threads_destroy(pool);
                if (!grids_equal(&got, &want))
                    fail_msg("case %zu, boundary %d: %d threads leave other bits", i, boundaries[b],
                             threads);
                assert_true((together_calls > 0) == (got.pass.together != NULL));
                grid_clear(&got);
            }
            grid_clear(&want);
        }
}

/* Diamonds of any width: wider than the grid, of one level, more than one row of them above the
 * other. */
static void test_diamonds_leave_the_same_bits(void **state)
{
    static const tz_boundary boundaries[] = {TZ_CLAMP, TZ_FIXED, TZ_MIRROR};
    static const struct {
        int64_t n[3];
        int height;
        int64_t rows;
    } cases[] =
        {
            {{20, 50, 60}, 5, 4},  {{20, 50, 60}, 12, 8},  {{9, 33, 31}, 3, 1},
            {{9, 7, 30}, 8, 30},   {{16, 64, 20}, 16, 16}, {{5, 64, 20}, 17, 16},
            {{5, 61, 20}, 40, 10}, {{5, 61, 20}, 1, 10},   {{5, 61, 9}, 2, 10},
            {{5, 1, 20}, 4, 10},   {{5, 2000, 4}, 3, 1}, /* marks for fewer diamonds */
        };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t b = 0; b < sizeof boundaries / sizeof *boundaries; b++) {
            grid want, got;
            grid_make(&want, 3, cases[i].n, boundaries[b]);
            for (int k = 0; k < cases[i].height; k++)
                grid_run(&want);
            for (int k = 0; k < 16; k++) {
                const int threads = k < 9 ? k + 1 : k - 6; /* from 3 on again, with two that run */
                tz_stage_counts counts;
                const int64_t *n = cases[i].n;
                grid_make(&got, 3, n, boundaries[b]);
                got.pass.together = (threads + (int)b) % 2 ? &got.together : NULL;
                got.stage.diamonds = true;
                got.stage.height = cases[i].height;
                got.stage.threads = threads;
                got.stage.tile[1] = cases[i].rows;
                tz_threads *pool = NULL;
                assert_ok(tz_threads_create(&pool, k < 9 ? threads : 2, &failure));
                got.stage.pool = pool;
                grid_run(&got);
                tz_threads_destroy(pool);
                if (!grids_equal(&got, &want))
                    fail_msg("case %zu, boundary %d: %d threads leave other bits", i, boundaries[b],
                             threads);
                tz_skew_count(&got.stage, &counts);
                assert_true(counts.updates ==
                            (double)(cases[i].height * n[0] * n[1] * n[2])); /* none twice */
                assert_true(counts.slowest <= counts.updates &&
                            counts.slowest * threads >= counts.updates * (1 - 1e-9));
                grid_clear(&got);
            }
            grid_clear(&want);
        }
}

static void test_each_thread_has_a_team(void **state)
{
    for (int threads = 1; threads <= 70; threads++)
        for (int jobs = 1; jobs <= threads; jobs++) {
            int members[70] = {0};
            for (int i = 0; i < threads; i++) {
                assert_in_range(tz__team_job(threads, jobs, i), 0, jobs - 1);
                members[tz__team_job(threads, jobs, i)]++;
            }
            for (int j = 0; j < jobs; j++) {
                assert_int_equal(members[j], tz__team_size(threads, jobs, j));
                assert_in_range(members[j], threads / jobs, (threads + jobs - 1) / jobs);
            }
        }
    assert_int_equal(tz__team_threads(100000), TZ__THREADS_MAX);
}

static double slowest(int64_t tile, int threads, double *jobs)
{
    grid g;
    tz_stage_counts counts;
    grid_make(&g, 2, (int64_t[]){960, 900, 1}, TZ_CLAMP);
    g.stage.height = 4;
    g.stage.threads = threads;
    g.stage.tile[0] = tile;
    tz_skew_count(&g.stage, &counts);
    assert_true(counts.updates == 4.0 * 960 * 900);
    grid_clear(&g);
    *jobs = counts.jobs;
    return counts.slowest / counts.updates;
}

static void test_teams_are_counted(void **state)
{
    double jobs;
    assert_true(slowest(960, 8, &jobs) == 1 && jobs == 1); /* one tile */
    assert_true(slowest(48, 1, &jobs) == 1 && jobs == 1);
    const double two = slowest(48, 2, &jobs); /* 20 tiles */
    assert_true(two > 0.5 && two < 0.6 && jobs == 2);
    const double three = slowest(480, 3, &jobs); /* two tiles: the third thread has none */
    assert_true(three > 0.5 && three < 0.6 && jobs == 2);
}

/* The counts of a large grid, whose stage has no arrays. */
static tz_stage_counts count_large(int dims, const int64_t *elements, const int64_t *tile,
                                   int height, int threads)
{
    grid g;
    tz_stage_counts counts;
    grid_make(&g, dims, (int64_t[]){16, 16, dims == 3 ? 16 : 1}, TZ_CLAMP);
    memcpy(g.stage.elements, elements, sizeof g.stage.elements);
    memcpy(g.stage.tile, tile, sizeof g.stage.tile);
    g.stage.height = height;
    g.stage.threads = threads;
    tz_skew_count(&g.stage, &counts);
    grid_clear(&g);
    return counts;
}

/* Millions of alike tiles or jobs are not counted one by one. */
static void test_large_grids_are_counted_in_a_moment(void **state)
{
    const clock_t begin = clock();
    const int64_t many = 1000000000;
    tz_stage_counts c = count_large(2, (int64_t[]){many, 640, 1}, (int64_t[]){16, 640, 1}, 4, 8);
    const tz_stage_counts half =
        count_large(2, (int64_t[]){many / 2, 640, 1}, (int64_t[]){16, 640, 1}, 4, 8);
    assert_true(c.updates == 4.0 * 640 * (double)many);
    assert_true(c.written == 640 * (double)many);
    assert_float_equal(c.rows / half.rows, 2, 1e-6);
    assert_float_equal(c.spans / half.spans, 2, 1e-6);
    assert_float_equal(c.read / half.read, 2, 1e-6);
    assert_float_equal(c.slowest / half.slowest, 2, 1e-6);
    assert_float_equal(c.slowest / c.updates, 1.0 / 8, 0.01);
    c = count_large(2, (int64_t[]){64, many, 1}, (int64_t[]){16, 1, 1}, 2, 8);
    assert_float_equal(c.updates / (2.0 * 64 * (double)many), 1, 1e-3);
    assert_float_equal(c.slowest / c.updates, 1.0 / 8, 0.01);
    assert_true(c.jobs > 1e8);
    c = count_large(3, (int64_t[]){8, many, 8}, (int64_t[]){8, 1, 8}, 4, 3);
    assert_true(c.updates == 4.0 * 64 * (double)many);
    assert_in_range((clock() - begin) / CLOCKS_PER_SEC, 0, 1);
}

/* Higher stages go through memory less often for each iteration. */
static void test_traffic_of_diamonds_is_counted(void **state)
{
    grid g;
    tz_stage_counts low, high;
    const double cells = 16.0 * 96 * 16;
    grid_make(&g, 3, (int64_t[]){16, 96, 16}, TZ_CLAMP);
    g.stage.diamonds = true;
    g.stage.tile[1] = 16; /* they grow for 8 levels */
    g.stage.height = 16;
    tz_skew_count(&g.stage, &low);
    g.stage.height = 64;
    tz_skew_count(&g.stage, &high);
    assert_true(low.written == 3 * cells && high.written == 15 * cells);
    assert_true(low.read >= 2 * cells && low.read <= 3 * cells);
    assert_true(high.written / 64 > low.written / 16);
    assert_true(low.ring_bytes == high.ring_bytes && low.ring_bytes > 0);
    /* Six diamonds of a row for four threads: nobody waits at the end of a row. For 12 threads
     * there are too few. */
    g.stage.threads = 4;
    tz_skew_count(&g.stage, &high);
    assert_float_equal(high.slowest * 4 / high.updates, 1, 1e-9);
    g.stage.threads = 12;
    tz_skew_count(&g.stage, &high);
    assert_true(high.slowest * 12 / high.updates > 1.5);
    grid_clear(&g);
}

TEST_MAIN(NULL, NULL, TEST(test_large_grids_are_counted_in_a_moment),
          TEST(test_each_thread_has_a_team),
          TEST(test_threads_and_slabs_together_leave_the_same_bits), TEST(test_teams_are_counted),
          TEST(test_diamonds_leave_the_same_bits), TEST(test_traffic_of_diamonds_is_counted))
