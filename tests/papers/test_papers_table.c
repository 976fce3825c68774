/* Prediction tables by meng2009 and meng2011: a stencil as the papers' models see it, and what is
 * refused. */
#include "model/papers/options.h"
#include "model/papers/papers.h"
#include "tests/backend/cuda/nvrtc.h"
#include "tests/predictions.h"

static double seconds_of(const tz_model_prediction *p, const char *component)
{
    for (int c = 0; c < p->component_count; c++)
        if (strcmp(p->components[c].name, component) == 0)
            return p->components[c].seconds;
    fail_msg("no component %s", component);
    return NAN;
}

/* Equation 20 at height 1, HotSpot: 212085.2 cycles of 1.3 GHz. */
TEST(components_are_the_papers)
{
    tz_workload *workload = workload_of("hotspot", 2, 2000, "gtx280");
    const tz_prediction_request request = {.given = {.height = 1}};
    tz_prediction_table *table = table_of(workload, &request);
    assert_int_equal(table->count, 1);
    assert_true(workload->is_gpu && !workload->is_here);
    assert_string_equal(workload->backend->name, "cuda");
    assert_string_equal(table->by->name, "meng2009");
    assert_non_null(strstr(table->counts, "table 2"));
    assert_ptr_equal(tz_prediction_table_at(table, 1), &table->rows[0]);
    assert_null(tz_prediction_table_at(table, 2));
    const tz_model_prediction *p = &table->rows[0].prediction;
    assert_true(fabs(seconds_of(p, "load_sten") * 1.3e9 / 212085.2 - 1) < 1e-6);
}

TEST(changes_reach_the_model)
{
    tz_workload *workload = workload_of("hotspot", 2, 2000, "gtx280");
    tz_prediction_request request = {.block = {32, 32}};
    tz_prediction_table *table = table_of(workload, &request);
    assert_int_equal(table->rows[0].plan.tile[1], 32);
    assert_int_equal(table->count, 15); /* 32 / 2 less one */
    request = (tz_prediction_request){.by = NULL};
    tz_prediction_option_set(&request, TZ_PAPERS_HALO, (double[]){4, 4}, 2);
    table = table_of(workload, &request);
    assert_int_equal(table->count, 4); /* 20 / 4 less one */
    request = (tz_prediction_request){.by = NULL};
    tz_prediction_option_set(&request, TZ_PAPERS_STREAMED, (double[]){1}, 1);
    table = table_of(workload, &request);
    assert_true(seconds_of(&table->rows[0].prediction, "iter_mem") > 0);
}

/* Without the paper's counts those of the tile kernel are taken, where a thread has about ten
 * elements: its set-up counts by element, as the models use it. In table 2 the set-up of a thread
 * has 0.3 to 1.1 times the instructions of an update. */
TEST(counted_set_up_is_that_of_an_element)
{
    static const struct {
        const char *name;
        int dims;
        int64_t n;
    } cases[] = {{"star2d1r", 2, 4096}, {"box2d1r", 2, 4096}, {"star3d1r", 3, 256}};
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_workload *workload = workload_of(cases[i].name, cases[i].dims, cases[i].n, "gtx280");
        const tz_prediction_request request = {.by = NULL};
        tz_prediction_table *table = table_of(workload, &request);
        const tz_model_prediction *one = &table->rows[0].prediction;
        assert_non_null(strstr(table->counts, "tile kernel"));
        const double blocks = pow(cases[i].dims == 2 ? 22 : 8, cases[i].dims),
                     updates = pow(cases[i].dims == 2 ? 20 : 6, cases[i].dims);
        const double ratio =
            seconds_of(one, "misc_comp") / blocks / (seconds_of(one, "iter_comp") / updates);
        if (!(ratio > 0.2 && ratio < 2))
            fail_msg("%s: %.2f times an update", cases[i].name, ratio);
        if (i == 0) { /* by hand: 993 instructions of a thread, 2448 elements of 256 threads */
            assert_int_equal(table->rows[table->best].plan.height, 2);
            assert_true(fabs(one->cells_per_s * 1e-9 - 1.58) < 0.05);
        }
    }
}

TEST(refusals_have_remedies)
{
    tz_workload *workload = workload_of("hotspot", 2, 2000, "gtx280");
    check_no_table(workload, &(tz_prediction_request){.by = &tz_predictor_roofs}, TZ_UNSUPPORTED,
                   "use --model meng2009 or meng2011");
    check_no_table(workload, &(tz_prediction_request){.given = {.height = 10}}, TZ_RANGE,
                   "the greatest that does is 9");
    check_no_table(workload, &(tz_prediction_request){.given = {.family = "stream"}},
                   TZ_UNSUPPORTED, "tiles in shared memory");
    check_no_table(workload, &(tz_prediction_request){.options = 1u << TZ_PAPERS_FENCE}, TZ_RANGE,
                   "meng2011");
}

TEST(limits_are_listed_by_height)
{
    /* 2011's latency hiding leaves PathFinder to the memory. */
    tz_workload *workload = workload_of("pathfinder", 1, 1000000, "gtx280");
    const tz_prediction_request request = {.by = &tz_predictor_meng2011};
    tz_prediction_table *table = table_of(workload, &request);
    tz_model_resource limit = table->rows[0].prediction.limit;
    int changes = 0;
    for (int i = 1; i < table->count; i++)
        changes += table->rows[i].prediction.limit != table->rows[i - 1].prediction.limit;
    assert_int_equal(strncmp(table->limits, tz_model_resource_text(limit),
                             strlen(tz_model_resource_text(limit))),
                     0);
    int listed = 0;
    for (const char *at = table->limits; (at = strstr(at, ", then ")); at++)
        listed++;
    assert_int_equal(listed, changes);
}

TEST(unstable_parameters_pass_with_a_note)
{
    const tz_assignment step = {.name = "dt_s", .number = 1e-3};
    tz_simulation_config simulation = config_of("hotspot", 2, 8192);
    simulation.params = &step;
    simulation.params_count = 1;
    const tz_workload_config config = {.simulation = &simulation, .device = "gtx280"};
    tz_workload *workload = workload_for(&simulation, "gtx280");
    const tz_prediction_request request = {.by = NULL};
    tz_prediction_table *table = table_of(workload, &request);
    assert_true(workload->let_unstable);
    assert_true(is_noted(&table->notes, "would diverge"));
    assert_int_equal(tz_workload_create(&workload, &config, NULL), TZ_UNSTABLE);
    assert_null(workload);
}

TEST_GROUP(open_plugins, close_plugins)
