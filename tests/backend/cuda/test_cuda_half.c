/* Fields stored as half in whole jobs of the cuda backend: every family in turn on one simulation,
 * with points, gives the cells, reductions, residual and recorded values of the reference; and a
 * value that becomes infinite is reported alike. */
#include "backend/host/reduce.h"
#include "executed.h"
#include "sim/fields.h"
#include "sim/points.h"
#include "sim/state.h"
#include "tests/registry.h"
#include "tests/run.h"

enum { POINTS = 3 };

typedef struct job {
    const char *stencil;
    int64_t extent[TZ_AXES];
    tz_storage_wish storage;
    double low, span; /* of the first field's values */
    double second;    /* the value of the second; 0: it keeps its own */
    bool points;
} job;

/* One row for each iteration. */
static double added(const void *context, const tz_value *params, int64_t step, double time)
{
    (void)context, (void)params, (void)time;
    return 0.0625 * (double)(step % 5 - 1);
}

static tz_simulation *start_job(const job *j, const char *backend, tz_receivers **receivers)
{
    static const double at[POINTS][2] = {{0, 0}, {17, 5}, {18, 5}};
    const tz_points_config points = {.count = POINTS, .at = at[0]};
    const tz_source_config sources = {.scale = 1, .value = added};
    const int dims = j->extent[2] > 1 ? 3 : 2;
    const int64_t cells = j->extent[0] * j->extent[1] * j->extent[2];
    tz_simulation_config config = {.registry = registry,
                                   .stencil = j->stencil,
                                   .dims = dims,
                                   .precision = TZ_SINGLE,
                                   .storage_count = 1,
                                   .storage = &j->storage,
                                   .backend = backend,
                                   .sync = true};
    tz_simulation *sim;
    memcpy(config.extent, j->extent, sizeof config.extent);
    assert_ok(tz_simulation_create(&sim, &config, &failure));
    double *values = malloc((size_t)cells * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < cells; i++)
        values[i] = j->low + j->span * (double)(i * 7919 % 1009) / 1009.0;
    assert_ok(tz_simulation_write(sim, 0, NULL, values, NULL, &failure));
    free(values);
    if (j->second > 0)
        assert_ok(tz_simulation_fill(sim, 1, NULL, j->second, &failure));
    if (j->points) {
        assert_ok(tz_simulation_add_sources(sim, &points, &sources, &failure));
        assert_ok(tz_simulation_add_receivers(sim, &points, 1, receivers, &failure));
    }
    return sim;
}

static void same_results(tz_simulation *sim, tz_simulation *reference)
{
    tz_reduction now, wanted;
    tz_update change, wanted_change;
    assert_ok(tz_simulation_reduce(sim, 0, &now, &failure));
    assert_ok(tz_simulation_reduce(reference, 0, &wanted, &failure));
    assert_int_equal(now.hash, wanted.hash);
    assert_true(now.min == wanted.min && now.max == wanted.max && now.sum == wanted.sum);
    assert_true(now.min < now.max);
    assert_ok(
        tz_backend_update(sim->backend, sim->state, &sim->problem, sim->step, &change, &failure));
    assert_ok(tz_backend_update(reference->backend, reference->state, &reference->problem,
                                sim->step, &wanted_change, &failure));
    assert_true(change.largest > 0 && change.largest == wanted_change.largest);
    assert_true(change.sum == wanted_change.sum);
}

static void same_records(tz_simulation *sim, const tz_receivers *now, tz_simulation *reference,
                         const tz_receivers *wanted)
{
    assert_ok(tz_simulation_receive(sim, &failure));
    assert_ok(tz_simulation_receive(reference, &failure));
    const tz_received a = tz_receivers_get(now), b = tz_receivers_get(wanted);
    assert_int_equal(a.rows, b.rows);
    assert_true(a.rows > 0);
    assert_memory_equal(a.values, b.values, (size_t)a.rows * a.count * sizeof *a.values);
}

/* Families in turns; with points those that take them: `direct` by a launch of its own. */
static void compare_job(const job *j)
{
    static const char *const families[] = {"direct", "stream", "direct", "resident"};
    tz_receivers *records = NULL, *wanted = NULL;
    tz_simulation *sim = start_job(j, "cuda", &records);
    tz_simulation *reference = start_job(j, "reference", &wanted);
    for (int k = 0; k < (j->points ? 3 : 4); k++) {
        tz_plan plan = {.height = k % 2 ? 2 : 1};
        strcpy(plan.family, families[k]);
        assert_ok(tz_simulation_set_plan(sim, &plan, &failure));
        assert_ok(run_steps(sim, 5, &failure));
        assert_ok(run_steps(reference, 5, &failure));
        same_results(sim, reference);
    }
    if (j->points)
        same_records(sim, records, reference, wanted);
    tz_simulation_destroy(sim);
    tz_simulation_destroy(reference);
}

EXECUTED_TEST(families_follow_one_another)
{
    static const tz_storage_wish half = {.as = TZ_STORED_HALF, .origin = NAN, .scale = 1},
                                 moved = {.as = TZ_STORED_HALF, .origin = 300, .scale = 0.25};
    tz_cuda_close(opened_to_run());
    compare_job(&(job){"hotspot", {41, 19, 1}, moved, 310, 8, 0.01, false});
    compare_job(&(job){"star2d1r", {70, 19, 1}, half, 0, 1, 0, true});
    compare_job(&(job){"hotspot3d", {41, 9, 7}, half, 310, 8, 0.01, false});
}

/* The reference's report, after stages of several iterations, too. */
EXECUTED_TEST(infinite_values_are_reported)
{
    static const char *const families[] = {"direct", "stream", "resident"};
    const job j = {"wave2d", {41, 19, 1}, {.as = TZ_STORED_HALF, .origin = NAN, .scale = 1},
                   -60000,   120000,      0,
                   false};
    char wanted[sizeof failure.message];
    tz_cuda_close(opened_to_run());
    tz_simulation *reference = start_job(&j, "reference", NULL);
    assert_int_equal(run_steps(reference, 7, &failure), TZ_DIVERGED);
    assert_non_null(strstr(failure.message, "at step 7"));
    assert_non_null(strstr(failure.message, "it is stored as half"));
    strcpy(wanted, failure.message);
    tz_simulation_destroy(reference);
    for (int k = 0; k < 3; k++) {
        tz_plan plan = {.height = 3};
        tz_simulation *sim = start_job(&j, "cuda", NULL);
        strcpy(plan.family, families[k]);
        assert_ok(tz_simulation_set_plan(sim, &plan, &failure));
        assert_int_equal(run_steps(sim, 7, &failure), TZ_DIVERGED);
        assert_string_equal(failure.message, wanted);
        tz_simulation_destroy(sim);
    }
}

static int start_all(void **state)
{
    return open_plugins(state) || start(state);
}

static int end_all(void **state)
{
    return close_plugins(state) || end(state);
}

TEST_GROUP(start_all, end_all)
