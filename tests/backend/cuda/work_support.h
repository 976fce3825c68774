/* For the tests of the work of kernels and of its time by roofs: problems and their work. No GPU;
 * without NVRTC a test that compiles is skipped. */
#ifndef TZ_TEST_WORK_SUPPORT_H
#define TZ_TEST_WORK_SUPPORT_H

#include "backend/cuda/family/work.h"
#include "tests/model/model_support.h"
#include "tests/registry.h"

static tz_model_device device; /* an H200; a test may change it */
static const tz_place place = {.device = &device};
static tz_limits limits; /* of that place */
static char cache[64];

static inline int set_up(void **state)
{
    device = device_named("h200");
    limits = tz_place_limits(&place);
    strcpy(cache, "/tmp/tz-work-XXXXXX");
    return open_all_plugins(state) || !mkdtemp(cache) || setenv("TRAPEZE_CACHE", cache, 1);
}

static inline int tear_down(void **state)
{
    char command[96];
    close_plugins(state);
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command);
}

static inline void make_problem(const char *id, int precision, int64_t nx, int64_t ny, int64_t nz,
                                tz_problem *problem)
{
    const tz_stencil *stencil;
    assert_ok(tz_registry_find(registry, id, &stencil, NULL, NULL));
    const tz_simulation_config config = {
        .dims = stencil->dims, .precision = precision, .extent = {nx, ny, nz}};
    if (tz_problem_resolve(problem, stencil, &config, &failure))
        fail_msg("%s: %s", id, failure.message);
}

static inline bool plan_for(const tz_problem *problem, tz_plan *plan)
{
    return tz_backend_cuda.plan(problem, &place, plan, NULL) == TZ_OK;
}

static inline void work_of(const tz_problem *problem, const tz_plan *plan, tz_effort effort,
                           tz_model_work *work)
{
    const tz_status status = tz_backend_cuda.work(problem, &place, plan, effort, work, &failure);
    if (status == TZ_UNSUPPORTED && strstr(failure.message, "NVRTC")) {
        skip_test("%s", failure.message);
    }
    if (status)
        fail_msg("%s %s h %d: %s", problem->stencil->id, plan->family, plan->height,
                 failure.message);
}

/* The work of the backend's plan, which completes `plan`. */
static inline void planned_work(const tz_problem *problem, tz_plan *plan, tz_effort effort,
                                tz_model_work *work)
{
    assert_true(plan_for(problem, plan));
    work_of(problem, plan, effort, work);
}

/* The same of a grid; nz = 1 in 2-D. */
static inline tz_model_work work_for(const char *id, int precision, int64_t nx, int64_t ny,
                                     int64_t nz, tz_plan *plan, tz_effort effort)
{
    tz_problem problem;
    tz_model_work work;
    make_problem(id, precision, nx, ny, nz, &problem);
    planned_work(&problem, plan, effort, &work);
    tz_problem_clear(&problem);
    return work;
}

static inline double stage_of(const tz_model_work *work, const tz_model_device *on)
{
    return predicted(work, on).stage_s;
}

#endif
