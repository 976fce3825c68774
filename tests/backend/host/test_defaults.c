/* What a backend need not do itself: one that has only what is REQUIRED gives what the reference
 * backend gives. */
#include "tests/backend/update_support.h"

#include "backend/host/defaults.h"
#include "stencil/registry.h"

typedef struct wrapped {
    tz_backend_context context; /* first: TZ_HOST_DEFAULTS */
    void *inner;
} wrapped;

extern const tz_backend tz_backend_wrapped;

static tz_status wrapped_create(void **out, const tz_backend_context *context, tz_error *error)
{
    wrapped *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->context = *context;
    *out = w;
    return tz_backend_reference.create(&w->inner, context, error);
}

static void wrapped_destroy(void *any)
{
    tz_backend_reference.destroy(((wrapped *)any)->inner);
    free(any);
}

static tz_status wrapped_store(void *any, int field, const tz_box *box, const void *elements,
                               tz_error *error)
{
    return tz_backend_reference.store(((wrapped *)any)->inner, field, box, elements, error);
}

static tz_status wrapped_load(const void *any, int field, const tz_box *box, void *elements,
                              tz_error *error)
{
    return tz_backend_reference.load(((const wrapped *)any)->inner, field, box, elements, error);
}

TZ_HOST_DEFAULTS(wrapped)
const tz_backend tz_backend_wrapped = {.name = "wrapped",
                                       .create = wrapped_create,
                                       .destroy = wrapped_destroy,
                                       .store = wrapped_store,
                                       .load = wrapped_load,
                                       TZ_HOST_DEFAULT_MEMBERS(wrapped)};

/* Of each element of a field. */
static void assert_field(const tz_problem *problem, int field, void *one, void *other)
{
    const tz_box box = update_box(problem);
    const size_t bytes =
        (size_t)tz_problem_elements(problem) * tz_problem_element_size(problem, field);
    char *a = malloc(bytes), *b = malloc(bytes);
    assert_ok(tz_backend_reference.load(one, field, &box, a, &failure));
    assert_ok(tz_backend_wrapped.load(other, field, &box, b, &failure));
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s: other bits in field %d", problem->stencil->id, field);
    free(a), free(b);
}

static void compare(const tz_problem *problem, void *one, void *other)
{
    const tz_stencil *s = problem->stencil;
    bool finite[2];
    tz_update update[2];
    for (int f = 0; f < s->fields_count; f++) {
        tz_reduction r[2];
        if (s->fields[f].role != TZ_STATE && s->fields[f].role != TZ_STATIC)
            continue;
        memset(r, 0, sizeof r);
        assert_ok(tz_backend_reduce(&tz_backend_reference, one, problem, f, &r[0], &failure));
        assert_ok(tz_backend_reduce(&tz_backend_wrapped, other, problem, f, &r[1], &failure));
        assert_memory_equal(&r[0], &r[1], sizeof r[0]);
    }
    assert_ok(tz_backend_reference.all_finite(one, &finite[0], &failure));
    assert_ok(tz_backend_wrapped.all_finite(other, &finite[1], &failure));
    assert_int_equal(finite[0], finite[1]);
    assert_ok(tz_backend_update(&tz_backend_reference, one, problem, 3, &update[0], &failure));
    assert_ok(tz_backend_update(&tz_backend_wrapped, other, problem, 3, &update[1], &failure));
    assert_true(update_same(&update[0], &update[1]));
}

static void check_stencil(const tz_stencil *stencil)
{
    const int64_t y = stencil->dims > 1 ? 9 : 1, z = stencil->dims > 2 ? 7 : 1;
    const int precision = tz_stencil_has_real(stencil) ? TZ_SINGLE : -1;
    const update_case k = {stencil, precision, {0}, {70, y, z}, 5};
    tz_problem problem;
    if (update_problem(&problem, &k))
        return; /* a boundary that the stencil does not have */
    void *one = update_state(&tz_backend_reference, &problem, NULL, k.seed);
    void *other = update_state(&tz_backend_wrapped, &problem, NULL, k.seed);
    compare(&problem, one, other);
    if (precision == TZ_SINGLE && stencil->fields[0].type == TZ_REAL) {
        const tz_box box = {{69, y - 1, z - 1}, {70, y, z}};
        const float odd = INFINITY;
        assert_ok(tz_backend_reference.store(one, 0, &box, &odd, &failure));
        assert_ok(tz_backend_wrapped.store(other, 0, &box, &odd, &failure));
        compare(&problem, one, other);
    }
    tz_backend_reference.destroy(one);
    tz_backend_wrapped.destroy(other);
    tz_problem_clear(&problem);
}

TEST(test_defaults_agree_with_the_reference)
{
    update_each_stencil(check_stencil);
}

TEST(test_refinement_agrees_with_the_reference)
{
    static const char *const folder = TZ_TEST_PLUGIN_DIR;
    tz_registry *registry;
    const tz_stencil *stencil;
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    assert_ok(tz_registry_find(registry, "poisson", &stencil, NULL, &failure));
    const update_case k = {stencil, TZ_DOUBLE, {0}, {40, 30, 1}, 2};
    tz_problem problem, correction;
    assert_ok(update_problem(&problem, &k));
    assert_ok(tz_problem_correction(&correction, &problem, &failure));
    const tz_backend *const backends[] = {&tz_backend_reference, &tz_backend_wrapped};
    void *states[2], *corrections[2];
    tz_update update[2];
    for (int b = 0; b < 2; b++) {
        states[b] = update_state(backends[b], &problem, NULL, 2);
        corrections[b] = update_state(backends[b], &correction, NULL, 4);
        assert_ok(tz_backend_refine(backends[b], states[b], corrections[b], &problem, 3, &update[b],
                                    &failure));
    }
    assert_true(update_same(&update[0], &update[1]));
    for (int f = 0; f < stencil->fields_count; f++) {
        assert_field(&problem, f, states[0], states[1]);
        assert_field(&correction, f, corrections[0], corrections[1]);
    }
    for (int b = 0; b < 2; b++) {
        backends[b]->destroy(states[b]);
        backends[b]->destroy(corrections[b]);
    }
    tz_problem_clear(&correction);
    tz_problem_clear(&problem);
    tz_registry_destroy(registry);
}
