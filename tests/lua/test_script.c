/* tz_script_run: what is printed and logged, and what is left at the end. How scripts fail:
 * tests/cli/run_scripts_tests.sh. */
#include "tests/registry.h"
#include "tests/support.h"

#include "lua/script.h"

static char printed[4096], noted[4096];
static size_t printed_bytes;
static tz_script_result result;
static tz_error error;

/* Tests run in a fresh directory. */
static int set_up(void **state)
{
    return enter_scratch(state) || open_plugins(state);
}

static int tear_down(void **state)
{
    return close_plugins(state) || leave_scratch(state);
}

static void on_print(void *to, const char *text, size_t bytes)
{
    strncat(printed, text, sizeof printed - strlen(printed) - 1);
    printed_bytes += bytes;
}

static void on_note(void *to, tz_note note, const char *line)
{
    strncat(noted, note == TZ_NOTE_WARNING ? "W:" : "L:", sizeof noted - strlen(noted) - 1);
    strncat(noted, line, sizeof noted - strlen(noted) - 1);
    strncat(noted, "\n", sizeof noted - strlen(noted) - 1);
}

static tz_status run(const char *code, bool check, size_t sets_count, const char *const *sets)
{
    const tz_script_options options = {.path = "s.lua",
                                       .registry = registry,
                                       .backend = "reference",

                                       .sets_count = sets_count,
                                       .sets = sets,
                                       .check = check,
                                       .sink = {.print = on_print, .note = on_note}};
    FILE *file = fopen("s.lua", "w");
    assert_non_null(file);
    fputs(code, file);
    assert_int_equal(fclose(file), 0);
    printed[0] = noted[0] = '\0';
    printed_bytes = 0;
    memset(&error, 0, sizeof error);
    return tz_script_run(&options, &result, &error);
}

/* Run, and end so. */
static void ends(tz_status wanted, const char *code)
{
    assert_int_equal(run(code, false, 0, NULL), wanted);
}

/* A file of the run's folder. */
static char *slurp(const char *name, size_t *bytes)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", result.folder, name);
    return scratch_slurp(path, bytes);
}

#define HEAT                                                                                       \
    "local tz = require 'trapeze'\n"                                                               \
    "local sim = tz.simulation { plugin = 'hotspot', grid = { 8, 8 },\n"                           \
    "  fields = { temperature = 300, power = 0 } }\n"

TEST(zero_bytes_are_printed)
{
    ends(TZ_OK, "print('a\\0b')\nprint('c')\n");
    assert_int_equal(printed_bytes, 6);
    assert_string_equal(printed, "ac\n");
}

TEST(long_lines_are_logged_whole)
{
    ends(TZ_OK, "require('trapeze').log(('x'):rep(3000))\n");
    assert_int_equal(strlen(noted), 3003); /* "L:" and a newline */
}

/* Lines from before the first run or file are in log.txt, too, in order. */
TEST(the_log_has_all_lines)
{
    size_t bytes;
    ends(TZ_OK, "local tz = require 'trapeze'\ntz.log('first')\nwarn('second')\n" HEAT
                "tz.log('third')\nsim:run(1)\ntz.log('fourth')\n");
    char *text = slurp("log.txt", &bytes);
    assert_string_equal(text, "first\nwarning: second\nthird\nfourth\n");
}

/* Lines without end do not fill memory. */
TEST(early_lines_have_a_limit)
{
    size_t bytes;
    ends(TZ_OK, "local tz = require 'trapeze'\nlocal line = ('x'):rep(999)\n"
                "for i = 1, 2000 do tz.log(line) end\n" HEAT "sim:run(1)\n");
    char *text = slurp("log.txt", &bytes);
    assert_in_range(bytes, 900000, 1100000);
    assert_non_null(strstr(text, "more lines, for which there was no room)\n"));
}

/* A script that needs gnuplot fails before its work, not after it. */
TEST(plots_are_checked_at_the_start)
{
    static const char plot[] = "sim:run(10)\n-- says so\ntz.plot { file = 'a.png', series = { { x "
                               "= { 1, 2 }, y = { 1, 2 } } } }\n";
    char *before = strdup(getenv("PATH")), code[1024];
    setenv("PATH", "/nowhere", 1);
    for (int check = 0; check < 2; check++) {
        snprintf(code, sizeof code, HEAT "%s", plot);
        assert_int_equal(run(code, check, 0, NULL), TZ_SCRIPT);
        assert_non_null(strstr(error.message, "s.lua:6: tz.plot: plots need gnuplot"));
        assert_int_equal(result.steps, 0);
        assert_string_equal(result.folder, "");
    }
    ends(TZ_OK, HEAT "-- tz.plot {}\nprint 'tz.plot {}' print [[ tz.plot ]]\n");
    ends(TZ_OK, HEAT "if tz.can_plot() then tz.plot {} end\n");
    /* A name that the text does not show is found when it is called. */
    assert_int_equal(run(HEAT
                         "tz['plot'] { file = 'a.png', series = { { x = { 1 }, y = { 1 } } } }",
                         true, 0, NULL),
                     TZ_SCRIPT);
    setenv("PATH", before, 1);
    free(before);
}

/* Finalizers that are left would run when Lua's state is closed: the run is over by then. */
TEST(no_finalizer_runs_after_the_end)
{
    static const char script[] =
        HEAT "sim:every(10, tz.png())\n"
             "sim:run(50)\n"
             "left = setmetatable({}, { __gc = function()\n"
             "  print('late')\n"
             "  sim = tz.simulation { plugin = 'hotspot', grid = { 8, 8 } }\n"
             "  sim:every(1, tz.png())\n"
             "  sim:run(2)\n"
             "end })\n"
             "local t = setmetatable({}, { __gc = true })\n"
             "getmetatable(t).__gc = getmetatable(left).__gc\n";
    static const char *const endings[] = {"", "error('stop')\n"};
    for (size_t i = 0; i < 2; i++) {
        char code[1000], path[PATH_MAX + 40];
        size_t bytes;
        snprintf(code, sizeof code, "%s%s", script, endings[i]);
        assert_int_equal(run(code, false, 0, NULL), i == 0 ? TZ_OK : TZ_SCRIPT);
        assert_string_equal(printed, "");
        for (int step = 0; step <= 50; step += 10) {
            snprintf(path, sizeof path, "%s/temperature-%06d.png", result.folder, step);
            assert_int_equal(access(path, F_OK), 0);
        }
        char *text = slurp("run.json", &bytes);
        assert_non_null(strstr(text, i == 0 ? "\"status\": \"done\"" : "\"status\": \"failed\""));
        assert_null(strstr(text, "sim2"));
    }
}

TEST_GROUP(set_up, tear_down)
