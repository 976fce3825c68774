/* Predictions: the chosen plan, the plans that are compiled for it, and the errors. */

#include "predict/predictions.h"
#include "tests/unit.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { HEIGHTS = 64 };

/* A backend with some heights. An iteration at height h takes estimate[h] seconds as estimated, and
 * truth[h] as compiled; NAN: it does not compile. */
static struct {
    double estimate[HEIGHTS + 1], truth[HEIGHTS + 1];
    double sustained[HEIGHTS + 1]; /* in a long run; 0: not known */
    double shorter[HEIGHTS + 1];   /* as compiled, with shorter code; 0: there is none */
    atomic_bool is_compiled[HEIGHTS + 1], is_shorter_compiled[HEIGHTS + 1];
    int heights, given_height;
    tz_status broken; /* of every compilation */
    tz_work_kind kind;
    double text_bytes; /* of the loop of height 1 */
    int other_from;    /* height from which the family is another one; 0: none */
    double updates;    /* in that loop */
    bool sparse;       /* without a given height the powers of two alone */
    int blocks_from;   /* height from which plans are of another kind; 0: all are */
    int spills_from;   /* height from which registers are spilt; 0: none */
    atomic_int compiled, inside, most_inside, may_be_interrupted;
    int together;    /* compilations that wait for each other, up to a second */
    unsigned delays; /* seed of random compile times; 0: none */
} fake;

static pthread_t main_thread;

static void pass_time(int h)
{
    const int inside = atomic_fetch_add(&fake.inside, 1) + 1;
    int most = atomic_load(&fake.most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&fake.most_inside, &most, inside))
        ;
    for (int k = 0; k < 1000 && atomic_load(&fake.most_inside) < fake.together; k++)
        usleep(1000);
    if (fake.delays)
        usleep((unsigned)h * fake.delays * 2654435761u % 8192u);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!pthread_equal(pthread_self(), main_thread) && !sigismember(&blocked, SIGINT))
        atomic_fetch_add(&fake.may_be_interrupted, 1);
    atomic_fetch_sub(&fake.inside, 1);
}

static tz_status fake_candidates(const tz_problem *problem, const tz_place *place,
                                 const tz_plan *given, tz_plan *plans, int max, int *count,
                                 tz_error *error)
{
    assert_in_range(max, 1, TZ_PREDICTIONS_MAX);
    fake.given_height = given->height;
    *count = 0;
    for (int h = 1; h <= fake.heights; h++)
        if (given->height == h || (given->height == 0 && !(fake.sparse && (h & (h - 1))))) {
            const bool other = fake.other_from > 0 && h >= fake.other_from;
            plans[*count] = (tz_plan){.height = h, .blocks = h >= fake.blocks_from ? 4 : 6};
            strcpy(plans[(*count)++].family, other ? "other" : "stream");
        }
    return TZ_OK;
}

static tz_status fake_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                           tz_effort effort, tz_model_work *out, tz_error *error)
{
    const int h = plan->height;
    atomic_bool *compiled = plan->unroll > 0 ? &fake.is_shorter_compiled[h] : &fake.is_compiled[h];
    if (effort == TZ_EFFORT_COMPILE) {
        pass_time(h);
        if (fake.broken)
            return tz_error_set(error, fake.broken, "nvrtc", "no compiler");
        if (isnan(fake.truth[h]))
            return tz_error_set(error, TZ_BACKEND, "kernel", "height %d does not compile", h);
        if (!atomic_exchange(compiled, true))
            atomic_fetch_add(&fake.compiled, 1);
    }
    const bool estimated = effort == TZ_EFFORT_ESTIMATE || !*compiled;
    *out = (tz_model_work){.kind = fake.kind, .estimated = estimated, .parts_count = 1};
    out->parts[0].loop_bytes = fake.text_bytes * h;
    out->parts[0].text_bytes = fake.text_bytes * h;
    out->updates = fake.updates * h;
    out->parts[0].spills = !estimated && fake.spills_from > 0 && h >= fake.spills_from ? 99.0 : 0.0;
    if (out->estimated && effort == TZ_EFFORT_KNOWN)
        return TZ_OK;
    out->height = h;
    out->cells = out->estimated     ? fake.estimate[h]
                 : plan->unroll > 0 ? fake.shorter[h]
                                    : fake.truth[h];
    return TZ_OK;
}

enum { LONG_TEXT = 1000 };

