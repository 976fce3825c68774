/* Reports of run folders that are written here byte by byte. */
#include "tests/support.h"

#include "base/file.h"
#include "output/report/report.h"
#include <jansson.h>

static void write_bytes(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

static void begin_run(const char *outputs, const char *files)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{\"trapeze\": \"0\", \"status\": \"done\", \"simulations\": [{\"name\": \"a\", "
             "\"outputs\": {%s}}], \"files\": [%s]}",
             outputs, files);
    mkdir("run", 0777);
    write_bytes("run/run.json", text, strlen(text));
    write_bytes("run/scenario.lua", "-- a </script> tag\n", 19);
    write_bytes("run/log.txt", "one\n", 4);
}

/* The data of the page that is written, with what it must not hold checked. */
static json_t *report(int pictures_mib, size_t notes_wanted)
{
    char *text = NULL;
    size_t bytes;
    tz_paths notes = {0};
    assert_ok(tz_report_write("run", "page.html", pictures_mib, &notes, &failure));
    assert_int_equal(notes.count, notes_wanted);
    tz_paths_clear(&notes);
    assert_ok(tz_file_read("page.html", 1 << 28, &text, &bytes, &failure));
    char *begin = strstr(text, "{\"facts\":"), *end = begin ? strstr(begin, "</script>") : NULL;
    assert_non_null(end);
    *end = '\0';
    assert_null(strchr(begin, '<'));
    json_error_t fault;
    json_t *data = json_loads(begin, 0, &fault);
    assert_non_null(data);
    free(text);
    return data;
}

TEST(long_tables_lose_rows)
{
    enum { ROWS = 200000 };
    begin_run("\"t.csv\": {\"kind\": \"table\", \"count\": 200000}", "");
    FILE *file = fopen("run/t.csv", "wb");
    assert_non_null(file);
    fprintf(file, "step,\"two\nlines\"\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d,\"a row of two\nlines, %09d\"\n", i, i);
    const long bytes = ftell(file), limit = 4 << 20;
    fclose(file);
    const int every = (int)(bytes / (limit + 1)) + 1;
    assert_true(every > 1);
    json_t *data = report(32, 0);
    const json_t *table =
        json_array_get(json_object_get(json_object_get(data, "facts"), "tables"), 0);
    const char *text = json_string_value(json_object_get(table, "text"));
    char second[100];
    assert_int_equal(json_integer_value(json_object_get(table, "every")), every);
    snprintf(second, sizeof second,
             "step,\"two\nlines\"\n0,\"a row of two\nlines, 000000000\"\n%d,\"a row of two\n",
             every);
    assert_true(strlen(text) < (size_t)limit);
    assert_memory_equal(text, second, strlen(second));
    json_decref(data);
}

TEST(long_logs_lose_their_beginning)
{
    begin_run("", "");
    FILE *file = fopen("run/log.txt", "wb");
    assert_non_null(file);
    for (int i = 0; i < 100000; i++)
        fprintf(file, "line %09d\n", i);
    fclose(file);
    json_t *data = report(32, 1);
    const char *log = json_string_value(json_object_get(json_object_get(data, "facts"), "log"));
    assert_true(strlen(log) <= 1 << 20 && strlen(log) > (1 << 20) - 20);
    assert_memory_equal(log, "line ", 5);
    assert_string_equal(log + strlen(log) - 15, "line 000099999\n");
    json_decref(data);
}

TEST_GROUP(enter_scratch, leave_scratch)
