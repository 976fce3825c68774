/* The policy that follows from a scenario's keys and the command line's options. */
#include "policy/choice.h"
#include "tests/unit.h"

#define NONE ((tz_policy_choice){.start = 0})

static tz_policy_config choose(tz_policy_choice scenario, tz_policy_choice command_line)
{
    tz_policy_config config;
    assert_ok(tz_policy_choose(&scenario, &command_line, &config, &failure));
    return config;
}

static void refuses(tz_policy_choice scenario, tz_policy_choice command_line, tz_status status,
                    const char *message)
{
    tz_policy_config config;
    assert_int_equal(tz_policy_choose(&scenario, &command_line, &config, &failure), status);
    assert_non_null(strstr(failure.message, message));
}

typedef struct row {
    tz_policy_choice choice;
    tz_policy_kind kind;
    int height, start;
} row;

#define HEIGHT(N) .given = {.height = N}

/* The list at the top of choice.h. */
static const row rows[] = {
    {{.start = 0}, TZ_POLICY_PREDICTED, 0, 0},
    {{HEIGHT(4)}, TZ_POLICY_FIXED, 4, 0},
    {{.height = "auto"}, TZ_POLICY_PREDICTED, 0, 0},
    {{.height = "predicted"}, TZ_POLICY_PREDICTED, 0, 0},
    {{.height = "adaptive"}, TZ_POLICY_ADAPTIVE, 0, 0},
    {{.height = "exhaustive"}, TZ_POLICY_EXHAUSTIVE, 0, 0},
    {{.policy = "auto"}, TZ_POLICY_PREDICTED, 0, 0},
    {{.policy = "auto", HEIGHT(4)}, TZ_POLICY_FIXED, 4, 0},
    {{.policy = "fixed"}, TZ_POLICY_FIXED, 0, 0},
    {{.policy = "fixed", HEIGHT(4)}, TZ_POLICY_FIXED, 4, 0},
    {{.policy = "predicted", HEIGHT(4)}, TZ_POLICY_PREDICTED, 4, 0},
    {{.policy = "exhaustive", HEIGHT(4)}, TZ_POLICY_EXHAUSTIVE, 4, 0},
    {{.policy = "adaptive", HEIGHT(4)}, TZ_POLICY_ADAPTIVE, 4, 0},
    {{.policy = "adaptive", .height = "auto"}, TZ_POLICY_ADAPTIVE, 0, 0},
    {{.function = true, HEIGHT(4)}, TZ_POLICY_FUNCTION, 4, 0},
};

static void a_choice_means_the_same_in_both_places(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tz_policy_config a = choose(rows[i].choice, NONE);
        assert_int_equal(a.kind, rows[i].kind);
        assert_int_equal(a.given.height, rows[i].height);
        assert_int_equal(a.start, rows[i].start);
        if (rows[i].choice.function) /* no option is a function */
            continue;
        const tz_policy_config b = choose(NONE, rows[i].choice);
        assert_int_equal(b.kind, a.kind);
        assert_int_equal(b.given.height, a.given.height);
    }
    tz_policy_config config;
    assert_int_equal(tz_policy_choose(&rows[1].choice, NULL, &config, NULL), TZ_OK);
    assert_int_equal(config.kind, TZ_POLICY_FIXED);
}

/* Of each policy that searches, those included that are added. */
static void a_height_is_where_a_search_begins(void **state)
{
    const char *name;
    for (int i = 0; (name = tz_policy_searcher_name(i)); i++) {
        const tz_policy_config by_height = choose((tz_policy_choice){.height = name}, NONE);
        const tz_policy_config with = choose((tz_policy_choice){.policy = name, HEIGHT(4)}, NONE);
        assert_string_equal(tz_policy_name(by_height.kind), name);
        assert_int_equal(with.kind, by_height.kind);
        assert_true(by_height.given.height == 0 && with.given.height == 4);
        assert_int_equal(choose((tz_policy_choice){.policy = name, .start = 7}, NONE).start, 7);
    }
    assert_string_equal(tz_policy_searcher_name(0), "adaptive");
    assert_string_equal(tz_policy_choice_name(0), "auto");
    int last = 0;
    while (tz_policy_choice_name(last + 1))
        last++;
    assert_string_equal(tz_policy_choice_name(last), "fixed");
}

static void only_an_adaptive_policy_has_a_start(void **state)
{
    assert_int_equal(choose((tz_policy_choice){.policy = "adaptive", .start = 7}, NONE).start, 7);
    assert_int_equal(choose((tz_policy_choice){.height = "adaptive", .start = 7}, NONE).start, 7);
    assert_int_equal(
        choose((tz_policy_choice){.policy = "adaptive", .start = TZ_POLICY_START_PREDICTED}, NONE)
            .start,
        0);
    refuses((tz_policy_choice){.start = 7}, NONE, TZ_RANGE, "'start' goes with policy");
    refuses((tz_policy_choice){.policy = "predicted", .start = TZ_POLICY_START_PREDICTED}, NONE,
            TZ_RANGE, "'start' goes with policy");
    refuses((tz_policy_choice){.policy = "adaptive", .start = 7, HEIGHT(7)}, NONE, TZ_RANGE,
            "starts at 'start' or at 'height'");
}

