/* Arguments of Lua functions: what is accepted, and the messages of what is refused. */

#include "lua/context.h"
#include "lua/keys.h"
#include "tests/unit.h"

static tz_context context;
static lua_State *L;

static int open_state(void **state)
{
    strcpy(context.folder_of_script, "/scenarios");
    L = luaL_newstate();
    if (!L)
        return -1;
    *(tz_context **)lua_getextraspace(L) = &context;
    luaL_openlibs(L);
    return 0;
}

static int close_state(void **state)
{
    lua_close(L);
    return 0;
}

/* Reads every kind of key from its table and gives the values back. */
static int read_all(lua_State *T)
{
    static const tz_key keys[] = {
        {"number"}, {"integer", .least = 1, .most = 10}, {"text"}, {"flag"}, {"range"}, {"list"},
        {NULL}};
    double number = -1, low = -1, high = -1;
    int64_t integer = -1, list[3] = {0, 0, 0};
    const char *text = "absent";
    bool flag = false;
    tz_keys_take(T, 1, "f", keys, false);
    tz_key_number(T, 1, "f", "number", &number);
    tz_key_integer(T, 1, "f", "integer", &integer);
    tz_key_text(T, 1, "f", "text", &text);
    tz_key_flag(T, 1, "f", "flag", &flag);
    tz_key_range(T, 1, "f", "range", false, &low, &high);
    const int count = tz_key_integers(T, 1, "f", "list", 3, 1, list);
    lua_pushnumber(T, number);
    lua_pushinteger(T, integer);
    lua_pushstring(T, text);
    lua_pushboolean(T, flag);
    lua_pushnumber(T, low);
    lua_pushnumber(T, high);
    lua_pushinteger(T, count);
    lua_pushinteger(T, list[2]);
    return 8;
}

/* Run a chunk called "t.lua", in which f is read_all. */
static int run(const char *code)
{
    lua_settop(L, 0);
    lua_pushcfunction(L, read_all);
    lua_setglobal(L, "f");
    if (luaL_loadbuffer(L, code, strlen(code), "@t.lua") != LUA_OK)
        fail_msg("%s", lua_tostring(L, -1));
    return lua_pcall(L, 0, LUA_MULTRET, 0);
}

static void check_refused(const char *code, const char *wanted)
{
    assert_int_equal(run(code), LUA_ERRRUN);
    if (strcmp(lua_tostring(L, -1), wanted) != 0)
        fail_msg("%s: '%s' (wanted '%s')", code, lua_tostring(L, -1), wanted);
    assert_string_equal(context.refusal, wanted);
}

TEST(keys_are_read)
{
    assert_int_equal(run("return f { number = 1.5, integer = 10, text = 'a', flag = true, "
                         "range = { 1, 2 }, list = { 4, 5, 6 } }"),
                     LUA_OK);
    assert_int_equal(lua_gettop(L), 8);
    assert_true(lua_tonumber(L, 1) == 1.5);
    assert_int_equal(lua_tointeger(L, 2), 10);
    assert_string_equal(lua_tostring(L, 3), "a");
    assert_true(lua_toboolean(L, 4));
    assert_true(lua_tonumber(L, 5) == 1 && lua_tonumber(L, 6) == 2);
    assert_int_equal(lua_tointeger(L, 7), 3);
    assert_int_equal(lua_tointeger(L, 8), 6);
    /* Absent keys leave what was there; a bare integer is a list of one. */
    assert_int_equal(run("return f { list = 7 }"), LUA_OK);
    assert_true(lua_tonumber(L, 1) == -1);
    assert_int_equal(lua_tointeger(L, 2), -1);
    assert_string_equal(lua_tostring(L, 3), "absent");
    assert_int_equal(lua_tointeger(L, 7), 1);
    /* An integer may be a float without a fraction. */
    assert_int_equal(run("return f { integer = 4.0 }"), LUA_OK);
    assert_int_equal(lua_tointeger(L, 2), 4);
}

TEST(keys_are_refused)
{
    check_refused("f { txt = 'a' }", "t.lua:1: f: unknown key 'txt'; did you mean 'text'?");
    check_refused("\nf { 1 }",
                  "t.lua:2: f: needs named options such as number = …, not a list element");
    check_refused("f { number = '1' }", "t.lua:1: f: 'number' must be a number, not a string");
    check_refused("f { number = 1 / 0 }", "t.lua:1: f: 'number' must be a finite number");
    check_refused("f { integer = 1.5 }", "t.lua:1: f: 'integer' must be an integer, not 1.5");
    check_refused("f { integer = 11 }", "t.lua:1: f: 'integer' must be from 1 to 10, not 11");
    check_refused("f { integer = {} }", "t.lua:1: f: 'integer' must be an integer, not a table");
    check_refused("f { text = 3 }", "t.lua:1: f: 'text' must be a string, not a number");
    check_refused("f { text = 'a\\0b' }", "t.lua:1: f: 'text' holds a zero byte");
    check_refused("f { flag = 1 }", "t.lua:1: f: 'flag' must be true or false, not a number");
    check_refused("f { range = { 2, 1 } }",
                  "t.lua:1: f: 'range' must be {low, high} with low < high");
    check_refused("f { range = { 1 } }",
                  "t.lua:1: f: 'range' must be two finite numbers {low, high}");
    check_refused("f { list = { 1, 2, 3, 4 } }",
                  "t.lua:1: f: 'list' must hold 1 to 3 numbers, not 4");
    check_refused("f { list = { 1, 0 } }", "t.lua:1: f: 'list[2]' must be at least 1, not 0");
}

