/* Every family takes every stencil at height 1, on a suitable grid, and the plans that it makes.
 * Blocks take one pass of whole cells, and say so of other stencils. */
#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "backend/host/store.h"
#include "stencil/registry.h"
#include "tests/support.h"

/* A plan that a backend made is one that it takes. */
static void try_again(const tz_problem *problem, const tz_place *place, const tz_plan *made)
{
    tz_plan again = *made;
    if (tz_backend_cuda.plan(problem, place, &again, &failure))
        fail_msg("%s refuses its plan of %s: %s", made->family, problem->stencil->id,
                 failure.message);
    assert_true(tz_plan_equal(made, &again));
}

static bool is_refused(const tz_cuda_family *family, const tz_problem *problem)
{
    return (family->no_bits && problem->bits) ||
           (family->no_passes && problem->stencil->passes_count > 1);
}

/* Can the grid stay on chip? Each multiprocessor has a part of it, with the cells around that part
 * that an iteration reads. Both versions of these may take a third of its registers; neighbours of
 * the cells that are being computed, and addresses, take the rest. */
static bool fits_on_chip(const tz_problem *problem, const tz_limits *limits)
{
    const double part = (double)tz_problem_elements(problem) / limits->multiprocessors;
    const double side = pow(part, 1.0 / problem->dims);
    const tz_reach reach = tz_cuda_reach(problem);
    double cells = 1.0, words = 0.0;
    for (int d = 0; d < problem->dims; d++)
        cells *= side + reach.low[d] + reach.high[d];
    for (int f = 0; f < problem->stencil->fields_count; f++)
        words += (double)tz_problem_element_size(problem, f) / 4.0 *
                 (tz_problem_written(problem) >> f & 1 ? 2.0 : 1.0);
    return cells * words <= 65536.0 / 3.0;
}

static void resolve(tz_problem *problem, const tz_stencil *stencil,
                    const tz_simulation_config *config)
{
    if (tz_problem_resolve(problem, stencil, config, &failure))
        fail_msg("%s: %s", stencil->id, failure.message);
}

static void try_families(const tz_stencil *stencil)
{
    enum { MANY_FIELDS = 20 };
    static const int64_t extents[][TZ_AXES] = {{0}, {1000, 1, 1}, {200, 100, 1}, {40, 30, 20}};
    tz_simulation_config config = {.dims = stencil->dims, .precision = -1};
    const tz_place place = {.threads = 1};
    const tz_limits limits = tz_place_limits(&place);
    const tz_cuda_family *family;
    tz_problem problem;
    int taken = 0;
    memcpy(config.extent, extents[stencil->dims], sizeof config.extent);
    resolve(&problem, stencil, &config);
    while (!fits_on_chip(&problem, &limits)) {
        tz_problem_clear(&problem);
        config.extent[stencil->dims - 1] /= 2;
        resolve(&problem, stencil, &config);
    }
    for (int f = 0; tz_cuda_family_at(f, stencil->dims, &family); f++) {
        tz_plan plan = {.height = 1};
        if (!family)
            continue;
        assert_int_equal(tz_cuda_refusal(family, &problem) != NULL, is_refused(family, &problem));
        if (is_refused(family, &problem))
            continue;
        snprintf(plan.family, sizeof plan.family, "%s", family->name);
        const bool refused = tz_backend_cuda.plan(&problem, &place, &plan, &failure) != TZ_OK;
        if (refused && stencil->fields_count <= MANY_FIELDS)
            fail_msg("%s refuses %s: %s", family->name, stencil->id, failure.message);
        taken += !refused;
        if (refused)
            continue;
        try_again(&problem, &place, &plan);
        plan = (tz_plan){.height = 0};
        snprintf(plan.family, sizeof plan.family, "%s", family->name);
        if (!tz_backend_cuda.plan(&problem, &place, &plan, &failure))
            try_again(&problem, &place, &plan);
    }
    /* Registers and shared memory may not hold very many fields, but tiles take them. */
    assert_true(taken > (stencil->fields_count <= MANY_FIELDS));
    tz_problem_clear(&problem);
}

TEST(families_take_every_stencil)
{
    static const char *const folders[] = {TZ_TEST_PLUGIN_DIR, TZ_TEST_TEST_PLUGIN_DIR};
    tz_registry *registry;
    int stencils = 0;
    assert_ok(tz_registry_create(&registry, folders, 2, &failure));
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
        for (int s = 0; plugin && s < plugin->stencils_count; s++, stencils++)
            try_families(plugin->stencils[s]);
    }
    tz_registry_destroy(registry);
    assert_true(stencils > 20);
}
