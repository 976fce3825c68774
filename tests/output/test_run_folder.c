/* The folder of a run, its tables and its record. */
#include "tests/support.h"

#include "output/folder.h"
#include "output/format/table.h"
#include "output/run_record.h"
#include <jansson.h>
#include <limits.h>

static void check_file(const char *path, const char *wanted)
{
    size_t bytes;
    char *text = scratch_slurp(path, &bytes);
    assert_string_equal(text, wanted);
}

TEST(names_stay_in_the_folder)
{
    static const char *const wrong[] = {"", ".hidden", "a/b", "../a", "a\nb", "\x7f"};
    char path[PATH_MAX], name[160];
    tz_folder *folder;
    assert_ok(tz_folder_create(&folder, "names", "x", "", 0, &failure));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tz_folder_join(folder, wrong[i], path, sizeof path, &failure), TZ_RANGE);
    memset(name, 'a', sizeof name);
    name[121] = '\0';
    assert_int_equal(tz_folder_check_name(name, &failure), TZ_RANGE);
    name[120] = '\0';
    assert_ok(tz_folder_check_name(name, &failure));
    assert_ok(tz_folder_join(folder, "a b.png", path, sizeof path, &failure));
    assert_string_equal(path, "names/a b.png");
    assert_int_equal(tz_folder_join(folder, "a.png", path, 8, &failure), TZ_RANGE);
    tz_folder_destroy(folder);
}

TEST(tables_quote_and_append)
{
    static const char *const titles[] = {"step", "max(a, b)"};
    static const char *const rows[][2] = {{"0", "1.5"}, {"1", "say \"hot\""}, {"2", "two\nlines"}};
    tz_table *table = NULL, *second = NULL;
    assert_ok(tz_table_create(&table, "t.csv", 2, titles, &failure));
    check_file("t.csv", "step,\"max(a, b)\"\n");
    for (int i = 0; i < 3; i++)
        assert_ok(tz_table_add(table, rows[i], &failure));
    assert_ok(tz_table_flush(table, &failure));
    static const char all[] =
        "step,\"max(a, b)\"\n0,1.5\n1,\"say \"\"hot\"\"\"\n2,\"two\nlines\"\n";
    check_file("t.csv", all);
    assert_ok(tz_table_close(table, &failure));
    check_file("t.csv", all);
    assert_int_equal(tz_table_create(&second, "t.csv", 2, titles, &failure), TZ_IO);
    assert_null(second);
    assert_ok(tz_table_close(NULL, &failure));
}

TEST(records_keep_what_they_are_given)
{
    static const char *const arguments[] = {"run", "a.lua"}, *const sets[] = {"n=64", "name=a=b"};
    const tz_machine machine = {.cpu = "a CPU", .cores = 3};
    const uint64_t seed = 7;
    const tz_interval regular = {.steps = 10};
    tz_record *record;
    assert_ok(tz_record_create(&record, "a.lua", 2, arguments, 2, sets, &machine, &failure));
    tz_record_source(record, 0, "power", "318.15", NULL, false);
    tz_record_source(record, 0, "power", "random", &seed, true);
    tz_record_output(record, 0, "power-NNNNNN.png", "png", &regular, 1);
    tz_record_output(record, 0, "power-NNNNNN.png", "png", &regular, 4);
    tz_record_file(record, "all.png");
    assert_ok(tz_record_write(record, "run.json", "running", NULL, &failure));
    assert_ok(tz_record_write(record, "run.json", "failed", "a.lua:3: no", &failure));
    tz_record_destroy(record);
    json_t *root = json_load_file("run.json", 0, NULL);
    const char *status, *why, *version, *cpu, *n, *name, *first, *kind, *file;
    int cores, drawn, count, every;
    assert_int_equal(
        json_unpack(root,
                    "{s:s, s:s, s:s, s:{s:s, s:i}, s:{s:s, s:s}, s:[{s:{s:[{s:s}, {s:i}]}, "
                    "s:{s:{s:s, s:i, s:i}}}], s:[s]}",
                    "status", &status, "error", &why, "trapeze", &version, "machine", "cpu", &cpu,
                    "cores", &cores, "args", "n", &n, "name", &name, "simulations", "fields",
                    "power", "source", &first, "seed", &drawn, "outputs", "power-NNNNNN.png",
                    "kind", &kind, "every", &every, "count", &count, "files", &file),
        0);
    assert_string_equal(status, "failed");
    assert_string_equal(why, "a.lua:3: no");
    assert_string_equal(version, TZ_VERSION);
    assert_string_equal(cpu, "a CPU");
    assert_string_equal(n, "64");
    assert_string_equal(name, "a=b");
    assert_string_equal(first, "318.15");
    assert_string_equal(kind, "png");
    assert_string_equal(file, "all.png");
    assert_int_equal(cores, 3);
    assert_int_equal(drawn, 7);
    assert_int_equal(every, 10);
    assert_int_equal(count, 4);
    json_decref(root);
}

TEST_GROUP(enter_scratch, leave_scratch)
