/* The work of a plan: counts of the geometry against the engine, candidates, bytes. */

#include "backend/backend.h"
#include "backend/cpu/family.h"
#include "base/machine.h"
#include "kernels/cpu/diamond.h"
#include "tests/backend/cpu/grid.h"
#include "tests/registry.h"

extern const tz_cpu_family tz_cpu_diamond;

/* ---- The geometry ---------------------------------------------------------------------------- */

static double spans, rows, updates; /* of the engine's calls; one thread */

static void counting(const tz_span *span)
{
    spans++;
    rows += (double)span->rows;
    updates += (double)span->rows * (double)span->count;
}

/* A stage whose row functions count. */
typedef struct geometry {
    int dims;
    int64_t elements[TZ_AXES], tile[TZ_AXES];
    int batch;
    bool diamonds;
} geometry;

static void check_stage(const geometry *c, int height, int radius, tz_boundary boundary)
{
    grid g;
    grid_make(&g, 1, radius, counting, NULL, c->dims, c->elements, boundary);
    memcpy(g.stage.tile, c->tile, sizeof g.stage.tile);
    g.stage.height = height;
    g.stage.batch = c->batch;
    tz_pipeline *pipeline = malloc(tz_pipeline_size());
    tz_stage_counts counts;
    assert_non_null(pipeline);
    if (c->diamonds)
        tz_diamond_count(&g.stage, &counts);
    else
        tz_stage_count(&g.stage, pipeline, &counts);
    const double cells = (double)(c->elements[0] * c->elements[1] * c->elements[2]);
    const size_t bytes = (tz_stage_arena_bytes(&g.stage, pipeline) + 63) / 64 * 64;
    char *arena = aligned_alloc(64, bytes);
    assert_non_null(arena);
    memset(arena, 0, bytes);
    spans = rows = updates = 0;
    if (c->diamonds) {
        g.stage.spare = calloc(1, tz_diamond_spare_bytes(&g.stage));
        tz_diamond_run(&g.stage);
        free(g.stage.spare);
        assert_true(updates == height * cells);
        assert_true(counts.rows > 0 && counts.rows <= rows);
        assert_true(counts.read >= cells && fmod(counts.written, cells) == 0);
    } else {
        tz_stage_run(&g.stage, pipeline, arena, bytes);
        assert_true(counts.ring_bytes <= (double)bytes);
        if (boundary != TZ_PERIODIC) /* a wrapping tile's rows are split at the grid's ends */
            assert_true(counts.spans == spans && counts.rows == rows);
    }
    assert_true(counts.updates == updates);
    assert_float_equal(counts.slowest, updates, 1e-6 * updates); /* of one thread */
    assert_true(c->diamonds || (counts.written == cells && counts.read >= cells));
    free(arena), free(pipeline);
    grid_clear(&g);
}

