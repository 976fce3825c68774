/* Jumps of the cuda backend from the update of a stencil to its fields, as a simulation makes them:
 * held against iterations of the reference backend in double precision. */
#include "backend/backend.h"
#include "executed.h"
#include "jump/host.h"
#include "jump/jump.h"
#include "tests/registry.h"

enum { CELLS_MAX = 400, STEPS = 30 };

typedef struct run {
    tz_problem problem, in_double;
    void *state, *reference;
    tz_jump *jump;
    int field;
    int64_t cells;
} run;

static double value_of(int field, int64_t i)
{
    const double x = sin(12.9898 * (double)(i + 1) + field) * 43758.5453;
    return field == 0 ? 318.15 + (x - floor(x)) : 1e-3 * (x - floor(x));
}

static tz_box box_of(const tz_problem *problem)
{
    tz_box box = {.low = {0}};
    memcpy(box.high, problem->elements, sizeof box.high);
    return box;
}

static const tz_streamed_source *const none[TZ_FIELDS_MAX];

static void start_run(run *r, const char *id, tz_precision precision, const char *boundary)
{
    const tz_stencil *stencil;
    tz_simulation_config config = {.dims = 2, .extent = {20, 13, 1}, .precision = (int)precision};
    config.boundary[0] = config.boundary[1] = boundary;
    *r = (run){.field = 0};
    assert_ok(tz_registry_find(registry, id, &stencil, NULL, &failure));
    assert_ok(tz_problem_resolve(&r->problem, stencil, &config, &failure));
    r->in_double = tz_problem_in_double(&r->problem);
    r->cells = 20 * 13;
    tz_backend_context context = {.problem = &r->problem, .streamed = none, .sync = true};
    assert_ok(tz_backend_cuda.create(&r->state, &context, &failure));
    tz_backend_context other = context;
    other.problem = &r->in_double;
    assert_ok(tz_backend_reference.create(&r->reference, &other, &failure));
    const tz_box box = box_of(&r->problem);
    for (int f = 0; f < stencil->fields_count; f++) {
        double values[CELLS_MAX];
        float singles[CELLS_MAX];
        for (int64_t i = 0; i < r->cells; i++) {
            values[i] = singles[i] = (float)value_of(f, i);
        }
        assert_ok(tz_backend_cuda.store(
            r->state, f, &box, precision == TZ_DOUBLE ? (void *)values : singles, &failure));
        assert_ok(tz_backend_reference.store(r->reference, f, &box, values, &failure));
    }
    const tz_place place = {.threads = 1};
    const tz_jump_context jump = {.problem = &r->problem,
                                  .backend = &tz_backend_cuda,
                                  .state = r->state,
                                  .context = &context,
                                  .place = &place};
    assert_ok(tz_jump_create(&r->jump, &jump, &failure));
}

static void end_run(run *r)
{
    tz_jump_destroy(r->jump);
    tz_backend_cuda.destroy(r->state);
    tz_backend_reference.destroy(r->reference);
    tz_problem_clear(&r->problem);
}

static void load(const run *r, double *values)
{
    const tz_box box = box_of(&r->problem);
    float singles[CELLS_MAX];
    const bool is_double = r->problem.precision == TZ_DOUBLE;
    assert_ok(tz_backend_cuda.load(r->state, r->field, &box, is_double ? (void *)values : singles,
                                   &failure));
    for (int64_t i = 0; i < r->cells && !is_double; i++)
        values[i] = singles[i];
}

static void jump_and_step(run *r, const char *wanted_library)
{
    double now[CELLS_MAX], wanted[CELLS_MAX];
    const double room = r->problem.precision == TZ_DOUBLE ? 1e-13 : 6e-8;
    const tz_box box = box_of(&r->problem);
    const tz_plan plan = {.family = "reference", .height = 1};
    tz_jump_facts facts;
    for (int round = 0; round < 2; round++) {
        assert_ok(tz_jump_advance(r->jump, STEPS, &facts, &failure));
        for (int t = 0; t < STEPS; t++)
            assert_ok(tz_backend_reference.stage(r->reference, &plan, 1, t, &failure));
        load(r, now);
        assert_ok(tz_backend_reference.load(r->reference, r->field, &box, wanted, &failure));
        for (int64_t i = 0; i < r->cells; i++)
            if (!(fabs(now[i] - wanted[i]) <= room * (1 + round) * fabs(wanted[i]) + room))
                fail_msg("cell %d: %.17g, not %.17g", (int)i, now[i], wanted[i]);
        assert_non_null(strstr(facts.library, wanted_library));
        assert_true(facts.bytes >= 8 * r->cells);
    }
}

/* A source, single precision. */
static void a_simulation_jumps(void **state)
{
    run r;
    double before[CELLS_MAX], after[CELLS_MAX];
    tz_jump_facts facts;
    tz_cuda_close(opened_to_run());
    start_run(&r, "hotspot", TZ_SINGLE, "clamp");
    jump_and_step(&r, "cuFFT");
    /* The steady state is one that another jump leaves as it is. */
    assert_ok(tz_jump_advance(r.jump, TZ_JUMP_LIMIT, &facts, &failure));
    load(&r, before);
    assert_ok(tz_jump_advance(r.jump, 1000, &facts, &failure));
    load(&r, after);
    for (int64_t i = 0; i < r.cells; i++)
        assert_true(fabs(after[i] - before[i]) <= 1.2e-7 * fabs(before[i]));
    end_run(&r);
}

/* Without cuFFT a jump goes through host memory. */
static void without_cufft_the_host_does_it(void **state)
{
    char library_name[64];
    run r;
    need_fake();
    tz_cuda_close(opened_to_run());
    setenv("FAKE_CUFFT_FAULT", "cufftGetVersion:5", 1);
    assert_int_equal(tz_backend_cuda.jump_library(library_name, sizeof library_name, &failure),
                     TZ_UNSUPPORTED);
    tz_fftw fftw;
    if (tz_fftw_open(&fftw, NULL, NULL) != TZ_OK)
        skip_test("no libfftw3 on this machine");
    start_run(&r, "hotspot", TZ_SINGLE, "clamp");
    jump_and_step(&r, "fftw");
    end_run(&r);
}

static int start_all(void **state)
{
    return open_plugins(state) || start(state);
}

static int end_all(void **state)
{
    return end(state) || close_plugins(state);
}

TEST_MAIN(start_all, end_all, EXECUTED_TEST(a_simulation_jumps),
          EXECUTED_TEST(without_cufft_the_host_does_it))
