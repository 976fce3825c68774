/* The record that carries an error. */
#include "tests/support.h"

#include <errno.h>

TEST(an_error_has_code_place_and_message)
{
    memset(&failure, 'x', sizeof failure);
    assert_int_equal(tz_error_set(&failure, TZ_RANGE, "grid", "%d cells", 7), TZ_RANGE);
    assert_int_equal(failure.code, TZ_RANGE);
    assert_string_equal(failure.place, "grid");
    assert_string_equal(failure.message, "7 cells");
    assert_int_equal(tz_error_set(&failure, TZ_MEMORY, NULL, "none"), TZ_MEMORY);
    assert_string_equal(failure.place, "");
    assert_int_equal(tz_error_set(NULL, TZ_SHAPE, "a", "%s", "b"), TZ_SHAPE);
    assert_int_equal(tz_error_set_errno(&failure, ENOENT, "x.npy", "cannot open"), TZ_IO);
    assert_string_equal(failure.place, "x.npy");
    assert_string_equal(failure.message, "cannot open: No such file or directory");
}

/* An error may be wrapped: the new message and place contain the old ones. */
TEST(arguments_may_point_into_the_error)
{
    tz_error_set(&failure, TZ_FORMAT, "line 3", "no number");
    tz_error_set(&failure, TZ_IO, failure.message, "%s: %s", failure.place, failure.message);
    assert_string_equal(failure.place, "no number");
    assert_string_equal(failure.message, "line 3: no number");
}

TEST(long_texts_are_cut_and_terminated)
{
    static char text[4000];
    char line[16];
    memset(text, 'a', sizeof text - 1);
    tz_error_set(&failure, TZ_IO, text, "%s", text);
    assert_int_equal(strlen(failure.place), sizeof failure.place - 1);
    assert_int_equal(strlen(failure.message), sizeof failure.message - 1);
    tz_error_format(&failure, line, sizeof line);
    assert_int_equal(strlen(line), sizeof line - 1);
    tz_error_set(&failure, TZ_IO, "a", "b");
    tz_error_format(&failure, line, sizeof line);
    assert_string_equal(line, "a: b");
    tz_error_set(&failure, TZ_IO, NULL, "b");
    tz_error_format(&failure, line, sizeof line);
    assert_string_equal(line, "b");
}