static void names_are_checked(void **state)
{
    static const char *const wrong[] = {"adaptiv", "fixed", "", "4"};
    refuses((tz_policy_choice){.policy = "adaptiv"}, NONE, TZ_UNKNOWN,
            "unknown policy 'adaptiv'; did you mean 'adaptive'?");
    refuses(NONE, (tz_policy_choice){.policy = "function"}, TZ_UNKNOWN, "unknown policy");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refuses((tz_policy_choice){.height = wrong[i]}, NONE, TZ_UNKNOWN,
                "'height' must be an integer, \"auto\" or a policy");
        refuses(NONE, (tz_policy_choice){.height = wrong[i]}, TZ_UNKNOWN,
                "'height' must be an integer, \"auto\" or a policy");
    }
    const tz_policy_choice two = {.height = "adaptive", .policy = "fixed"};
    refuses(two, NONE, TZ_RANGE, "'height' names a policy and 'policy' another");
    refuses(NONE, two, TZ_RANGE, "'height' names a policy and 'policy' another");
    refuses((tz_policy_choice){.height = "adaptive", .function = true}, NONE, TZ_RANGE, "give one");
}

static void the_command_line_comes_first(void **state)
{
    static const struct {
        tz_policy_choice scenario, command_line;
        tz_policy_kind kind;
        int height, start;
    } cases[] = {
        {{HEIGHT(4)}, {HEIGHT(6)}, TZ_POLICY_FIXED, 6, 0},
        {{HEIGHT(4)}, {.height = "auto"}, TZ_POLICY_PREDICTED, 0, 0},
        {{HEIGHT(4)}, {.height = "adaptive"}, TZ_POLICY_ADAPTIVE, 0, 0},
        {{HEIGHT(4)}, {.policy = "auto"}, TZ_POLICY_PREDICTED, 0, 0},
        {{HEIGHT(4)}, {.policy = "fixed"}, TZ_POLICY_FIXED, 4, 0},
        {{HEIGHT(4)}, {.policy = "predicted"}, TZ_POLICY_PREDICTED, 0, 0},
        {{HEIGHT(4)}, {.policy = "exhaustive", HEIGHT(6)}, TZ_POLICY_EXHAUSTIVE, 6, 0},
        {{.height = "adaptive"}, {HEIGHT(6)}, TZ_POLICY_FIXED, 6, 0},
        {{.policy = "adaptive", .start = 3}, {.policy = "adaptive"}, TZ_POLICY_ADAPTIVE, 0, 3},
        {{.policy = "adaptive", .start = 3},
         {.policy = "adaptive", HEIGHT(6)},
         TZ_POLICY_ADAPTIVE,
         6,
         0},
        {{.policy = "adaptive", .start = 3}, {.height = "auto"}, TZ_POLICY_PREDICTED, 0, 0},
        {{.policy = "adaptive", .start = 3}, {.policy = "exhaustive"}, TZ_POLICY_EXHAUSTIVE, 0, 0},
        {{.function = true, HEIGHT(4)}, {.policy = "predicted"}, TZ_POLICY_PREDICTED, 0, 0},
        {{.function = true, HEIGHT(4)}, {.forget = true}, TZ_POLICY_FUNCTION, 4, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tz_policy_config config = choose(cases[i].scenario, cases[i].command_line);
        assert_int_equal(config.kind, cases[i].kind);
        assert_int_equal(config.given.height, cases[i].height);
        assert_int_equal(config.start, cases[i].start);
    }
}

static void the_rest_of_a_plan_is_kept(void **state)
{
    const tz_policy_choice scenario = {
        .given = {.height = 4, .tile = {64, 32, 0}, .family = "stream", .vector = 4}};
    tz_policy_config config = choose(scenario, (tz_policy_choice){.policy = "adaptive"});
    assert_string_equal(config.given.family, "stream");
    assert_int_equal(config.given.tile[1], 32);
    assert_int_equal(config.given.vector, 4);
    assert_false(config.forget);
    config = choose(scenario, (tz_policy_choice){.given = {.family = "tile"}, .forget = true});
    assert_string_equal(config.given.family, "tile");
    assert_int_equal(config.given.height, 4);
    assert_int_equal(config.kind, TZ_POLICY_FIXED);
    assert_true(config.forget);
}

TEST_MAIN(NULL, NULL, TEST(a_choice_means_the_same_in_both_places),
          TEST(a_height_is_where_a_search_begins), TEST(only_an_adaptive_policy_has_a_start),
          TEST(names_are_checked), TEST(the_command_line_comes_first),
          TEST(the_rest_of_a_plan_is_kept))
