/* Kernels of every archetype, compiled by NVRTC and counted, and that registers are not spilt. No
 * GPU; without NVRTC the test is skipped. */
#include "stencil/registry.h"
#include "tests/archetypes.h"
#include "work_support.h"

/* Local memory is off chip: a kernel that needs it is slow, and nothing else says so. In 3-D a
 * dozen words are let off: they are border code's, and with fewer threads or columns all is slower.
 * The family direct spares registers (choose_blocks()): wave3d8 has 80 bytes. In
 * double precision a resident kernel may store four words before its loop and load them once an
 * iteration or once an exchange, as that of twofields does. Figures are for sm_90. */
static void check_local(const tz_problem *problem, const tz_plan *plan, const tz_model_work *work)
{
    const bool resident = strcmp(plan->family, "resident") == 0 && problem->precision == TZ_DOUBLE;
    const int most = problem->stencil->dims < 3            ? resident ? 16 : 8
                     : strcmp(plan->family, "direct") == 0 ? 96
                                                           : 48;
    if (work->local_bytes > most)
        fail_msg("%s %s, %s: %d registers, %d bytes of local memory", problem->stencil->id,
                 problem->precision == TZ_DOUBLE ? "double" : "single", plan->family,
                 work->registers, work->local_bytes);
}

/* The default plan of a family, if it takes the stencil, is compiled and counted. */
static bool count_plan(const tz_stencil *stencil, const char *family, int precision,
                       tz_boundary boundary)
{
    static const int64_t extents[][TZ_AXES] = {
        {0}, {100000, 1, 1}, {1000, 1000, 1}, {128, 128, 128}};
    tz_assignment unstable = {"allow_unstable", 1.0, NULL};
    tz_simulation_config config = {.dims = stencil->dims, .precision = precision};
    tz_problem problem;
    tz_plan plan = {0};
    tz_model_work work;
    tz_model_prediction p;
    memcpy(config.extent, extents[stencil->dims], sizeof config.extent);
    for (int d = 0; d < TZ_AXES; d++)
        config.boundary[d] = tz_boundary_name(boundary);
    if (tz_stencil_param_index(stencil, unstable.name) >= 0) {
        config.params = &unstable;
        config.params_count = 1;
    }
    if (tz_problem_resolve(&problem, stencil, &config, &failure))
        fail_msg("%s: %s", stencil->id, failure.message);
    snprintf(plan.family, sizeof plan.family, "%s", family);
    const bool taken = tz_backend_cuda.plan(&problem, &place, &plan, &failure) == TZ_OK;
    if (taken) {
        work_of(&problem, &plan, TZ_EFFORT_COMPILE, &work);
        assert_true(work.parts_count > 0 && work.registers > 0);
        assert_true(tz_work_mix_sum(&work.parts[0].step) > 1.0);
        if (tz_roofs_predict(&work, &device, &p, &failure))
            fail_msg("%s: %s", stencil->id, failure.message);
        assert_true(isfinite(p.stage_s) && p.stage_s > 0.0);
        if (device.compute_capability.value == 90)
            check_local(&problem, &plan, &work);
    }
    tz_problem_clear(&problem);
    return taken;
}

/* Kernels that take NVRTC 2 to 7 s each and are of kinds that others have: with TZ_ALL alone. */
static bool is_slow(const char *stencil, const char *family)
{
    static const char *const slow[][2] = {
        {"numbers", "stream"},     {"numbers", "resident"},    {"sound3d8", "stream"},
        {"d3q19", "stream"},       {"mixed3d", "stream"},      {"cell", "resident"},
        {"twofields", "stream"},   {"redblack", "resident"},   {"hotspot", "resident"},
        {"twofields", "resident"}, {"onesided2d", "resident"}, {"star3d1r", "resident"},
    };
    for (size_t k = 0; k < sizeof slow / sizeof *slow; k++)
        if (strcmp(stencil, slow[k][0]) == 0 && strcmp(family, slow[k][1]) == 0)
            return true;
    return false;
}

/* In the gate one stencil is compiled with the families in even places, the next one with those in
 * odd places; with its own sides and in single precision. Returns how many kernels. */
static int count_stencil(const tz_stencil *stencil, int number)
{
    const tz_cuda_family *family;
    int taken = 0;
    for (int f = 0; tz_cuda_family_at(f, stencil->dims, &family); f++)
        for (int b = 0; family && !family->named && b < TZ_BOUNDARIES; b++)
            for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
                const bool real = tz_stencil_has_real(stencil);
                if (!(stencil->boundaries & TZ_ALLOW(b)) || (!real && precision == TZ_DOUBLE) ||
                    (!is_complete() &&
                     ((tz_boundary)b != stencil->boundary || precision == TZ_DOUBLE ||
                      (f + number) % 2 != 0 || is_slow(stencil->id, family->name))))
                    continue;
                taken += count_plan(stencil, family->name, real ? precision : -1, (tz_boundary)b);
            }
    if (taken == 0 && is_complete())
        fail_msg("no family takes %s: %s", stencil->id, failure.message);
    if (is_complete())
        print_message("%s, sm_%g: %d kernels\n", stencil->id, device.compute_capability.value,
                      taken);
    return taken;
}

/* With TZ_ALL, of all stencils with all families, sides and precisions, for three architectures. */
TEST(every_stencil_is_counted)
{
    static const double architectures[] = {90, 80, 100};
    int stencils = 0, kernels = 0;
    for (int a = 0; a < (is_complete() ? 3 : 1); a++)
        for (size_t i = 0; i < tz_registry_count(registry); i++) {
            const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
            device.compute_capability.value = architectures[a];
            for (int n = 0; plugin && n < plugin->stencils_count; n++)
                if (is_archetype(plugin->stencils[n]->id))
                    kernels += count_stencil(plugin->stencils[n], stencils++);
        }
    assert_true(stencils > 14 && kernels > 10);
}

TEST_GROUP(set_up, tear_down)
