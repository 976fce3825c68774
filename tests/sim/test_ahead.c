/* What a simulation does beside the script: it moves from the processor to another backend, and its
 * first kernel is compiled while its fields are made. */
#include "sim/ahead.h"

#include "policy/policy.h"
#include "tests/oracle/oracle.h"
#include <time.h>

static struct {
    tz_backend gpu, host; /* the reference backend, and that of the processor */
    tz_status found;      /* what prepare() returns */
    bool endless;         /* it goes on until it is cancelled */
    bool slow;            /* the host's stages wait for it */
    atomic_int prepared, reductions;
} t;

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

static tz_status prepare(const tz_problem *problem, const tz_place *place, int device,
                         const tz_plan *plan, tz_error *error)
{
    assert_int_equal(device, 0);
    assert_non_null(problem->stencil);
    if (!plan) { /* reductions */
        atomic_fetch_add(&t.reductions, 1);
        return TZ_OK;
    }
    assert_int_equal(plan->height, 1);
    atomic_fetch_add(&t.prepared, 1);
    while (t.endless && !tz_cancelled(&place->cancel))
        sleep_ms(1);
    return t.found ? tz_error_set(error, t.found, NULL, "a made-up fault") : TZ_OK;
}

static tz_status host_stage(void *state, const tz_plan *plan, int height, int64_t step,
                            tz_error *error)
{
    if (t.slow)
        sleep_ms(height);
    return tz_backend_cpu.stage(state, plan, height, step, error);
}

static void begin(bool slow)
{
    t.gpu = tz_backend_reference;
    t.gpu.name = "cuda";
    t.gpu.prepare = prepare;
    t.host = tz_backend_cpu;
    t.host.stage = host_stage;
    t.host.work = NULL;
    t.host.candidates = NULL;
    t.found = TZ_OK;
    t.endless = false;
    t.slow = slow;
    atomic_store(&t.prepared, 0);
    atomic_store(&t.reductions, 0);
}

static const tz_plan_wish automatic = {.policy = "auto"};

static tz_simulation *make(const char *stencil, bool moves)
{
    oracle_config config = oracle(stencil, -1, NULL, 24, 20, 0);
    config.threads = 2;
    tz_simulation *simulation = oracle_create(config);
    simulation->backend = &t.host;
    assert_ok(tz_simulation_set_policy(simulation, &automatic, &failure));
    if (moves)
        assert_ok(tz__ahead_to_move(simulation, &t.gpu, &automatic, &failure));
    return simulation;
}

static void advance(tz_simulation *simulation, int64_t steps)
{
    const tz_run run = {.steps = steps, .until_residual = NAN};
    tz_run_result result;
    assert_ok(run_with(simulation, &run, NULL, NULL, &result, &failure));
    assert_int_equal(result.steps, steps);
}

static uint64_t hash_of(const tz_simulation *simulation, int field)
{
    tz_reduction reduction;
    assert_ok(tz_simulation_reduce(simulation, field, &reduction, &failure));
    return reduction.hash;
}

static void assert_same_fields(const tz_simulation *a, const tz_simulation *b)
{
    const tz_stencil *stencil = tz_simulation_stencil(a);
    assert_int_equal(tz_simulation_step(a), tz_simulation_step(b));
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATE || stencil->fields[f].role == TZ_STATIC)
            assert_int_equal(hash_of(a, f), hash_of(b, f));
}

/* A run of which much is to come moves between two stages, and has the bits of one that stays. */
TEST(a_long_run_moves)
{
    static const char *const stencils[] = {"star2d1r", "life", "hotspot", "poisson"};
    begin(true);
    for (size_t i = 0; i < sizeof stencils / sizeof *stencils; i++) {
        tz_simulation *stays = make(stencils[i], false), *moves = make(stencils[i], true);
        const tz_plan_use *uses;
        for (int f = 0; f < tz_simulation_stencil(moves)->fields_count; f++) {
            const tz_random random = {.seed = 7, .low = 0, .high = 1};
            const tz_role role = tz_simulation_stencil(moves)->fields[f].role;
            if (role != TZ_STATE && role != TZ_STATIC)
                continue;
            assert_ok(tz_simulation_fill_random(stays, f, NULL, &random, &failure));
            assert_ok(tz_simulation_fill_random(moves, f, NULL, &random, &failure));
        }
        advance(moves, 700);
        assert_ptr_equal(moves->backend, &t.gpu);
        assert_false(tz__ahead_may_move(moves));
        assert_non_null(strstr(tz_simulation_choice(moves), "from step "));
        const size_t count = tz_simulation_plan_uses(moves, &uses);
        assert_true(count >= 2);
        assert_string_equal(uses[0].backend, "cpu");
        assert_int_equal(uses[0].plan.height, 1); /* the first call is short */
        assert_string_equal(uses[count - 1].backend, "cuda");
        t.slow = false;
        advance(stays, 700);
        t.slow = true;
        assert_same_fields(moves, stays);
    }
}

