/* Workloads and prediction tables: the device and backend of a workload, a stencil as the papers'
 * models see it, and the texts of tables and tunes. */

#include "backend/cuda/compile/compile.h"
#include "base/machine.h"
#include "calibrate/sample.h"
#include "output/frame/plot.h"
#include "predict/prediction_table.h"
#include "predict/tune.h"
#include "tests/made_up_clock.h"
#include "tests/registry.h"

static tz_simulation_config config_of(const char *stencil, int dims, int64_t n)
{
    tz_simulation_config config = {
        .registry = registry, .stencil = stencil, .dims = dims, .precision = -1};
    for (int axis = 0; axis < TZ_AXES; axis++)
        config.extent[axis] = axis < dims ? n : 1;
    return config;
}

static tz_workload *workload_of(const char *stencil, int dims, int64_t n, const char *device)
{
    const tz_simulation_config simulation = config_of(stencil, dims, n);
    const tz_workload_config config = {
        .simulation = &simulation, .device = device, .let_unstable = true};
    tz_workload *workload = NULL;
    assert_ok(tz_workload_create(&workload, &config, &failure));
    return workload;
}

static tz_prediction_table *table_of(const tz_workload *workload,
                                     const tz_prediction_request *request)
{
    tz_prediction_table *table = NULL;
    assert_ok(tz_prediction_table_create(&table, workload, request, &failure));
    return table;
}

