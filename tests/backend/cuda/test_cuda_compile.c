/* Device texts with mistakes, of slabs, and those that no stencil has a part in, compiled for real
 * architectures; needs NVRTC, no GPU. test_cuda_every_stencil.c compiles those of stencils. */
#include "backend/backend.h"
#include "backend/cuda/points.h"
#include "backend/cuda/reduce.h"
#include "backend/cuda/spectral/jump.h"
#include "backend/cuda/update.h"
#include "nvrtc.h"
#include "tests/archetypes.h"
#include "tests/registry.h"

/* The text of a problem, or of a slab in its middle, or with points; until the test ends. */
static char *text_with(const tz_stencil *stencil, const char *family, bool slab,
                       const tz_points *points)
{
    static const int64_t extents[][TZ_AXES] = {{0}, {1000, 1, 1}, {200, 100, 1}, {70, 50, 40}};
    const tz_place place = {.threads = 1};
    const tz_limits limits = tz_place_limits(&place);
    tz_simulation_config config = {.dims = stencil->dims, .precision = -1};
    tz_problem whole, part;
    tz_plan plan = {0};
    char *source = NULL;
    memcpy(config.extent, extents[stencil->dims], sizeof config.extent);
    snprintf(plan.family, sizeof plan.family, "%s", family);
    assert_ok(tz_problem_resolve(&whole, stencil, &config, &failure));
    whole.points = points;
    part = slab ? tz_problem_slab(&whole, 20, 30, 5, 5) : whole;
    assert_ok(tz_backend_cuda.plan(&part, &place, &plan, &failure));
    assert_ok(tz_cuda_source(&part, &limits, &plan, &source, &failure));
    at_end(free, source);
    tz_problem_clear(&whole);
    return source;
}

static char *text_of(const tz_stencil *stencil, const char *family, bool slab)
{
    return text_with(stencil, family, slab, NULL);
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
    void *cubin = NULL;
    size_t bytes = 0;
    char *source = text_of(&other, family, false);
    const tz_status status = tz_cuda_compile(NULL, true, "sm_90", source, tz_cuda_headers,
                                             tz_cuda_headers_count, NULL, &cubin, &bytes, &failure);
    free(cubin);
    if (!*wanted) {
        assert_ok(status);
        return;
    }
    check_error_of(status, TZ_BACKEND, &failure, "", wanted);
    check_error_of(status, TZ_BACKEND, &failure, "", "jacobi.cell.h(6): error:");
    const char *first = strstr(failure.message, "error:");
    assert_null(strstr(first + 1, "error")); /* what follows from it is left out */
}

TEST(slips_in_a_text_are_plain_lines)
{
    static const char *const slips[][2] = {
        {"TZ_K(c0) * TZ_AT(u, -1, 0)", ""},
        {"TZ_K(c0) * TZ_AT(u, -1, 0, 0)",
         "TZ_CELL_DIMS is 2, so TZ_AT takes a field and 2 offsets"},
        {"TZ_K(c0) * TZ_AT(u, -1)", "TZ_CELL_DIMS is 2, so TZ_AT takes a field and 2 offsets"},
        {"exp(TZ_AT(u, -1, 0))", "exp() is a library function, so use TZ_EXP()"},
        {"TZ_AT(uu, -1, 0)", "\"tz_field\" has no member \"uu\""},
        {"TZ_K(c2) * TZ_AT(u, -1, 0)", "has no member \"k_c2\""}};
    const tz_cuda_family *f;
    const tz_stencil *stencil;
    need_nvrtc();
    assert_ok(tz_registry_find(registry, "star2d1r", &stencil, NULL, &failure));
    for (int i = 0; tz_cuda_family_at(i, stencil->dims, &f); i++)
        for (size_t k = 0; f && k < sizeof slips / sizeof *slips; k++)
            check_slip(stencil, f->name, slips[k][0], slips[k][1]);
}

/* Texts with coordinates along the last axis, which a slab gets of the whole grid. */
TEST(slabs_compile)
{
    static const struct {
        const char *stencil, *family;
    } cases[] = {{"swirl1d", "direct"},  {"redblack", "stream"},   {"swirl1d", "stream"},
                 {"redblack", "direct"}, {"redblack", "resident"}, {"mixed3d", "stream"}};
    need_nvrtc();
    for (size_t k = 0; k < (is_complete() ? sizeof cases / sizeof *cases : 2); k++) {
        const tz_stencil *stencil;
        size_t bytes;
        assert_ok(tz_registry_find(registry, cases[k].stencil, &stencil, NULL, &failure));
        char *source = text_of(stencil, cases[k].family, true);
        assert_non_null(strstr(source, "#define TZ_SLAB"));
        compiled("sm_90", source, &bytes);
    }
}

/* Points at each level, of reals, integers and bits, where axes wrap and where they do not. */
TEST(points_compile)
{
    static const char *const names[] = {"star2d1r", "twofields", "life", "sound3d8", "mixed3d"};
    static const tz_points points = {.fields = ~0u};
    need_nvrtc();
    for (size_t k = 0; k < (is_complete() ? 5 : 2); k++) {
        const tz_stencil *stencil;
        size_t bytes;
        assert_ok(tz_registry_find(registry, names[is_complete() ? k : 1 + 2 * k], &stencil, NULL,
                                   &failure));
        char *source = text_with(stencil, "stream", k % 2 == 1, &points);
        assert_non_null(strstr(source, "#define TZ_POINTS 1"));
        compiled("sm_90", source, &bytes);
    }
}

/* Of jumps, refinement, numbers and pictures. */
TEST(other_texts_compile)
{
    static const tz_dtype dtypes[] = {TZ_DTYPE_F32, TZ_DTYPE_F64, TZ_DTYPE_I32, TZ_DTYPE_U8};
    need_nvrtc();
    for (int a = 0; a < (is_complete() ? 3 : 1); a++) {
        const char *const texts[] = {tz_cuda_text_transform, tz_cuda_text_jump, tz_cuda_text_refine,
                                     tz_cuda_text_points};
        size_t bytes;
        for (int k = 0; k < 4; k++)
            compiled(architectures[a], texts[k], &bytes);
        for (int type = 0; type < 4; type++)
            for (int k = TZ_CUDA_NUMBERS; k < TZ_CUDA_NUMBERS_END; k++) {
                tz_cuda_text text = {0};
                if (k == TZ_CUDA_FINITE && type > 1)
                    continue;
                tz_cuda_reduce_emit(&text, dtypes[type], NULL, (tz_cuda_number)k);
                assert_false(text.failed);
                compiled(architectures[a], text.text, &bytes);
                free(text.text);
            }
    }
}

TEST_GROUP(open_all_plugins, close_plugins)
