/* The family "stream" in place: levels share a ring, and row functions write over what they have
 * read. The row functions of these tests check what they are promised, and a plain loop is the
 * oracle. */
#include "tests/archetypes.h"
#include "tests/backend/cpu/grid.h"

#include <unistd.h>

enum { RADIUS = 2 };

/* ---- Row functions --------------------------------------------------------------------------- */

static _Atomic int calls;
/* Each call lets other threads go on, also where there are fewer processors than threads. */
static bool rests;

/* Where the memory of a target and that of a view overlap, the target is at least so many columns
 * lower, and in 3-D so many rows. */
static void check_promise(const tz_span *span, int slabs, bool planes)
{
    for (int s = 0; s < slabs; s++)
        for (int w = 0; w < 2 * RADIUS + slabs; w++) {
            const tz_view *view = &span->in[w];
            const ptrdiff_t around = planes ? RADIUS * view->row_stride : 0;
            const ptrdiff_t slab = (span->rows - 1) * view->row_stride + span->count;
            const ptrdiff_t apart = ((intptr_t)span->out[s].at - (intptr_t)view->at) / 4;
            const bool overlap = apart < slab + around && apart + slab > -around;
            if (overlap && apart > -around - TZ_COLUMNS_IN_PLACE)
                fail_msg("slab %d begins %td elements after view %d", s, apart, w);
        }
}

/* Asymmetric sums of unequal weights. `at`: the cell in the slab's own view; `near[d]` in the slab
 * at distance d. */
static float weigh(const float *at, const float *const *near, ptrdiff_t stride)
{
    float sum = 0.3f * at[0] + 0.17f * at[-1] + 0.13f * at[2];
    sum += 0.11f * near[0][0] + 0.07f * near[1][1];
    sum += 0.05f * near[3][-2] + 0.04f * near[4][0];
    return stride ? sum + 0.02f * at[-2 * stride] + 0.03f * near[1][stride] : sum;
}

/* All slabs of a column before the next one, as the functions that <trapeze/rows.h> makes. */
static void in_place(const tz_span *span, int slabs, bool planes)
{
    calls++;
    if (rests)
        usleep(20);
    check_promise(span, slabs, planes);
    for (int64_t r = 0; r < span->rows; r++)
        for (int64_t x = 0; x < span->count; x++) {
            float sums[TZ_SLABS_IN_PLACE_MAX];
            for (int s = 0; s < slabs; s++) {
                const float *near[2 * RADIUS + 1];
                for (int d = 0; d <= 2 * RADIUS; d++)
                    near[d] =
                        (const float *)span->in[s + d].at + r * span->in[s + d].row_stride + x;
                sums[s] = weigh(near[RADIUS], near, planes ? span->in[s + RADIUS].row_stride : 0);
            }
            for (int s = 0; s < slabs; s++)
                ((float *)span->out[s].at)[r * span->out[s].row_stride + x] = sums[s];
        }
}

static void in_place_2d(const tz_span *span)
{
    in_place(span, TZ_SLABS_IN_PLACE(2), false);
}

static void in_place_3d(const tz_span *span)
{
    in_place(span, TZ_SLABS_IN_PLACE(3), true);
}

/* No stage that computes in place calls the function of one slab. */
static void rows(const tz_span *span)
{
    (void)span;
    fail_msg("the row function of one slab was called");
}

/* ---- A grid ---------------------------------------------------------------------------------- */

static void make(grid *g, int dims, const int64_t *n, tz_boundary boundary)
{
    grid_make(g, 1, RADIUS, rows, dims == 2 ? in_place_2d : in_place_3d, dims, n, boundary);
    g->pass.in_place = &g->slabs;
}

static void turn(grid *g)
{
    const tz_host_field kept = g->stage.in[0];
    g->stage.in[0] = g->stage.out[0];
    g->stage.out[0] = kept;
}

/* The value of a cell that may lie outside the grid. */
static float cell_of(const grid *g, int64_t x, int64_t y, int64_t z)
{
    int64_t at[] = {x, y, z};
    for (int axis = 0; axis < g->stage.dims; axis++) {
        const int64_t n = g->stage.elements[axis];
        if (at[axis] >= 0 && at[axis] < n)
            continue;
        switch (g->stage.boundary[axis][0]) {
        case TZ_CLAMP:
            at[axis] = at[axis] < 0 ? 0 : n - 1;
            break;
        case TZ_MIRROR:
            at[axis] = at[axis] < 0 ? -at[axis] : 2 * (n - 1) - at[axis];
            break;
        case TZ_PERIODIC:
            at[axis] = (at[axis] + n) % n;
            break;
        default:
            return 0;
        }
    }
    const tz_host_field *f = &g->stage.in[0];
    return ((const float *)(const void *)
                f->origin)[at[2] * f->plane_stride + at[1] * f->row_stride + at[0]];
}

