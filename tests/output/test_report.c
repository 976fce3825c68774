/* Reports of run folders that are written here byte by byte. */
#include "tests/support.h"

#include "base/file.h"
#include "output/report/report.h"
#include <jansson.h>

static const char head[] = "\x89PNG\r\n\x1a\n", tail[] = "IEND\xae\x42\x60\x82";

static void write_bytes(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

/* A file that begins and ends as a picture, with so many bytes in between. */
static void write_picture(const char *path, size_t bytes)
{
    char *data = malloc(16 + bytes);
    assert_non_null(data);
    memcpy(data, head, 8);
    for (size_t i = 0; i < bytes; i++)
        data[8 + i] = (char)(37 * i + bytes);
    memcpy(data + 8 + bytes, tail, 8);
    write_bytes(path, data, 16 + bytes);
    free(data);
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

static const json_t *series(const json_t *data, size_t i)
{
    return json_array_get(json_object_get(json_object_get(data, "facts"), "series"), i);
}

static int64_t step(const json_t *of, size_t i)
{
    return json_integer_value(
        json_object_get(json_array_get(json_object_get(of, "frames"), i), "step"));
}

static int digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

static size_t decode(const char *text, char *out)
{
    size_t bytes = 0;
    unsigned bits = 0, count = 0;
    for (; digit(*text) >= 0; text++) {
        bits = (bits << 6 | (unsigned)digit(*text)) & 0xffff;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        out[bytes++] = (char)(bits >> count);
    }
    return bytes;
}

TEST(pictures_are_embedded)
{
    begin_run("\"u-NNNNNN.png\": {\"kind\": \"png\", \"count\": 4}, "
              "\"f at a.lua:1\": {\"kind\": \"function\"}",
              "\"alone.png\", \"gone.png\", \"../run.png\"");
    write_picture("run/u-000000.png", 6000);
    write_picture("run/u-000020.png", 6001);
    write_picture("run/u-000003.png", 6002);
    write_picture("run/u-1000000.png", 0);
    write_picture("run/u-r2-000001.png", 9);
    write_picture("run/u-v-000001.png", 9); /* of another output */
    write_picture("run/u-00001.png", 9);
    write_picture("run/alone.png", 1);
    write_picture("run.png", 1);
    json_t *data = report(32, 1);
    static const char *const order[] = {"u-000000.png",  "u-000003.png",    "u-000020.png",
                                        "u-1000000.png", "u-r2-000001.png", "alone.png"};
    assert_int_equal(json_array_size(json_object_get(data, "data")), 6);
    for (size_t i = 0; i < 6; i++) {
        char path[100], *wanted = NULL, got[10000];
        size_t bytes;
        snprintf(path, sizeof path, "run/%s", order[i]);
        assert_ok(tz_file_read(path, 10000, &wanted, &bytes, &failure));
        const char *text = json_string_value(json_array_get(json_object_get(data, "data"), i));
        assert_non_null(text);
        assert_int_equal(strlen(text), (bytes + 2) / 3 * 4);
        assert_int_equal(decode(text, got), bytes);
        assert_memory_equal(got, wanted, bytes);
        free(wanted);
    }
    assert_string_equal(json_string_value(json_object_get(series(data, 1), "name")), "u-r2");
    assert_int_equal(step(series(data, 0), 3), 1000000);
    assert_null(series(data, 3));
    json_decref(data);
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
