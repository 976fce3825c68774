/* Estimates of kernels before they are compiled, and predictions that start from them. No GPU;
 * without NVRTC the tests that compile are skipped. */
#include "predict/predictions.h"
#include "stencil/registry.h"
#include "tests/archetypes.h"
#include "work_support.h"

/* Estimates, for which the base family's kernel alone is compiled, against compiled kernels. */
TEST(estimates_are_near_what_is_compiled)
{
    static const struct {
        const char *id, *family;
        int64_t grid[TZ_AXES];
        int height, vector;
        double within; /* of the time */
    } cases[] = {
        {"star2d1r", "stream", {8192, 8192, 1}, 8, 4, 1.1},
        {"star2d1r", "stream", {8192, 8192, 1}, 2, 8, 1.1},
        {"box2d1r", "stream", {8192, 8192, 1}, 4, 4, 1.2},
        {"star3d1r", "stream", {256, 256, 256}, 2, 4, 1.2},
        {"star3d1r", "direct", {256, 256, 256}, 1, 4, 1.2},
        {"pathfinder", "stream", {1000000, 1, 1}, 16, 8, 1.3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tz_problem problem;
        tz_model_work guess, work;
        tz_plan plan = {.height = cases[k].height, .vector = cases[k].vector};
        snprintf(plan.family, sizeof plan.family, "%s", cases[k].family);
        make_problem(cases[k].id, -1, cases[k].grid[0], cases[k].grid[1], cases[k].grid[2],
                     &problem);
        planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work);
        work_of(&problem, &plan, TZ_EFFORT_ESTIMATE, &guess);
        assert_true(guess.estimated && !work.estimated);
        const double ratio = stage_of(&guess, &device) / stage_of(&work, &device);
        if (!(ratio < cases[k].within && ratio > 1.0 / cases[k].within))
            fail_msg("%s %s h %d: estimated %.2f of the time", cases[k].id, plan.family,
                     plan.height, ratio);
        tz_problem_clear(&problem);
    }
}

static void fits_a_block(const tz_problem *problem, const tz_limits *room, const tz_plan *plan)
{
    const tz_cuda_family *family;
    tz_cuda_shape shape;
    assert_ok(tz_cuda_family_find(plan->family, problem, &family, NULL));
    const int bytes = family->shared_bytes(problem, room, plan);
    if (bytes > room->shared_bytes ||
        tz_cuda_shape_all(family, problem, room, plan, 1, &shape, &failure))
        fail_msg("%s %s h %d: %d bytes %s", problem->stencil->id, plan->family, plan->height, bytes,
                 failure.message);
}

/* No candidate of a stencil needs more than the device has. */
static void candidates_fit(const tz_stencil *stencil, const tz_model_device *record,
                           int *candidates)
{
    enum { MAX = 256 };
    static const int64_t extents[][TZ_AXES] = {{0}, {50000, 1, 1}, {600, 700, 1}, {64, 96, 80}};
    static tz_plan plans[MAX];
    const tz_place here = {.device = record, .threads = 1};
    const tz_limits room = tz_place_limits(&here);
    const int64_t *extent = extents[stencil->dims];
    const tz_plan given = {0};
    tz_problem problem;
    int count = 0;
    assert_true(room.shared_bytes == record->shared_per_block_max_bytes.value);
    make_problem(stencil->id, -1, extent[0], extent[1], extent[2], &problem);
    assert_ok(tz_backend_cuda.candidates(&problem, &here, &given, plans, MAX, &count, &failure));
    assert_true(count > 0);
    for (int k = 0; k < count; k++)
        fits_a_block(&problem, &room, &plans[k]);
    *candidates += count;
    tz_problem_clear(&problem);
}

/* Records of GPUs with less shared memory and fewer multiprocessors than an H200: every archetype,
 * one of the two in turn; with TZ_ALL every stencil and both. */
TEST(plans_fit_the_device_of_a_record)
{
    static const struct {
        double bytes, multiprocessors;
    } devices[] = {{48 << 10, 40}, {99 << 10, 84}};
    tz_model_device record = device;
    int stencils = 0, candidates = 0;
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
        for (int n = 0; plugin && n < plugin->stencils_count; n++) {
            if (!is_archetype(plugin->stencils[n]->id))
                continue;
            const int turn = stencils++ % 2;
            for (int d = 0; d < 2; d++) {
                if (!is_complete() && turn != d)
                    continue;
                record.shared_per_block_max_bytes.value = devices[d].bytes;
                record.sm_count.value = devices[d].multiprocessors;
                candidates_fit(plugin->stencils[n], &record, &candidates);
            }
        }
    }
    assert_true(candidates > 100);
}

/* Limits come from the device, else from its record, else from an H200. */
TEST(limits_have_an_order)
{
    const tz_model_device empty = {0};
    tz_place here = {.device = &empty};
    tz_limits room = tz_place_limits(&here);
    assert_true(room.multiprocessors == 132 && room.shared_bytes == 227 << 10);
    tz_model_device small = device;
    small.sm_count.value = 7;
    here = (tz_place){.device = &small, .limits = {.shared_bytes = 99 << 10}};
    room = tz_place_limits(&here);
    assert_true(room.multiprocessors == 7 && room.shared_bytes == 99 << 10);
}

static tz_predictions *predictions(const tz_problem *problem, int threads, tz_effort effort)
{
    const tz_place here = {.device = &device, .threads = threads};
    const tz_plan given = {.height = 2, .family = "stream"};
    tz_predictions *f = NULL;
    const tz_status status =
        tz_predictions_create(&f, problem, &tz_backend_cuda, &here, &given, effort, NULL, &failure);
    if (status == TZ_UNSUPPORTED && strstr(failure.message, "NVRTC")) {
        skip_test("%s", failure.message);
    }
    assert_ok(status);
    return f;
}

/* Several threads, one after the other, from the cache: the same. */
TEST(threads_compile_what_one_does)
{
    char folder[96], *const first = cache;
    tz_problem problem;
    tz_predictions *all[3];
    make_problem("star2d1r", TZ_SINGLE, 2048, 1024, 1, &problem); /* compiles fast */
    all[0] = predictions(&problem, 4, TZ_EFFORT_COMPILE);
    all[1] = predictions(&problem, 1, TZ_EFFORT_COMPILE); /* nothing is left to compile */
    snprintf(folder, sizeof folder, "%s/other", first);
    assert_int_equal(setenv("TRAPEZE_CACHE", folder, 1), 0);
    all[2] = predictions(&problem, 1, TZ_EFFORT_COMPILE);
    assert_int_equal(setenv("TRAPEZE_CACHE", first, 1), 0);
    assert_true(all[0]->count >= 3);
    for (int k = 1; k < 3; k++) {
        assert_int_equal(all[k]->count, all[0]->count);
        assert_int_equal(all[k]->best, all[0]->best);
        for (int i = 0; i < all[0]->count; i++) {
            assert_false(all[k]->plans[i].work.estimated);
            assert_memory_equal(&all[k]->plans[i].work, &all[0]->plans[i].work,
                                sizeof all[0]->plans[i].work);
        }
    }
    for (int k = 0; k < 3; k++)
        tz_predictions_destroy(all[k]);
    tz_problem_clear(&problem);
}

TEST_GROUP(set_up, tear_down)
