/* Forecasts: which plan is chosen, what is compiled for it, and what is said when nothing can be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/predictions_impl.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEIGHTS = 64 };

/* A backend of some heights. Estimated, height h takes `guess[h]` seconds an iteration; compiled,
 * `truth[h]`; NAN: it does not compile. */
static struct {
    double estimate[HEIGHTS + 1], truth[HEIGHTS + 1];
    double sustained[HEIGHTS + 1]; /* in a long run; 0: not known */
    atomic_bool is_compiled[HEIGHTS + 1];
    int heights, given_height;
    tz_status broken; /* of every compilation */
    tz_work_kind kind;
    atomic_int compiled, inside, most_inside, may_be_interrupted;
    int meet;        /* so many are to compile at once; a second later it goes on without */
    unsigned delays; /* seed of how long compiling takes; 0: no time */
} fake;

static pthread_t main_thread;

static void pass_time(int h)
{
    const int inside = atomic_fetch_add(&fake.inside, 1) + 1;
    int most = atomic_load(&fake.most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&fake.most_inside, &most, inside))
        ;
    for (int k = 0; k < 1000 && atomic_load(&fake.most_inside) < fake.meet; k++)
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
    (void)problem, (void)place, (void)error;
    assert_int_equal(max, TZ_PREDICTIONS_MAX);
    fake.given_height = given->height;
    *count = 0;
    for (int h = 1; h <= fake.heights; h++)
        if (given->height == 0 || given->height == h)
            plans[(*count)++] = (tz_plan){.height = h, .family = "stream"};
    return TZ_OK;
}

static tz_status fake_work(const tz_problem *problem, const tz_place *place, const tz_plan *plan,
                           tz_effort effort, tz_model_work *out, tz_error *error)
{
    (void)problem, (void)place;
    const int h = plan->height;
    if (effort == TZ_EFFORT_COMPILE) {
        pass_time(h);
        if (fake.broken)
            return tz_error_set(error, fake.broken, "nvrtc", "no compiler");
        if (isnan(fake.truth[h]))
            return tz_error_set(error, TZ_BACKEND, "kernel", "height %d does not compile", h);
        if (!atomic_exchange(&fake.is_compiled[h], true))
            atomic_fetch_add(&fake.compiled, 1);
    }
    *out = (tz_model_work){.kind = fake.kind, .estimated = !fake.is_compiled[h]};
    if (out->estimated && effort == TZ_EFFORT_KNOWN)
        return TZ_OK;
    out->height = h;
    out->cells = out->estimated ? fake.estimate[h] : fake.truth[h];
    return TZ_OK;
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
             work->estimated ? "guessed" : "known");
    return TZ_OK;
}

static const tz_stencil stencil = {.id = "fake"};
static const tz_problem problem = {.stencil = &stencil, .dims = 2};
static const tz_backend backend = {
    .name = "fake", .candidates = fake_candidates, .work = fake_work};
static tz_model_device device = {.name = "device", .clock_hz = {.value = 1e9, .known = true}};
static tz_place place = {.device = &device, .threads = 2};

static double budget_s = 8.0;

static tz_predictions *predictions(const tz_plan *given, tz_effort effort)
{
    tz_predictions *out = NULL;
    tz_error error = {0};
    if (tz__predictions_create_by(&out, fake_predict, &problem, &backend, &place, given, effort,
                                  budget_s, &error))
        fail_msg("%s: %s", error.place, error.message);
    return out;
}

static int reset(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.heights = 8;
    place.threads = 2;
    budget_s = 8.0;
    main_thread = pthread_self();
    for (int h = 1; h <= HEIGHTS; h++)
        fake.estimate[h] = fake.truth[h] = 1 + 0.1 * (h - 5) * (h - 5);
    return 0;
}

/* Of eight heights 3 and 5, which the others are estimated from; by the estimates no other is near
 * but 4 and 6. */
static void the_best_is_no_estimate(void **state)
{
    (void)state;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 8);
    assert_int_equal(fake.compiled, 4);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_string_equal(f->reason, "h 5: known");
    assert_true(f->seconds >= 0 && f->seconds < 0.05);
    tz_predictions_destroy(f);
}

/* Where there are few, large ones, the lowest two: 1 and 2. */
static void of_few_the_lowest_are_compiled_first(void **state)
{
    (void)state;
    fake.heights = 5;
    budget_s = 0.0;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(fake.compiled, 2);
    assert_true(fake.is_compiled[1] && fake.is_compiled[2]);
    assert_int_equal(f->plans[f->best].plan.height, 2);
    tz_predictions_destroy(f);
}

static void of_two_both_are_if_they_are_low(void **state)
{
    (void)state;
    fake.heights = 2;
    budget_s = 0.0;
    tz_predictions_destroy(predictions(&(tz_plan){0}, TZ_EFFORT_CACHED));
    assert_int_equal(fake.compiled, 2);
}

