/* Forecasts: which plan is chosen, what is compiled for it, and what is said when nothing can be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/forecast_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A backend of eight heights. Estimated, height h takes `guess[h]` seconds an iteration; compiled,
 * `truth[h]`; NAN: it does not compile. */
static struct {
    double guess[9], truth[9];
    double sustained[9]; /* in a long run; 0: not known */
    bool is_compiled[9];
    int compiled, heights, given_height;
    tz_status broken; /* of every compilation */
} fake;

static tz_status fake_candidates(const tz_problem *problem, const tz_place *place,
                                 const tz_plan *given, tz_plan *plans, int max, int *count,
                                 tz_error *error)
{
    (void)problem, (void)place, (void)error;
    assert_int_equal(max, TZ_FORECAST_PLANS_MAX);
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
        if (fake.broken)
            return tz_error_set(error, fake.broken, "nvrtc", "no compiler");
        if (isnan(fake.truth[h]))
            return tz_error_set(error, TZ_BACKEND, "kernel", "height %d does not compile", h);
        fake.compiled += !fake.is_compiled[h];
        fake.is_compiled[h] = true;
    }
    *out = (tz_model_work){.height = h,
                           .cells = fake.is_compiled[h] ? fake.truth[h] : fake.guess[h],
                           .estimated = !fake.is_compiled[h]};
    return TZ_OK;
}

/* "Cells" are the seconds. */
static tz_model_status fake_predict(const tz_model_work *work, const tz_model_device *device,
                                    tz_model_prediction *prediction, tz_model_error *error)
{
    if (!device->clock_hz.known)
        return tz_model_error_set(error, TZ_MODEL_MISSING, device->name, "no clock");
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
    return TZ_MODEL_OK;
}

static const tz_stencil stencil = {.id = "fake"};
static const tz_problem problem = {.stencil = &stencil, .dims = 2};
static const tz_backend backend = {
    .name = "fake", .candidates = fake_candidates, .work = fake_work};
static tz_model_device device = {.name = "device", .clock_hz = {.value = 1e9, .known = true}};
static const tz_place place = {.device = &device, .threads = 2};

static tz_forecast *forecast(const tz_plan *given, tz_effort effort)
{
    tz_forecast *out = NULL;
    tz_error error = {0};
    if (tz__forecast_by(&out, fake_predict, &problem, &backend, &place, given, effort, &error))
        fail_msg("%s: %s", error.place, error.message);
    return out;
}

static int reset(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.heights = 8;
    for (int h = 1; h <= 8; h++)
        fake.guess[h] = fake.truth[h] = 1 + 0.1 * (h - 5) * (h - 5);
    return 0;
}

static void the_best_is_compiled_and_nothing_else(void **state)
{
    (void)state;
    tz_forecast *f = forecast(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 8);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_int_equal(fake.compiled, 1);
    assert_false(f->plans[f->best].work.estimated);
    assert_string_equal(f->reason, "h 5: known");
    assert_true(f->seconds >= 0 && f->seconds < 0.05);
    tz_forecast_destroy(f);
}

static void long_runs_choose(void **state)
{
    (void)state;
    for (int h = 1; h <= 8; h++)
        fake.sustained[h] = fake.truth[h] * (h >= 5 ? 1.4 : 1.05); /* 5 draws too much power */
    tz_forecast *f = forecast(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 4);
    assert_int_equal(fake.compiled, 1);
    assert_string_equal(f->reason, "h 4: known; 888 W: held to 1.5 GHz");
    tz_forecast_destroy(f);
}

static void a_guess_that_was_too_good_loses_to_the_next(void **state)
{
    (void)state;
    fake.guess[8] = 0.1; /* spills, as compiling shows */
    fake.truth[8] = 9;
    fake.guess[7] = 0.2;
    fake.truth[7] = 1.5;
    tz_forecast *f = forecast(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    assert_int_equal(fake.compiled, 3);
    assert_true(f->plans[7].prediction.time_s == 9);
    tz_forecast_destroy(f);
}

static void what_is_compiled_costs_nothing(void **state)
{
    (void)state;
    for (int h = 1; h <= 8; h++)
        fake.is_compiled[h] = true;
    tz_forecast *f = forecast(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(fake.compiled, 0);
    assert_int_equal(f->plans[f->best].plan.height, 5);
    tz_forecast_destroy(f);
}

static void compiling_all_leaves_no_guess(void **state)
{
    (void)state;
    fake.truth[2] = 0.5; /* worse guessed than it is: found only by compiling */
    tz_forecast *f = forecast(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(fake.compiled, 8);
    assert_int_equal(f->plans[f->best].plan.height, 2);
    tz_forecast_destroy(f);
}

static void a_plan_that_does_not_compile_is_left_out(void **state)
{
    (void)state;
    fake.truth[5] = NAN;
    tz_forecast *f = forecast(&(tz_plan){0}, TZ_EFFORT_CACHED);
    assert_int_equal(f->count, 7);
    assert_int_equal(f->plans[f->best].plan.height, 4);
    tz_forecast_destroy(f);
    f = forecast(&(tz_plan){0}, TZ_EFFORT_COMPILE);
    assert_int_equal(f->count, 7);
    tz_forecast_destroy(f);
}

static void what_is_given_reaches_the_backend(void **state)
{
    (void)state;
    tz_forecast *f = forecast(&(tz_plan){.height = 3}, TZ_EFFORT_CACHED);
    assert_int_equal(fake.given_height, 3);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->plans[f->best].plan.height, 3);
    tz_forecast_destroy(f);
}

static void refused(tz_status wanted, const char *words, const tz_backend *by, const tz_place *on)
{
    tz_forecast *out = (tz_forecast *)&fake;
    tz_error error = {0};
    const tz_plan given = {0};
    assert_int_equal(
        tz__forecast_by(&out, fake_predict, &problem, by, on, &given, TZ_EFFORT_CACHED, &error),
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
    refused(TZ_UNSUPPORTED, "mute backend cannot tell", &mute, &place);
    refused(TZ_UNSUPPORTED, "trapeze calibrate", &backend, &nowhere);
    refused(TZ_UNSUPPORTED, "no clock", &backend, &unknown);
    fake.heights = 0;
    refused(TZ_RANGE, "no plan of the fake backend", &backend, &place);
    fake.heights = 8;
    fake.broken = TZ_UNSUPPORTED;
    refused(TZ_UNSUPPORTED, "no compiler", &backend, &place);
    fake.broken = TZ_BACKEND;
    refused(TZ_BACKEND, "no compiler", &backend, &place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_best_is_compiled_and_nothing_else, reset),
        cmocka_unit_test_setup(long_runs_choose, reset),
        cmocka_unit_test_setup(a_guess_that_was_too_good_loses_to_the_next, reset),
        cmocka_unit_test_setup(what_is_compiled_costs_nothing, reset),
        cmocka_unit_test_setup(compiling_all_leaves_no_guess, reset),
        cmocka_unit_test_setup(a_plan_that_does_not_compile_is_left_out, reset),
        cmocka_unit_test_setup(what_is_given_reaches_the_backend, reset),
        cmocka_unit_test_setup(refusals_say_why, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