/* The checked numbers of the 2009 equations: best heights 12, 2, 2 and 1. */
static void the_papers_benchmarks_have_the_papers_heights(void **state)
{
    static const struct {
        const char *name;
        int dims, height;
        int64_t n;
    } cases[] = {{"pathfinder", 1, 12, 1000000},
                 {"hotspot", 2, 2, 2000},
                 {"poisson", 2, 2, 2000},
                 {"cell", 3, 1, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_workload *workload = workload_of(cases[i].name, cases[i].dims, cases[i].n, "gtx280");
        const tz_prediction_request request = {.streamed = -1};
        tz_prediction_table *table = table_of(workload, &request);
        assert_true(workload->is_gpu);
        assert_false(workload->is_here);
        assert_string_equal(workload->backend->name, "cuda");
        assert_string_equal(table->model->name, "meng2009");
        assert_int_equal(table->rows[table->best].plan.height, cases[i].height);
        assert_non_null(strstr(table->counts, "table 2"));
        assert_ptr_equal(tz_prediction_table_at(table, cases[i].height), &table->rows[table->best]);
        assert_null(tz_prediction_table_at(table, 100000));
        tz_prediction_table_destroy(table);
        tz_workload_destroy(workload);
    }
}

static double seconds_of(const tz_model_prediction *p, const char *component)
{
    for (int c = 0; c < p->component_count; c++)
        if (strcmp(p->components[c].name, component) == 0)
            return p->components[c].seconds;
    fail_msg("no component %s", component);
    return NAN;
}

/* Equation 20 at height 1, HotSpot: 212085.2 cycles of 1.3 GHz. */
static void components_are_the_papers(void **state)
{
    tz_workload *workload = workload_of("hotspot", 2, 2000, "gtx280");
    const tz_prediction_request request = {.streamed = -1, .given = {.height = 1}};
    tz_prediction_table *table = table_of(workload, &request);
    assert_int_equal(table->count, 1);
    const tz_model_prediction *p = &table->rows[0].prediction;
    assert_true(fabs(seconds_of(p, "load_sten") * 1.3e9 / 212085.2 - 1) < 1e-6);
    tz_prediction_table_destroy(table);
    tz_workload_destroy(workload);
}

static void changes_reach_the_model(void **state)
{
    tz_workload *workload = workload_of("hotspot", 2, 2000, "gtx280");
    tz_prediction_request request = {.streamed = -1, .block = {32, 32}};
    tz_prediction_table *table = table_of(workload, &request);
    assert_int_equal(table->rows[0].plan.tile[1], 32);
    assert_int_equal(table->count, 15); /* 32 / 2 less one */
    tz_prediction_table_destroy(table);
    request = (tz_prediction_request){.streamed = -1, .halo = {4, 4}};
    table = table_of(workload, &request);
    assert_int_equal(table->count, 4); /* 20 / 4 less one */
    tz_prediction_table_destroy(table);
    request = (tz_prediction_request){.streamed = 1};
    table = table_of(workload, &request);
    assert_true(seconds_of(&table->rows[0].prediction, "iter_mem") > 0);
    tz_prediction_table_destroy(table);
    tz_workload_destroy(workload);
}

/* Without the paper's counts those of the tile kernel are taken, where a thread has about ten elements:
 * its set-up counts by element, as the models use it. In table 2 the set-up of a thread has 0.3 to 1.1
 * times the instructions of an update. */
static void counted_set_up_is_that_of_an_element(void **state)
{
    char text[64];
    if (tz_cuda_compile_describe(text, sizeof text, &failure) != TZ_OK)
        skip_test("%s", failure.message);
    static const struct {
        const char *name;
        int dims;
        int64_t n;
    } cases[] = {{"star2d1r", 2, 4096}, {"box2d1r", 2, 4096}, {"star3d1r", 3, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_workload *workload = workload_of(cases[i].name, cases[i].dims, cases[i].n, "gtx280");
        const tz_prediction_request request = {.streamed = -1};
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
        tz_prediction_table_destroy(table);
        tz_workload_destroy(workload);
    }
}

static void refuses(const tz_workload *workload, const tz_prediction_request *request,
                    tz_status status, const char *words)
{
    tz_prediction_table *table = (tz_prediction_table *)&status;
    assert_int_equal(tz_prediction_table_create(&table, workload, request, &failure), status);
    assert_null(table);
    if (!strstr(failure.message, words))
        fail_msg("'%s' does not contain '%s'", failure.message, words);
}

static void refusals_have_remedies(void **state)
{
    tz_workload *workload = workload_of("hotspot", 2, 2000, "gtx280");
    const tz_model *roofs = NULL;
    assert_int_equal(tz_model_find("roofs", &roofs, NULL), TZ_OK);
    refuses(workload, &(tz_prediction_request){.model = roofs, .streamed = -1}, TZ_UNSUPPORTED,
            "use --model meng2009");
    refuses(workload, &(tz_prediction_request){.streamed = -1, .given = {.height = 10}}, TZ_RANGE,
            "the greatest that does is 9");
    refuses(workload, &(tz_prediction_request){.streamed = -1, .given = {.family = "stream"}},
            TZ_UNSUPPORTED, "tiles in shared memory");
    refuses(workload, &(tz_prediction_request){.streamed = -1, .fence = true}, TZ_RANGE,
            "meng2011");
    tz_workload_destroy(workload);
    const tz_model *model = NULL;
    check_error(tz_model_find("roof", &model, &failure), TZ_UNKNOWN, "", "'roofs'");
}

static void limits_are_listed_by_height(void **state)
{
    /* 2011's latency hiding leaves PathFinder to the memory. */
    tz_workload *workload = workload_of("pathfinder", 1, 1000000, "gtx280");
    tz_prediction_request request = {.streamed = -1};
    assert_int_equal(tz_model_find("meng2011", &request.model, NULL), TZ_OK);
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
    tz_prediction_table_destroy(table);
    tz_workload_destroy(workload);
}

/* The best row need not have the shortest time; a text says why. */
static void a_best_that_is_not_the_fastest_is_explained(void **state)
{
    const tz_model_work compiled = {.cells = 1}, estimated = {.estimated = true};
    const tz_prediction_row best = {.plan = {.height = 8, .family = "stream"},
                                    .work = &compiled,
                                    .prediction = {.time_s = 10e-6, .sustained_s = 11e-6}};
    tz_prediction_row fast = {.plan = {.height = 9, .family = "tile"},
                              .work = &compiled,
                              .prediction = {.time_s = 9e-6, .sustained_s = 12.1e-6}};
    char text[256];
    tz_prediction_choice_text(&best, &fast, text, sizeof text);
    assert_string_equal(text, "tile 9 takes 10.0 % less time at the full clock, but 10.0 % more in "
                              "a long run, in which the power limit lowers the clock");
    fast.prediction.sustained_s = 0;
    fast.work = &estimated;
    tz_prediction_choice_text(&best, &fast, text, sizeof text);
    assert_string_equal(text, "tile 9 takes 10.0 % less time, but that is an estimate: its kernel "
                              "is not compiled (--compile compiles all)");
    fast.work = &compiled;
    tz_prediction_choice_text(&best, &fast, text, sizeof text);
    assert_string_equal(text, "tile 9 takes 10.0 % less time; of plans that are about as fast on a "
                              "CPU, the highest is the best");
}

static void unstable_parameters_pass_with_a_note(void **state)
{
    const tz_assignment step = {.name = "dt_s", .number = 1e-3};
    tz_simulation_config simulation = config_of("hotspot", 2, 8192);
    simulation.params = &step;
    simulation.params_count = 1;
    tz_workload_config config = {
        .simulation = &simulation, .device = "gtx280", .let_unstable = true};
    tz_workload *workload = NULL;
    assert_ok(tz_workload_create(&workload, &config, &failure));
    const tz_prediction_request request = {.streamed = -1};
    tz_prediction_table *table = table_of(workload, &request);
    bool noted = false;
    assert_true(workload->let_unstable);
    for (int n = 0; n < table->notes.count; n++)
        noted = noted || strstr(table->notes.text[n], "would diverge");
    assert_true(noted);
    tz_prediction_table_destroy(table);
    tz_workload_destroy(workload);
    config.let_unstable = false;
    assert_int_equal(tz_workload_create(&workload, &config, NULL), TZ_UNSTABLE);
    assert_null(workload);
}

static void quantiles(void **state)
{
    double four[] = {0.4, 0.1, 0.3, 0.2};
    assert_true(fabs(tz_quantile(four, 4, 0.5) - 0.25) < 1e-12);
    assert_true(fabs(tz_quantile(four, 4, 0) - 0.1) < 1e-12);
    assert_true(fabs(tz_quantile(four, 4, 1) - 0.4) < 1e-12);
    assert_true(fabs(tz_quantile(four, 4, 0.9) - 0.37) < 1e-12);
    assert_true(tz_quantile(four, 0, 0.5) == 0);
}

/* A backend whose stages last a fixed time. Tuning must find the fastest plan, and find that height 3
 * leaves other bits. */
static struct {
    int64_t iterations;
    /* On the clock: stages, and the gaps of more than half a millisecond between them. */
    double end_s, worked_s, rested_s;
    int rests, looks, last_height;
    bool clock_fails;
} run;

static tz_status slow_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                           tz_error *error)
{
    plan->height = plan->height ? plan->height : 1;
    strcpy(plan->family, "stream");
    return TZ_OK;
}

static int64_t slow_bytes(const tz_problem *problem, const tz_place *place, const tz_plan *plan)
{
    return 0;
}

static tz_status slow_create(void **out, const tz_backend_context *context, tz_error *error)
{
    *out = &run;
    return TZ_OK;
}

static void slow_destroy(void *any) {}

static tz_status slow_store(void *any, int field, const tz_box *box, const void *elements,
                            tz_error *error)
{
    run.iterations = 0;
    return TZ_OK;
}

static tz_status slow_stage(void *any, const tz_plan *plan, int height, int64_t step,
                            tz_error *error)
{
    if (plan->height == 5)
        return tz_error_set(error, TZ_UNSUPPORTED, "plan", "no height 5 today");
    const double begin = tz_machine_clock_s(), gap = begin - run.end_s;
    if (run.worked_s > 0 && gap > 5e-4) {
        run.rests++;
        run.rested_s += gap;
    }
    nanosleep(&(struct timespec){.tv_nsec = plan->height == 2 ? 400000 : 1500000 * height}, NULL);
    run.end_s = tz_machine_clock_s();
    run.worked_s += run.end_s - begin;
    run.last_height = plan->height;
    run.iterations += height + (plan->height == 3);
    return TZ_OK;
}

static tz_status slow_reduce(const void *any, int field, tz_reduction *out, tz_error *error)
{
    *out = (tz_reduction){.hash = (uint64_t)run.iterations};
    return TZ_OK;
}

/* Held back for power after height 1, and for heat after height 4. */
static tz_status slow_clock(void *any, tz_clock_facts *out, tz_error *error)
{
    run.looks++;
    if (run.clock_fails)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL, "no clock on the wall");
    *out = (tz_clock_facts){.hz = run.last_height == 1 ? 1e9 : 2e9,
                            .for_power = run.last_height == 1,
                            .for_heat = run.last_height == 4};
    return TZ_OK;
}

