/* Device text of stencils whose names mean something in C++ and CUDA (tests/define/hostile.h). */
#include "compare.h"

#include "define/plugin.h"
#include "tests/define/hostile.h"
#include "unit.h"

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

TEST_GROUP(open_machine, close_machine)
