/* Reading JSON: values, texts, and what is refused. */
#include "base/json.h"
#include "tests/unit.h"

#include <jansson.h>

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
