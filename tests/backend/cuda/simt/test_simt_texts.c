/* A family's text with a mistake in it, of which the executor finds each; and device text of
 * stencils whose names mean something in C++ and CUDA (tests/define/hostile.h). */
#include "compare.h"

#include "define/plugin.h"
#include "tests/define/hostile.h"
#include "tests/registry.h"
#include "unit.h"

enum { NONE = -1 };

static void mistake(const char *stencil, tz_boundary boundary, const char *from, const char *to,
                    int finding)
{
    need_compiler();
    static simt_outcome outcome;
    simt_case k = {.boundary = {{boundary, boundary}, {boundary, boundary}, {boundary, boundary}},
                   .extent = {45, 19, 7},
                   .plan = {.family = "tile", .height = 2, .tile = {16, 8, 4}},
                   .room = {4, 1},
                   .edit_from = from,
                   .edit_to = to};
    assert_ok(tz_registry_find(registry, stencil, &k.stencil, NULL, &failure));
    k.precision = tz_stencil_has_real(k.stencil) ? TZ_SINGLE : -1;
    simt_compare(&k, build, machine, 2, &outcome);
    if (!from) {
        if (outcome.verdict != SIMT_SAME)
            fail_msg("%s", outcome.message);
        return;
    }
    if (outcome.verdict != SIMT_DIFFERENT ||
        (finding == NONE ? outcome.differences == 0 : outcome.report.count[finding] == 0))
        fail_msg("'%s' for '%s' is not found: %s", to, from, outcome.message);
}

/* In the family tile, if the program has it: it is the simplest one with barriers. */
TEST(mistakes_in_tiles_are_found)
{
    const char *hotspot = "hotspot";
    const tz_problem problem = {.dims = 2};
    const tz_cuda_family *family;
    if (tz_cuda_family_find("tile", &problem, &family, &failure))
        skip_test("%s", failure.message);
    mistake(hotspot, TZ_CLAMP, NULL, NULL, NONE);
    /* Missing barriers: after the load, after each pass. */
    mistake(hotspot, TZ_CLAMP, "    tz_barrier();\n    int rest", "    int rest", SIMT_FOUND_RACE);
    mistake(hotspot, TZ_CLAMP, "tz_barrier();  ", "", SIMT_FOUND_RACE);
    /* A ghost zone that is too small, or read where nothing is. */
    mistake(hotspot, TZ_CLAMP, "a.height * TZ_REACH", "a.height * TZ_REACH - 1", NONE);
    mistake(hotspot, TZ_MIRROR, "rest -= radius;", "rest -= 0;", SIMT_FOUND_UNWRITTEN);
    mistake(hotspot, TZ_CLAMP, "#define TZ_HALO_X 2", "#define TZ_HALO_X 1", NONE);
    /* Cells that are left out; writes past the ends of the field, or to its inputs. */
    mistake(hotspot, TZ_FIXED, "tz_wanted(a, p, 0) ||", "tz_wanted(a, p, 0) || p.x == 7 ||", NONE);
    mistake(hotspot, TZ_CLAMP, "[to] =", "[to - 1] =", SIMT_FOUND_ADDRESS);
    mistake(hotspot, TZ_CLAMP, "[to] =", "[to + 64 * 18] =", SIMT_FOUND_ADDRESS);
    mistake(hotspot, TZ_CLAMP, "((type *)a.out[index])[to]", "((type *)a.in[1])[to]",
            SIMT_FOUND_ADDRESS);
    /* What lies past the ends of rows. */
    mistake(hotspot, TZ_PERIODIC, "row[p.x_in]", "row[p.x < 0 ? p.x + a.pitch : p.x_in]", NONE);
    mistake("life", TZ_PERIODIC, "tz_load_word(a, row, p.x, name##_edge)", "row[(p.x + 2) % 2]",
            NONE);
    mistake("pathfinder", TZ_CLAMP, "p.iteration = t;", "p.iteration = t + 1;", NONE);
    mistake("integers_3d", TZ_CLAMP, "p.step = a.step + t", "p.step = a.step", NONE);
}

/* Reads of the family direct at the border, by calls and in all warps. */
TEST(border_reads_are_the_same_by_calls)
{
    static const char *const edits[][2] = {{"#define TZ_CALLS 0", "#define TZ_CALLS 1"},
                                           {"inside = (TZ_BESIDE", "inside = false && (TZ_BESIDE"}};
    static simt_outcome outcome;
    need_compiler();
    for (size_t e = 0; e < sizeof edits / sizeof *edits; e++)
        for (int b = 0; b < TZ_BOUNDARIES; b++) {
            const tz_boundary side = (tz_boundary)b;
            simt_case k = {.boundary = {{side, side}, {side, side}},
                           .extent = {75, 19, 1},
                           .plan = {.family = "direct", .height = 2},
                           .room = {4, 1},
                           .seed = 3,
                           .edit_from = edits[e][0],
                           .edit_to = edits[e][1]};
            assert_ok(tz_registry_find(registry, "hotspot", &k.stencil, NULL, &failure));
            k.precision = TZ_SINGLE;
            simt_compare(&k, build, machine, 2, &outcome);
            if (outcome.verdict != SIMT_SAME)
                fail_msg("%s, %s: %s", edits[e][1], tz_boundary_name(side), outcome.message);
        }
}

static void compare_with(const tz_stencil *stencil, const char *family)
{
    static simt_outcome outcome;
    simt_case k = {.stencil = stencil,
                   .precision = TZ_SINGLE,
                   .boundary = {{TZ_PERIODIC, TZ_PERIODIC}},
                   .extent = {70, 1, 1},
                   .plan = {.height = 1},
                   .room = {4, 1}};
    snprintf(k.plan.family, sizeof k.plan.family, "%s", family);
    simt_compare(&k, build, machine, 1, &outcome);
    if (outcome.verdict != SIMT_SAME)
        fail_msg("%s: %s: %s", stencil->id, family, outcome.message);
}

TEST(hostile_names_are_no_words_of_the_text)
{
    static hostile h;
    tz_registry *defined;
    need_compiler();
    assert_ok(tz_registry_create(&defined, NULL, 0, &failure));
    for (int i = 0; i < HOSTILE_ON_GPUS; i++) {
        const tz_definition *d = hostile_make(&h, i);
        const tz_stencil *stencil;
        tz_defined_source source;
        assert_ok(tz_define_source(d, &source, &failure));
        assert_ok(tz_define_plugin(defined, d->id, &source, "a test", NULL, &failure));
        tz_defined_source_clear(&source);
        assert_ok(tz_registry_find(defined, d->id, &stencil, NULL, &failure));
        compare_with(stencil, "direct");
    }
    tz_registry_destroy(defined);
}

static int set_up(void **state)
{
    return open_machine(state) || open_all_plugins(state);
}

static int tear_down(void **state)
{
    return close_plugins(state) || close_machine(state);
}

TEST_GROUP(set_up, tear_down)