/* Threads that would be idle look at what is less likely. */
static void many_threads_look_farther(void **state)
{
    (void)state;
    fake.heights = 40;
    fake.estimate[30] = 1.45;
    fake.truth[30] = 0.9;
    place.threads = 16;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 30);
    assert_false(fake.is_compiled[25]);
    tz_predictions_destroy(f);
}

/* Two that the others are estimated from (11 and 21), then what may be best: 4, 5, 6. */
static void of_many_those_that_may_be_best_are_compiled(void **state)
{
    (void)state;
    fake.heights = 40;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 40);
    assert_int_equal(fake.compiled, 5);
    for (int h = 1; h <= 40; h++)
        assert_int_equal(fake.is_compiled[h], (h >= 4 && h <= 6) || h == 11 || h == 21);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_false(f->plans[f->best].work.estimated);
    assert_true(f->plans[29].work.estimated);
    assert_true(f->plans[29].prediction.time_s == fake.estimate[30]);
    tz_predictions_destroy(f);
}

static void a_guess_that_is_a_little_too_bad_is_no_reason(void **state)
{
    (void)state;
    fake.heights = 40;
    fake.estimate[30] = 1.15;
    fake.truth[30] = 0.9;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 30);
    assert_int_equal(fake.compiled, 6);
    tz_predictions_destroy(f);
}

static void how_many_depends_on_the_threads(void **state)
{
    static const struct {
        int threads, compiled;
    } cases[] = {{1, 24}, {2, 24}, {4, 32}, {8, 64}, {16, 64}, {100, 64}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        reset(state);
        fake.heights = HEIGHTS;
        place.threads = cases[k].threads;
        for (int h = 1; h <= HEIGHTS; h++)
            fake.estimate[h] = fake.truth[h] = 1.0 + 1e-4 * h;
        tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
        assert_int_equal(fake.compiled, cases[k].compiled);
        assert_int_equal(f->plans[f->best].plan.height, 1);
        tz_predictions_destroy(f);
    }
}

static void time_is_bounded(void **state)
{
    (void)state;
    fake.heights = 40;
    budget_s = 0.0;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(fake.compiled, 2);
    assert_int_equal(f->count, 40);
    assert_int_equal(f->plans[f->best].plan.height, 11); /* the best that is no guess */
    tz_predictions_destroy(f);
    /* But a choice needs one that compiles. */
    reset(state);
    fake.heights = 40;
    budget_s = 0.0;
    fake.truth[11] = fake.truth[21] = NAN;
    f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 38);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    tz_predictions_destroy(f);
}

static void threads_compile_at_once_and_take_no_signals(void **state)
{
    (void)state;
    place.threads = fake.meet = 4;
    tz_predictions_destroy(predictions(&(tz_plan){0}, TZ_EFFORT_COMPILE));
    assert_int_equal(fake.most_inside, 4);
    assert_int_equal(fake.may_be_interrupted, 0);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
    reset(state);
    place.threads = 1;
    tz_predictions_destroy(predictions(&(tz_plan){0}, TZ_EFFORT_COMPILE));
    assert_int_equal(fake.most_inside, 1);
}

/* Whoever is first: the same are compiled, and the same is chosen. */
static void who_is_first_does_not_matter(void **state)
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
        tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
        assert_int_equal(f->plans[f->best].plan.height, 4);
        assert_int_equal(f->count, 39);
        for (int h = 1; h <= HEIGHTS; h++) {
            if (seed > 1)
                assert_int_equal(fake.is_compiled[h], first[h]);
            first[h] = fake.is_compiled[h];
        }
        tz_predictions_destroy(f);
    }
}

static void long_runs_choose(void **state)
{
    (void)state;
    for (int h = 1; h <= 8; h++)
        fake.sustained[h] = fake.truth[h] * (h >= 5 ? 1.4 : 1.05); /* 5 draws too much power */
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 4);
    assert_string_equal(f->reason, "h 4: known; 888 W: held to 1.5 GHz");
    tz_predictions_destroy(f);
}

static void a_guess_that_was_too_good_loses_to_the_next(void **state)
{
    (void)state;
    fake.heights = 40;
    fake.estimate[8] = 0.1; /* spills, as compiling shows */
    fake.truth[8] = 9;
    fake.estimate[7] = 0.2;
    fake.truth[7] = 1.5;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_int_equal(fake.compiled, 7);
    assert_true(f->plans[7].prediction.time_s == 9);
    tz_predictions_destroy(f);
}

static void what_is_compiled_costs_nothing(void **state)
{
    (void)state;
    for (int h = 1; h <= 8; h++)
        fake.is_compiled[h] = true;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(fake.compiled, 0);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    tz_predictions_destroy(f);
}

