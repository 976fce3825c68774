/* For tests of tz_backend.update: problems of every stencil with random fields, and what the
 * reference backend makes of them. */
#ifndef TZ_TESTS_UPDATE_SUPPORT_H
#define TZ_TESTS_UPDATE_SUPPORT_H

#include "backend/host/reduce.h"
#include "stencil/registry.h"
#include "stencil/streamed_source.h"
#include "tests/archetypes.h"
#include "tests/unit.h"

typedef struct update_case {
    const tz_stencil *stencil;
    int precision; /* -1 without real fields */
    tz_boundary boundary[TZ_AXES];
    int64_t extent[TZ_AXES];
    uint64_t seed;
} update_case;

static inline tz_box update_box(const tz_problem *problem)
{
    tz_box box = {{0}, {0}};
    memcpy(box.high, problem->elements, sizeof box.high);
    return box;
}

/* Constants of which none is small, as single and, a little different, as double precision. */
static inline void update_constants(tz_problem *problem, uint64_t seed)
{
    for (int c = 0; c < problem->stencil->constants_count; c++) {
        const uint64_t bits = tz_random_bits(seed, 78, c);
        const double value =
            (0.06 + 0.1 * (double)(bits >> 11) * 0x1p-53) * (bits & 4 ? -1.0 : 1.0);
        if (problem->stencil->constants[c].type != TZ_REAL)
            continue;
        if (problem->precision == TZ_DOUBLE)
            problem->constants[c].d = value;
        else
            problem->constants[c].f = (float)value;
        problem->constants_in_double[c].d = value;
    }
}

static inline tz_status update_problem(tz_problem *problem, const update_case *k)
{
    tz_assignment unstable = {"allow_unstable", 1.0, NULL};
    tz_simulation_config config = {.dims = k->stencil->dims, .precision = k->precision};
    memcpy(config.extent, k->extent, sizeof config.extent);
    for (int d = 0; d < TZ_AXES; d++)
        config.boundary[d] = tz_boundary_name(k->boundary[d]);
    if (tz_stencil_param_index(k->stencil, unstable.name) >= 0) {
        config.params = &unstable;
        config.params_count = 1;
    }
    const tz_status status = tz_problem_resolve(problem, k->stencil, &config, &failure);
    if (status)
        return status;
    update_constants(problem, k->seed);
    for (int f = 0; f < k->stencil->fields_count; f++) {
        const tz_type type = k->stencil->fields[f].type;
        if (k->seed % 2 == 1) /* 0.1 is no number of either precision */
            problem->boundary_value[f][0] = type == TZ_REAL ? 0.1 - f : type == TZ_INT ? -5 : 1;
    }
    return TZ_OK;
}

/* Random elements of a field; malloc'd. */
static inline void *update_elements(const tz_problem *problem, int f, uint64_t seed)
{
    const tz_type type = problem->stencil->fields[f].type;
    const size_t size = tz_problem_element_size(problem, f);
    char *elements = malloc((size_t)tz_problem_elements(problem) * size);
    assert_non_null(elements);
    for (int64_t i = 0; i < tz_problem_elements(problem); i++) {
        const uint64_t bits = tz_random_bits(seed + 1000u * (uint64_t)f, 0, i);
        const double d = (double)(bits >> 11) * 0x1p-52 - 1.0;
        const float s = (float)d;
        const uint32_t word = (uint32_t)bits & (uint32_t)(bits >> 32);
        const int32_t integer = tz_stencil_excluding(problem->stencil) == f
                                    ? (int32_t)(bits & 1) /* half of the cells */
                                    : (int32_t)(bits % 2001) - 1000;
        char *at = elements + (size_t)i * size;
        if (type == TZ_BITS)
            memcpy(at, &word, sizeof word);
        else if (type == TZ_INT)
            memcpy(at, &integer, sizeof integer);
        else if (size == sizeof d)
            memcpy(at, &d, sizeof d);
        else
            memcpy(at, &s, sizeof s);
    }
    return elements;
}

/* Whether a field is filled with its first element. */
static inline bool update_is_uniform(const tz_problem *problem, int f, uint64_t seed)
{
    return problem->stencil->fields[f].role == TZ_STATIC && seed % 3 == 1;
}

/* A state of a backend with these fields. */
static inline void *update_state(const tz_backend *backend, const tz_problem *problem,
                                 tz_threads *threads, uint64_t seed)
{
    static const tz_streamed_source *const streamed[TZ_FIELDS_MAX];
    const tz_backend_context context = {
        .problem = problem, .streamed = streamed, .threads = threads};
    const tz_box box = update_box(problem);
    void *state;
    assert_ok(backend->create(&state, &context, &failure));
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        void *elements = update_elements(problem, f, seed);
        assert_ok(update_is_uniform(problem, f, seed)
                      ? backend->fill(state, f, elements, &failure)
                      : backend->store(state, f, &box, elements, &failure));
        free(elements);
    }
    return state;
}

static inline bool update_same(const tz_update *a, const tz_update *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline bool update_is_streamed(const tz_stencil *stencil)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            return true;
    return false;
}

/* Calls `check` with every archetype without streamed fields, and with stencils whose residual
 * leaves cells out. */
static inline void update_each_stencil(void (*check)(const tz_stencil *stencil))
{
    static const char *const folders[] = {TZ_TEST_PLUGIN_DIR, TZ_TEST_TEST_PLUGIN_DIR};
    tz_registry *registry;
    int count = 0;
    assert_ok(tz_registry_create(&registry, folders, 2, &failure));
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
        for (int s = 0; plugin && s < plugin->stencils_count; s++)
            if ((is_archetype(plugin->stencils[s]->id) ||
                 tz_stencil_excluding(plugin->stencils[s]) >= 0) &&
                !update_is_streamed(plugin->stencils[s])) {
                check(plugin->stencils[s]);
                count++;
            }
    }
    tz_registry_destroy(registry);
    assert_true(count > 10);
}

#endif
