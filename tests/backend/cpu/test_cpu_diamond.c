/* The family "diamond" with any number of threads: the same bits whoever
 * computes a tile, also if there are more threads than processors, jobs or tiles, or fewer than
 * wanted. Fields that take over what others were, as older levels of a wave do, pass their arrays
 * on within a stage: all values, those before the last iteration, too, are those of stages of one
 * iteration, which copy them. */
#include "kernels/cpu/diamond.h"
#include "tests/backend/cpu/grid.h"
#include <time.h>

enum { U, OLDER, OLDEST };

static _Atomic int together_calls;

/* Unequal weights, whose sums depend on their order. In 3-D y is read, too. Of three fields u reads
 * both older levels; they become u and the older one, of the cell alone. Of two, the second is read
 * in the cell alone. */
static void weigh(const tz_span *span, int fields, int window, bool planes)
{
    for (int64_t r = 0; r < span->rows; r++)
        for (int64_t x = 0; x < span->count; x++) {
            const tz_view *u = span->in;
            const ptrdiff_t stride = u[1].row_stride;
            const float *here = (const float *)u[1].at + r * stride + x;
            const float *low = (const float *)u[0].at + r * u[0].row_stride + x;
            const float *high = (const float *)u[2].at + r * u[2].row_stride + x;
            float values[3] = {0.3f * here[0] + 0.17f * here[-1] + 0.13f * here[1] + 0.21f * *low,
                               *here};
            values[0] += 0.11f * *high;
            if (planes)
                values[0] += 0.05f * here[-stride] + 0.03f * here[stride];
            if (fields == 2) {
                const tz_view *a = &u[window * OLDER + 1];
                const float second = ((const float *)a->at)[r * a->row_stride + x];
                values[0] += 0.25f * second;
                values[1] = 0.5f * second + *here;
            }
            if (fields == 3) {
                const tz_view *a = &u[window * OLDER + 1], *b = &u[window * OLDEST + 1];
                values[2] = ((const float *)a->at)[r * a->row_stride + x];
                values[0] +=
                    0.25f * ((const float *)b->at)[r * b->row_stride + x] - 0.5f * values[2];
            }
            for (int f = 0; f < fields; f++)
                ((float *)span->out[f].at)[r * span->out[f].row_stride + x] = values[f];
        }
}

static void rows_2d(const tz_span *span)
{
    weigh(span, 1, 3, false);
}

static void rows_3d(const tz_span *span)
{
    weigh(span, 1, 3, true);
}

/* In 1-D a window has one row. */
static void rows_1d(const tz_span *span)
{
    const float *u = span->in[0].at;
    for (int64_t x = 0; x < span->count; x++)
        ((float *)span->out[0].at)[x] = 0.3f * u[x] + 0.17f * u[x - 1] + 0.13f * u[x + 1];
}

static void two_2d(const tz_span *span)
{
    weigh(span, 2, 3, false);
}

static void two_3d(const tz_span *span)
{
    weigh(span, 2, 3, true);
}

static void wave_2d(const tz_span *span)
{
    weigh(span, 3, 3, false);
}

static void wave_3d(const tz_span *span)
{
    weigh(span, 3, 3, true);
}