static void compiling_all_leaves_no_estimate(void **state)
{
    (void)state;
    fake.truth[2] = 0.5; /* worse estimated than it is: found only by compiling */
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(fake.compiled, 8);
    assert_int_equal(f->plans[f->best].plan.height, 2);
    tz_predictions_destroy(f);
}

static void a_plan_that_does_not_compile_is_left_out(void **state)
{
    (void)state;
    fake.truth[5] = NAN;
    tz_predictions *f = predictions(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 7);
    assert_int_equal(f->plans[f->best].plan.height, 4);
    tz_predictions_destroy(f);
    f = predictions(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(f->count, 7);
    tz_predictions_destroy(f);
}

static void what_is_given_reaches_the_backend(void **state)
{
    (void)state;
    tz_predictions *f = predictions(&(tz_plan){.height = 3}, TZ_EFFORT_CACHED);
    assert_int_equal(fake.given_height, 3);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->plans[f->best].plan.height, 3);
    tz_predictions_destroy(f);
}

static void refused(tz_status wanted, const char *words, const tz_backend *by, const tz_place *on)
{
    tz_predictions *out = (tz_predictions *)&fake;
    tz_error error = {0};
    const tz_plan given = {0};
    assert_int_equal(tz__predictions_create_by(&out, fake_predict, &problem, by, on, &given,
                                               TZ_EFFORT_CACHED, budget_s, &error),
                     wanted);
    assert_null(out);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not say '%s'", error.message, words);
}

static void refusals_say_why(void **state)
{
    (void)state;
    const tz_backend mute = {.name = "mute"};
    const tz_place nowhere = {.threads = 1};
    const tz_model_device empty = {.name = "empty"};
    const tz_place unknown = {.device = &empty, .threads = 1};
    refused(TZ_UNSUPPORTED, "mute backend cannot count", &mute, &place);
    refused(TZ_UNSUPPORTED, "trapeze calibrate", &backend, &nowhere);
    refused(TZ_UNSUPPORTED, "no clock", &backend, &unknown);
    assert_int_equal(fake.compiled, 0); /* in vain */
    fake.heights = 0;
    refused(TZ_RANGE, "no plan of the fake backend", &backend, &place);
    fake.heights = 8;
    fake.broken = TZ_UNSUPPORTED;
    refused(TZ_UNSUPPORTED, "no compiler", &backend, &place);
    fake.broken = TZ_BACKEND;
    refused(TZ_BACKEND, "no compiler", &backend, &place);
}

/* Of plans that are predicted alike a CPU takes the highest, a GPU the fastest. */
static void what_costs_once_a_stage_decides(void **state)
{
    (void)state;
    fake.heights = 4;
    fake.truth[1] = 1.015, fake.truth[2] = 1.0, fake.truth[3] = 1.015, fake.truth[4] = 1.03;
    const tz_plan none = {.height = 0};
    tz_predictions *made = predictions(&none, TZ_EFFORT_COMPILE);
    assert_int_equal(made->plans[made->best].plan.height, 2);
    tz_predictions_destroy(made);
    fake.kind = TZ_WORK_CPU;
    made = predictions(&none, TZ_EFFORT_COMPILE);
    assert_int_equal(made->plans[made->best].plan.height, 3);
    tz_predictions_destroy(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_best_is_no_estimate, reset),
        cmocka_unit_test_setup(of_few_the_lowest_are_compiled_first, reset),
        cmocka_unit_test_setup(of_two_both_are_if_they_are_low, reset),
        cmocka_unit_test_setup(many_threads_look_farther, reset),
        cmocka_unit_test_setup(of_many_those_that_may_be_best_are_compiled, reset),
        cmocka_unit_test_setup(a_guess_that_is_a_little_too_bad_is_no_reason, reset),
        cmocka_unit_test_setup(how_many_depends_on_the_threads, reset),
        cmocka_unit_test_setup(time_is_bounded, reset),
        cmocka_unit_test_setup(threads_compile_at_once_and_take_no_signals, reset),
        cmocka_unit_test_setup(who_is_first_does_not_matter, reset),
        cmocka_unit_test_setup(long_runs_choose, reset),
        cmocka_unit_test_setup(what_costs_once_a_stage_decides, reset),
        cmocka_unit_test_setup(a_guess_that_was_too_good_loses_to_the_next, reset),
        cmocka_unit_test_setup(what_is_compiled_costs_nothing, reset),
        cmocka_unit_test_setup(compiling_all_leaves_no_estimate, reset),
        cmocka_unit_test_setup(a_plan_that_does_not_compile_is_left_out, reset),
        cmocka_unit_test_setup(what_is_given_reaches_the_backend, reset),
        cmocka_unit_test_setup(refusals_say_why, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
