/* Tests of what kernels do and of the time that roofs gives it: problems, their work, and work that
 * is made up. No GPU; without NVRTC a test that compiles is skipped. */
#ifndef TZ_TEST_WORK_SUPPORT_H
#define TZ_TEST_WORK_SUPPORT_H

#include "backend/cuda/family/work.h"
#include "calibrate/records.h"
#include "model/roofs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct suite {
    tz_registry *registry;
    tz_model_device device;
    char cache[64];
} suite;

static inline int set_up(void **state)
{
    suite *s = calloc(1, sizeof *s);
    const char *folder = TZ_TEST_PLUGIN_DIR;
    tz_error why;
    if (!s || tz_registry_create(&s->registry, &folder, 1, NULL) ||
        tz_device_find(TZ_TEST_SOURCE_DIR "/../model/devices/h200.txt", &s->device, &why))
        return 1;
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
    tz_error error = {0};
    if (tz_problem_resolve(problem, stencil, &config, &error))
        fail_msg("%s: %s", id, error.message);
}

static inline void work_of(const suite *s, const tz_problem *problem, const tz_plan *plan,
                           tz_effort effort, tz_model_work *work)
{
    const tz_place place = {.device = &s->device};
    tz_error error = {0};
    const tz_status status = tz_backend_cuda.work(problem, &place, plan, effort, work, &error);
    if (status == TZ_UNSUPPORTED && strstr(error.message, "NVRTC")) {
        print_message("skipped: %s\n", error.message);
        skip();
    }
    if (status)
        fail_msg("%s %s h %d: %s", problem->stencil->id, plan->family, plan->height, error.message);
}

static inline tz_model_work some_work(void)
{
    tz_model_work w = {.kind = TZ_WORK_GPU,
                       .height = 8,
                       .cells = 8 * 1e8,
                       .redundancy = 1.1,
                       .parts_count = 1,
                       .read_bytes = 4e8,
                       .write_bytes = 4e8,
                       .ghost_bytes = 4e7,
                       .resident_bytes = 8e8,
                       .registers = 121,
                       .threads = 64,
                       .blocks = 10000,
                       .ahead_bytes = 1536};
    w.parts[0] = (tz_work_part){.name = "inner",
                                .warps = 20000,
                                .steps = 400,
                                .clocks = 200,
                                .bytes = 512,
                                .shared_wavefronts = 8};
    w.parts[0].step.of[TZ_WORK_FP32] = 160;
    w.parts[0].step.of[TZ_WORK_INTEGER] = 30;
    w.parts[0].step.of[TZ_WORK_SHUFFLE] = 16;
    return w;
}

static inline double stage_of(const tz_model_work *work, const tz_model_device *device)
{
    tz_model_prediction p = {0};
    tz_error why;
    if (tz_roofs_predict(work, device, &p, &why))
        fail_msg("%s", why.message);
    double sum = 0.0;
    for (int k = 0; k < p.component_count; k++) {
        assert_true(p.components[k].seconds >= 0.0);
        sum += p.components[k].seconds;
    }
    assert_true(fabs(sum / p.time_s - 1.0) < 1e-9);
    assert_true(fabs(p.cells_per_s * p.stage_s / work->cells - 1.0) < 1e-9);
    assert_true(p.limit_text[0] != '\0');
    return p.stage_s;
}

#endif
