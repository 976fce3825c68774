/* Device text whose border is read by calls, and of stencils whose names mean something in C++ and
 * CUDA (tests/define/hostile.h). */
#include "compare.h"

#include "define/plugin.h"
#include "tests/define/hostile.h"
#include "tests/registry.h"
#include "unit.h"

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
