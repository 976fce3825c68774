/* What row functions cost: timed with a clock that these functions move, and counted from texts. */

#include "backend/backend.h"
#include "backend/cpu/family.h"
#include "backend/cpu/rows.h"
#include "kernels/cpu/stage.h"
#include "tests/made_up_clock.h"
#include "tests/registry.h"

#include <math.h>

/* ---- Times ----------------------------------------------------------------------------------- */

/* Seconds of a call, of a row, of a vector of 16 cells, and of a cell that is left over. */
static const double CALL = 70e-9, ROW = 11e-9, VECTOR = 5e-9, REST = 3e-9;

static struct {
    long calls;
    int slabs;
    ptrdiff_t reach; /* rows around the span that may be read, in 3-D */
    double others_s; /* what other programs take, of every 600th call */
} costly;

static double seconds_of(int64_t count, int64_t rows)
{
    return CALL + (double)rows * costly.slabs *
                      (ROW + VECTOR * (double)(count / 16) + REST * (double)(count % 16));
}

static void costs(const tz_span *span)
{
    made_up_clock.now_s += seconds_of(span->count, span->rows);
    if (costly.calls++ % 600 == 1)
        made_up_clock.now_s += costly.others_s;
    /* What the headers promise can be read and written. */
    const float *in = span->in[0].at;
    float *out = span->out[0].at;
    const ptrdiff_t far = costly.reach * span->in[0].row_stride;
    assert_true(in[-far] >= 0 && in[far + (span->rows - 1) * span->in[0].row_stride] >= 0);
    assert_true((uintptr_t)in % 64 == 0 && in[-64] >= 0 && in[span->count + 63] >= 0);
    out[0] = out[(span->rows - 1) * span->out[0].row_stride + span->count - 1] = 0;
}

static const tz_row_form form = {.isa = "base", .rows = {costs, costs}};
static const tz_kernels kernels = {.forms_count = 1, .forms = &form};

/* star2d1r or star3d1r with row functions that move the clock. */
typedef struct fake {
    tz_problem problem;
    tz_stencil stencil;
    tz_pass pass;
    tz_field field;
} fake;

static void open_fake(fake *f, const char *name, const int64_t *extent)
{
    const tz_stencil *real;
    tz_simulation_config config = {.registry = registry,
                                   .stencil = name,
                                   .dims = extent[2] > 1 ? 3 : 2,
                                   .precision = TZ_SINGLE};
    memcpy(config.extent, extent, sizeof config.extent);
    assert_ok(tz_registry_find(registry, name, &real, NULL, &failure));
    assert_ok(tz_problem_resolve(&f->problem, real, &config, &failure));
    f->stencil = *real;
    f->pass = real->passes[0];
    tz_kernels *own = malloc(sizeof *own); /* cells are counted by the real function */
    *own = kernels;
    memcpy(own->cell, f->pass.kernels->cell, sizeof own->cell);
    f->pass.kernels = own;
    f->pass.together = f->pass.in_place = NULL;
    f->stencil.passes = &f->pass;
    f->problem.stencil = &f->stencil;
    costly.slabs = 1;
    costly.reach = extent[2] > 1 ? 3 : 0; /* a field's radius; the pass has 1 */
    f->field = f->stencil.fields[0];
    f->field.radius = (int)costly.reach;
    f->stencil.fields = &f->field;
    costly.calls = 0;
    costly.others_s = 0;
    made_up_clock.step_s = 1e-12;
    made_up_clock.is_in_use = true;
}

static void close_fake(fake *f)
{
    made_up_clock.is_in_use = false;
    free((void *)(uintptr_t)f->pass.kernels);
    tz_problem_clear(&f->problem);
}

