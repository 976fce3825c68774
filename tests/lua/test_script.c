/* tz_script_run: what it returns, reports and leaves behind for scripts that end in every way. */
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

TEST(a_script_runs)
{
    static const char *const sets[] = {"n=3", "m=4", "n=5"};
    assert_int_equal(run("print(require('trapeze').args.n, 'a')\n", false, 3, sets), TZ_OK);
    assert_string_equal(printed, "5\ta\n");
    assert_non_null(strstr(noted, "W:--set m: the script never reads tz.args.m"));
    assert_string_equal(result.folder, "");
    assert_int_equal(access("runs", F_OK), -1);
}

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

/* A script that runs nothing and writes nothing else has a log, too. */
TEST(what_is_logged_is_kept)
{
    size_t bytes;
    ends(TZ_OK, "require('trapeze').log('only', 'said')\n");
    assert_string_equal(result.folder, "runs/s-002");
    char *text = slurp("log.txt", &bytes);
    assert_string_equal(text, "only said\n");
    ends(TZ_SCRIPT, "require('trapeze').log('only')\nerror('no')\n");
    text = slurp("log.txt", &bytes);
    assert_int_equal(strncmp(text, "only\n", 5), 0);
    ends(TZ_OK, "warn('only')\n");
    assert_string_equal(result.folder, ""); /* a warning alone makes none */
}

TEST(a_simulation_is_counted)
{
    ends(TZ_OK, HEAT "sim:run(10)\ntz.log('done', sim.step)\n");
    assert_int_equal(result.steps, 10);
    assert_true(result.updates == 640);
    assert_int_equal(result.ran, 1);
    assert_string_equal(result.folder, "runs/s-004");
    assert_non_null(strstr(noted, "L:done 10\n"));
    assert_int_equal(access("runs/s-004/run.json", F_OK), 0);
    assert_int_equal(access("runs/s-004/scenario.lua", F_OK), 0);
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

TEST(a_check_writes_nothing)
{
    assert_int_equal(
        run(HEAT "sim:every(5, tz.npy())\nsim:run(10)\ntz.expect(false)\n", true, 0, NULL), TZ_OK);
    assert_int_equal(result.steps, 0);
    assert_string_equal(result.folder, "");
    assert_non_null(strstr(printed, "every 5: temperature-NNNNNN.npy, 3 files\n"));
    assert_non_null(strstr(printed, "expectations: skipped\n"));
}

TEST(failures_have_their_codes)
{
    static const struct {
        const char *code;
        tz_status status;
        const char *message;
        bool traceback;
    } cases[] = {
        {"x = = 1\n", TZ_SCRIPT, "s.lua:1: unexpected symbol near '='", false},
        {"local t\nprint(t.x)\n", TZ_SCRIPT, "s.lua:2: attempt to index a nil value", true},
        {"error({})\n", TZ_SCRIPT, "(error object is a table value)", true},
        {"require('trapeze').expect(1 == 2, 'sums')\n", TZ_EXPECT,
         "s.lua:1: expectation failed: sums", false},
        {"require('trapeze').simulation { grid = 4 }\n", TZ_SCRIPT,
         "s.lua:1: tz.simulation: 'plugin' is missing", false},
        {"local function f() require('trapeze').array(1) end\nf()\n", TZ_SCRIPT, "s.lua:1: ", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tz_status status = run(cases[i].code, false, 0, NULL);
        if (status != cases[i].status || !strstr(error.message, cases[i].message))
            fail_msg("%s: status %d, '%s'", cases[i].code, (int)status, error.message);
        assert_int_equal(result.traceback[0] != '\0', cases[i].traceback);
    }
    const tz_script_options missing = {.path = "missing.lua", .registry = registry};
    assert_int_equal(tz_script_run(&missing, &result, &error), TZ_IO);
}

TEST(a_failed_run_leaves_its_record)
{
    size_t bytes;
    ends(TZ_SCRIPT, HEAT "sim:run(1)\nerror('too hot')\n");
    char *text = slurp("run.json", &bytes);
    assert_non_null(strstr(text, "\"status\": \"failed\""));
    assert_non_null(strstr(text, "s.lua:5: too hot"));
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
