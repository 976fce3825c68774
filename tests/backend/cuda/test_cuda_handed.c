/* Arrays that change places: of fields that take over another one's values (tz_cuda_handed()), and
 * of fields between the passes of an iteration (tz_cuda_reads()). After stages of families that do
 * so and of others, in turns, fields and norms are those of the reference backend. */
#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/state.h"
#include "executed.h"
#include "sim/fields.h"
#include "sim/points.h"
#include "tests/registry.h"
#include "tests/run.h"

#include <math.h>

enum { NX = 41, NY = 9, NZ = 12, CELLS = NX * NY * NZ };

static const tz_streamed_source *const none[TZ_FIELDS_MAX];

typedef struct run {
    tz_problem problem;
    void *gpu, *reference;
    int64_t step;
    tz_box all;
    int fields; /* that change */
} run;

static int state_fields(const tz_stencil *stencil)
{
    int count = 0;
    while (count < stencil->fields_count && stencil->fields[count].role == TZ_STATE)
        count++;
    return count;
}

/* A problem with one copy of each field, or two; `boundary`: of each axis, or the stencil's. */
static void resolve(run *r, const tz_stencil *stencil, bool one_copy, bool half,
                    const char *const *boundary)
{
    tz_storage_wish storage[TZ_FIELDS_MAX];
    tz_simulation_config config = {
        .dims = stencil->dims, .precision = TZ_SINGLE, .one_copy = one_copy, .storage = storage};
    *r = (run){.all = {.high = {NX, NY, NZ}}, .fields = state_fields(stencil)};
    if (stencil->dims == 2) {
        r->all.high[1] = NY * NZ;
        r->all.high[2] = 1;
    }
    memcpy(config.extent, r->all.high, sizeof config.extent);
    for (int axis = 0; axis < stencil->dims; axis++)
        config.boundary[axis] = boundary ? boundary[axis] : NULL;
    for (int f = 0; half && f < r->fields; f++)
        storage[config.storage_count++] =
            (tz_storage_wish){.field = stencil->fields[f].name, .as = TZ_STORED_HALF, .scale = 1};
    assert_ok(tz_problem_resolve(&r->problem, stencil, &config, &failure));
}

static void begin_run(run *r)
{
    const tz_stencil *stencil = r->problem.stencil;
    float values[CELLS];
    uint16_t halves[CELLS];
    const tz_backend_context context = {.problem = &r->problem, .streamed = none, .sync = true};
    assert_ok(tz_backend_cuda.create(&r->gpu, &context, &failure));
    assert_ok(tz_backend_reference.create(&r->reference, &context, &failure));
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool half = tz_problem_element_size(&r->problem, f) == sizeof *halves;
        for (int i = 0; i < CELLS; i++) {
            values[i] = f < r->fields ? (float)((i * 7919 + f) % 1009) / 1009.0f : 0.1f;
            halves[i] = (uint16_t)(0x3000 + (i * 7919 + f) % 1009);
        }
        const void *all = half ? (const void *)halves : values;
        assert_ok(tz_backend_cuda.store(r->gpu, f, &r->all, all, &failure));
        assert_ok(tz_backend_reference.store(r->reference, f, &r->all, all, &failure));
    }
}

static void start_run(run *r, const char *id)
{
    const tz_stencil *stencil;
    assert_ok(tz_registry_find(registry, id, &stencil, NULL, &failure));
    resolve(r, stencil, false, false, NULL);
    begin_run(r);
}

static void end_run(run *r)
{
    tz_backend_cuda.destroy(r->gpu);
    tz_backend_reference.destroy(r->reference);
    tz_problem_clear(&r->problem);
}

static void compare(const run *r)
{
    float now[CELLS], wanted[CELLS];
    for (int f = 0; f < r->fields; f++) {
        assert_ok(tz_backend_cuda.load(r->gpu, f, &r->all, now, &failure));
        assert_ok(tz_backend_reference.load(r->reference, f, &r->all, wanted, &failure));
        assert_memory_equal(now, wanted, CELLS * tz_problem_element_size(&r->problem, f));
    }
}

