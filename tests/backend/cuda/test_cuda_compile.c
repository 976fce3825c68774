/* The device text of every stencil, compiled for real architectures; needs NVRTC, no GPU. */
#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "tests/unit.h"

static int spilt; /* kernels with local memory, for sm_90 */

static void compile_plan(const tz_stencil *stencil, int precision, int boundary, const char *family,
                         const char *architecture)
{
    static const int64_t extents[][TZ_AXES] = {{0}, {1000, 1, 1}, {200, 100, 1}, {70, 50, 40}};
    tz_simulation_config config = {.dims = stencil->dims, .precision = precision};
    tz_problem problem;
    tz_plan plan = {0};
    memcpy(config.extent, extents[stencil->dims], sizeof config.extent);
    for (int d = 0; d < TZ_AXES; d++)
        config.boundary[d] = tz_boundary_name((tz_boundary)boundary);
    tz_assignment unstable[] = {{"allow_unstable", 1.0, NULL}};
    if (tz_stencil_param_index(stencil, "allow_unstable") >= 0) {
        config.params = unstable;
        config.params_count = 1;
    }
    if (tz_problem_resolve(&problem, stencil, &config, &failure))
        fail_msg("%s: %s", stencil->id, failure.message);
    snprintf(plan.family, sizeof plan.family, "%s", family);
    const tz_place place = {.threads = 1};
    const tz_limits limits = tz_place_limits(&place);
    if (tz_backend_cuda.plan(&problem, &place, &plan, &failure)) {
        /* A family may refuse a stencil; at least one family must take it. */
        print_message("%s: refused by %s: %s\n", stencil->id, family, failure.message);
        assert_true(*family != '\0');
        tz_problem_clear(&problem);
        return;
    }
    char *source = NULL;
    void *cubin = NULL;
    size_t bytes = 0;
    assert_ok(tz_cuda_source(&problem, &limits, &plan, &source, &failure));
    tz_cuda_kernel_report kernel;
    size_t kernels = 0;
    const tz_status status =
        tz_cuda_compile_report(architecture, source, tz_cuda_headers, tz_cuda_headers_count, &cubin,
                               &bytes, &kernel, 1, &kernels, &failure);
    if (status && getenv("TZ_CUDA_DUMP"))
        puts(source);
    free(source);
    tz_problem_clear(&problem);
    if (status == TZ_UNSUPPORTED) {
        skip_test("%s", failure.message);
    }
    if (status)
        fail_msg("%s, %s, %s: %s", stencil->id, tz_boundary_name((tz_boundary)boundary),
                 architecture, failure.message);
    assert_true(bytes > 64 && memcmp(cubin, "\177ELF", 4) == 0);
    free(cubin);
    assert_int_equal(kernels, 1);
    /* Local memory is off chip: a kernel that needs it is slow, and no other test shows that. Figures
     * are for sm_90; elsewhere a spill is worth a word. */
    if (kernel.local_bytes == 0)
        return;
    char text[200];
    snprintf(text, sizeof text,
             "%s %s, %s, %s, %s: %d registers, %d bytes of local memory (%d spilt)", stencil->id,
             precision == TZ_DOUBLE ? "double" : "single", plan.family,
             tz_boundary_name((tz_boundary)boundary), architecture, kernel.registers,
             kernel.local_bytes, kernel.spill_store_bytes);
    print_message("%s\n", text);
    /* In 3-D a dozen words are let off: they are border code's, and with fewer threads or columns
     * all is slower. */
    const int most = stencil->dims < 3 ? 8 : 48;
    spilt += strcmp(architecture, "sm_90") == 0 && kernel.local_bytes > most;
}

static void each_stencil_compiles(const char *folder, const char *const *families,
                                  const char *const *architectures)
{
    tz_registry *registry;
    int compiled = 0;
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
        for (int s = 0; plugin && s < plugin->stencils_count; s++) {
            const tz_stencil *stencil = plugin->stencils[s];
            for (const char *const *f = families; *f; f++) {
                for (const char *const *a = architectures; *a; a++)
                    compile_plan(stencil, -1, stencil->boundary, *f, *a);
                if (tz_stencil_has_real(stencil))
                    compile_plan(stencil, TZ_DOUBLE, stencil->boundary, *f, architectures[0]);
            }
            compiled++;
        }
    }
    tz_registry_destroy(registry);
    assert_true(compiled > 0);
    assert_int_equal(spilt, 0);
}

static void built_in_stencils_compile(void **state)
{
    static const char *const architectures[] = {"sm_90", "sm_80", "sm_100", NULL};
    static const char *const families[] = {"stream", "resident", "tile", NULL};
    each_stencil_compiles(TZ_TEST_PLUGIN_DIR, families, architectures);
}

static void test_stencils_compile(void **state)
{
    static const char *const architectures[] = {"sm_90", NULL};
    static const char *const families[] = {"", NULL};
    each_stencil_compiles(TZ_TEST_TEST_PLUGIN_DIR, families, architectures);
}

TEST_MAIN(NULL, NULL, TEST(built_in_stencils_compile), TEST(test_stencils_compile))
