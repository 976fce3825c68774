/* Tuning of thread blocks: which plans, and what is said of the set that tabik2015 chooses. */
#include "predict/tune_set.h"
#include "tests/registry.h"

static tz_workload *workload_of(const char *stencil, int64_t n)
{
    const tz_simulation_config simulation = {.registry = registry,
                                             .stencil = stencil,
                                             .dims = 3,
                                             .extent = {n, n, n},
                                             .precision = -1,
                                             .threads = 2};
    const tz_workload_config config = {
        .simulation = &simulation, .device = "h200", .let_unstable = true};
    tz_workload *workload = NULL;
    assert_ok(tz_workload_create(&workload, &config, &failure));
    return workload;
}

static tz_thread_blocks *blocks_of(const tz_workload *workload)
{
    tz_thread_blocks *blocks = NULL;
    assert_ok(tz_thread_blocks_create(&blocks, workload, &failure));
    return blocks;
}

/* A plan a shape, with the knobs that are given. */
static void each_shape_is_a_plan(void **state)
{
    static const char *const stencils[] = {"gx", "gy", "gz", "st", "fdd7"};
    for (int k = 0; k < 5; k++) {
        tz_workload *workload = workload_of(stencils[k], 512);
        tz_thread_blocks *blocks = blocks_of(workload);
        const tz_tabik_space *space = &blocks->passes[0].space;
        const tz_plan given = {.ahead = 2};
        tz_plan *plans;
        int count;
        assert_ok(tz_tune_set_plans(workload, blocks, &given, &plans, &count, &failure));
        assert_int_equal(count, space->count);
        for (int i = 0; i < count; i++) {
            assert_string_equal(plans[i].family, "block");
            assert_int_equal(plans[i].height, 1);
            assert_int_equal(plans[i].ahead, 2);
            assert_int_equal(plans[i].tile[0], space->shapes[i].x);
            assert_int_equal(plans[i].tile[1], space->shapes[i].y);
        }
        free(plans);
        free(blocks);
        tz_workload_destroy(workload);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    static const struct {
        tz_plan given;
        const char *what;
    } cases[] = {{{.height = 2}, "'height'"},
                 {{.family = "tile"}, "'family'"},
                 {{.tile = {32, 8, 0}}, "'block'"},
                 {{.warps = 8}, "'warps'"}};
    tz_workload *workload = workload_of("gx", 64);
    tz_thread_blocks *blocks = blocks_of(workload);
    tz_plan *plans;
    int count;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check_error_of(
            tz_tune_set_plans(workload, blocks, &cases[k].given, &plans, &count, &failure),
            TZ_UNSUPPORTED, &failure, "", cases[k].what);
    free(blocks);
    tz_workload_destroy(workload);
    workload = workload_of("diffusion", 64);
    blocks = blocks_of(workload);
    check_error_of(tz_tune_set_plans(workload, blocks, &(tz_plan){0}, &plans, &count, &failure),
                   TZ_UNSUPPORTED, &failure, "", "has several passes");
    free(blocks);
    tz_workload_destroy(workload);
}

/* Times that depend on the shape alone, one of them missing. */
static void the_set_is_judged_by_times(void **state)
{
    tz_workload *workload = workload_of("fdd5", 256);
    tz_thread_blocks *blocks = blocks_of(workload);
    const tz_tabik_space *space = &blocks->passes[0].space;
    tz_tune_row rows[TZ_TABIK_SHAPES_MAX] = {0};
    tz_tune tune = {.rows = rows, .count = space->count};
    int chosen[TZ_TABIK_SHAPES_MAX] = {0}, found = 0;
    for (int i = 0; i < space->count; i++) {
        rows[i].plan.tile[0] = space->shapes[i].x;
        rows[i].plan.tile[1] = space->shapes[i].y;
        rows[i].measured = (tz_measured){.rounds = 5, .taken_s = 8e-3};
        if (space->shapes[i].chosen)
            chosen[found++] = i;
    }
    assert_true(found >= 2 && found < space->count);
    rows[chosen[0]].measured.taken_s = 4e-3;
    rows[chosen[1]].measured.taken_s = 5e-3;
    for (int i = 2; i < found; i++)
        rows[chosen[i]].measured.rounds = 0;
    const int other = chosen[0] > 0 ? 0 : chosen[found - 1] + 1; /* of no chosen shape */
    assert_false(space->shapes[other].chosen);
    rows[other].measured.taken_s = 2e-3;
    tune.best = other;
    tz_tune_set_conclude(&tune, blocks);
    assert_int_equal(tune.set.shapes, space->count);
    assert_int_equal(tune.set.chosen, found);
    assert_int_equal(tune.set.measured_chosen, 2);
    assert_int_equal(tune.set.measured, space->count - found + 2);
    assert_false(tune.set.has_best);
    assert_true(fabs(tune.set.best - 0.5) < 1e-12 && fabs(tune.set.worst - 0.4) < 1e-12);
    tune.best = chosen[0];
    tz_tune_set_conclude(&tune, blocks);
    assert_true(tune.set.has_best && tune.set.best == 1.0);
    rows[chosen[0]].measured.rounds = rows[chosen[1]].measured.rounds = 0;
    tune.best = other;
    tz_tune_set_conclude(&tune, blocks);
    assert_true(tune.set.measured_chosen == 0 && isnan(tune.set.worst));
    free(blocks);
    tz_workload_destroy(workload);
}

/* Nothing is measured: predictions of the compiled kernels stand for times. */
static void tuning_takes_every_shape(void **state)
{
    tz_workload *workload = workload_of("gx", 64); /* compiles fast, in few shapes */
    tz_thread_blocks *blocks = blocks_of(workload);
    const int shapes = blocks->passes[0].space.count;
    free(blocks);
    const tz_tune_request request = {.thread_blocks = true, .dry = true};
    tz_tune *tune = NULL;
    int chosen = 0;
    workload->is_here = true;
    const tz_status status = tz_tune_create(&tune, workload, &request, &failure);
    if (status == TZ_UNSUPPORTED) {
        tz_workload_destroy(workload);
        skip_test("%s", failure.message);
    }
    assert_ok(status);
    assert_true(shapes > 3);
    assert_int_equal(tune->count, shapes);
    assert_int_equal(tune->set.shapes, shapes);
    for (int i = 0; i < tune->count; i++) {
        assert_string_equal(tune->rows[i].plan.family, "block");
        assert_int_equal(tune->rows[i].shape.x, tune->rows[i].plan.tile[0]);
        chosen += tune->rows[i].shape.chosen;
    }
    assert_int_equal(chosen, tune->set.chosen);
    assert_int_equal(tune->set.has_best, tune->rows[tune->best].shape.chosen);
    tz_tune_destroy(tune);
    tz_workload_destroy(workload);
}

TEST_MAIN(open_plain_plugins, close_plugins, TEST(each_shape_is_a_plan),
          TEST(what_does_not_fit_is_refused), TEST(the_set_is_judged_by_times),
          TEST(tuning_takes_every_shape))
