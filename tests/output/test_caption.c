/* Captions: placeholders, braces, refusals, what does not fit. */
#include "output/output.h"
#include "tests/registry.h"

static tz_simulation *make(const char *stencil)
{
    const tz_simulation_config config = {.registry = registry,
                                         .stencil = stencil,
                                         .dims = 2,
                                         .extent = {4, 3, 1},
                                         .precision = -1,
                                         .backend = "reference",
                                         .dry = true};
    tz_simulation *simulation = NULL;
    assert_ok(tz_simulation_create(&simulation, &config, &failure));
    return simulation;
}

static void placeholders_are_filled(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain } text", "plain } text"},
        {"{step}", "7"},
        {"{field}{field} of {simulation}, step {step}", "powerpower of chip, step 7"},
        {"{{step}}, {{{step}}}, }}", "{step}, {7}, }"},
    };
    tz_simulation *simulation = make("life");
    char text[TZ_CAPTION_SIZE];
    tz_simulation_skip(simulation, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(tz_caption_check(cases[i][0], &failure));
        tz_caption_fill(text, cases[i][0], simulation, "power", "chip");
        assert_string_equal(text, cases[i][1]);
    }
    tz_simulation_destroy(simulation);
}

static void the_time_has_a_prefix(void **state)
{
    tz_simulation *simulation = make("hotspot");
    const tz_assignment step = {.name = "dt_s", .number = 5e-7};
    char text[TZ_CAPTION_SIZE];
    assert_ok(tz_simulation_set_params(simulation, 1, &step, &failure));
    tz_simulation_skip(simulation, 5000);
    assert_true(tz_caption_has("after {time}", "time"));
    assert_false(tz_caption_has("after {{time}}, {step}", "time"));
    tz_caption_fill(text, "after {time}", simulation, "temperature", "chip");
    assert_string_equal(text, "after 2.5 ms");
    tz_simulation_destroy(simulation);
}

static void other_words_are_refused(void **state)
{
    char text[TZ_CAPTION_SIZE];
    check_error(tz_caption_check("a {stp}", &failure), TZ_UNKNOWN, "caption",
                "{stp}; did you mean 'step'?");
    check_error(tz_caption_check("{}", &failure), TZ_UNKNOWN, "caption", "known: step, time");
    check_error(tz_caption_check("{step:3}", &failure), TZ_UNKNOWN, "caption", "{step:3}");
    check_error(tz_caption_check("{step} {step", &failure), TZ_FORMAT, "caption", "'{step'");
    check_error(tz_caption_check("{", &failure), TZ_FORMAT, "caption", "closing brace");
    assert_ok(tz_caption_fill_none(text, "of {{an}} array", &failure));
    assert_string_equal(text, "of {an} array");
    check_error(tz_caption_fill_none(text, "step {step}", &failure), TZ_UNSUPPORTED, "caption",
                "{step} is of a simulation");
}

static void long_captions_are_cut(void **state)
{
    tz_simulation *simulation = make("life");
    char pattern[256] = "", text[TZ_CAPTION_SIZE], name[64];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    while (strlen(pattern) + 12 < sizeof pattern)
        strcat(pattern, "{simulation}");
    tz_caption_fill(text, pattern, simulation, "alive", name);
    assert_int_equal(strlen(text), TZ_CAPTION_SIZE - 1);
    tz_simulation_destroy(simulation);
}

TEST_MAIN(open_plugins, close_plugins, TEST(placeholders_are_filled), TEST(the_time_has_a_prefix),
          TEST(other_words_are_refused), TEST(long_captions_are_cut))
