/* Plain kernels as they are run to be measured: inside the grid they leave the bits of the
 * reference backend. */
#include "model/papers/plain.h"

#include "backend/backend.h"
#include "tests/backend/cuda/executed.h"
#include "tests/registry.h"

/* Launches before the rounds, and one of a round that shall be short. */
enum { ITERATIONS = 2 * 2 + 1 };

static const tz_streamed_source *const none[TZ_FIELDS_MAX];

static void *make_fields(const tz_backend *backend, const tz_backend_context *context)
{
    const tz_problem *problem = context->problem;
    const int64_t count = tz_problem_elements(problem);
    void *made;
    tz_box box = {.low = {0}};
    memcpy(box.high, problem->elements, sizeof box.high);
    assert_ok(backend->create(&made, context, &failure));
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        float *values = test_room((size_t)count * sizeof *values);
        for (int64_t i = 0; i < count; i++) {
            const double x = sin(12.9898 * (double)(i + 1) + f) * 43758.5453;
            values[i] = (float)(0.5 + 0.4 * (x - floor(x)));
        }
        assert_ok(backend->store(made, f, &box, values, &failure));
    }
    return made;
}

static float *values_of(const tz_backend *backend, const void *from, const tz_problem *problem,
                        int f)
{
    float *values = test_room((size_t)tz_problem_elements(problem) * sizeof *values);
    tz_box box = {.low = {0}};
    memcpy(box.high, problem->elements, sizeof box.high);
    assert_ok(backend->load(from, f, &box, values, &failure));
    return values;
}

static void compare(const tz_problem *problem, const void *found, const void *wanted, int64_t away)
{
    const int64_t *n = problem->elements;
    int64_t compared = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        float *a = values_of(&tz_backend_cuda, found, problem, f);
        float *b = values_of(&tz_backend_reference, wanted, problem, f);
        for (int64_t i = 0; i < tz_problem_elements(problem); i++) {
            const int64_t at[TZ_AXES] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
            bool inside = true;
            for (int axis = 0; axis < problem->dims; axis++)
                inside = inside && at[axis] >= away && at[axis] < n[axis] - away;
            if (inside && memcmp(&a[i], &b[i], sizeof *a) != 0)
                fail_msg("%s, field %d, cell %d: %.9g, not %.9g", problem->stencil->id, f, (int)i,
                         a[i], b[i]);
            compared += inside;
        }
    }
    assert_true(compared > 50);
}

EXECUTED_TEST(plain_kernels_leave_the_bits_of_the_reference)
{
    static const char *const names[] = {"star2d1r", "box2d2r",  "hotspot",   "grayscott", "lbm",
                                        "wave2d",   "star3d1r", "maxwell2d", "redblack"};
    need_fake();
    tz_cuda_close(opened_to_run());
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const tz_stencil *stencil;
        tz_problem problem;
        tz_simulation_config config = {.precision = TZ_SINGLE};
        assert_ok(tz_registry_find(registry, names[k], &stencil, NULL, &failure));
        const int64_t away = (ITERATIONS + 1) * tz_stencil_reach(stencil);
        config.dims = stencil->dims;
        for (int axis = 0; axis < TZ_AXES; axis++)
            config.extent[axis] = axis < stencil->dims ? 2 * away + 11 - 2 * axis : 1;
        assert_ok(tz_problem_resolve(&problem, stencil, &config, &failure));
        const tz_backend_context context = {.problem = &problem, .streamed = none};
        void *found = make_fields(&tz_backend_cuda, &context);
        void *wanted = make_fields(&tz_backend_reference, &context);
        const tz_plan plan = {.family = "reference", .height = 1};
        double round_s = -1;
        assert_ok(tz_cuda_plain_time(found, (int[]){32, 1, 1}, 1e-12, 1, &round_s, &failure));
        assert_true(round_s >= 0);
        for (int t = 0; t < ITERATIONS; t++)
            assert_ok(tz_backend_reference.stage(wanted, &plan, 1, 0, &failure));
        compare(&problem, found, wanted, away);
        tz_backend_cuda.destroy(found);
        tz_backend_reference.destroy(wanted);
        tz_problem_clear(&problem);
    }
}

static int start_all(void **state)
{
    return open_all_plugins(state) || start(state);
}

static int end_all(void **state)
{
    return close_plugins(state) || end(state);
}

TEST_GROUP(start_all, end_all)