/* ---- Defaults -------------------------------------------------------------------------------- */

static TZ_KEY_NAMES(colour_names, "red", "green", "blue")

    static const tz_key rows[] = {{"number", "number", "0.5", "", .least = 0, .most = 1},
                                  {"integer", "integer", "-3", ""},
                                  {"text", "text", "\"auto\"", ""},
                                  {"flag", "boolean", "true", ""},
                                  {"range", "{low, high}", "{0, 2}", ""},
                                  {"colour", "text", "\"green\"", "%s", colour_names},
                                  {"word", "number", "chosen", ""},
                                  {"words", "number", "8 to 1024, then more", ""},
                                  {"open", "number", "", "", .most = INFINITY},
                                  {NULL}};

/* Gives what is read, and how many of the keys are there. */
static int read_rows(lua_State *T)
{
    double number = -1, low = -1, high = -1, word = -7, words = -7, open = -7;
    int64_t integer = -1;
    const char *text = "";
    bool flag = false;
    int colour = -1;
    tz_keys_take(T, 1, "g", rows, false);
    const int given =
        tz_key_number(T, 1, "g", "number", &number) +
        tz_key_integer(T, 1, "g", "integer", &integer) + tz_key_text(T, 1, "g", "text", &text) +
        tz_key_flag(T, 1, "g", "flag", &flag) +
        tz_key_range(T, 1, "g", "range", false, &low, &high) +
        tz_key_choice(T, 1, "g", "colour", &colour) + tz_key_number(T, 1, "g", "word", &word) +
        tz_key_number(T, 1, "g", "words", &words) + tz_key_number(T, 1, "g", "open", &open);
    lua_gc(T, LUA_GCCOLLECT); /* the text is still there */
    lua_pushfstring(T, "%d: %f %I %s %d %f %f %d %f %f %f", given, number, (LUAI_UACINT)integer,
                    text, flag, low, high, colour, word, words, open);
    return 1;
}

TEST(a_default_is_that_of_the_row)
{
    lua_pushcfunction(L, read_rows);
    lua_setglobal(L, "g");
    assert_int_equal(run("chosen = 5; return g {}"), LUA_OK);
    assert_string_equal(lua_tostring(L, -1), "0: 0.5 -3 auto 1 0.0 2.0 1 -7.0 -7.0 -7.0");
    assert_int_equal(
        run("return g { number = 1, integer = 2, text = 'a', flag = false, range = { 3, 4 },"
            "colour = 'blue', word = 5, words = 6, open = 1e300 }"),
        LUA_OK);
    assert_string_equal(lua_tostring(L, -1), "9: 1.0 2 a 0 3.0 4.0 2 5.0 6.0 1e+300");
}

TEST(limits_and_names_are_those_of_the_row)
{
    lua_pushcfunction(L, read_rows);
    lua_setglobal(L, "g");
    check_refused("g { number = 1.5 }", "t.lua:1: g: 'number' must be from 0 to 1");
    check_refused("g { open = -1 }", "t.lua:1: g: 'open' must be 0 or more");
    check_refused("g { colour = 'gren' }",
                  "t.lua:1: g: unknown colour 'gren'; did you mean 'green'?");
    check_refused("g(setmetatable({}, {}))",
                  "t.lua:1: g: needs a plain table, not one with a metatable");
}

static int resolve(lua_State *T)
{
    char text[24];
    tz_path_resolve(T, luaL_checkstring(T, 1), text, sizeof text);
    lua_pushstring(T, text);
    return 1;
}

TEST(paths_begin_at_the_script)
{
    static const char *const cases[][2] = {
        {"chip.flp", "/scenarios/chip.flp"}, {"/chip.flp", "/chip.flp"}, {"a/b", "/scenarios/a/b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lua_settop(L, 0);
        lua_pushcfunction(L, resolve);
        lua_pushstring(L, cases[i][0]);
        assert_int_equal(lua_pcall(L, 1, 1, 0), LUA_OK);
        assert_string_equal(lua_tostring(L, -1), cases[i][1]);
    }
    lua_pushcfunction(L, resolve);
    lua_pushstring(L, "a-name-too-long-for-the-buffer");
    assert_int_equal(lua_pcall(L, 1, 1, 0), LUA_ERRRUN);
    assert_non_null(strstr(lua_tostring(L, -1), "is too long"));
}

TEST_GROUP(open_state, close_state)
