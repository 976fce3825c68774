/* Numbers as text; times in text: units, the prefix that suits a value, refusals. */
#include "base/number.h"
#include "tests/unit.h"

static void check_parse(const char *text, const char *unit, double wanted)
{
    double value = -1;
    assert_ok(tz_duration_parse(text, unit, &value, &failure));
    if (value != wanted)
        fail_msg("'%s' in %s: %.17g, not %.17g", text, unit, value, wanted);
}

static void check_text(double value, const char *unit, const char *wanted)
{
    char text[TZ_DURATION_SIZE];
    assert_string_equal(tz_duration_text(text, value, unit), wanted);
}

TEST(durations_are_read)
{
    check_parse("2 ms", "s", 0.002);
    check_parse("0.1 ms", "s", 1e-4);
    check_parse("0.1ms", "s", 1e-4);
    check_parse("1e3 us", "ms", 1);
    check_parse("1.5 µs", "s", 1.5e-6);
    check_parse("1.5 \316\274s", "s", 1.5e-6); /* the Greek letter */
    check_parse("20 ns", "us", 0.02);
    check_parse("90 min", "h", 1.5);
    check_parse("1.5 h", "s", 5400);
    check_parse("2 s", "s", 2);
    check_parse("3 years", "years", 3); /* the parameter's own unit */
}

TEST(other_texts_are_refused)
{
    static const char list[] = "known: s, ms, us, µs, ns, min, h";
    double value;
    check_error(tz_duration_parse("2", "s", &value, &failure), TZ_UNKNOWN, "", "has no unit");
    check_error(tz_duration_parse("2", "s", &value, &failure), TZ_UNKNOWN, "", list);
    check_error(tz_duration_parse("2 parsec", "s", &value, &failure), TZ_UNKNOWN, "", list);
    check_error(tz_duration_parse("2 ms ", "s", &value, &failure), TZ_UNKNOWN, "", list);
    check_error(tz_duration_parse("2 eV", "s", &value, &failure), TZ_UNKNOWN, "", list);
    check_error(tz_duration_parse("ms", "s", &value, &failure), TZ_FORMAT, "", "not a time");
    check_error(tz_duration_parse("", "s", &value, &failure), TZ_FORMAT, "", "not a time");
    check_error(tz_duration_parse("nan s", "s", &value, &failure), TZ_FORMAT, "", "not a time");
    check_error(tz_duration_parse("1e999 s", "s", &value, &failure), TZ_FORMAT, "", "not a time");
    check_error(tz_duration_parse("2 s", "years", &value, &failure), TZ_UNKNOWN, "",
                "known: years");
    check_error(tz_duration_parse("2 s", "", &value, &failure), TZ_UNKNOWN, "", "give a number");
}

TEST(times_get_the_prefix_that_suits)
{
    check_text(0.0025, "s", "2.5 ms");
    check_text(2.5, "ms", "2.5 ms");
    check_text(0, "s", "0 s");
    check_text(0.1 + 0.2, "s", "300 ms");
    check_text(1.4583e-7 * 1000, "s", "145.83 µs");
    check_text(0.99999999e-3, "s", "1 ms");
    check_text(999.99999e-9, "s", "1 µs");
    check_text(12, "ns", "12 ns");
    check_text(3e-14, "s", "0.03 ps");
    check_text(1234567, "s", "1234567 s");
    check_text(90, "min", "90 min");
    check_text(7, "years", "7 years");
    check_text(0.5, "", "0.5");
}

TEST(numbers_round_trip)
{
    static const double cases[] = {0.1,
                                   1e22,
                                   1e23,
                                   5e-324,
                                   1.7976931348623157e308,
                                   -3.0,
                                   1.0 / 3.0,
                                   9007199254740993.0,
                                   123456789.123456789,
                                   2.2250738585072014e-308};
    char text[TZ_NUMBER_SIZE];
    double back;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_number_format(text, cases[i]);
        assert_true(tz_number_parse(text, strlen(text), &back));
        assert_true(back == cases[i]);
    }
    assert_string_equal(tz_number_format(text, 0.1), "0.1");
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        double v;
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        memcpy(&v, &seed, 8);
        if (!isfinite(v))
            continue;
        tz_number_format(text, v);
        assert_true(tz_number_parse(text, strlen(text), &back) && back == v);
    }
}