static bool fake_shorten(const tz_problem *of, const tz_place *on, double *bytes, tz_plan *plan)
{
    if (plan->unroll > 0 || *bytes <= LONG_TEXT || fake.shorter[plan->height] == 0.0)
        return false;
    plan->unroll = 2;
    return true;
}

/* "Cells" are the seconds. */
static tz_status fake_predict(const tz_model_work *work, const tz_model_device *device,
                              tz_model_prediction *prediction, tz_error *error)
{
    if (!device->clock_hz.known)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name, "no clock");
    memset(prediction, 0, sizeof *prediction);
    prediction->height = work->height;
    prediction->time_s = work->cells;
    prediction->sustained_s = fake.sustained[work->height];
    if (prediction->sustained_s > 0) {
        prediction->power_w = 888;
        prediction->sustained_hz = 1.5e9;
    }
    snprintf(prediction->limit_text, sizeof prediction->limit_text, "%s",
             work->estimated ? "estimated" : "known");
    return TZ_OK;
}

static const tz_stencil stencil = {.id = "fake"};
static const tz_problem problem = {.stencil = &stencil, .dims = 2};
static const tz_backend backend = {
    .name = "fake", .candidates = fake_candidates, .work = fake_work, .shorten = fake_shorten};
static tz_model_device device = {.name = "device",
                                 .clock_hz = {.value = 1e9, .known = true},
                                 .issue_rate = {.value = 4.0, .known = true},
                                 .sm_count = {.value = 2.0, .known = true}};
static tz_place place = {.device = &device, .threads = 2};

static tz_predictions_watch watch;

/* They are destroyed when the test ends. */
static tz_predictions *predict_all(const tz_plan *given, tz_effort effort)
{
    tz_predictions *out = NULL;
    assert_ok(tz__predictions_create_by(&out, fake_predict, &problem, &backend, &place, given,
                                        effort, &watch, &failure));
    at_end(tz_predictions_destroy, out);
    return out;
}

static int reset(void **state)
{
    memset(&fake, 0, sizeof fake);
    fake.heights = 8;
    place.threads = 2;
    watch = (tz_predictions_watch){.budget_s = 0.0};
    main_thread = pthread_self();
    for (int h = 1; h <= HEIGHTS; h++)
        fake.estimate[h] = fake.truth[h] = 1 + 0.1 * (h - 5) * (h - 5);
    return 0;
}

#define PLAN_TEST(function) TEST_WITH(reset, NULL, function)

static void compiles(const int *heights)
{
    int count = 0;
    for (; heights[count] > 0; count++)
        assert_true(fake.is_compiled[heights[count]]);
    assert_int_equal(fake.compiled, count);
}

/* Two threads compile the two best estimates. Both are right, so that no other can be better. */
PLAN_TEST(the_best_is_no_estimate)
{
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 8);
    compiles((int[]){5, 4, 0});
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_string_equal(f->reason, "h 5: known");
    assert_true(f->seconds >= 0 && f->seconds < 0.05);
    assert_true(f->plans[7].work.estimated && f->plans[7].prediction.time_s == fake.estimate[8]);
    assert_true(f->plans[4].estimate_s == fake.estimate[5]);
}

static void count_one(void *told)
{
    ++*(int *)told;
}

/* Each compiled plan is told of once. */
PLAN_TEST(who_waits_is_told)
{
    int count = 0;
    place.compiled = count_one;
    place.told = &count;
    predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(count, 8);
    predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(count, 16);
    place.compiled = NULL;
}