/* One iteration, cell by cell, from what lies around each cell. */
static void iterate_plainly(grid *g)
{
    enum { WIDTH = 2 * RADIUS + 1 };
    const int64_t *n = g->stage.elements;
    const bool planes = g->stage.dims == 3;
    const tz_host_field *to = &g->stage.out[0];
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                float around[WIDTH][WIDTH][WIDTH] = {0}; /* slab, row, column */
                const float *near[WIDTH];
                for (int s = -RADIUS; s <= RADIUS; s++) {
                    for (int r = planes ? -RADIUS : 0; r <= (planes ? RADIUS : 0); r++)
                        for (int c = -RADIUS; c <= RADIUS; c++)
                            around[s + RADIUS][r + RADIUS][c + RADIUS] =
                                cell_of(g, x + c, y + (planes ? r : s), z + (planes ? s : 0));
                    near[s + RADIUS] = &around[s + RADIUS][RADIUS][RADIUS];
                }
                ((float *)(void *)to->origin)[z * to->plane_stride + y * to->row_stride + x] =
                    weigh(near[RADIUS], near, planes ? WIDTH : 0);
            }
    turn(g);
}

static void run_stage(grid *g)
{
    tz_pipeline *pipeline = malloc(tz_pipeline_size());
    const size_t bytes = (tz_stage_arena_bytes(&g->stage, pipeline) + 63) / 64 * 64;
    char *arena = aligned_alloc(64, (size_t)g->stage.threads * bytes);
    assert_true(pipeline && arena);
    memset(arena, 0x7f, (size_t)g->stage.threads * bytes);
    tz_host_field_finish(&g->stage, 0, &g->stage.in[0]);
    tz_stage_run(&g->stage, pipeline, arena, bytes);
    turn(g);
    free(pipeline), free(arena);
}

