/* Workloads and prediction tables: the device and backend of a workload, a stencil as the papers'
 * models see it, and the texts of tables and tunes. */

#include "backend/host/reduce.h"
#include "base/machine.h"
#include "calibrate/calibrate.h"
#include "output/frame/plot.h"
#include "predict/tune.h"
#include "tests/made_up_clock.h"
#include "tests/predictions.h"

TEST(predictors_by_name)
{
    const tz_predictor *predictor = NULL;
    assert_ok(tz_predictor_find("roofs", false, &predictor, &failure));
    assert_ptr_equal(predictor, &tz_predictor_roofs);
    check_error(tz_predictor_find("roof", false, &predictor, &failure), TZ_UNKNOWN, "", "'roofs'");
    check_error(tz_predictor_find("roofs", true, &predictor, &failure), TZ_UNKNOWN, "",
                "not 'roofs'");
}

/* The best row need not have the shortest time; a text says why. */
TEST(a_best_that_is_not_the_fastest_is_explained)
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

TEST(quantiles)
{
    double four[] = {0.4, 0.1, 0.3, 0.2};
    assert_true(fabs(tz_quantile(four, 4, 0.5) - 0.25) < 1e-12);
    assert_true(fabs(tz_quantile(four, 4, 0) - 0.1) < 1e-12);
    assert_true(fabs(tz_quantile(four, 4, 1) - 0.4) < 1e-12);
    assert_true(fabs(tz_quantile(four, 4, 0.9) - 0.37) < 1e-12);
    assert_true(tz_quantile(four, 0, 0.5) == 0);
}

/* A backend whose stages last a fixed time. Tuning must find the fastest plan, and find that height
 * 3 leaves other bits. */
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

static tz_status slow_reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error)
{
    sums->hash = (uint64_t)run.iterations;
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

TEST(tuning_finds_the_fastest_and_other_bits)
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
}

/* A model that lists heights 1 to 5, and chooses some of them. */
static unsigned chosen_heights;

static tz_status list_heights(const tz_workload *workload, const tz_plan *given, tz_plan_list *out,
                              tz_error *error)
{
    *out = (tz_plan_list){.plans = calloc(5, sizeof *out->plans),
                          .chosen = calloc(5, sizeof *out->chosen),
                          .count = 5,
                          .listed = 6};
    assert_true(out->plans && out->chosen);
    for (int i = 0; i < 5; i++) {
        out->plans[i] = (tz_plan){.height = i + 1, .family = "stream", .tile = {i + 1}};
        out->chosen[i] = chosen_heights >> (i + 1) & 1;
        out->listed_chosen += out->chosen[i];
    }
    return TZ_OK;
}

/* Height 2 is 7.5 times as fast as the others; height 5 cannot be measured. */
TEST(a_chosen_set_is_judged_by_times)
{
    static const tz_predictor lister = {.name = "lister", .list = list_heights};
    static const struct {
        unsigned heights;
        int chosen, measured;
        bool has_best;
        double best, worst;
    } cases[] = {{1u << 1 | 1u << 4, 2, 2, false, 1 / 7.5, 1 / 7.5},
                 {1u << 1 | 1u << 2, 2, 2, true, 1, 1 / 7.5},
                 {1u << 2 | 1u << 5, 2, 1, true, 1, 1},
                 {1u << 5, 1, 0, false, NAN, NAN}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tz_workload *workload = slow_workload();
        const tz_tune_request request = {.lister = &lister, .round_s = 0.02};
        tz_tune *tune = NULL;
        chosen_heights = cases[k].heights;
        assert_ok(tz_tune_create(&tune, workload, &request, &failure));
        const tz_tune_set *set = &tune->set;
        assert_int_equal(set->shapes, 6);
        assert_int_equal(set->chosen, cases[k].chosen);
        assert_int_equal(set->measured, 4);
        assert_int_equal(set->measured_chosen, cases[k].measured);
        assert_int_equal(set->has_best, cases[k].has_best);
        if (cases[k].measured > 0)
            assert_true(fabs(set->best / cases[k].best - 1) < 0.2 &&
                        fabs(set->worst / cases[k].worst - 1) < 0.2);
        else
            assert_true(isnan(set->best) && isnan(set->worst));
        for (int i = 0; i < tune->count; i++)
            assert_int_equal(tune->rows[i].chosen, chosen_heights >> tune->rows[i].plan.height & 1);
        tz_tune_destroy(tune);
    }
}

/* The smaller of two times over the larger. */
TEST(accuracy)
{
    tz_prediction_row row = {.prediction = {.time_s = 1.8}};
    tz_prediction_table table = {.rows = &row, .count = 1, .measured = {.taken_s = 2}};
    assert_true(fabs(tz_prediction_accuracy(&table) - 0.9) < 1e-15);
    row.prediction.time_s = 2;
    table.measured.taken_s = 1.8;
    assert_true(fabs(tz_prediction_accuracy(&table) - 0.9) < 1e-15);
    table.measured.taken_s = 2;
    assert_true(tz_prediction_accuracy(&table) == 1);
}

TEST(five_rounds_unless_others_are_asked_for)
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
}

TEST(a_gpu_rests_between_rounds)
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
}

TEST(sustained_rounds_come_after_long_work)
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
}

TEST(sustained_rounds_compare_with_sustained_predictions)
{
    tz_tune tune = {.sustained = false};
    tz_tune_row row = {.prediction = {.time_s = 1, .sustained_s = 1.25}};
    assert_true(tz_tune_predicted_s(&tune, &row) == 1);
    tune.sustained = true;
    assert_true(tz_tune_predicted_s(&tune, &row) == 1.25);
    row.prediction.sustained_s = 0; /* a record without energies */
    assert_true(tz_tune_predicted_s(&tune, &row) == 1);
}

TEST(a_plot_is_whole_or_not_there)
{
    const double x[] = {1, 2, 3}, y[] = {3, 1, 2};
    tz_plot plot = {.title = "a \"title\" with 'quotes' and \\", .x_label = "x", .y_label = "y"};
    char path[] = "/tmp/trapeze-plot-XXXXXX";
    assert_non_null(tz_plot_add(&plot, TZ_PLOT_AREA, tz_plot_shade(0, 0), 3, x, y, "%s", ""));
    assert_non_null(tz_plot_add(&plot, TZ_PLOT_LINE, tz_plot_colour(0), 3, x, y, "%s", ""));
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
        assert_non_null(tz_plot_add(&plot, TZ_PLOT_LINE, 0, 3, x, y, "%s", ""));
    assert_null(tz_plot_add(&plot, TZ_PLOT_LINE, 0, 3, x, y, "%s", ""));
}

TEST_GROUP(open_plugins, close_plugins)
