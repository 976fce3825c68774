/* The device text of every stencil, compiled for real architectures; needs NVRTC, no GPU. */
#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/sass/sass.h"
#include "backend/cuda/spectral/jump.h"
#include "tests/turns.h"
#include "tests/unit.h"

static int spilt; /* kernels with local memory, for sm_90 */

static void compile_plan(const tz_stencil *stencil, int precision, int boundary, const char *family,
                         const char *architecture, bool in_slab)
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
    const tz_problem part = in_slab ? tz_problem_slab(&problem, 20, 30, 5, 5) : problem;
    if (tz_backend_cuda.plan(&part, &place, &plan, &failure)) {
        /* A family may refuse a stencil; at least one family must take it. */
        print_message("%s: refused by %s: %s\n", stencil->id, family, failure.message);
        assert_true(*family != '\0');
        tz_problem_clear(&problem);
        return;
    }
    char *source = NULL;
    void *cubin = NULL;
    size_t bytes = 0;
    assert_ok(tz_cuda_source(&part, &limits, &plan, &source, &failure));
    assert_true(in_slab == (strstr(source, "#define TZ_SLAB") != NULL));
    tz_sass kernel = {0};
    tz_status status = tz_cuda_compile(architecture, source, tz_cuda_headers, tz_cuda_headers_count,
                                       NULL, &cubin, &bytes, &failure);
    if (!status)
        status = tz_sass_read(&kernel, cubin, bytes, TZ_CUDA_ENTRY, &failure);
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
    tz_sass_free(&kernel);
    free(cubin);
    /* Local memory is off chip: a kernel that needs it is slow, and nothing else says so. Figures
     * are for sm_90; elsewhere a spill is worth a word. */
    if (kernel.local_bytes == 0)
        return;
    char text[200];
    snprintf(text, sizeof text, "%s %s, %s, %s, %s: %d registers, %d bytes of local memory",
             stencil->id, precision == TZ_DOUBLE ? "double" : "single", plan.family,
             tz_boundary_name((tz_boundary)boundary), architecture, kernel.registers,
             kernel.local_bytes);
    print_message("%s\n", text);
    /* In 3-D a dozen words are let off: they are border code's, and with fewer threads or columns
     * all is slower. In the family direct, which spares registers (choose_blocks()), wave3d8 has 16
     * and fdd5 24. In double precision a resident kernel may store four words before its loop and
     * load them once an iteration or once an exchange, as that of twofields does. */
    const bool resident = strcmp(plan.family, "resident") == 0 && precision == TZ_DOUBLE;
    const int most = stencil->dims < 3                    ? resident ? 16 : 8
                     : strcmp(plan.family, "direct") == 0 ? 96
                                                          : 48;
    spilt += strcmp(architecture, "sm_90") == 0 && kernel.local_bytes > most;
}

/* Is kernel k of stencil number n to be compiled? With TZ_NVRTC, for one stencil in `turns` a day. */
static bool is_compiled(int n, int k, int turns)
{
    return !getenv("TZ_NVRTC") || is_turn((unsigned)(n + k), (unsigned)turns);
}

/* All families for the first architecture; the first family for the others, and in double. Where
 * TZ_NVRTC is set, one of `first_turns` stencils a day is compiled with the first family, and fewer
 * with others. */
