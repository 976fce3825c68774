/* Device text of stencils whose names mean something in C++ and CUDA (tests/define/hostile.h). */
#include "compare.h"

#include "define/plugin.h"
#include "stencil/registry.h"
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

static void hostile_names_are_no_words_of_the_text(void **state)
{
    static hostile h;
    tz_registry *registry;
    need_compiler();
    assert_ok(tz_registry_create(&registry, NULL, 0, &failure));
    for (int i = 0; i < HOSTILE_ON_GPUS; i++) {
        const tz_definition *d = hostile_make(&h, i);
        const tz_stencil *stencil;
        tz_defined_source source;
        assert_ok(tz_define_source(d, &source, &failure));
        assert_ok(tz_define_plugin(registry, d->id, &source, "a test", NULL, &failure));
        tz_defined_source_clear(&source);
        assert_ok(tz_registry_find(registry, d->id, &stencil, NULL, &failure));
        compare_with(stencil, i % 2 ? "tile" : "block");
    }
    tz_registry_destroy(registry);
}

TEST_MAIN(open_machine, close_machine, TEST(hostile_names_are_no_words_of_the_text))