/* At most four at a time: more could be left out if one knew what the first four are. */
PLAN_TEST(how_many_depends_on_the_threads)
{
    static const struct {
        int threads, compiled;
    } cases[] = {{0, 1}, {1, 1}, {3, 3}, {4, 4}, {100, 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        reset(state);
        fake.heights = HEIGHTS;
        place.threads = cases[k].threads;
        for (int h = 1; h <= HEIGHTS; h++)
            fake.estimate[h] = fake.truth[h] = 1.0 + 1e-4 * h;
        tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
        assert_int_equal(fake.compiled, cases[k].compiled);
        assert_int_equal(f->plans[f->best].plan.height, 1);
    }
}

/* What compiled plans take longer holds for those near them: they are not compiled, too. */
PLAN_TEST(errors_hold_for_the_neighbours)
{
    place.threads = 1;
    for (int h = 1; h <= 8; h++)
        fake.truth[h] = 1.5 * fake.estimate[h];
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    compiles((int[]){5, 0});
    assert_true(fabs(f->plans[7].prediction.time_s - fake.truth[8]) < 1e-12);
    reset(state);
    place.threads = 1;
    fake.truth[5] = 1.5;
    fake.truth[4] = fake.truth[6] = 1.45;
    fake.estimate[4] = fake.estimate[6] = 0.99; /* the first to be compiled, and 1.46 times worse */
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    compiles((int[]){4, 0});
}

/* But not for those far away, of another family, or lower where registers are spilt. */
PLAN_TEST(others_have_errors_of_their_own)
{
    place.threads = 2;
    fake.heights = 8;
    fake.spills_from = 7;
    fake.estimate[8] = 0.1;
    fake.truth[8] = 9;
    fake.estimate[7] = 0.2;
    fake.truth[7] = 1.5;
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    compiles((int[]){8, 7, 5, 4, 0});
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_true(f->plans[7].prediction.time_s == 9);
    reset(state);
    fake.other_from = 7;
    fake.estimate[7] = 1.15; /* it may be a fifth better than estimated */
    fake.truth[7] = 0.98;
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    compiles((int[]){5, 4, 7, 0});
    assert_int_equal(f->plans[f->best].plan.height, 7);
    reset(state);
    fake.heights = 20;
    fake.estimate[20] = 0.5;
    fake.estimate[19] = 0.6;
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 5);
}

/* From height 6 on the loop is long. With shorter code 6 is the fastest, 7 is slower. */
PLAN_TEST(long_loops_get_shorter_code)
{
    fake.text_bytes = 190;
    fake.shorter[6] = 0.5;
    fake.shorter[7] = 9.0;
    for (int again = 0; again < 2; again++) { /* the second time all kernels are in the cache */
        tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
        assert_int_equal(f->count, 8);
        assert_int_equal(fake.compiled, 8 + 2);
        const tz_predicted_plan *best = &f->plans[f->best];
        assert_int_equal(best->plan.height, 6);
        assert_int_equal(best->plan.unroll, 2);
        assert_true(best->prediction.time_s == 0.5);
        for (int i = 0; i < f->count; i++) {
            const tz_predicted_plan *plan = &f->plans[i];
            assert_int_equal(plan->plan.unroll, plan->plan.height == 6 ? 2 : 0);
            assert_false(plan->work.estimated);
            assert_true(plan->plan.height == 6 ||
                        plan->prediction.time_s == fake.truth[plan->plan.height]);
        }
    }
    /* The kernel is in the cache, its shorter one is not. */
    fake.shorter[8] = 0.25;
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(fake.compiled, 8 + 3);
    assert_int_equal(f->plans[f->best].plan.height, 8);
    assert_int_equal(f->plans[f->best].plan.unroll, 2);
}

PLAN_TEST(time_is_bounded)
{
    fake.heights = 40;
    watch.budget_s = 1e-9;
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    compiles((int[]){5, 4, 0});
    assert_int_equal(f->count, 40);
    /* But the choice must compile. */
    reset(state);
    fake.heights = 40;
    watch.budget_s = 1e-9;
    fake.truth[4] = fake.truth[5] = NAN;
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 38);
    assert_int_equal(f->plans[f->best].plan.height, 6);
}

PLAN_TEST(threads_compile_at_once_and_take_no_signals)
{
    place.threads = fake.together = 4;
    predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(fake.most_inside, 4);
    assert_int_equal(fake.may_be_interrupted, 0);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
    reset(state);
    place.threads = 1;
    predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(fake.most_inside, 1);
}

/* The order of threads changes neither the compiled plans nor the choice. */
PLAN_TEST(the_order_of_threads_does_not_matter)
{
    bool first[HEIGHTS + 1];
    for (unsigned seed = 1; seed <= 8; seed++) {
        reset(state);
        fake.heights = 40;
        place.threads = 4;
        fake.delays = seed;
        fake.truth[5] = NAN;
        fake.truth[4] = fake.truth[6] = fake.truth[7] = 1.0; /* equals */
        for (int h = 20; h <= 30; h++)
            fake.estimate[h] = 1.05;
        tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
        assert_int_equal(f->plans[f->best].plan.height, 4);
        assert_int_equal(f->count, 39);
        for (int h = 1; h <= HEIGHTS; h++) {
            if (seed > 1)
                assert_int_equal(fake.is_compiled[h], first[h]);
            first[h] = fake.is_compiled[h];
        }
    }
}

