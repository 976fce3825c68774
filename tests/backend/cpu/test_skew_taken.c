/* The family "skew" with fields that take over what others were, as older levels of a wave do:
 * within a stage their arrays go from field to field. All values, those before the last iteration,
 * too, are those of stages of one iteration, which copy them. */
#include "kernels/cpu/skew.h"
#include "tests/unit.h"

enum { U, OLDER, OLDEST, FIELDS, GHOST = 1, PAD = 16 };

/* u reads its neighbours and both older levels; they become u and the older one, of the cell
 * alone. */
static void wave_rows(const tz_span *span, bool planes)
{
    for (int64_t r = 0; r < span->rows; r++)
        for (int64_t x = 0; x < span->count; x++) {
            const tz_view *u = &span->in[3 * U];
            const ptrdiff_t stride = u[1].row_stride;
            const float *here = (const float *)u[1].at + r * stride + x;
            const float low = ((const float *)u[0].at)[r * u[0].row_stride + x];
            const float high = ((const float *)u[2].at)[r * u[2].row_stride + x];
            const tz_view *a = &span->in[3 * OLDER + 1], *b = &span->in[3 * OLDEST + 1];
            const float older = ((const float *)a->at)[r * a->row_stride + x];
            const float oldest = ((const float *)b->at)[r * b->row_stride + x];
            float sum = 0.3f * *here + 0.17f * here[-1] + 0.13f * here[1] + 0.21f * low;
            sum += 0.11f * high - 0.5f * older + 0.25f * oldest;
            if (planes)
                sum += 0.05f * here[-stride] + 0.03f * here[stride];
            const float values[] = {sum, *here, older};
            for (int f = 0; f < FIELDS; f++)
                ((float *)span->out[f].at)[r * span->out[f].row_stride + x] = values[f];
        }
}

static void rows_2d(const tz_span *span)
{
    wave_rows(span, false);
}

static void rows_3d(const tz_span *span)
{
    wave_rows(span, true);
}

static const tz_field fields[] = {{.name = "u", .role = TZ_STATE, .type = TZ_REAL},
                                  {.name = "older", .role = TZ_STATE, .type = TZ_REAL},
                                  {.name = "oldest", .role = TZ_STATE, .type = TZ_REAL}};

typedef struct grid {
    tz_row_form form;
    tz_kernels kernels;
    tz_reads reads[FIELDS];
    tz_pass pass;
    tz_stencil stencil;
    tz_stage stage;
    float *arrays[2 * FIELDS], *outside;
    char *lost;
} grid;

static void grid_make(grid *g, int dims, const int64_t *n, tz_boundary boundary, int height,
                      int threads)
{
    const ptrdiff_t stride = n[0] + 2 * PAD, plane = stride * (n[1] + 2 * GHOST);
    const size_t count = (size_t)(plane * (n[2] + 2 * GHOST));
    const ptrdiff_t origin = (dims == 3 ? plane : 0) + GHOST * stride + PAD;
    *g = (grid){
        .form = {.isa = "base", .rows = {[TZ_SINGLE] = dims == 2 ? rows_2d : rows_3d}},
        .kernels = {.forms_count = 1, .forms = &g->form},
        .reads = {{.field = U, .cell = "wave"},
                  {.field = OLDER, .cell = "wave"},
                  {.field = OLDEST, .cell = "wave"}},
        .pass = {.name = "pass",
                 .radius = 1,
                 .writes = 7,
                 .kernels = &g->kernels,
                 .text_cell = "wave",
                 .reads_count = FIELDS,
                 .reads = g->reads,
                 .takes = {[OLDER] = 1 + U, [OLDEST] = 1 + OLDER}},
        .stencil = {.struct_size = sizeof(tz_stencil),
                    .id = "wave",
                    .dims = dims,
                    .fields_count = FIELDS,
                    .fields = fields,
                    .passes_count = 1,
                    .passes = &g->pass},
        .outside = calloc((size_t)(plane + 2 * PAD), sizeof(float)),
    };
    for (int axis = 0; axis < dims; axis++) {
        g->reads[U].low[axis] = -1;
        g->reads[U].high[axis] = 1;
    }
    g->stage = (tz_stage){
        .stencil = &g->stencil,
        .dims = dims,
        .elements = {n[0], n[1], n[2]},
        .columns = n[0],
        .boundary = {{boundary, boundary}, {boundary, boundary}, {boundary, boundary}},
        .element_size = {4, 4, 4},
        .ghost = GHOST,
        .height = height,
        .tile = {n[0], n[1], n[2]},
        .batch = 1,
        .threads = threads,
    };
    for (int i = 0; i < 2 * FIELDS; i++) {
        g->arrays[i] = calloc(count, sizeof(float));
        const tz_host_field host = {(char *)(g->arrays[i] + origin), stride, plane, false};
        *(i % 2 ? &g->stage.out[i / 2] : &g->stage.in[i / 2]) = host;
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++)
                    (g->arrays[i] + origin)[z * plane + y * stride + x] =
                        (float)((x * 37 + y * 101 + z * 61 + x * y % 7 + 31 * i) % 1009);
    }
    for (int f = 0; f < FIELDS; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            g->stage.outside[f][side] = (tz_view){g->outside + stride + PAD, 0};
    g->lost = malloc((size_t)threads * tz_skew_lost_bytes(&g->stage) + 1);
    g->stage.lost = g->lost;
}