TEST(each_span_is_timed_once)
{
    fake f;
    open_fake(&f, "star3d1r", (int64_t[]){200, 64, 64});
    tz_rows_call call = {&f.problem, &f.pass, costs, 1};
    double seconds, again;
    costly.others_s = 1e-3; /* the shortest sample counts */
    for (int64_t count = 16; count <= 19; count += 3)
        for (int64_t rows = 1; rows <= 2; rows++) {
            assert_ok(tz_rows_time(&call, count, rows, &seconds, &failure));
            assert_true(fabs(seconds / seconds_of(count, rows) - 1) < 0.01);
            const long calls = costly.calls;
            assert_ok(tz_rows_time(&call, count, rows, &again, &failure));
            assert_true(again == seconds && costly.calls == calls);
        }
    /* Other constants, another text, another number of slabs: other costs. */
    long calls = costly.calls;
    f.problem.constants[0].f += 1;
    assert_ok(tz_rows_time(&call, 16, 1, &seconds, &failure));
    assert_true(costly.calls > calls);
    calls = costly.calls;
    f.pass.text = "another";
    assert_ok(tz_rows_time(&call, 16, 1, &seconds, &failure));
    assert_true(costly.calls > calls);
    costly.slabs = call.slabs = 2;
    assert_ok(tz_rows_time(&call, 16, 1, &seconds, &failure));
    assert_true(fabs(seconds / seconds_of(16, 1) - 1) < 0.01);
    close_fake(&f);
}

/* The cost of elements, rows and calls of a plan, from differences. */
TEST(plans_cost_what_their_rows_cost)
{
    static const struct {
        const char *name;
        int64_t extent[TZ_AXES], tile[TZ_AXES];
        int height;
    } cases[] = {
        {"star2d1r", {512, 300, 1}, {512, 300, 1}, 1},
        {"star2d1r", {512, 300, 1}, {512, 300, 1}, 4},
        {"star2d1r", {100, 300, 1}, {100, 300, 1}, 1},
        {"star2d1r", {100, 300, 1}, {100, 300, 1}, 4},
        {"star3d1r", {128, 40, 30}, {128, 40, 30}, 3},
        {"star3d1r", {57, 40, 30}, {57, 40, 30}, 2},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fake f;
        tz_model_work work;
        open_fake(&f, cases[c].name, cases[c].extent);
        tz_plan plan = {.family = "stream", .height = cases[c].height};
        memcpy(plan.tile, cases[c].tile, sizeof plan.tile);
        const tz_place place = {.threads = 1};
        assert_ok(
            tz_backend_cpu.work(&f.problem, &place, &plan, TZ_EFFORT_CACHED, &work, &failure));
        const int64_t width = cases[c].extent[0], full = (width + 15) / 16 * 16,
                      h = cases[c].height;
        const double rows = (double)(h * cases[c].extent[1] * cases[c].extent[2]);
        const double elements = rows * (double)((h - 1) * full + width) / (double)h;
        assert_true(fabs(work.loops_s / (elements * VECTOR / 16) - 1) < 1e-3);
        /* Only the last level leaves cells over. */
        const double rest = (double)(width % 16) * (REST - VECTOR / 16) / (double)h;
        const double beside = rows * (ROW + rest) + work.spans * CALL;
        assert_true(fabs(work.rows_s / beside - 1) < 1e-3);
        const tz_place absent = {.threads = 1, .absent = true};
        const long calls = costly.calls;
        assert_ok(
            tz_backend_cpu.work(&f.problem, &absent, &plan, TZ_EFFORT_CACHED, &work, &failure));
        assert_true(work.loops_s == 0 && work.rows_s == 0 && costly.calls == calls);
        close_fake(&f);
    }
}

static double four_s; /* of a row of 1024 cells in each of four slabs */

static void four_slabs(const tz_span *span)
{
    (void)span;
    made_up_clock.now_s += four_s;
}

static const tz_row_form four_form = {.isa = "base", .rows = {four_slabs, four_slabs}};
static const tz_kernels four_kernels = {.forms_count = 1, .forms = &four_form};
extern const tz_cpu_family tz_cpu_diamond;

TEST(slabs_are_computed_at_once_where_that_takes_less_time)
{
    const tz_machine machine = {.l1_bytes = 48 << 10};
    const tz_plan plan = {.height = 4, .tile = {1024, 300, 1}};
    for (int dear = 0; dear < 2; dear++) {
        fake f;
        open_fake(&f, "star2d1r", (int64_t[]){1024, 300, 1});
        f.pass.in_place = &four_kernels;
        f.pass.slabs = 4;
        f.pass.text = dear ? "dear" : "cheap"; /* times are kept by the text */
        four_s = (dear ? 1.05 : 0.95) * (CALL + 4 * (ROW + VECTOR * 1024 / 16));
        tz_cpu_grid grid = tz_cpu_grid_of(&f.problem, &machine, 1);
        assert_int_equal(tz_cpu_stage_of(&grid, &tz_cpu_diamond, &plan).alone, dear);
        grid.absent = true;
        assert_int_equal(tz_cpu_stage_of(&grid, &tz_cpu_diamond, &plan).alone, 0);
        close_fake(&f);
    }
}

