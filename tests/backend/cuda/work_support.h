/* For the tests of the work of kernels and of its time by roofs: problems and their work. No GPU;
 * without NVRTC a test that compiles is skipped. */
#ifndef TZ_TEST_WORK_SUPPORT_H
#define TZ_TEST_WORK_SUPPORT_H

#include "backend/cuda/family/work.h"
#include "tests/model/model_support.h"
#include "tests/unit.h"

typedef struct suite {
    tz_registry *registry;
    tz_model_device device;
    char cache[64];
} suite;

static inline int set_up(void **state)
{
    suite *s = calloc(1, sizeof *s);
    static const char *const folders[] = {TZ_TEST_PLUGIN_DIR, TZ_TEST_TEST_PLUGIN_DIR};
    if (!s || tz_registry_create(&s->registry, folders, 2, NULL))
        return 1;
    s->device = device_named("h200");
    strcpy(s->cache, "/tmp/tz-work-XXXXXX");
    if (!mkdtemp(s->cache) || setenv("TRAPEZE_CACHE", s->cache, 1))
        return 1;
    *state = s;
    return 0;
}

static inline int tear_down(void **state)
{
    suite *s = *state;
    char command[96];
    tz_registry_destroy(s->registry);
    snprintf(command, sizeof command, "rm -rf '%s'", s->cache);
    const int failed = system(command);
    free(s);
    return failed;
}

static inline void make_problem(const suite *s, const char *id, int precision, int64_t nx,
                                int64_t ny, int64_t nz, tz_problem *problem)
{
    const tz_stencil *stencil;
    assert_int_equal(tz_registry_find(s->registry, id, &stencil, NULL, NULL), TZ_OK);
    const tz_simulation_config config = {
        .dims = stencil->dims, .precision = precision, .extent = {nx, ny, nz}};
    if (tz_problem_resolve(problem, stencil, &config, &failure))
        fail_msg("%s: %s", id, failure.message);
}

static inline bool plan_for(const suite *s, const tz_problem *problem, tz_plan *plan)
{
    const tz_place place = {.device = &s->device};
    return tz_backend_cuda.plan(problem, &place, plan, NULL) == TZ_OK;
}

static inline void work_of(const suite *s, const tz_problem *problem, const tz_plan *plan,
                           tz_effort effort, tz_model_work *work)
{
    const tz_place place = {.device = &s->device};
    const tz_status status = tz_backend_cuda.work(problem, &place, plan, effort, work, &failure);
    if (status == TZ_UNSUPPORTED && strstr(failure.message, "NVRTC")) {
        skip_test("%s", failure.message);
    }
    if (status)
        fail_msg("%s %s h %d: %s", problem->stencil->id, plan->family, plan->height,
                 failure.message);
}

/* The work of the backend's plan, which completes `plan`. */
static inline void planned_work(const suite *s, const tz_problem *problem, tz_plan *plan,
                                tz_effort effort, tz_model_work *work)
{
    assert_true(plan_for(s, problem, plan));
    work_of(s, problem, plan, effort, work);
}

static inline double stage_of(const tz_model_work *work, const tz_model_device *device)
{
    return predicted(work, device).stage_s;
}

#endif
