/* The policy that follows from a scenario's keys and the command line's options. */
#include "policy/policy.h"
#include "tests/unit.h"

#define NONE ((tz_plan_wish){.start = 0})

static tz_plan_wish choose(tz_plan_wish scenario, tz_plan_wish command_line)
{
    tz_plan_wish config;
    assert_ok(tz_plan_wish_settle(&scenario, &command_line, &config, &failure));
    return config;
}

static void refuses(tz_plan_wish scenario, tz_plan_wish command_line, tz_status status,
                    const char *message)
{
    tz_plan_wish config;
    assert_int_equal(tz_plan_wish_settle(&scenario, &command_line, &config, &failure), status);
    assert_non_null(strstr(failure.message, message));
}

typedef struct row {
    tz_plan_wish choice;
    const char *policy;
    int height, start;
} row;

#define HEIGHT(N) .given = {.height = N}

/* The list at the top of wish.h. */
static const row rows[] = {
    {{.start = 0}, "auto", 0, 0},
    {{HEIGHT(4)}, "fixed", 4, 0},
    {{.height = "auto"}, "auto", 0, 0},
    {{.height = "predicted"}, "predicted", 0, 0},
    {{.height = "adaptive"}, "adaptive", 0, 0},
    {{.height = "exhaustive"}, "exhaustive", 0, 0},
    {{.policy = "auto"}, "auto", 0, 0},
    {{.policy = "auto", HEIGHT(4)}, "fixed", 4, 0},
    {{.policy = "fixed"}, "fixed", 0, 0},
    {{.policy = "fixed", HEIGHT(4)}, "fixed", 4, 0},
    {{.policy = "predicted", HEIGHT(4)}, "predicted", 4, 0},
    {{.policy = "exhaustive", HEIGHT(4)}, "exhaustive", 4, 0},
    {{.policy = "adaptive", HEIGHT(4)}, "adaptive", 4, 0},
    {{.policy = "adaptive", .height = "auto"}, "adaptive", 0, 0},
    {{.function = "f", HEIGHT(4)}, "function", 4, 0},
};

TEST(a_choice_means_the_same_in_both_places)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tz_plan_wish a = choose(rows[i].choice, NONE);
        assert_string_equal(a.policy, rows[i].policy);
        assert_int_equal(a.given.height, rows[i].height);
        assert_int_equal(a.start, rows[i].start);
        if (rows[i].choice.function[0]) /* no option is a function */
            continue;
        const tz_plan_wish b = choose(NONE, rows[i].choice);
        assert_string_equal(b.policy, a.policy);
        assert_int_equal(b.given.height, a.given.height);
    }
    tz_plan_wish config;
    assert_int_equal(tz_plan_wish_settle(&rows[1].choice, NULL, &config, NULL), TZ_OK);
    assert_string_equal(config.policy, "fixed");
}

/* Of each policy that searches, those included that are added. */
TEST(a_height_is_where_a_search_begins)
{
    const char *name;
    for (int i = 0; (name = tz_policy_searcher_name(i)); i++) {
        const tz_plan_wish by_height = choose((tz_plan_wish){.height = name}, NONE);
        const tz_plan_wish with = choose((tz_plan_wish){.policy = name, HEIGHT(4)}, NONE);
        assert_string_equal(by_height.policy, name);
        assert_string_equal(with.policy, name);
        assert_true(by_height.given.height == 0 && with.given.height == 4);
        assert_int_equal(choose((tz_plan_wish){.policy = name, .start = 7}, NONE).start, 7);
    }
    assert_string_equal(tz_policy_searcher_name(0), "adaptive");
    assert_string_equal(tz_policy_name(0), "auto");
    int last = 0;
    while (tz_policy_name(last + 1))
        last++;
    assert_string_equal(tz_policy_name(last), "fixed");
}

TEST(only_an_adaptive_policy_has_a_start)
{
    assert_int_equal(choose((tz_plan_wish){.policy = "adaptive", .start = 7}, NONE).start, 7);
    assert_int_equal(choose((tz_plan_wish){.height = "adaptive", .start = 7}, NONE).start, 7);
    assert_int_equal(
        choose((tz_plan_wish){.policy = "adaptive", .start = TZ_WISH_START_PREDICTED}, NONE).start,
        0);
    refuses((tz_plan_wish){.start = 7}, NONE, TZ_RANGE, "'start' goes with policy");
    refuses((tz_plan_wish){.policy = "predicted", .start = TZ_WISH_START_PREDICTED}, NONE, TZ_RANGE,
            "'start' goes with policy");
    refuses((tz_plan_wish){.policy = "adaptive", .start = 7, HEIGHT(7)}, NONE, TZ_RANGE,
            "starts at 'start' or at 'height'");
}

