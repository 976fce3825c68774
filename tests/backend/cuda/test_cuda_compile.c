/* Device texts with mistakes, of slabs and of jumps, compiled for real architectures; needs NVRTC,
 * no GPU. test_cuda_every_stencil.c compiles those of stencils. */
#include "backend/backend.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/spectral/jump.h"
#include "stencil/registry.h"
#include "tests/archetypes.h"
#include "tests/unit.h"

/* A slab in the middle of the grid. */
static void compile_slab(const tz_stencil *stencil, const char *family)
{
    static const int64_t extents[][TZ_AXES] = {{0}, {1000, 1, 1}, {200, 100, 1}, {70, 50, 40}};
    tz_simulation_config config = {.dims = stencil->dims, .precision = -1};
    tz_problem problem;
    tz_plan plan = {0};
    memcpy(config.extent, extents[stencil->dims], sizeof config.extent);
    assert_ok(tz_problem_resolve(&problem, stencil, &config, &failure));
    snprintf(plan.family, sizeof plan.family, "%s", family);
    const tz_place place = {.threads = 1};
    const tz_limits limits = tz_place_limits(&place);
    const tz_problem part = tz_problem_slab(&problem, 20, 30, 5, 5);
    assert_ok(tz_backend_cuda.plan(&part, &place, &plan, &failure));
    char *source = NULL;
    void *cubin = NULL;
    size_t bytes = 0;
    assert_ok(tz_cuda_source(&part, &limits, &plan, &source, &failure));
    assert_non_null(strstr(source, "#define TZ_SLAB"));
    const tz_status status = tz_cuda_compile("sm_90", source, tz_cuda_headers,
                                             tz_cuda_headers_count, NULL, &cubin, &bytes, &failure);
    free(source);
    free(cubin);
    tz_problem_clear(&problem);
    if (status == TZ_UNSUPPORTED)
        skip_test("%s", failure.message);
    if (status)
        fail_msg("%s, %s: %s", stencil->id, family, failure.message);
}

/* The text of a plugin reaches this compiler as it was when the plugin was built; its slips give
 * the lines that the plugin's compiler gives. */
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
    const char *folder = TZ_TEST_PLUGIN_DIR;
    const tz_cuda_family *f;
    const tz_stencil *stencil;
    tz_registry *registry;
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    assert_ok(tz_registry_find(registry, "star2d1r", &stencil, NULL, &failure));
    for (int i = 0; tz_cuda_family_at(i, stencil->dims, &f); i++) {
        if (!f)
            continue;
        const char *family = f->name;
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
    } cases[] = {{"swirl1d", "block"}, {"redblack", "stream"},   {"swirl1d", "stream"},
                 {"redblack", "tile"}, {"redblack", "resident"}, {"mixed3d", "stream"}};
    static const char *const folders[] = {TZ_TEST_TEST_PLUGIN_DIR};
    tz_registry *registry;
    assert_ok(tz_registry_create(&registry, folders, 1, &failure));
    for (size_t k = 0; k < (is_complete() ? sizeof cases / sizeof *cases : 2); k++) {
        const tz_stencil *stencil;
        const tz_plugin *plugin;
        assert_ok(tz_registry_find(registry, cases[k].stencil, &stencil, &plugin, &failure));
        compile_slab(stencil, cases[k].family);
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
    for (int i = 0; i < (is_complete() ? 4 : 2); i++) {
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
          TEST(slips_in_a_text_are_plain_lines))