static void advance(run *r, const char *family, int height, int iterations)
{
    const tz_plan plain = {.family = "reference", .height = 1};
    const tz_place place = {.threads = 1};
    tz_plan plan = {.height = height};
    strcpy(plan.family, family);
    assert_ok(tz_backend_cuda.plan(&r->problem, &place, &plan, &failure));
    assert_ok(tz_backend_cuda.stage(r->gpu, &plan, iterations, r->step, &failure));
    for (int t = 0; t < iterations; t++)
        assert_ok(tz_backend_reference.stage(r->reference, &plain, 1, r->step + t, &failure));
    r->step += iterations;
    compare(r);
}

static void same_norm(const run *r)
{
    double now, wanted;
    assert_ok(tz_backend_cuda.update_norm(r->gpu, &now, &failure));
    assert_ok(tz_backend_reference.update_norm(r->reference, &wanted, &failure));
    assert_true(wanted > 0.0);
    assert_true(now == wanted);
}

EXECUTED_TEST(fields_and_norms_are_right)
{
    run r;
    tz_cuda_close(opened_to_run());
    start_run(&r, "sound3d2");
    for (int iterations = 1; iterations <= 3; iterations++) {
        advance(&r, "direct", 1, iterations);
        same_norm(&r);
    }
    advance(&r, "stream", 2, 2);
    advance(&r, "stream", 1, 1);
    same_norm(&r);
    advance(&r, "direct", 1, 1);
    same_norm(&r);
    advance(&r, "direct", 1, 34); /* longer than a graph of launches */
    same_norm(&r);
    advance(&r, "stream", 1, 3);
    same_norm(&r);
    end_run(&r);
}

/* Two passes that write the same field, and two that write another one each. */
EXECUTED_TEST(passes_follow_one_another)
{
    static const char *const stencils[] = {"redblack", "twofields"};
    tz_cuda_close(opened_to_run());
    for (int k = 0; k < 2; k++) {
        run r;
        start_run(&r, stencils[k]);
        advance(&r, "direct", 1, 1);
        same_norm(&r);
        advance(&r, "direct", 3, 4);
        advance(&r, "stream", 2, 2);
        advance(&r, "direct", 1, 3);
        same_norm(&r);
        end_run(&r);
    }
}

/* The kernel has no store for the field that is taken over. */
EXECUTED_TEST(one_array_is_not_stored)
{
    const tz_cuda_family *family;
    run r;
    tz_cuda_close(opened_to_run());
    start_run(&r, "sound3d2");
    assert_ok(tz_cuda_family_find("direct", &r.problem, &family, &failure));
    assert_int_equal(tz_cuda_handed(family, &r.problem, 0), -1);
    assert_int_equal(tz_cuda_handed(family, &r.problem, 1), 0);
    assert_ok(tz_cuda_family_find("stream", &r.problem, &family, &failure));
    assert_int_equal(tz_cuda_handed(family, &r.problem, 1), -1);
    end_run(&r);
}

/* One copy: fields that are read at the cell alone in the pass that changes them (maxwell2d), that
 * take over another one's values (sound3d2), or that are read at opposite places (d3q19). */
EXECUTED_TEST(one_copy)
{
    static const struct {
        const char *id;
        bool half;
        const char *boundary[TZ_AXES];
    } cases[] = {
        {"maxwell2d", false, {"clamp", "fixed"}},
        {"sound3d2", false, {"mirror", "clamp", "periodic"}},
        {"d3q19", false, {"periodic", "periodic", "periodic"}},
        {"d3q19", true, {"fixed", "periodic", "fixed"}},
        {"d2q9", false, {"fixed:fixed", "fixed"}},
    };
    tz_cuda_close(opened_to_run());
    for (int k = 0; k < 5; k++) {
        const tz_stencil *stencil;
        run r;
        double norm;
        assert_ok(tz_registry_find(registry, cases[k].id, &stencil, NULL, &failure));
        resolve(&r, stencil, true, cases[k].half, cases[k].boundary);
        begin_run(&r);
        const tz_cuda_state *gpu = r.gpu;
        for (int f = 0; f < r.fields; f++)
            for (int g = 0; g < f; g++)
                assert_true(gpu->copy[f][0] != gpu->copy[g][0]);
        for (int iterations = 1; iterations <= 2; iterations++)
            advance(&r, "direct", 1, iterations);
        advance(&r, "", 0, 1); /* the plan that is chosen */
        if (k == 0 || k == 2)
            advance(&r, "direct", 1, 17); /* longer than a graph of launches */
        assert_ok(tz_backend_cuda.update_norm(r.gpu, &norm, &failure));
        assert_true(isnan(norm));
        end_run(&r);
    }
}