TEST(a_short_run_stays)
{
    begin(false);
    tz_simulation *simulation = make("star2d1r", true);
    advance(simulation, 20);
    assert_ptr_equal(simulation->backend, &t.host);
    assert_int_equal(atomic_load(&t.prepared), 0);
    assert_string_equal(tz_simulation_choice(simulation), "too short to start a GPU");
}

/* Many short runs are as long as one. */
TEST(short_runs_move_together)
{
    begin(true);
    tz_simulation *simulation = make("star2d1r", true);
    for (int i = 0; i < 700 && simulation->backend == &t.host; i++)
        advance(simulation, 3);
    assert_ptr_equal(simulation->backend, &t.gpu);
    assert_true(tz_simulation_step(simulation) > 100);
}

TEST(a_backend_that_fails_is_left)
{
    begin(true);
    t.found = TZ_UNSUPPORTED;
    tz_simulation *simulation = make("star2d1r", true);
    advance(simulation, 700);
    assert_ptr_equal(simulation->backend, &t.host);
    assert_int_equal(atomic_load(&t.prepared), 1);
    assert_string_equal(tz_simulation_choice(simulation), "stays: a made-up fault");
    assert_ok(tz__move_now(simulation, &failure));
    assert_ptr_equal(simulation->backend, &t.host);
}

static tz_status no_store(void *state, int field, const tz_box *box, const void *elements,
                          tz_error *error)
{
    (void)state, (void)field, (void)box, (void)elements;
    return tz_error_set(error, TZ_BACKEND, NULL, "a fault in the move");
}

static tz_status no_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                         tz_error *error)
{
    /* the thread has one */
    return atomic_load(&t.prepared) == 0
               ? tz_backend_reference.plan(problem, place, plan, error)
               : tz_error_set(error, TZ_BACKEND, NULL, "a fault in the move");
}

TEST(a_move_that_fails_leaves_the_fields)
{
    tz_simulation *stays = make("star2d1r", false);
    advance(stays, 1400);
    for (int k = 0; k < 2; k++) {
        begin(true);
        if (k == 0)
            t.gpu.store = no_store;
        else
            t.gpu.plan = no_plan;
        tz_simulation *simulation = make("star2d1r", true);
        advance(simulation, 700);
        assert_ok(tz__move_now(simulation, &failure));
        assert_ptr_equal(simulation->backend, &t.host);
        assert_string_equal(tz_simulation_choice(simulation), "stays: a fault in the move");
        advance(simulation, 700);
        assert_same_fields(simulation, stays);
    }
}

/* A run that ends while it is got ready does not wait for that. */
TEST(the_end_ends_the_thread)
{
    begin(true);
    t.endless = true;
    tz_simulation *simulation = make("star2d1r", true);
    advance(simulation, 700);
    assert_ptr_equal(simulation->backend, &t.host);
    assert_int_equal(atomic_load(&t.prepared), 1);
    assert_string_equal(tz_simulation_choice(simulation), "it ended before a GPU was ready");
}

/* Plans that are given after all are those of a GPU. */
TEST(a_given_plan_moves)
{
    begin(false);
    tz_simulation *stays = make("star2d1r", false), *simulation = make("star2d1r", true);
    const tz_plan plan = {.height = 1};
    advance(stays, 10);
    advance(stays, 10);
    advance(simulation, 10);
    assert_ok(tz_simulation_set_plan(simulation, &plan, &failure));
    assert_ptr_equal(simulation->backend, &t.gpu);
    advance(simulation, 10);
    assert_same_fields(simulation, stays);
}

/* The kernel of the first plan is compiled beside the script, once; another plan ends that. */
TEST(the_first_kernel_is_compiled_ahead)
{
    begin(false);
    t.host.prepare = prepare; /* once: a thread may be about to call it */
    for (int other = 0; other < 2; other++) {
        tz_simulation *simulation = make("star2d1r", false);
        const tz_plan first = {.height = 1}, second = {.height = 1, .tile = {8, 8}};
        atomic_store(&t.prepared, 0);
        t.endless = other;
        assert_ok(tz_simulation_set_plan(simulation, &first, &failure));
        tz__ahead_compile(simulation);
        assert_non_null(simulation->ahead);
        if (other)
            assert_ok(tz_simulation_set_plan(simulation, &second, &failure));
        advance(simulation, 4);
        assert_int_equal(atomic_load(&t.prepared), 1);
    }
}

TEST(a_kernel_that_does_not_compile)
{
    begin(false);
    const tz_run run = {.steps = 1, .until_residual = NAN};
    const tz_plan first = {.height = 1};
    tz_run_result result;
    tz_simulation *simulation = make("star2d1r", false);
    t.host.prepare = prepare;
    t.found = TZ_BACKEND;
    assert_ok(tz_simulation_set_plan(simulation, &first, &failure));
    tz__ahead_compile(simulation);
    check_error(run_with(simulation, &run, NULL, NULL, &result, &failure), TZ_BACKEND, "",
                "a made-up fault");
}

TEST_GROUP(open_plugins, close_plugins)
