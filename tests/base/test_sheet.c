/* Sheets: the same rows as text, CSV and JSON. */
#include "tests/unit.h"

#include "base/facts.h"
#include <jansson.h>

typedef struct part {
    const char *label;
    double seconds;
} part;

typedef struct row {
    char name[16];
    const char *note;
    int count, knob;
    int64_t bytes;
    bool chosen;
    double time_s;
    int64_t extent[2];
    part parts[2];
} row;

TZ_GETTER(get_extent, void, row, tz_cell_integers(2, r->extent));
TZ_GETTER(get_parts, void, row, TZ_CELL_NAMED_OF(2, r->parts, part, label, seconds));
TZ_GETTER(get_first, void, row, tz_cell_made("<%s>", r->parts[0].label));
TZ_GETTER(get_refusal, void, row, r->count == 0 ? tz_cell_text("none") : TZ_NO_CELL);
TZ_GETTER(get_share, void, row, r->count == 3 ? TZ_NULL_CELL : tz_cell_real(0.125));
TZ_GETTER(get_never, void, row, TZ_NO_CELL);
static const tz_sheet_column inner_columns[] = {
    TZ_MEMBER("chosen", row, chosen), TZ_MEMBER("time_s", row, time_s, .digits = 3), {.key = NULL}};
TZ_GETTER(get_inner, void, row, r->count > 0 ? tz_cell_row(inner_columns, NULL, r) : TZ_NULL_CELL);
static bool is_hidden(const void *context, const void *item)
{
    return strcmp(((const row *)item)->name, context) == 0;
}

static const tz_sheet_column columns[] = {
    TZ_MEMBER("name", row, name, .heading = "name", .gap = 2, .width = -6),
    TZ_MEMBER("note", row, note),
    TZ_MEMBER("count", row, count, .heading = "n", .width = 4),
    TZ_MEMBER("knob", row, knob, .sparse = true),
    TZ_MEMBER("bytes", row, bytes),
    {.key = "extent", .get = get_extent},
    {.key = NULL, .part = inner_columns, .get = get_inner},
    {.key = "inner", .part = inner_columns, .get = get_inner},
    {.heading = "never", .get = get_never},
    {.heading = "", .get = get_refusal, .format = "refused: %s", .gap = 2, .ends_row = true},
    {.heading = "share", .get = get_share, .format = "%.1f %%", .scale = 100, .width = 6},
    TZ_MEMBER(NULL, row, time_s, .heading = TZ_HEADING_UNIT, .is_time = true, .width = 6),
    {.key = "parts", .heading = "", .get = get_parts, .is_time = true, .width = 5},
    {.key = "first", .heading = "first", .get = get_first},
    {.key = NULL}};

static const row rows[] = {{"ab",
                            "x, \"y\"",
                            1,
                            0,
                            INT64_C(1) << 40,
                            true,
                            0.002,
                            {3, 4},
                            {{"longer", 0.001}, {"b", 0.5}}},
                           {"é", NULL, 3, 7, 0, false, NAN, {0, 0}, {{"longer", NAN}, {"b", 1}}},
                           {"none", "", 0, 0, 5, false, 1, {1, 2}, {{"c", 1}, {"d", 2}}},
                           {"hidden", "", 0, 0, 5, false, 1, {1, 2}, {{"c", 1}, {"d", 2}}}};

static const tz_sheet sheet = {.columns = columns,
                               .context = "hidden",
                               .rows = rows,
                               .stride = sizeof rows[0],
                               .count = 4,
                               .unit = "ms",
                               .per_second = 1e3,
                               .hides = is_hidden};

static void wrote(void write(FILE *out), const char *want)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write(out);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void write_text(FILE *out)
{
    tz_sheet_text(&sheet, out);
}

static void write_csv(FILE *out)
{
    tz_sheet few = sheet;
    few.count = 3;
    tz_sheet_csv(&few, true, out);
    few.count = 0;
    tz_sheet_csv(&few, false, out);
}

TEST(text_has_the_columns_that_rows_have)
{
    wrote(write_text, "  name      n  share     ms longe     b first\n"
                      "  ab        1 12.5 %      2     1   500 <longer>\n"
                      "  é         3      -    nan   nan  1000 <longer>\n"
                      "  none      0  refused: none\n");
}

TEST(csv_quotes_and_leaves_empty)
{
    wrote(write_csv,
          "name,note,count,knob,bytes,extent,chosen,time_s,inner_chosen,inner_time_s,parts,first\n"
          "ab,\"x, \"\"y\"\"\",1,0,1099511627776,3 4,1,0.002,1,0.002,longer=0.001;b=0.5,<longer>\n"
          "é,,3,7,0,0 0,0,nan,0,nan,longer=nan;b=1,<longer>\n"
          "none,,0,0,5,1 2,,,,,c=1;d=2,<c>\n");
}

TEST(json_has_no_key_for_what_is_not_there)
{
    json_t *list = tz_sheet_json(&sheet);
    char *text = json_dumps(json_array_get(list, 0), JSON_COMPACT);
    assert_string_equal(text, "{\"name\":\"ab\",\"note\":\"x, \\\"y\\\"\",\"count\":1,\"bytes\":"
                              "1099511627776,\"extent\":[3,4],\"chosen\":true,\"time_s\":0.002,"
                              "\"inner\":{\"chosen\":true,\"time_s\":0.002},\"parts\":{\"longer\":"
                              "0.001,\"b\":0.5},\"first\":\"<longer>\"}");
    free(text);
    text = json_dumps(json_array_get(list, 1), JSON_COMPACT);
    assert_string_equal(text, "{\"name\":\"é\",\"note\":null,\"count\":3,\"knob\":7,\"bytes\":0,"
                              "\"extent\":[0,0],\"chosen\":false,\"inner\":{\"chosen\":false},"
                              "\"parts\":{\"longer\":null,\"b\":1.0},\"first\":\"<longer>\"}");
    free(text);
    json_decref(list);
}

static void facts_in(tz_form form, const char *want)
{
    tz_facts facts;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(tz_facts_begin(&facts, form, out));
    tz_facts_part(&facts, 0, "run %d", 1);
    tz_facts_lines(&facts, "cpu: 2\nno name");
    facts.width = 5;
    fprintf(tz_fact(&facts, "plan"), "one\n        more");
    tz_fact_text(&facts, NULL, "two,\n        cut");
    tz_facts_part(&facts, 1, "parameters");
    tz_fact_text(&facts, "h", "3");
    tz_facts_part_end(&facts);
    tz_fact_text(&facts, "end", "4");
    tz_facts_part(&facts, 0, "\nrun 2");
    tz_fact_text(&facts, "end", "5");
    tz_facts_end(&facts);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

TEST(facts_have_parts)
{
    facts_in(TZ_FORM_TEXT,
             "run 1\n  cpu: 2\n  no name\n  plan  one\n        more\n        two,\n        cut\n"
             "  parameters\n  h     3\n  end   4\n\nrun 2\n  end   5\n");
    facts_in(TZ_FORM_CSV, "part,name,text\nrun 1,cpu,2\nrun 1,,no name\nrun 1,plan,one; more\n"
                          "run 1,plan,\"two, cut\"\n\"run 1, parameters\",h,3\nrun 1,end,4\n"
                          "run 2,end,5\n");
}
