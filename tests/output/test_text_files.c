/* Texts by other programs: comments that mean something, byte order marks, files of other formats. */
#include "tests/support.h"

#include "output/format/floorplan.h"
#include "output/format/rle.h"
#include "output/format/text.h"

/* The rule of a line "#r", which Golly takes if the header has none. */
static void rle_takes_the_rule_of_a_comment(void **state)
{
    static const struct {
        const char *text, *rule;
    } cases[] = {{"#r 23/36\nx = 1, y = 1\no!", "B36/S23"},
                 {"#r  B36/S23 \r\n#R 3 4\r\nx = 1, y = 1\r\no!", "B36/S23"},
                 {"#r 23/36\nx = 1, y = 1, rule = B2/S\no!", "B2/S"},
                 {"#R 23/36\nx = 1, y = 1\no!", "B3/S23"},
                 {"#rest of it\nx = 1, y = 1\no!", "B3/S23"}};
    tz_life_pattern p;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(tz_rle_read(scratch_text(*state, "r.rle", cases[i].text), &p, &failure));
        assert_string_equal(p.rule, cases[i].rule);
        assert_int_equal(p.has_rule, i < 3);
        tz_life_pattern_clear(&p);
    }
    check_error(
        tz_rle_read(scratch_text(*state, "r.rle", "#N a\n#r x/y\nx = 1, y = 1\no!"), &p, &failure),
        TZ_UNKNOWN, "r.rle:2", "unknown rule 'x/y'");
}

/* Some editors write a byte order mark. */
static void texts_may_begin_with_a_mark(void **state)
{
    tz_array *array;
    tz_life_pattern p;
    tz_floorplan plan;
    tz_ptrace trace;
    assert_ok(
        tz_text_read(scratch_text(*state, "a.txt", "\xef\xbb\xbf 1 2"), 0, NULL, &array, &failure));
    assert_int_equal(array->shape[0], 2);
    tz_array_destroy(array);
    assert_ok(
        tz_rle_read(scratch_text(*state, "a.rle", "\xef\xbb\xbfx = 1, y = 1\no!"), &p, &failure));
    tz_life_pattern_clear(&p);
    assert_ok(tz_floorplan_read(scratch_text(*state, "a.flp",
                                             "\xef\xbb\xbf"
                                             "A 1 1 0 0\n"),
                                &plan, &failure));
    assert_string_equal(plan.units[0].name, "A");
    tz_floorplan_clear(&plan);
    assert_ok(tz_ptrace_read(scratch_text(*state, "a.ptrace",
                                          "\xef\xbb\xbf"
                                          "A\n1\n"),
                             &trace, &failure));
    assert_string_equal(trace.names[0], "A");
    tz_ptrace_clear(&trace);
    check_error(tz_text_read(scratch_text(*state, "w.txt",
                                          "\xff\xfe"
                                          "1"),
                             0, NULL, &array, &failure),
                TZ_FORMAT, "w.txt", "is a text in UTF-16: save it as UTF-8");
}

static void other_formats_are_named(void **state)
{
    static const char *const cases[][2] = {
        {"PK\3\4", "is a zip file, as .npz is"},
        {"\x1f\x8b\b", "is compressed by gzip"},
        {"\xff\xd8\xff\xe0", "is a JPEG picture"},
        {"#Life 1.06\n0 1\n", "Life 1.05 or 1.06"},
        {"<?xml version=\"1.0\"?>", "is XML, as .vti is"},
        {"1 2 \1\2", "the file is no text: save raw numbers"},
        {"1,2\n", "'1,2' is not a decimal number: numbers are separated by white space"},
        {"one", "'one' is not a decimal number"}};
    tz_array *array;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_error(
            tz_text_read(scratch_text(*state, "x.dat", cases[i][0]), 0, NULL, &array, &failure),
            TZ_FORMAT, "x.dat", cases[i][1]);
}

TEST_MAIN(NULL, NULL, SCRATCH_TEST(rle_takes_the_rule_of_a_comment),
          SCRATCH_TEST(texts_may_begin_with_a_mark), SCRATCH_TEST(other_formats_are_named))
