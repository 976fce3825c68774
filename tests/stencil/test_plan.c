/* A plan's table of knobs, and all that follows from it: equality, texts, JSON. */
#include "lua/policy.h"
#include "tests/unit.h"

#include <jansson.h>
#include <string.h>

static const tz_plan base = {.height = 8, .tile = {4096, 512, 0}, .family = "stream"};

/* Every knob differs from the others, and none is 0. */
static tz_plan with_all_knobs(void)
{
    tz_plan plan = base;
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        tz_plan_set(&plan, k, k + 2);
    return plan;
}

TEST(members_and_table_agree)
{
    const tz_plan plan = with_all_knobs();
    int k = 0;
#define CHECK(member, low, high, text)                                                             \
    assert_string_equal(tz_plan_knobs[k].name, #member);                                           \
    assert_int_equal(tz_plan_get(&plan, k), plan.member);                                          \
    assert_int_equal(plan.member, k + 2);                                                          \
    assert_true(tz_plan_knobs[k].least >= 1 && tz_plan_knobs[k].most > tz_plan_knobs[k].least);    \
    assert_true(strlen(tz_plan_knobs[k].doc) > 0);                                                 \
    k++;
    TZ_PLAN_KNOBS(CHECK)
#undef CHECK
    assert_int_equal(k, TZ_PLAN_KNOBS_COUNT);
}

TEST(json_round_trip)
{
    for (int knobs = 0; knobs < 1 << TZ_PLAN_KNOBS_COUNT; knobs++)
        for (int dims = 1; dims <= TZ_AXES; dims++) {
            tz_plan plan = {.height = 3, .family = "resident"}, back;
            for (int axis = 0; axis < dims; axis++)
                plan.tile[axis] = INT64_C(5000000000) + axis;
            for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
                tz_plan_set(&plan, k, knobs >> k & 1 ? tz_plan_knobs[k].most : 0);
            json_t *object = tz_plan_to_json(&plan, dims);
            assert_non_null(object);
            assert_true(tz_plan_from_json(object, &back));
            assert_true(tz_plan_equal(&plan, &back));
            for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++) /* knobs of 0 are left out */
                assert_int_equal(json_object_get(object, tz_plan_knobs[k].name) != NULL,
                                 knobs >> k & 1);
            json_decref(object);
        }
}

TEST(json_out_of_range)
{
    static const char *const wrong[] = {
        "{}",
        "{\"family\": \"tile\", \"height\": 0, \"tile\": [1]}",
        "{\"family\": \"tile\", \"height\": 1048577, \"tile\": [1]}",
        "{\"family\": \"tile\", \"height\": 1.5, \"tile\": [1]}",
        "{\"family\": \"tile\", \"height\": 1}",
        "{\"family\": \"tile\", \"height\": 1, \"tile\": []}",
        "{\"family\": \"tile\", \"height\": 1, \"tile\": [1, 1, 1, 1]}",
        "{\"family\": \"tile\", \"height\": 1, \"tile\": [-1]}",
        "{\"family\": \"a name that is too long\", \"height\": 1, \"tile\": [1]}",
        "{\"height\": 1, \"tile\": [1]}"};
    tz_plan plan;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *object = json_loads(wrong[i], 0, NULL);
        assert_non_null(object);
        plan = base;
        assert_false(tz_plan_from_json(object, &plan));
        assert_int_equal(plan.height, 0);
        assert_string_equal(plan.family, "");
        json_decref(object);
    }
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++) {
        const int most = tz_plan_knobs[k].most, values[] = {-1, most + 1, most};
        for (int i = 0; i < 3; i++) {
            json_t *object = tz_plan_to_json(&base, 2);
            json_object_set_new(object, tz_plan_knobs[k].name, json_integer(values[i]));
            assert_int_equal(tz_plan_from_json(object, &plan), i == 2);
            json_object_set_new(object, tz_plan_knobs[k].name, json_string("4"));
            assert_false(tz_plan_from_json(object, &plan));
            json_decref(object);
        }
    }
    /* Other keys, as a run's record has them, do not matter. */
    json_t *object = tz_plan_to_json(&base, 2);
    json_object_set_new(object, "why", json_string("it was given"));
    assert_true(tz_plan_from_json(object, &plan));
    json_decref(object);
}