TEST(test_geometry_is_what_the_engine_walks)
{
    static const tz_boundary boundaries[] = {TZ_CLAMP, TZ_FIXED, TZ_PERIODIC};
    static const geometry cases[] = {
        {2, {200, 70, 1}, {48, 33, 1}, 4, true},  {3, {70, 40, 30}, {70, 16, 30}, 1, true},
        {1, {500, 1, 1}, {64, 1, 1}, 1, false},   {2, {200, 70, 1}, {200, 70, 1}, 3, false},
        {2, {200, 70, 1}, {48, 33, 1}, 4, false}, {3, {70, 40, 30}, {32, 16, 13}, 1, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t b = 0; b < 3; b++)
            for (int height = 1; height <= 5; height += 2)
                for (int radius = 1; radius <= 2; radius++)
                    check_stage(&cases[c], height, radius, boundaries[b]);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static const tz_model_device no_record;

static tz_problem resolve(const char *name, int dims, const int64_t *extent, int precision)
{
    tz_problem problem;
    const tz_stencil *stencil;
    tz_simulation_config config = {
        .registry = registry, .stencil = name, .dims = dims, .precision = precision};
    memcpy(config.extent, extent, sizeof config.extent);
    if (tz_registry_find(registry, name, &stencil, NULL, &failure) ||
        tz_problem_resolve(&problem, stencil, &config, &failure))
        fail_msg("%s: %s", name, failure.message);
    return problem;
}

static const struct {
    const char *name;
    int dims;
    int64_t extent[3];
    int precision;
} cases[] = {
    {"star2d1r", 2, {1000, 900, 1}, TZ_SINGLE}, {"box2d2r", 2, {1000, 900, 1}, TZ_DOUBLE},
    {"hotspot", 2, {512, 512, 1}, TZ_SINGLE},   {"poisson", 2, {64, 64, 1}, TZ_DOUBLE},
    {"star3d1r", 3, {128, 100, 90}, TZ_SINGLE}, {"box3d1r", 3, {40, 40, 40}, TZ_DOUBLE},
    {"life", 2, {4096, 1000, 1}, -1},           {"cell", 3, {256, 64, 64}, -1},
    {"pathfinder", 1, {100000, 1, 1}, -1},
};
enum { CASES = sizeof cases / sizeof *cases, PLANS = 512 };

/* "diamond" by default: with enough rows for the threads, but for bits in 3-D. */
TEST(test_diamonds_are_chosen)
{
    static const struct {
        const char *name;
        int dims;
        int64_t extent[3];
        int threads;
        bool diamond;
    } known[] = {
        {"star3d1r", 3, {128, 100, 90}, 6, true}, {"star3d1r", 3, {128, 100, 90}, 7, false},
        {"star3d2r", 3, {128, 100, 90}, 3, true}, {"star3d2r", 3, {128, 100, 90}, 4, false},
        {"star2d1r", 2, {128, 100, 1}, 6, true},  {"star2d1r", 2, {128, 100, 1}, 7, false},
        {"life", 2, {4096, 1000, 1}, 2, true},    {"cell", 3, {256, 640, 64}, 2, false},
        {"wave3d", 3, {128, 100, 90}, 2, true},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tz_problem problem = resolve(known[k].name, known[k].dims, known[k].extent, -1);
        const tz_machine machine = {.l2_bytes = 2 << 20};
        const tz_cpu_grid here = tz_cpu_grid_of(&problem, &machine, known[k].threads);
        const tz_plan plan = {0}, tiled = {.tile = {0, 20, 0}};
        assert_int_equal(tz_cpu_diamond.may(&here, &plan) && tz_cpu_diamond.preferred(&here, &plan),
                         known[k].diamond);
        assert_false(tz_cpu_diamond.may(&here, &tiled)); /* a given tile is one of "stream" */
        tz_problem_clear(&problem);
    }
    /* Stages of large grids are one diamond high. */
    tz_problem problem = resolve("star3d1r", 3, (int64_t[]){1000, 1000, 1000}, TZ_SINGLE);
    const tz_machine machine = {.l2_bytes = 2 << 20};
    tz_plan few = {0}, many = {0};
    const tz_cpu_grid one = tz_cpu_grid_of(&problem, &machine, 1),
                      sixty = tz_cpu_grid_of(&problem, &machine, 60);
    assert_ok(tz_cpu_diamond.plan(&one, &few, &failure));
    assert_ok(tz_cpu_diamond.plan(&sixty, &many, &failure));
    assert_int_equal(few.height, few.tile[1]);
    assert_int_equal(many.height, 2 * many.tile[1]);
    tz_problem_clear(&problem);
}

TEST(test_candidates_are_plans)
{
    static tz_plan plans[PLANS];
    for (int c = 0; c < CASES; c++)
        for (int threads = 1; threads <= 4; threads += 3) {
            tz_problem problem =
                resolve(cases[c].name, cases[c].dims, cases[c].extent, cases[c].precision);
            const tz_place place = {.device = &no_record, .threads = threads};
            tz_plan given = {0}, chosen = {0};
            int count = 0;
            assert_ok(tz_backend_cpu.candidates(&problem, &place, &given, plans, PLANS, &count,
                                                &failure));
            assert_true(count >= 10);
            assert_int_equal(plans[0].height, 1);
            for (int i = 0; i < count; i++) {
                tz_plan again = plans[i];
                again.why[0] = '\0';
                assert_ok(tz_backend_cpu.plan(&problem, &place, &again, &failure));
                assert_int_equal(again.height, plans[i].height);
                assert_memory_equal(again.tile, plans[i].tile, sizeof again.tile);
                for (int k = 0; k < i; k++)
                    assert_false(tz_plan_equal(&plans[k], &plans[i]));
            }
            /* Candidates keep the given knobs, and include the backend's own shape. */
            chosen.height = given.height = 3;
            assert_ok(tz_backend_cpu.plan(&problem, &place, &chosen, &failure));
            assert_ok(tz_backend_cpu.candidates(&problem, &place, &given, plans, PLANS, &count,
                                                &failure));
            bool found = false;
            for (int i = 0; i < count; i++) {
                assert_int_equal(plans[i].height, 3);
                found = found || memcmp(plans[i].tile, chosen.tile, sizeof chosen.tile) == 0;
            }
            assert_true(found);
            memcpy(given.tile, chosen.tile, sizeof given.tile);
            assert_ok(tz_backend_cpu.candidates(&problem, &place, &given, plans, PLANS, &count,
                                                &failure));
            assert_int_equal(count, 1);
            /* No more than there is room for. */
            given = (tz_plan){0};
            assert_ok(
                tz_backend_cpu.candidates(&problem, &place, &given, plans, 4, &count, &failure));
            assert_int_equal(count, 4);
            tz_problem_clear(&problem);
        }
}

TEST(test_impossible_candidates_are_refused)
{
    tz_problem problem = resolve("star2d1r", 2, cases[0].extent, TZ_SINGLE);
    const tz_place place = {.device = &no_record, .threads = 2};
    const tz_plan given = {.height = 100, .tile = {16, 16, 1}};
    tz_plan plans[4];
    int count;
    assert_int_equal(
        tz_backend_cpu.candidates(&problem, &place, &given, plans, 4, &count, &failure), TZ_RANGE);
    tz_problem_clear(&problem);
}

/* A stage has levels for so many iterations, and no more. */
TEST(test_heights_have_a_limit)
{
    static const int64_t extent[] = {4000, 4000, 1};
    static const tz_place place = {.threads = 1};
    tz_problem problem = resolve("star2d1r", 2, extent, TZ_SINGLE);
    tz_plan plan = {.height = TZ_LEVELS_MAX};
    assert_ok(tz_backend_cpu.plan(&problem, &place, &plan, &failure));
    assert_int_equal(plan.height, TZ_LEVELS_MAX);
    plan = (tz_plan){.height = TZ_LEVELS_MAX + 1};
    check_error(tz_backend_cpu.plan(&problem, &place, &plan, &failure), TZ_RANGE, "height",
                "height 513 is out of range; 1 to 512 are possible for 'star2d1r'");
    tz_problem_clear(&problem);
}

static tz_model_work work_of(const tz_problem *problem, const tz_plan *plan, int threads)
{
    const tz_place place = {.device = &no_record, .threads = threads, .absent = true};
    tz_model_work work;
    if (tz_backend_cpu.work(problem, &place, plan, TZ_EFFORT_CACHED, &work, &failure))
        fail_msg("%s: %s", problem->stencil->id, failure.message);
    return work;
}

TEST(test_work_of_every_plugin)
{
    for (int c = 0; c < CASES; c++) {
        tz_problem problem =
            resolve(cases[c].name, cases[c].dims, cases[c].extent, cases[c].precision);
        for (int height = 1; height <= 4; height++) {
            tz_plan plan = {.height = height};
            assert_ok(tz_backend_cpu.plan(&problem, &(tz_place){.threads = 2}, &plan, &failure));
            const tz_model_work work = work_of(&problem, &plan, 2);
            const double cells = (double)cases[c].extent[0] * (double)cases[c].extent[1] *
                                 (double)cases[c].extent[2];
            assert_int_equal(work.kind, TZ_WORK_CPU);
            assert_int_equal(work.height, height);
            assert_true(work.cells == cells * height);
            assert_true(work.redundancy >= 1.0 && work.redundancy < 3.0);
            assert_true(work.slowest >= 1.0 && work.slowest <= 2.0);
            assert_int_equal(work.parts_count, problem.stencil->passes_count);
            for (int p = 0; p < work.parts_count; p++)
                assert_true(work.parts[p].step.of[TZ_WORK_READ] > 0 &&
                            work.parts[p].shared_wavefronts >= work.parts[p].step.of[TZ_WORK_READ]);
            /* Vectors times their cells are the updates. */
            double vectors = 0;
            for (int p = 0; p < work.parts_count; p++)
                vectors += work.parts[p].warps * work.parts[p].steps;
            const double cells_a_byte =
                (problem.bits ? 32.0 : 1.0) / (double)tz_problem_element_size(&problem, 0);
            const double computed = vectors * work.vector_bytes * cells_a_byte;
            const double padded = (double)problem.elements[0] * (problem.bits ? 32 : 1) /
                                  (double)problem.extent[0]; /* bits past a row's end */
            assert_true(fabs(computed - work.cells * work.redundancy * padded) < 1e-6 * computed);
            assert_true(work.rows >= work.spans && work.spans > 0);
            const double element = (double)tz_problem_element_size(&problem, 0);
            const double array = element * (double)problem.elements[0] *
                                 (double)problem.elements[1] * (double)problem.elements[2];
            /* From the second iteration on, each phase of "diamond" writes both arrays. */
            const bool both = strcmp(plan.family, "diamond") == 0 && height > 1;
            assert_true(both ? work.write_bytes >= 2 * array && fmod(work.write_bytes, array) == 0
                             : work.write_bytes == array);
            assert_true(work.resident_bytes >= 2 * array);
            assert_true(work.ghost_bytes >= 0);
        }
        tz_problem_clear(&problem);
    }
}

TEST(test_streamed_rows_begin_anew)
{
    tz_problem problem = resolve("pathfinder", 1, (int64_t[]){100000, 1, 1}, -1);
    const tz_plan plan = {.height = 4, .tile = {50000, 1, 1}};
    const tz_model_work work = work_of(&problem, &plan, 1);
    assert_true(work.streamed_starts == 2 * 4); /* two tiles, a row a level */
    assert_true(work.starts == 0);
    tz_problem_clear(&problem);
}

TEST(test_slabs_of_tiles_with_fewer_rows_begin_anew)
{
    tz_problem problem = resolve("star3d1r", 3, (int64_t[]){48, 48, 48}, TZ_SINGLE);
    const tz_plan whole = {.height = 1, .tile = {48, 48, 24}};
    const tz_plan parts = {.height = 1, .tile = {48, 24, 48}};
    const tz_plan pieces = {.height = 1, .tile = {32, 48, 48}};
    const tz_model_work a = work_of(&problem, &whole, 2);
    const tz_model_work b = work_of(&problem, &parts, 2);
    const tz_model_work c = work_of(&problem, &pieces, 2);
    assert_true(a.edge_lines == 0 && a.starts == 0);
    /* A row has three lines of its own and one with its neighbours at each end. */
    assert_true(b.starts == 0 && fabs(b.edge_lines - 2 * 48 * 5) < 1e-9 * b.edge_lines);
    assert_true(c.edge_lines == 0 && c.starts > 0);
    tz_problem_clear(&problem);
}

TEST(test_bytes_follow_the_plan)
{
    tz_problem problem = resolve("star2d1r", 2, (int64_t[]){4096, 4096, 1}, TZ_SINGLE);
    const tz_plan whole = {.height = 8, .tile = {4096, 4096, 1}};
    const tz_plan narrow = {.height = 8, .tile = {512, 4096, 1}};
    const tz_plan high = {.height = 24, .tile = {512, 4096, 1}};
    const tz_model_work a = work_of(&problem, &whole, 1);
    const tz_model_work b = work_of(&problem, &narrow, 1);
    const tz_model_work c = work_of(&problem, &high, 1);
    assert_true(a.ghost_bytes == 0 && a.redundancy == 1);
    assert_true(b.ghost_bytes > 0 && b.redundancy > 1);
    assert_true(c.ghost_bytes > b.ghost_bytes && c.redundancy > b.redundancy);
    assert_true(b.ring_bytes < a.ring_bytes && b.ring_bytes < c.ring_bytes);
    assert_true(a.near_reads >= b.near_reads); /* long rows leave the first level */
    assert_true(a.rows < b.rows);
    /* The rows of each of eight narrow tiles start again. */
    assert_true(a.starts == 0);
    assert_true(b.starts > 0.95 * 8 * 4096 && b.starts < 1.05 * 8 * 4096);
    /* Two threads of one tile: one works. Of two equal ones: both do. */
    const tz_plan halves = {.height = 8, .tile = {4096, 2048, 1}};
    assert_int_equal(work_of(&problem, &whole, 2).workers, 1);
    const tz_model_work d = work_of(&problem, &halves, 2);
    assert_int_equal(d.workers, 2);
    assert_true(d.slowest == 1.0);
    const tz_plan thirds = {.height = 8, .tile = {4096, 1366, 1}};
    assert_true(work_of(&problem, &thirds, 2).slowest > 1.3);
    tz_problem_clear(&problem);
}

TEST_GROUP(open_plugins, close_plugins)