static tz_status slow_candidates(const tz_problem *problem, const tz_place *place,
                                 const tz_plan *given, tz_plan *plans, int max, int *count,
                                 tz_error *error)
{
    *count = 5;
    for (int h = 1; h <= 5; h++)
        plans[h - 1] = (tz_plan){.height = h, .family = "stream"};
    return TZ_OK;
}

/* The least CPU work that the model accepts. */
static tz_status slow_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                           tz_effort effort, tz_model_work *out, tz_error *error)
{
    return tz_backend_cpu.work(
        problem, place, &(tz_plan){.height = plan->height, .family = "stream", .tile = {64, 64, 1}},
        effort, out, error);
}

static const tz_backend slow = {.name = "slow",
                                .plan = slow_plan,
                                .bytes = slow_bytes,
                                .create = slow_create,
                                .destroy = slow_destroy,
                                .store = slow_store,
                                .stage = slow_stage,
                                .reduce = slow_reduce,
                                .clock = slow_clock,
                                .candidates = slow_candidates,
                                .work = slow_work};

/* A record with all numbers that the model needs. Time is made up from here on. */
static tz_workload *slow_workload(void)
{
    made_up_clock.is_in_use = true;
    tz_workload *workload = workload_of("star2d1r", 2, 64, "gtx280");
    const size_t numbers =
        (sizeof workload->device - offsetof(tz_model_device, clock_hz)) / sizeof(tz_model_number);
    tz_model_number *first = &workload->device.clock_hz;
    workload->backend = &slow;
    workload->is_gpu = false;
    workload->is_here = true;
    workload->place.threads = 1;
    for (size_t i = 0; i < numbers; i++)
        if (!first[i].known)
            first[i] = (tz_model_number){.value = 1, .known = true};
    workload->device.copy_bandwidth_bytes_per_s.value = 1e10;
    workload->device.l2_bandwidth_bytes_per_s.value = 1e11;
    memset(&run, 0, sizeof run);
    return workload;
}