/* ---- Counts ---------------------------------------------------------------------------------- */

TEST(texts_have_operations)
{
    static const struct {
        const char *text;
        double plain, special;
    } cases[] = {
        {"TZ_CELL(a) { TZ_PUT(u, TZ_AT(u, -1, 0) + TZ_AT(u, 1, -2)); }", 1, 0},
        {"TZ_CELL(a) { TZ_PUT(u, -TZ_AT(u, 0) * (TZ_K(c) - 1e-3) / 2); }", 2, 1},
        {"TZ_CELL(b) { x + y; } TZ_CELL_ONCE(a, ONCE)\n{ x = TZ_FMA(a, b, c); /* + */ }", 1, 0},
        {"TZ_CELL(a) { if (x) { y = TZ_SQRT(x) + TZ_MIN(a, b); } z = x ^ y; }", 3, 1},
        {"TZ_CELL(a) { TZ_PUT(u, TZ_EXP(-x)); } int x = a + b;", 20, 0},
        {"#define ROWS(D) D(0, F)\nTZ_CELL_ROWS(a, u, real, ROWS)\n", 0, 0},
        {"TZ_CELL(ab) { x + y; }", 0, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const tz_pass pass = {.text = cases[c].text, .text_cell = "a"};
        const tz_operations found = tz_operations_count(&pass);
        if (found.plain != cases[c].plain || found.special != cases[c].special)
            fail_msg("%s: %g and %g", cases[c].text, found.plain, found.special);
    }
    const tz_pass handwritten = {.text = NULL};
    assert_true(tz_operations_count(&handwritten).plain == 0);
}

/* Loads of a vector: cells in x, and rows that slabs computed at once share. */
TEST(reads_of_known_stencils_are_counted)
{
    static const struct {
        const char *name, *family;
        int64_t extent[TZ_AXES];
        double cells, reads, lines; /* of a processor with vectors of 64 bytes */
    } cases[] = {
        {"star2d1r", "diamond", {512, 512, 1}, 5, 1.5, 1.5},
        {"box2d1r", "diamond", {512, 512, 1}, 9, 2.5, 3.5},
        {"star3d1r", "diamond", {128, 128, 128}, 7, 3.5, 3.5},
        {"star2d1r", "stream", {512, 512, 1}, 5, 5, 7},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fake f;
        tz_model_work work;
        open_fake(&f, cases[c].name, cases[c].extent);
        made_up_clock.is_in_use = false;
        f.pass.together = f.pass.in_place = f.pass.kernels;
        tz_model_device device = {0};
        device.vector_bytes = (tz_model_number){.value = 64, .known = true};
        const tz_place place = {.device = &device, .threads = 1, .absent = true};
        tz_plan plan = {.height = 4};
        strcpy(plan.family, cases[c].family);
        assert_ok(tz_backend_cpu.plan(&f.problem, &place, &plan, &failure));
        assert_ok(
            tz_backend_cpu.work(&f.problem, &place, &plan, TZ_EFFORT_CACHED, &work, &failure));
        const tz_work_part *part = &work.parts[0];
        if (part->step.of[TZ_WORK_FP32] != cases[c].cells ||
            part->step.of[TZ_WORK_READ] != cases[c].reads ||
            part->shared_wavefronts != cases[c].lines || part->step.of[TZ_WORK_WRITE] != 1)
            fail_msg("%s: %g cells, %g reads, %g lines", cases[c].name, part->step.of[TZ_WORK_FP32],
                     part->step.of[TZ_WORK_READ], part->shared_wavefronts);
        assert_true(work.vector_bytes == 64);
        close_fake(&f);
    }
}

TEST_GROUP(open_plugins, close_plugins)