/* Runs the stage; the values are then in stage.in, those before the last iteration in stage.out. */
static void grid_run(grid *g)
{
    tz_host_field was[2 * FIELDS];
    uint32_t seen = 0;
    for (int f = 0; f < FIELDS; f++) {
        tz_host_field_finish(&g->stage, f, &g->stage.in[f]);
        was[2 * f] = g->stage.in[f];
        was[2 * f + 1] = g->stage.out[f];
    }
    const tz_skew_arrays arrays = tz_skew_run(&g->stage);
    for (int f = 0; f < FIELDS; f++) {
        g->stage.in[f] = was[arrays.values[f]];
        g->stage.out[f] = was[arrays.before[f]];
        seen |= 1u << arrays.values[f] | 1u << arrays.before[f];
    }
    assert_int_equal(seen, (1 << 2 * FIELDS) - 1); /* each array has one place */
}

static void grid_clear(grid *g)
{
    for (int i = 0; i < 2 * FIELDS; i++)
        free(g->arrays[i]);
    free(g->outside), free(g->lost);
}

static bool fields_equal(const grid *a, const tz_host_field *one, const tz_host_field *other)
{
    const int64_t *n = a->stage.elements;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            const size_t at = (size_t)(z * one->plane_stride + y * one->row_stride) * sizeof(float);
            if (memcmp(one->origin + at, other->origin + at, (size_t)n[0] * sizeof(float)))
                return false;
        }
    return true;
}

static void test_arrays_that_are_passed_on_leave_the_same_bits(void **state)
{
    static const tz_boundary boundaries[] = {TZ_CLAMP, TZ_PERIODIC, TZ_FIXED, TZ_MIRROR};
    static const struct {
        int dims;
        int64_t n[3];
        int height;
        int64_t tile[3];
    } cases[] = {
        {2, {100, 90, 1}, 1, {16, 30, 1}},   {2, {100, 90, 1}, 2, {32, 30, 1}},
        {2, {300, 150, 1}, 3, {32, 150, 1}}, {2, {300, 150, 1}, 8, {64, 40, 1}},
        {2, {17, 6, 1}, 11, {16, 6, 1}}, /* several runs through the grid, if it is periodic */
        {3, {20, 50, 60}, 4, {20, 4, 60}},   {3, {20, 50, 60}, 7, {20, 9, 25}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t b = 0; b < sizeof boundaries / sizeof *boundaries; b++) {
            grid want;
            grid_make(&want, cases[i].dims, cases[i].n, boundaries[b], 1, 1);
            assert_int_equal(tz_skew_lost_bytes(&want.stage), 0);
            for (int k = 0; k < cases[i].height; k++)
                grid_run(&want);
            for (int threads = 1; threads <= 5; threads++) {
                grid got;
                grid_make(&got, cases[i].dims, cases[i].n, boundaries[b], cases[i].height, threads);
                memcpy(got.stage.tile, cases[i].tile, sizeof got.stage.tile);
                assert_ok(tz_threads_create(&got.stage.pool, threads, &failure));
                grid_run(&got);
                tz_threads_destroy(got.stage.pool);
                for (int f = 0; f < FIELDS; f++)
                    if (!fields_equal(&got, &got.stage.in[f], &want.stage.in[f]) ||
                        !fields_equal(&got, &got.stage.out[f], &want.stage.out[f]))
                        fail_msg("case %zu, boundary %d, %d threads: '%s' has other bits", i,
                                 boundaries[b], threads, fields[f].name);
                grid_clear(&got);
            }
            grid_clear(&want);
        }
}

/* No array is passed on to a field that is read around a cell, or that the pass does not write. */
static void test_what_is_passed_on(void **state)
{
    grid g;
    grid_make(&g, 2, (int64_t[]){20, 20, 1}, TZ_CLAMP, 4, 1);
    assert_int_equal(tz_skew_lost(&g.stencil, &g.pass), 1 << OLDER | 1 << OLDEST);
    assert_int_equal(tz_skew_arrays_used(&g.stencil, U), 2);
    assert_int_equal(tz_skew_arrays_used(&g.stencil, OLDER), 1);
    assert_true(tz_skew_lost_bytes(&g.stage) >= 20 * sizeof(double));
    g.reads[OLDEST].low[1] = -1; /* a neighbour is read: its ghosts would be another field's */
    assert_int_equal(tz_skew_lost(&g.stencil, &g.pass), 1 << OLDER);
    g.pass.writes = 1 << U;
    assert_int_equal(tz_skew_lost(&g.stencil, &g.pass), 0);
    grid_clear(&g);
}

TEST_MAIN(NULL, NULL, TEST(test_arrays_that_are_passed_on_leave_the_same_bits),
          TEST(test_what_is_passed_on))
