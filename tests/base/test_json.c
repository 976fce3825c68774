/* Reading JSON: values, texts, and what is refused. */
#include "base/json.h"
#include "base/json_values.h"
#include "tests/unit.h"

#include <jansson.h>

static json_t *read_text(const char *text)
{
    json_t *value = NULL;
    assert_ok(tz_json_read("a.json", text, strlen(text), &value, &failure));
    return value;
}

TEST(values)
{
    (void)state;
    json_t *root =
        read_text(" {\"a\": [1, -2.5e1, true, false, null, \"x\"], \"b\": {}, \"c\": []}\n");
    const json_t *list = json_object_get(root, "a");
    assert_int_equal(json_array_size(list), 6);
    assert_int_equal(json_integer_value(json_array_get(list, 0)), 1);
    assert_true(json_real_value(json_array_get(list, 1)) == -25.0);
    assert_true(json_is_true(json_array_get(list, 2)));
    assert_true(json_is_null(json_array_get(list, 4)));
    assert_string_equal(json_string_value(json_array_get(list, 5)), "x");
    assert_int_equal(json_object_size(json_object_get(root, "b")), 0);
    json_decref(root);
}

/* What jansson writes reads back as the same. */
TEST(round_trip)
{
    (void)state;
    json_t *made = json_pack("{s:s, s:[i, f, b, n], s:{s:s}}", "text \xc3\xa9\n\t\"\\/",
                             "\xf0\x9f\x98\x80", "list", 12, 0.1, 1, "o", "k", "");
    for (size_t flags = 0; flags < 2; flags++) {
        char *text = json_dumps(made, flags ? JSON_ENSURE_ASCII | JSON_INDENT(2) : JSON_COMPACT);
        json_t *again = read_text(text);
        assert_true(json_equal(made, again));
        json_decref(again);
        free(text);
    }
    json_decref(made);
}

TEST(texts_are_made_printable)
{
    (void)state;
    json_t *root = read_text("[\"\\u001b[2J\\u0000\\b\", \"\xff\", \"\\ud800x\", \"\\u009b\"]");
    assert_string_equal(json_string_value(json_array_get(root, 0)), "?[2J??");
    assert_string_equal(json_string_value(json_array_get(root, 1)), "?");
    assert_string_equal(json_string_value(json_array_get(root, 2)), "?x");
    assert_string_equal(json_string_value(json_array_get(root, 3)), "??");
    json_decref(root);
}

TEST(what_is_refused)
{
    (void)state;
    static const char *const bad[] = {"",         "{",          "[1,]",      "[1 2]",
                                      "{\"a\"}",  "{\"a\":1,}", "{a:1}",     "tru",
                                      "01",       "+1",         "-",         "1e999",
                                      "\"",       "\"\\x\"",    "\"\\u12\"", "\"\n\"",
                                      "1 2",      "[\"a\":1]",  "nan",       "99999999999999999999",
                                      "{\"a\":}", "}",          "'a'",       "{\"a\":1,\"a\":1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *value;
        const tz_status status = tz_json_read("a.json", bad[i], strlen(bad[i]), &value, &failure);
        if (status != TZ_FORMAT || value)
            fail_msg("'%s': status %d", bad[i], (int)status);
    }
    json_t *value;
    check_error(tz_json_read("a.json", "[1,\n2,\n}", 8, &value, &failure), TZ_FORMAT, "a.json:3",
                "a value is expected");
    char deep[1000];
    memset(deep, '[', sizeof deep);
    check_error(tz_json_read("a.json", deep, sizeof deep, &value, &failure), TZ_FORMAT, "a.json:1",
                "inside one another");
}

/* Checkpoints keep all bits of a number. */
TEST(doubles_are_kept_whole)
{
    (void)state;
    static const double values[] = {
        0.1,  -0.0,     1.0 / 3.0, 5e-324,   1.7976931348623157e308, 1e23,
        -1e9, INFINITY, -INFINITY, 2.2e-308, 0x1.fffffffffffffp+0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        bool failed = false;
        json_t *object = json_object();
        tz_json_put_double(object, "x", values[i], &failed);
        const double again = tz_json_get_double(object, "x", &failed);
        assert_false(failed);
        assert_memory_equal(&again, &values[i], sizeof again);
        json_decref(object);
    }
}