PLAN_TEST(long_runs_choose)
{
    for (int h = 1; h <= 8; h++)
        fake.sustained[h] = fake.truth[h] * (h >= 5 ? 1.4 : 1.05); /* 5 draws too much power */
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 4);
    assert_string_equal(f->reason, "h 4: known; 888 W: held to 1.5 GHz");
}

/* The second answer is the first one, though all that it compiled is compiled before. */
PLAN_TEST(the_answer_is_the_same_again)
{
    fake.heights = 40;
    for (int h = 1; h <= 40; h++)
        fake.estimate[h] = fake.truth[h] = 1 + 1e-4 * h;
    tz_predictions *first = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    const int compiled = fake.compiled, best = first->plans[first->best].plan.height;
    tz_predictions *second = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_in_range(compiled, 2, 39);
    assert_int_equal(fake.compiled, compiled);
    assert_int_equal(second->plans[second->best].plan.height, best);
}

PLAN_TEST(a_plan_that_does_not_compile_is_left_out)
{
    fake.truth[5] = NAN;
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 7);
    assert_int_equal(f->plans[f->best].plan.height, 4);
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(f->count, 7);
}

static void refused(tz_status wanted, const char *words, const tz_backend *by, const tz_place *on)
{
    tz_predictions *out = (tz_predictions *)&fake;
    const tz_plan given = {0};
    assert_int_equal(tz__predictions_create_by(&out, fake_predict, &problem, by, on, &given,
                                               TZ_EFFORT_CACHED, &watch, &failure),
                     wanted);
    assert_null(out);
    if (!strstr(failure.message, words))
        fail_msg("'%s' does not contain '%s'", failure.message, words);
}

PLAN_TEST(refusals_have_reasons)
{
    const tz_backend mute = {.name = "mute"};
    const tz_place nowhere = {.threads = 1};
    const tz_model_device empty = {.name = "empty"};
    const tz_place unknown = {.device = &empty, .threads = 1};
    refused(TZ_UNSUPPORTED, "mute backend cannot count", &mute, &place);
    refused(TZ_UNSUPPORTED, "trapeze calibrate", &backend, &nowhere);
    refused(TZ_UNSUPPORTED, "no clock", &backend, &unknown);
    assert_int_equal(fake.compiled, 0); /* nothing */
    fake.heights = 0;
    refused(TZ_RANGE, "no plan of the fake backend", &backend, &place);
    fake.heights = 8;
    fake.broken = TZ_UNSUPPORTED;
    refused(TZ_UNSUPPORTED, "no compiler", &backend, &place);
    fake.broken = TZ_BACKEND;
    refused(TZ_BACKEND, "no compiler", &backend, &place);
}

/* Of plans with close predictions a CPU takes the highest, a GPU the fastest. */
PLAN_TEST(what_costs_once_a_stage_decides)
{
    fake.heights = 4;
    fake.truth[1] = 1.015, fake.truth[2] = 1.0, fake.truth[3] = 1.015, fake.truth[4] = 1.03;
    const tz_plan none = {.height = 0};
    tz_predictions *made = predict_all(&none, TZ_EFFORT_COMPILE);
    assert_int_equal(made->plans[made->best].plan.height, 2);
    fake.kind = TZ_WORK_CPU;
    made = predict_all(&none, TZ_EFFORT_COMPILE);
    assert_int_equal(made->plans[made->best].plan.height, 3);
}

/* In 3-D what costs once a plane decides before what costs once a stage. */
TEST(what_costs_once_a_plane_decides)
{
    const tz_plan best = {.height = 30, .tile = {1024, 100, 1}, .family = "diamond"};
    tz_plan a = best;
    a.height = 16;
    a.tile[1] = 200; /* of a grid of two dimensions */
    assert_false(tz_predictions_is_preferred(&a, 1.015, &best, 1, true));
    a.tile[2] = 50;
    tz_plan box = best;
    box.tile[2] = 50;
    assert_true(tz_predictions_is_preferred(&a, 1.015, &box, 1, true));
    assert_false(tz_predictions_is_preferred(&box, 1, &a, 1, true));
    assert_false(tz_predictions_is_preferred(&a, 1.03, &box, 1, true));
    assert_false(tz_predictions_is_preferred(&a, 1.015, &box, 1, false)); /* a GPU */
    a.tile[0] = 2048;
    assert_false(tz_predictions_is_preferred(&a, 1.015, &box, 1, true));
    strcpy(box.family, "stream");
    a.tile[0] = 1024;
    assert_false(tz_predictions_is_preferred(&a, 1.015, &box, 1, true));
}