/* A stage leaves its results with all ghosts. */
static void assert_ghosts(grid *g, const char *what)
{
    float *array = g->arrays[g->stage.in[0].origin > (char *)g->arrays[1] &&
                             g->stage.in[0].origin < (char *)(g->arrays[1] + g->count)];
    float *kept = malloc(g->count * sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, array, g->count * sizeof *kept);
    tz_host_field_finish(&g->stage, 0, &g->stage.in[0]);
    if (memcmp(kept, array, g->count * sizeof *kept))
        fail_msg("%s: ghosts differ", what);
    free(kept);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(test_a_plain_loop_gives_the_same_bits)
{
    static const struct {
        int dims;
        int64_t n[3];
        int height;
        int64_t tile[3];
    } cases[] = {
        {2, {90, 70, 1}, 1, {90, 70, 1}},
        {2, {90, 70, 1}, 5, {90, 70, 1}},
        {2, {50, 71, 1}, 6, {32, 23, 1}},
        {2, {17, 9, 1}, 4, {17, 9, 1}},      /* levels as many as rows */
        {2, {10, 200, 1}, 19, {10, 200, 1}}, /* rings go round several times */
        {2, {33, 64, 1}, 3, {7, 1, 1}},
        {3, {15, 12, 25}, 1, {15, 12, 25}},
        {3, {15, 12, 25}, 4, {15, 12, 25}},
        {3, {20, 16, 20}, 3, {9, 7, 9}},
        {3, {7, 6, 60}, 7, {7, 6, 60}},
        /* Tiles that lean, but for periodic sides. */
        {3, {7, 90, 25}, 4, {7, 20, 25}},
        {3, {5, 100, 40}, 7, {5, 30, 40}},
        {3, {6, 70, 30}, 5, {6, 1, 11}},
        {3, {5, 60, 7}, 6, {5, 30, 7}},
        {3, {17, 24, 60}, 2, {17, 5, 60}},
    };
    /* Slabs that a level computes before the next one does, and rows of a group. */
    static const struct {
        int batch;
        int64_t group;
    } orders[] = {{1, 0}, {2, 3}, {5, 2}, {20, 4}, {3, 1}, {6, 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t b = 0; b < 4; b++) {
            grid want, got;
            char what[64];
            make(&want, cases[i].dims, cases[i].n, grid_boundaries[b]);
            for (int k = 0; k < cases[i].height; k++)
                iterate_plainly(&want);
            for (int k = is_complete() ? 0 : (int)(i + b) % 3; k < 6; k += is_complete() ? 1 : 3) {
                const int threads = 1 + k % 3 + k / 5;
                make(&got, cases[i].dims, cases[i].n, grid_boundaries[b]);
                got.stage.height = cases[i].height;
                got.stage.threads = threads;
                got.stage.past_caches = k >= 3;
                got.stage.batch = orders[k].batch;
                got.stage.group = orders[k].group;
                memcpy(got.stage.tile, cases[i].tile, sizeof got.stage.tile);
                assert_true(tz_stage_is_in_place(&got.stage));
                calls = 0;
                rests = threads > 3;
                assert_ok(tz_threads_create(&got.stage.pool, threads, &failure));
                run_stage(&got);
                tz_threads_destroy(got.stage.pool);
                assert_true(calls > 0);
                snprintf(what, sizeof what, "case %zu, boundary %d, order %d, %d threads%s", i,
                         grid_boundaries[b], k, threads, k >= 3 ? ", past the caches" : "");
                if (!grid_same(&got, &got.stage.in[0], &want.stage.in[0]))
                    fail_msg("%s: cells differ", what);
                assert_ghosts(&got, what);
                grid_clear(&got);
            }
            grid_clear(&want);
        }
}

/* The shared ring has twice as many slabs a level as the radius. Rings of their own have one more,
 * and those of a batch. */
TEST(test_levels_share_a_ring)
{
    grid g;
    make(&g, 2, (int64_t[]){4096, 500, 1}, TZ_CLAMP);
    g.stage.height = 20;
    tz_pipeline *pipeline = malloc(tz_pipeline_size());
    assert_non_null(pipeline);
    const double row = 4096 * sizeof(float), levels = 20;
    const double shared = (double)tz_stage_arena_bytes(&g.stage, pipeline) / row;
    g.pass.in_place = NULL;
    assert_false(tz_stage_is_in_place(&g.stage));
    const double apart = (double)tz_stage_arena_bytes(&g.stage, pipeline) / row;
    assert_true(shared > 2 * RADIUS * (levels - 1) && shared < 2 * RADIUS * levels + 20);
    assert_true(apart > (2 * RADIUS + 1) * (levels - 1));
    free(pipeline);
    grid_clear(&g);
}

/* Leaning tiles compute no cell twice, and each thread of a team has as many. */
TEST(test_tiles_lean)
{
    grid g;
    tz_stage_counts counts;
    tz_pipeline *pipeline = malloc(tz_pipeline_size());
    assert_non_null(pipeline);
    make(&g, 3, (int64_t[]){32, 400, 50}, TZ_CLAMP);
    g.stage.height = 5;
    g.stage.tile[1] = 30;
    assert_int_equal(tz_stage_leans(&g.stage), 14);
    tz_stage_count(&g.stage, pipeline, &counts);
    assert_true(counts.updates == 32.0 * 400 * 50 * 5);
    /* Four of five levels have rings. A pass reads two rows to each side, so a seam has four. */
    assert_true(counts.seams == 13.0 * 4 * 4 * 32 * 50);
    assert_true(counts.jobs == 1);
    g.stage.threads = 4;
    assert_int_equal(tz_stage_leans(&g.stage), 16);
    tz_stage_count(&g.stage, pipeline, &counts);
    assert_true(counts.jobs == 4);
    assert_true(counts.team == 4);
    assert_true(counts.slowest > counts.updates / 4 && counts.slowest < counts.updates / 4 * 1.1);
    g.stage.tile[1] = 1; /* as narrow as is possible: 16 rows, the seams of four levels */
    assert_int_equal(tz_stage_leans(&g.stage), 24);
    g.stage.tile[1] = 399;
    assert_int_equal(tz_stage_leans(&g.stage), 2);
    g.stage.tile[1] = 400;
    assert_int_equal(tz_stage_leans(&g.stage), 0);
    g.stage.tile[1] = 30;
    g.stage.tile[0] = 16; /* rows are cut */
    assert_int_equal(tz_stage_leans(&g.stage), 0);
    g.stage.tile[0] = 32;
    g.stage.boundary[1][0] = g.stage.boundary[1][1] = TZ_PERIODIC;
    assert_int_equal(tz_stage_leans(&g.stage), 0);
    free(pipeline);
    grid_clear(&g);
}

TEST(test_what_cannot_be_in_place)
{
    grid g;
    make(&g, 2, (int64_t[]){40, 30, 1}, TZ_CLAMP);
    assert_true(tz_stage_is_in_place(&g.stage));
    g.stage.bits = true;
    assert_true(tz_stage_is_in_place(&g.stage));
    g.stage.dims = 3;
    assert_false(tz_stage_is_in_place(&g.stage));
    g.stage.dims = 2;
    g.stage.bits = false;
    g.stage.precision = TZ_DOUBLE; /* no function */
    assert_false(tz_stage_is_in_place(&g.stage));
    g.stage.precision = TZ_SINGLE;
    g.fields[0].role = TZ_STREAMED;
    assert_false(tz_stage_is_in_place(&g.stage));
    grid_clear(&g);
}