static void tuning_finds_the_fastest_and_other_bits(void **state)
{
    tz_workload *workload = slow_workload();
    tz_tune *tune = NULL;
    const tz_tune_request request = {.rounds = 3, .round_s = 0.004, .check = true};
    workload->is_here = false;
    check_error(tz_tune_create(&tune, workload, &request, &failure), TZ_UNSUPPORTED, "",
                "nothing can be measured there");
    workload->is_here = true;
    assert_ok(tz_tune_create(&tune, workload, &request, &failure));
    assert_int_equal(tune->count, 5);
    assert_int_equal(tune->refused, 1);
    assert_int_equal(tune->measured, 4);
    assert_int_equal(tune->rows[tune->best].plan.height, 2);
    assert_int_equal(tune->different, 1);
    for (int i = 0; i < tune->count; i++) {
        const tz_tune_row *row = &tune->rows[i];
        if (row->plan.height == 5)
            assert_string_equal(row->refusal, "no height 5 today");
        else
            assert_int_equal(row->equal, row->plan.height != 3);
    }
    assert_true(tune->share > 0 && tune->share <= 1);
    assert_true(tune->error_median > 0 && tune->error_median < tune->error_p90);
    tz_tune_destroy(tune);
    tz_workload_destroy(workload);
}

static void five_rounds_unless_others_are_asked_for(void **state)
{
    tz_workload *workload = slow_workload();
    for (int rounds = 0; rounds <= 2; rounds += 2) {
        tz_tune *tune = NULL;
        const tz_tune_request request = {.rounds = rounds, .round_s = 0.001};
        assert_ok(tz_tune_create(&tune, workload, &request, &failure));
        assert_int_equal(tune->rows[tune->best].measured.rounds,
                         2 * (rounds ? rounds : 5)); /* the fastest are measured again */
        tz_tune_destroy(tune);
    }
    tz_workload_destroy(workload);
}

static void a_gpu_rests_between_rounds(void **state)
{
    tz_workload *workload = slow_workload();
    tz_tune *tune = NULL;
    const tz_tune_request request = {.rounds = 3, .round_s = 0.004};
    workload->is_gpu = true;
    assert_ok(tz_tune_create(&tune, workload, &request, &failure));
    assert_true(tune->rested && !tune->sustained);
    assert_string_equal(tune->clock_refusal, "");
    int all = 0, throttled = 0, hot = 0;
    for (int i = 0; i < tune->count; i++) {
        const tz_tune_row *row = &tune->rows[i];
        const int h = row->plan.height, rounds = row->measured.rounds;
        assert_int_equal(row->measured.clocks, rounds);
        assert_int_equal(row->measured.throttled, h == 1 || h == 4 ? rounds : 0);
        assert_int_equal(row->measured.for_heat, h == 4 ? rounds : 0);
        if (rounds > 0)
            assert_true(fabs(row->measured.clock_hz - (h == 1 ? 1e9 : 2e9)) < 1);
        all += rounds;
        throttled += row->measured.throttled;
        hot += row->measured.for_heat;
    }
    assert_int_equal(tune->rounds_with_clock, all);
    assert_int_equal(tune->rounds_throttled, throttled);
    assert_int_equal(tune->rounds_for_heat, hot);
    assert_int_equal(run.looks, all);
    /* A rest comes before every round, four times as long as the round before it. Rests have a
     * maximum, which a busy machine may reach. */
    assert_true(run.rests >= all);
    assert_true(run.rested_s > 0.6 * TZ_MEASURE_REST * run.worked_s);
    tz_tune_destroy(tune);
    tz_workload_destroy(workload);
}