/* Seconds of a run by full stages and a shorter one, every height having its true time. */
static double run_s(int64_t iterations, int height)
{
    const int rest = (int)(iterations % height);
    return (double)(iterations - rest) * fake.truth[height] +
           (rest > 0 ? rest * fake.truth[rest] : 0.0);
}

/* The best plan is that of the run: no height beyond it, and the shorter last stage counts. */
PLAN_TEST(the_length_of_the_run_is_known)
{
    static const int64_t runs[] = {1, 2, 3, 5, 7, 8, 11, 13, 20, 30, 47, 1000};
    fake.heights = 24;
    for (int h = 1; h <= 24; h++)
        fake.estimate[h] = fake.truth[h] = 1.0 + 4.0 / h + 0.1 * h; /* the best is 6 */
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        watch.iterations = runs[k];
        tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
        int best = 1;
        for (int h = 2; h <= 24 && h <= runs[k]; h++)
            best = run_s(runs[k], h) < run_s(runs[k], best) * (1 - 1e-12) ? h : best;
        assert_int_equal(f->plans[f->best].plan.height, best);
        const double mean_s = run_s(runs[k], best) / (double)runs[k];
        assert_true(fabs(tz_predictions_time(f, f->best) - mean_s) < 1e-12);
    }
}

/* Heights that the backend does not list, but that divide the run evenly; the times of stages
 * between known heights are interpolated. A given height is kept. */
PLAN_TEST(heights_that_divide_the_run_are_candidates)
{
    fake.heights = 24;
    fake.sparse = true;
    for (int h = 1; h <= 24; h++)
        fake.estimate[h] = fake.truth[h] = 1.0 + 4.0 / h + 0.01 * h;
    watch.iterations = 15;
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 15);
    for (int i = 0; i < f->count; i++)
        if (f->plans[i].plan.height == 8) /* 8 and 7: between 5 and 8, as 15 = 5 + 5 + 5 */
            assert_true(fabs(15 * tz_predictions_time(f, i) -
                             (8 * fake.truth[8] + 5 * fake.truth[5] +
                              (8 * fake.truth[8] - 5 * fake.truth[5]) * 2 / 3)) < 1e-9);
    for (int i = 0; i < f->count; i++) /* each once */
        for (int k = 0; k < i; k++)
            assert_false(tz_plan_equal(&f->plans[i].plan, &f->plans[k].plan));
    f = predict_all(&(tz_plan){.height = 20}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 20);
    watch.iterations = 0;
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 16);
}

/* The rest of a stage whose kind has no lower plan takes as long as in the family, at most as a
 * whole stage. */
PLAN_TEST(a_rest_is_that_of_the_family)
{
    fake.heights = 10;
    fake.blocks_from = 8;
    for (int h = 1; h <= 10; h++)
        fake.estimate[h] = fake.truth[h] = 1.0 + 10.0 / h;
    watch.iterations = 11;
    tz_predictions *f = predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    for (int i = 0; i < f->count; i++)
        if (f->plans[i].plan.height == 8)
            assert_true(fabs(11 * tz_predictions_time(f, i) - (18.0 + 13.0)) < 1e-9);
    fake.truth[3] = 7.0;
    f = predict_all(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    for (int i = 0; i < f->count; i++)
        if (f->plans[i].plan.height == 8)
            assert_true(fabs(11 * tz_predictions_time(f, i) - (18.0 + 18.0)) < 1e-9);
}

static int stopped_after_three(void)
{
    return fake.compiled >= 3;
}

/* What runs is finished, nothing else begins. */
PLAN_TEST(it_stops_where_it_is_told_to)
{
    static const tz_effort efforts[] = {TZ_EFFORT_CACHED, TZ_EFFORT_COMPILE};
    fake.heights = 40;
    for (int k = 0; k < 2; k++) {
        tz_predictions *out = NULL;
        memset(fake.is_compiled, 0, sizeof fake.is_compiled);
        fake.compiled = 0;
        fake.spills_from = 1; /* the last ones say nothing of lower ones */
        for (int h = 1; h <= 40; h++)
            fake.estimate[h] = 1.0 / h;
        place.cancel.stopped = stopped_after_three;
        check_error(tz__predictions_create_by(&out, fake_predict, &problem, &backend, &place,
                                              &(tz_plan){0}, efforts[k], &watch, &failure),
                    TZ_INTERRUPTED, "", "interrupted while plans were predicted");
        place.cancel.stopped = NULL;
        assert_null(out);
        assert_in_range(fake.compiled, 3, 4); /* two threads */
    }
}