static double pulse(const void *context, const tz_value *params, int64_t step, double time)
{
    (void)context, (void)params, (void)time;
    return 1.0 / (double)(step + 1);
}

/* Points of a simulation of waves; what was recorded, and the hash of a field. */
static uint64_t shoot(const char *id, const char *backend, bool one_copy, double records[8])
{
    static const double at[] = {20, 7, 21, 7};
    const tz_points_config points = {.count = 2, .at = at};
    const tz_source_config shot = {.scale = 1, .value = pulse};
    tz_simulation_config config = {.registry = registry,
                                   .stencil = id,
                                   .dims = 2,
                                   .extent = {NX, NY, 1},
                                   .precision = TZ_SINGLE,
                                   .one_copy = one_copy,
                                   .backend = backend,
                                   .sync = true};
    tz_simulation *sim;
    tz_receivers *receivers;
    tz_reduction now;
    assert_ok(tz_simulation_create(&sim, &config, &failure));
    assert_ok(tz_simulation_add_sources(sim, &points, &shot, &failure));
    assert_ok(tz_simulation_add_receivers(sim, &points, 1, &receivers, &failure));
    assert_ok(run_steps(sim, 4, &failure));
    assert_ok(tz_simulation_receive(sim, &failure));
    assert_ok(tz_simulation_reduce(sim, 1, &now, &failure));
    const tz_received got = tz_receivers_get(receivers);
    assert_true(got.rows == 4 && got.count == 2);
    memcpy(records, got.values, 8 * sizeof *records);
    tz_simulation_destroy(sim);
    return now.hash;
}

EXECUTED_TEST(points_in_one_copy)
{
    double now[8], wanted[8];
    tz_cuda_close(opened_to_run());
    assert_true(shoot("maxwell2d", "cuda", true, now) ==
                shoot("maxwell2d", "reference", false, wanted));
    assert_memory_equal(now, wanted, sizeof now);
    assert_true(wanted[7] != 0.0);
}

/* What takes two copies says so. */
EXECUTED_TEST(one_copy_is_refused)
{
    static const struct {
        const char *id, *boundary, *why;
    } cases[] = {
        {"redblack", "clamp", "reads a field at several places"},
        {"d3q19", "clamp", "with periodic and fixed sides alone"},
    };
    for (int k = 0; k < 2; k++) {
        const tz_stencil *stencil;
        const tz_place place = {.threads = 1};
        tz_plan plan = {0};
        run r;
        const char *boundary[] = {cases[k].boundary, cases[k].boundary, cases[k].boundary};
        assert_ok(tz_registry_find(registry, cases[k].id, &stencil, NULL, &failure));
        resolve(&r, stencil, true, false, boundary);
        assert_int_equal(tz_backend_cuda.plan(&r.problem, &place, &plan, &failure), TZ_UNSUPPORTED);
        assert_non_null(strstr(failure.message, cases[k].why));
        assert_non_null(strstr(failure.message, "leave 'copies' out"));
        tz_problem_clear(&r.problem);
    }
}

static int start_all(void **state)
{
    return open_test_plugins(state) || start(state);
}

static int end_all(void **state)
{
    return close_plugins(state) || end(state);
}

TEST_GROUP(start_all, end_all)