static void each_stencil_compiles(const char *folder, const char *const *families,
                                  const char *const *architectures, int first_turns)
{
    tz_registry *registry;
    int compiled = 0;
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
        for (int s = 0; plugin && s < plugin->stencils_count; s++) {
            const tz_stencil *stencil = plugin->stencils[s];
            for (const char *const *f = families; *f; f++)
                if (f == families ? is_compiled(compiled, 0, first_turns)
                                  : is_compiled(compiled, (int)(f - families), 16))
                    compile_plan(stencil, -1, stencil->boundary, *f, architectures[0], false);
            for (const char *const *a = architectures + 1; *a; a++)
                if (is_compiled(compiled, (int)(a - architectures), 32))
                    compile_plan(stencil, -1, stencil->boundary, *families, *a, false);
            if (tz_stencil_has_real(stencil) && is_compiled(compiled, 1, 2 * first_turns))
                compile_plan(stencil, TZ_DOUBLE, stencil->boundary, *families, architectures[0],
                             false);
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
    static const char *const families[] = {"stream", "resident", "tile", "block", "direct", NULL};
    /* test_cuda_work compiles the first family of the others. */
    each_stencil_compiles(TZ_TEST_PLUGIN_DIR, families, architectures, 8);
}

static void test_stencils_compile(void **state)
{
    static const char *const architectures[] = {"sm_90", NULL};
    static const char *const families[] = {"", NULL};
    /* The contract suite compiles all of them, too. */
    each_stencil_compiles(TZ_TEST_TEST_PLUGIN_DIR, families, architectures, 4);
}

/* The text of a plugin reaches this compiler as it was when the plugin was built; its slips give the
 * lines that the plugin's compiler gives. */
static void check_slip(const tz_stencil *stencil, const char *family, const char *value,
                       const char *wanted)
{
    char text[1024];
    snprintf(text, sizeof text,
             "#define TZ_FIELDS(F) F(u, real)\n#define TZ_CONSTANTS(K) K(c0, real) K(c1, real)\n\n"
             "TZ_CELL(jacobi)\n{\n    TZ_PUT(u, %s);\n}\n",
             value);
    tz_pass pass = stencil->passes[0];
    pass.text = text;
    tz_stencil other = *stencil;
    other.passes = &pass;
    tz_simulation_config config = {.dims = 2, .extent = {200, 100, 1}, .precision = TZ_SINGLE};
    tz_problem problem;
    tz_plan plan = {0};
    const tz_place place = {.threads = 1};
    const tz_limits limits = tz_place_limits(&place);
    char *source = NULL;
    void *cubin = NULL;
    size_t bytes = 0;
    assert_ok(tz_problem_resolve(&problem, &other, &config, &failure));
    snprintf(plan.family, sizeof plan.family, "%s", family);
    assert_ok(tz_backend_cuda.plan(&problem, &place, &plan, &failure));
    assert_ok(tz_cuda_source(&problem, &limits, &plan, &source, &failure));
    const tz_status status = tz_cuda_compile("sm_90", source, tz_cuda_headers,
                                             tz_cuda_headers_count, NULL, &cubin, &bytes, &failure);
    free(source);
    free(cubin);
    tz_problem_clear(&problem);
    if (status == TZ_UNSUPPORTED)
        skip_test("%s", failure.message);
    if (!*wanted) {
        assert_ok(status);
        return;
    }
    check_error_of(status, TZ_BACKEND, &failure, "", wanted);
    check_error_of(status, TZ_BACKEND, &failure, "", "jacobi.cell.h(6): error:");
    const char *first = strstr(failure.message, "error:");
    assert_null(strstr(first + 1, "error")); /* what follows from it is left out */
}

static void slips_in_a_text_are_plain_lines(void **state)
{
    static const char *const families[] = {"stream", "tile", "resident", "block"};
    const char *folder = TZ_TEST_PLUGIN_DIR;
    const tz_stencil *stencil;
    tz_registry *registry;
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    assert_ok(tz_registry_find(registry, "star2d1r", &stencil, NULL, &failure));
    for (int i = 0; i < 4; i++) {
        const char *family = families[i];
        check_slip(stencil, family, "TZ_K(c0) * TZ_AT(u, -1, 0)", "");
        check_slip(stencil, family, "TZ_K(c0) * TZ_AT(u, -1, 0, 0)",
                   "TZ_CELL_DIMS is 2, so TZ_AT takes a field and 2 offsets");
        check_slip(stencil, family, "TZ_K(c0) * TZ_AT(u, -1)",
                   "TZ_CELL_DIMS is 2, so TZ_AT takes a field and 2 offsets");
        check_slip(stencil, family, "exp(TZ_AT(u, -1, 0))",
                   "exp() is a library function, so use TZ_EXP()");
        check_slip(stencil, family, "TZ_AT(uu, -1, 0)", "\"tz_field\" has no member \"uu\"");
        check_slip(stencil, family, "TZ_K(c2) * TZ_AT(u, -1, 0)", "has no member \"k_c2\"");
    }
    tz_registry_destroy(registry);
}

/* Texts with coordinates along the last axis, which a slab gets of the whole grid. */
static void slabs_compile(void **state)
{
    static const struct {
        const char *stencil, *family;
    } cases[] = {{"swirl1d", "stream"},    {"swirl1d", "block"}, {"redblack", "stream"},
                 {"redblack", "resident"}, {"redblack", "tile"}, {"mixed3d", "stream"}};
    static const char *const folders[] = {TZ_TEST_TEST_PLUGIN_DIR};
    tz_registry *registry;
    assert_ok(tz_registry_create(&registry, folders, 1, &failure));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const tz_stencil *stencil;
        const tz_plugin *plugin;
        assert_ok(tz_registry_find(registry, cases[k].stencil, &stencil, &plugin, &failure));
        compile_plan(stencil, -1, stencil->boundary, cases[k].family, "sm_90", true);
    }
    tz_registry_destroy(registry);
}

static void jumps_compile(void **state)
{
    const struct {
        const char *architecture, *text;
    } cases[] = {{"sm_90", tz_cuda_transform_source()},
                 {"sm_90", tz_cuda_jump_source()},
                 {"sm_80", tz_cuda_transform_source()},
                 {"sm_100", tz_cuda_transform_source()}};
    for (int i = 0; i < (getenv("TZ_NVRTC") ? 2 : 4); i++) {
        void *cubin = NULL;
        size_t bytes = 0;
        const tz_status status =
            tz_cuda_compile(cases[i].architecture, cases[i].text, tz_cuda_headers,
                            tz_cuda_headers_count, NULL, &cubin, &bytes, &failure);
        if (status == TZ_UNSUPPORTED)
            skip_test("%s", failure.message);
        assert_ok(status);
        assert_true(bytes > 0);
        free(cubin);
    }
}

TEST_MAIN(NULL, NULL, TEST(jumps_compile), TEST(slabs_compile),
          TEST(slips_in_a_text_are_plain_lines), TEST(built_in_stencils_compile),
          TEST(test_stencils_compile))
