/* Tuning of thread blocks: which plans, and what is said of the set that tabik2015 chooses. */
#include "model/papers/papers.h"
#include "model/papers/predict.h"
#include "predict/tune.h"
#include "tests/predictions.h"

static tz_thread_blocks *blocks_of(const tz_workload *workload)
{
    tz_thread_blocks *blocks = NULL;
    assert_ok(tz_thread_blocks_create(&blocks, workload, &failure));
    return blocks;
}

/* A plan a shape, with the knobs that are given. */
TEST(each_shape_is_a_plan)
{
    static const char *const stencils[] = {"gx", "gy", "gz", "st", "fdd7"};
    for (int k = 0; k < 5; k++) {
        tz_workload *workload = workload_of(stencils[k], 3, 512, "h200");
        tz_thread_blocks *blocks = blocks_of(workload);
        const tz_tabik_space *space = &blocks->passes[0].space;
        const tz_plan given = {.ahead = 2};
        tz_plan_list list;
        assert_ok(tz_predictor_tabik2015.list(workload, &given, &list, &failure));
        assert_int_equal(list.count, space->count);
        assert_int_equal(list.listed, space->count);
        assert_int_equal(list.listed_chosen, space->chosen);
        for (int i = 0; i < list.count; i++) {
            assert_string_equal(list.plans[i].family, "block");
            assert_int_equal(list.plans[i].height, 1);
            assert_int_equal(list.plans[i].ahead, 2);
            assert_int_equal(list.plans[i].tile[0], space->shapes[i].x);
            assert_int_equal(list.plans[i].tile[1], space->shapes[i].y);
            assert_int_equal(list.chosen[i], space->shapes[i].chosen);
        }
        tz_plan_list_clear(&list);
        free(blocks);
    }
}

TEST(what_does_not_fit_is_refused)
{
    static const struct {
        tz_plan given;
        const char *what;
    } cases[] = {{{.height = 2}, "'height'"},
                 {{.family = "tile"}, "'family'"},
                 {{.tile = {32, 8, 0}}, "'block'"},
                 {{.warps = 8}, "'warps'"}};
    tz_workload *workload = workload_of("gx", 3, 64, "h200");
    tz_plan_list list;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check_error(tz_predictor_tabik2015.list(workload, &cases[k].given, &list, &failure),
                    TZ_UNSUPPORTED, "", cases[k].what);
    workload = workload_of("diffusion", 3, 64, "h200");
    check_error(tz_predictor_tabik2015.list(workload, &(tz_plan){0}, &list, &failure),
                TZ_UNSUPPORTED, "", "has several passes");
}

/* Nothing is measured: predictions of the compiled kernels stand for times. */
TEST(tuning_takes_every_shape)
{
    tz_workload *workload = workload_of("gx", 3, 64, "h200"); /* compiles fast, in few shapes */
    tz_thread_blocks *blocks = blocks_of(workload);
    const int shapes = blocks->passes[0].space.count;
    free(blocks);
    const tz_tune_request request = {.lister = &tz_predictor_tabik2015, .dry = true};
    tz_tune *tune = NULL;
    int chosen = 0;
    workload->is_here = true;
    const tz_status status = tz_tune_create(&tune, workload, &request, &failure);
    if (status == TZ_UNSUPPORTED) {
        skip_test("%s", failure.message);
    }
    assert_ok(status);
    assert_true(shapes > 3);
    assert_int_equal(tune->count, shapes);
    assert_int_equal(tune->set.shapes, shapes);
    for (int i = 0; i < tune->count; i++) {
        assert_string_equal(tune->rows[i].plan.family, "block");
        chosen += tune->rows[i].chosen;
    }
    assert_int_equal(chosen, tune->set.chosen);
    assert_int_equal(tune->set.has_best, tune->rows[tune->best].chosen);
    tz_tune_destroy(tune);
}

TEST_GROUP(open_plugins, close_plugins)
