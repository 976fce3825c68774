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
    tz_pipeline *pipeline = malloc(tz_pipeline_size(g.stage.stencil, height));
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

TEST_GROUP(open_plugins, close_plugins)