/* Several slabs at once. */
static void weigh_together(const tz_span *span, bool planes)
{
    together_calls++;
    for (int s = 0; s < TZ_SLABS_TOGETHER; s++) {
        tz_span one = *span;
        one.in += s;
        one.out += s;
        weigh(&one, 1, 3, planes);
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

static void make(grid *g, int fields, int dims, const int64_t *n, tz_boundary boundary)
{
    static const tz_reads reads[] = {
        {.field = U, .cell = "wave", .low = {-1, -1, -1}, .high = {1, 1, 1}},
        {.field = OLDER, .cell = "wave"},
        {.field = OLDEST, .cell = "wave"}};
    static tz_row_fn *const rows[][4] = {{NULL, rows_1d, rows_2d, rows_3d},
                                         {NULL, NULL, two_2d, two_3d},
                                         {NULL, NULL, wave_2d, wave_3d}};
    grid_make(g, fields, 1, rows[fields - 1][dims], dims == 2 ? together_2d : together_3d, dims, n,
              boundary);
    if (fields > 1) {
        g->pass.text_cell = "wave";
        g->pass.reads_count = fields;
        g->pass.reads = reads;
    }
    if (fields == 2)
        g->pass.slabs = 4; /* as if <trapeze/rows.h> had made its functions */
    if (fields == 3) {
        g->pass.takes[OLDER] = 1 + U;
        g->pass.takes[OLDEST] = 1 + OLDER;
    }
}

/* Runs the stage; the values are then in stage.in, those before the last iteration in stage.out. */
static void run(grid *g)
{
    const int fields = g->stencil.fields_count;
    tz_host_field was[2 * GRID_FIELDS_MAX];
    uint32_t seen = 0;
    for (int f = 0; f < fields; f++) {
        tz_host_field_finish(&g->stage, f, &g->stage.in[f]);
        was[2 * f] = g->stage.in[f];
        was[2 * f + 1] = g->stage.out[f];
    }
    g->stage.spare = malloc((size_t)g->stage.threads * tz_diamond_spare_bytes(&g->stage) + 1);
    const tz_diamond_arrays arrays = tz_diamond_run(&g->stage);
    free(g->stage.spare);
    for (int f = 0; f < fields; f++) {
        g->stage.in[f] = was[arrays.values[f]];
        g->stage.out[f] = was[arrays.before[f]];
        seen |= 1u << arrays.values[f] | 1u << arrays.before[f];
    }
    assert_int_equal(seen, (1 << 2 * fields) - 1); /* each array has one place */
}

typedef struct bits_case {
    int fields, dims;
    int64_t n[3];
    int height;
    int64_t tile[3];
} bits_case;

/* `team`: threads of the pool. With odd numbers the row function of several slabs, too. */
static void check_bits(const bits_case *c, const grid *want, tz_boundary boundary, int threads,
                       int team)
{
    grid got;
    make(&got, c->fields, c->dims, c->n, boundary);
    got.pass.together = c->fields == 1 && (threads + (int)boundary) % 2 ? &got.slabs : NULL;
    together_calls = 0;
    got.stage.height = c->height;
    got.stage.threads = threads;
    memcpy(got.stage.tile, c->tile, sizeof got.stage.tile);
    assert_ok(tz_threads_create(&got.stage.pool, team, &failure));
    run(&got);
    tz_threads_destroy(got.stage.pool);
    for (int f = 0; f < c->fields; f++)
        if (!grid_same(&got, &got.stage.in[f], &want->stage.in[f]) ||
            (c->fields > 1 && !grid_same(&got, &got.stage.out[f], &want->stage.out[f])))
            fail_msg("%lld x %lld x %lld, tile %lld x %lld, boundary %d: %d threads leave other "
                     "bits in field %d",
                     (long long)c->n[0], (long long)c->n[1], (long long)c->n[2],
                     (long long)c->tile[0], (long long)c->tile[1], boundary, threads, f);
    assert_true(got.pass.together || together_calls == 0);
    tz_stage_counts counts;
    tz_diamond_count(&got.stage, &counts);
    assert_true(counts.updates == /* none twice */
                (double)(c->height * c->n[0] * c->n[1] * c->n[2]));
    assert_true(counts.slowest <= counts.updates * (1 + 1e-9) &&
                counts.slowest * threads >= counts.updates * (1 - 1e-9));
    grid_clear(&got);
}

TEST(test_threads_leave_the_same_bits)
{
    static const bits_case cases[] = {
        {1, 1, {997, 1, 1}, 7, {128, 1, 1}},
        {1, 1, {900, 1, 1}, 40, {64, 1, 1}},
        {1, 1, {31, 1, 1}, 9, {16, 1, 1}},
        {1, 1, {5, 1, 1}, 4, {5, 1, 1}}, /* one tile */
        {1, 2, {300, 150, 1}, 6, {32, 24, 1}},
        {1, 2, {300, 150, 1}, 25, {64, 10, 1}},
        {1, 2, {101, 89, 1}, 1, {16, 30, 1}},    /* edges do not move */
        {1, 2, {70, 300, 1}, 7, {4096, 300, 1}}, /* wider than the grid */
        {1, 2, {300, 70, 1}, 17, {16, 35, 1}},
        {1, 2, {9, 200, 1}, 12, {9, 8, 1}}, /* more levels than a row has cells */
        {1, 2, {33, 7, 1}, 5, {16, 1, 1}},
        {1, 2, {33, 1, 1}, 5, {16, 1, 1}},
        {1, 3, {20, 50, 60}, 5, {20, 4, 60}},
        {1, 3, {20, 50, 60}, 12, {20, 8, 60}},
        {1, 3, {9, 33, 31}, 3, {9, 1, 31}},
        {1, 3, {9, 7, 30}, 8, {9, 30, 30}},
        {1, 3, {16, 64, 20}, 16, {16, 16, 20}},
        {1, 3, {5, 64, 20}, 17, {5, 16, 20}},
        {1, 3, {5, 61, 20}, 40, {5, 10, 20}},
        {1, 3, {5, 61, 20}, 1, {5, 10, 20}},
        {1, 3, {5, 61, 9}, 2, {5, 10, 9}},
        {1, 3, {5, 1, 20}, 4, {5, 10, 20}},
        {1, 3, {5, 30, 2}, 9, {5, 4, 2}}, /* levels wrap along z in one band */
        {1, 3, {5, 2000, 4}, 3, {5, 1, 4}},
        /* Arrays that are passed on. */
        {3, 2, {100, 90, 1}, 1, {16, 30, 1}},
        {3, 2, {100, 90, 1}, 2, {32, 30, 1}},
        {3, 2, {300, 150, 1}, 9, {32, 8, 1}},
        {3, 2, {17, 6, 1}, 11, {16, 6, 1}},
        {3, 3, {20, 50, 60}, 4, {20, 4, 60}},
        {3, 3, {20, 50, 60}, 7, {20, 9, 60}},
        /* An array that is written where it is. */
        {2, 2, {100, 90, 1}, 1, {16, 30, 1}},
        {2, 2, {100, 90, 1}, 2, {32, 30, 1}},
        {2, 2, {300, 150, 1}, 9, {32, 8, 1}},
        {2, 3, {20, 50, 60}, 7, {20, 9, 60}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int b = 0; b < 4; b++) {
            const bits_case *c = &cases[i];
            grid want;
            make(&want, c->fields, c->dims, c->n, grid_boundaries[b]);
            for (int k = 0; k < c->height; k++) /* one thread, one iteration a stage */
                run(&want);
            for (int threads = 1; threads <= (c->fields == 1 ? 9 : 5); threads += 1 + threads / 2)
                check_bits(c, &want, grid_boundaries[b], threads, threads);
            if (c->fields == 1)
                check_bits(c, &want, grid_boundaries[b], 7, 2);
            grid_clear(&want);
        }
}

/* No array is passed on to a field that is read around a cell, or that the pass does not write. */
TEST(test_what_is_passed_on)
{
    grid g;
    make(&g, 3, 2, (int64_t[]){20, 20, 1}, TZ_CLAMP);
    g.stage.height = 4;
    assert_int_equal(tz_diamond_lost(&g.stencil, &g.pass), 1 << OLDER | 1 << OLDEST);
    assert_int_equal(tz_diamond_arrays_used(&g.stencil, U), 2);
    assert_int_equal(tz_diamond_arrays_used(&g.stencil, OLDER), 1);
    tz_reads reads[3];
    memcpy(reads, g.pass.reads, sizeof reads);
    g.pass.reads = reads;
    reads[OLDEST].low[1] = -1; /* a neighbour is read: its ghosts would be another field's */
    assert_int_equal(tz_diamond_lost(&g.stencil, &g.pass), 1 << OLDER);
    g.pass.writes = 1 << U;
    assert_int_equal(tz_diamond_lost(&g.stencil, &g.pass), 0);
    grid_clear(&g);
}

/* A field stays in its array if a pass reads it in the cell alone and no other field takes it. */
TEST(test_what_stays)
{
    grid g;
    make(&g, 2, 2, (int64_t[]){20, 20, 1}, TZ_CLAMP);
    assert_int_equal(tz_diamond_stays(&g.stencil, &g.pass), 1 << OLDER);
    assert_int_equal(tz_diamond_arrays_used(&g.stencil, U), 2);
    assert_int_equal(tz_diamond_arrays_used(&g.stencil, OLDER), 1);
    g.pass.slabs = 0; /* maybe written by hand */
    assert_int_equal(tz_diamond_stays(&g.stencil, &g.pass), 0);
    g.pass.slabs = 4;
    g.pass.reads_count = 1;
    assert_int_equal(tz_diamond_stays(&g.stencil, &g.pass), 0);
    grid_clear(&g);
    make(&g, 3, 2, (int64_t[]){20, 20, 1}, TZ_CLAMP);
    g.pass.slabs = 4;
    assert_int_equal(tz_diamond_stays(&g.stencil, &g.pass), 0);
    grid_clear(&g);
    grid one, two;
    make(&one, 2, 2, (int64_t[]){40, 50, 1}, TZ_CLAMP);
    make(&two, 2, 2, (int64_t[]){40, 50, 1}, TZ_CLAMP);
    two.stage.height = 2;
    run(&one);
    run(&two); /* not in the last iteration: what it was before is kept */
    assert_true(grid_same(&two, &two.stage.out[OLDER], &one.stage.in[OLDER]));
    grid_clear(&one);
    grid_clear(&two);
}

/* The counts of a large grid, whose stage has no arrays. */
static tz_stage_counts count_large(int dims, const int64_t *elements, const int64_t *tile,
                                   int height, int threads)
{
    grid g;
    tz_stage_counts counts;
    make(&g, 1, dims, (int64_t[]){16, 16, dims == 3 ? 16 : 1}, TZ_CLAMP);
    memcpy(g.stage.elements, elements, sizeof g.stage.elements);
    memcpy(g.stage.tile, tile, sizeof g.stage.tile);
    g.stage.height = height;
    g.stage.threads = threads;
    tz_diamond_count(&g.stage, &counts);
    grid_clear(&g);
    return counts;
}

/* Millions of alike diamonds are not counted one by one. */
TEST(test_large_grids_are_counted_in_a_moment)
{
    const clock_t begin = clock();
    const int64_t many = 1000000000;
    const tz_stage_counts c =
        count_large(2, (int64_t[]){640, many, 1}, (int64_t[]){640, 16, 1}, 4, 8);
    const tz_stage_counts half =
        count_large(2, (int64_t[]){640, many / 2, 1}, (int64_t[]){640, 16, 1}, 4, 8);
    assert_true(c.updates == 4.0 * 640 * (double)many);
    assert_float_equal(c.rows / half.rows, 2, 1e-3);
    assert_float_equal(c.slowest / c.updates, 1.0 / 8, 0.01);
    assert_in_range((clock() - begin) / CLOCKS_PER_SEC, 0, 1);
}

/* Higher stages go through memory less often for each iteration. */
TEST(test_traffic_of_diamonds_is_counted)
{
    grid g;
    tz_stage_counts low, high;
    const double cells = 16.0 * 96 * 16;
    make(&g, 1, 3, (int64_t[]){16, 96, 16}, TZ_CLAMP);
    g.stage.tile[1] = 16; /* they grow for 8 levels */
    g.stage.height = 16;
    tz_diamond_count(&g.stage, &low);
    g.stage.height = 64;
    tz_diamond_count(&g.stage, &high);
    assert_true(low.written == 3 * cells && high.written == 15 * cells);
    assert_true(low.read >= 2 * cells && low.read <= 3 * cells);
    assert_true(high.written / 64 > low.written / 16);
    assert_true(low.ring_bytes == high.ring_bytes && low.ring_bytes > 0);
    /* Six diamonds of a row for four threads: nobody waits at the end of a row. For 12 threads
     * there are too few. */
    g.stage.threads = 4;
    tz_diamond_count(&g.stage, &high);
    assert_float_equal(high.slowest * 4 / high.updates, 1, 1e-9);
    g.stage.threads = 12;
    tz_diamond_count(&g.stage, &high);
    assert_true(high.slowest * 12 / high.updates > 1.5);
    grid_clear(&g);
}