TEST(names_are_checked)
{
    static const char *const wrong[] = {"adaptiv", "fixed", "", "4"};
    refuses((tz_plan_wish){.policy = "adaptiv"}, NONE, TZ_UNKNOWN,
            "unknown policy 'adaptiv'; did you mean 'adaptive'?");
    refuses(NONE, (tz_plan_wish){.policy = "function"}, TZ_UNKNOWN, "unknown policy");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refuses((tz_plan_wish){.height = wrong[i]}, NONE, TZ_UNKNOWN,
                "'height' must be an integer, \"auto\" or a policy");
        refuses(NONE, (tz_plan_wish){.height = wrong[i]}, TZ_UNKNOWN,
                "'height' must be an integer, \"auto\" or a policy");
    }
    const tz_plan_wish two = {.height = "adaptive", .policy = "fixed"};
    refuses(two, NONE, TZ_RANGE, "'height' names a policy and 'policy' another");
    refuses(NONE, two, TZ_RANGE, "'height' names a policy and 'policy' another");
    refuses((tz_plan_wish){.height = "adaptive", .function = "f"}, NONE, TZ_RANGE, "give one");
}

TEST(the_command_line_comes_first)
{
    static const struct {
        tz_plan_wish scenario, command_line;
        const char *policy;
        int height, start;
    } cases[] = {
        {{HEIGHT(4)}, {HEIGHT(6)}, "fixed", 6, 0},
        {{HEIGHT(4)}, {.height = "auto"}, "auto", 0, 0},
        {{HEIGHT(4)}, {.height = "adaptive"}, "adaptive", 0, 0},
        {{HEIGHT(4)}, {.policy = "auto"}, "auto", 0, 0},
        {{HEIGHT(4)}, {.policy = "fixed"}, "fixed", 4, 0},
        {{HEIGHT(4)}, {.policy = "predicted"}, "predicted", 0, 0},
        {{HEIGHT(4)}, {.policy = "exhaustive", HEIGHT(6)}, "exhaustive", 6, 0},
        {{.height = "adaptive"}, {HEIGHT(6)}, "fixed", 6, 0},
        {{.policy = "adaptive", .start = 3}, {.policy = "adaptive"}, "adaptive", 0, 3},
        {{.policy = "adaptive", .start = 3}, {.policy = "adaptive", HEIGHT(6)}, "adaptive", 6, 0},
        {{.policy = "adaptive", .start = 3}, {.height = "auto"}, "auto", 0, 0},
        {{.policy = "adaptive", .start = 3}, {.policy = "exhaustive"}, "exhaustive", 0, 0},
        {{.function = "f", HEIGHT(4)}, {.policy = "predicted"}, "predicted", 0, 0},
        {{.function = "f", HEIGHT(4)}, {.forget = true}, "function", 4, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tz_plan_wish config = choose(cases[i].scenario, cases[i].command_line);
        assert_string_equal(config.policy, cases[i].policy);
        assert_int_equal(config.given.height, cases[i].height);
        assert_int_equal(config.start, cases[i].start);
    }
}

TEST(the_rest_of_a_plan_is_kept)
{
    const tz_plan_wish scenario = {
        .given = {.height = 4, .tile = {64, 32, 0}, .family = "stream", .vector = 4}};
    tz_plan_wish config = choose(scenario, (tz_plan_wish){.policy = "adaptive"});
    assert_string_equal(config.given.family, "stream");
    assert_int_equal(config.given.tile[1], 32);
    assert_int_equal(config.given.vector, 4);
    assert_false(config.forget);
    config = choose(scenario, (tz_plan_wish){.given = {.family = "tile"}, .forget = true});
    assert_string_equal(config.given.family, "tile");
    assert_int_equal(config.given.height, 4);
    assert_string_equal(config.policy, "fixed");
    assert_true(config.forget);
}