static void sustained_rounds_come_after_long_work(void **state)
{
    tz_workload *workload = slow_workload();
    tz_tune *tune = NULL;
    const tz_tune_request request = {
        .given = {.height = 2}, .rounds = 1, .round_s = 0.004, .sustained = true};
    workload->is_gpu = true;
    run.clock_fails = true;
    assert_ok(tz_tune_create(&tune, workload, &request, &failure));
    assert_true(tune->sustained && !tune->rested);
    /* Each of four plans, then the run-off. */
    assert_true(run.worked_s > 4 * 0.5);
    /* One read of the clock is enough to know that it fails. */
    assert_string_equal(tune->clock_refusal, "no clock on the wall");
    assert_int_equal(run.looks, 1);
    assert_int_equal(tune->rounds_with_clock, 0);
    for (int i = 0; i < tune->count; i++)
        assert_int_equal(tune->rows[i].measured.clocks, 0);
    tz_tune_destroy(tune);
    tz_workload_destroy(workload);
}

static void sustained_rounds_compare_with_sustained_predictions(void **state)
{
    tz_tune tune = {.sustained = false};
    tz_tune_row row = {.prediction = {.time_s = 1, .sustained_s = 1.25}};
    assert_true(tz_tune_predicted_s(&tune, &row) == 1);
    tune.sustained = true;
    assert_true(tz_tune_predicted_s(&tune, &row) == 1.25);
    row.prediction.sustained_s = 0; /* a record without energies */
    assert_true(tz_tune_predicted_s(&tune, &row) == 1);
}

static void a_plot_is_whole_or_not_there(void **state)
{
    const double x[] = {1, 2, 3}, y[] = {3, 1, 2};
    tz_plot plot = {.title = "a \"title\" with 'quotes' and \\", .x_label = "x", .y_label = "y"};
    char path[] = "/tmp/trapeze-plot-XXXXXX";
    assert_non_null(tz_plot_add(&plot, TZ_PLOT_AREA, tz_plot_shade(0, 0), 3, x, y));
    assert_non_null(tz_plot_add(&plot, TZ_PLOT_LINE, tz_plot_colour(0), 3, x, y));
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    if (!tz_plot_available()) {
        check_error(tz_plot_draw(&plot, path, &failure), TZ_UNSUPPORTED, "", "gnuplot-nox");
        skip_test("no gnuplot");
    }
    assert_ok(tz_plot_draw(&plot, path, &failure));
    unsigned char magic[8] = {0};
    FILE *png = fopen(path, "rb");
    assert_non_null(png);
    assert_int_equal(fread(magic, 1, sizeof magic, png), sizeof magic);
    fclose(png);
    unlink(path);
    assert_memory_equal(magic, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(tz_plot_draw(&plot, "/nosuch/plot.png", &failure), TZ_IO);
    while (plot.series_count < TZ_PLOT_SERIES_MAX)
        assert_non_null(tz_plot_add(&plot, TZ_PLOT_LINE, 0, 3, x, y));
    assert_null(tz_plot_add(&plot, TZ_PLOT_LINE, 0, 3, x, y));
}

TEST_MAIN(open_plain_plugins, close_plugins, TEST(the_papers_benchmarks_have_the_papers_heights),
          TEST(components_are_the_papers), TEST(changes_reach_the_model),
          TEST(counted_set_up_is_that_of_an_element), TEST(refusals_have_remedies),
          TEST(limits_are_listed_by_height), TEST(a_best_that_is_not_the_fastest_is_explained),
          TEST(unstable_parameters_pass_with_a_note), TEST(quantiles),
          TEST(tuning_finds_the_fastest_and_other_bits),
          TEST(five_rounds_unless_others_are_asked_for), TEST(a_gpu_rests_between_rounds),
          TEST(sustained_rounds_compare_with_sustained_predictions),
          TEST(sustained_rounds_come_after_long_work), TEST(a_plot_is_whole_or_not_there))
