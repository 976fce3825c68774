/* No script can make the API fail worse than by an error: tests/lua/api_fuzz.lua calls all of it.
 *
 *   test_api_fuzz [SCRIPTS [FIRST_SEED [ACTIONS]]]
 *
 * The functions come from the API itself, so that a new one needs no change here. Meant for the
 * sanitizers. */
#include "tests/archetypes.h"
#include "tests/registry.h"
#include "tests/support.h"

#include "lua/context.h"
#include "lua/module.h"
#include "lua/script.h"
#include <sys/resource.h>

enum { SCRIPTS = 60, ACTIONS = 150, SECONDS_MAX = 60, MEMORY_MAX_MIB = 1024 };

static int scripts, first_seed = 1, actions = ACTIONS;
static char functions[4000] = "functions=", methods[4000] = "methods=";

__attribute__((visibility("default"))) const char *__asan_default_options(void);

/* A size that is refused is no fault. Sizes near 2^31 are refused here on every machine: a callback
 * that fills so many cells takes minutes. */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}

#ifndef __SANITIZE_ADDRESS__
static int limit_memory(void)
{
    const struct rlimit limit = {(rlim_t)MEMORY_MAX_MIB << 20, (rlim_t)MEMORY_MAX_MIB << 20};
    return setrlimit(RLIMIT_DATA, &limit);
}
#else
/* The sanitizers map more themselves; see above. */
static int limit_memory(void)
{
    return 0;
}
#endif

/* Add the functions in the table on the top of the stack: PREFIX NAME "/" ARGUMENTS ",". */
static void list(lua_State *L, const char *prefix, char *names, size_t size)
{
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        const size_t used = strlen(names), room = size - used;
        if (lua_isfunction(L, -1)) {
            assert_non_null(lua_getupvalue(L, -1, 2)); /* of api.c */
            assert_true((size_t)snprintf(names + used, room, "%s%s/%d,", prefix,
                                         lua_tostring(L, -3), (int)lua_tointeger(L, -1)) < room);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

/* Argument 1 is the context. */
static int list_all(lua_State *L)
{
    static const char mark[] = "trapeze.";
    tz_sandbox_open(L, false);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "trapeze");
    list(L, "", functions, sizeof functions);
    lua_pushnil(L);
    while (lua_next(L, LUA_REGISTRYINDEX) != 0) {
        const char *type = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        if (strncmp(type, mark, sizeof mark - 1) == 0 &&
            lua_getfield(L, -1, "__index") == LUA_TFUNCTION) {
            char prefix[80];
            snprintf(prefix, sizeof prefix, "%s:", type + sizeof mark - 1);
            lua_getupvalue(L, -1, 1);
            list(L, prefix, methods, sizeof methods);
        }
        lua_settop(L, 4); /* the key */
    }
    return 0;
}

TEST(all_functions_are_found)
{
    const tz_script_options options = {.registry = registry};
    tz_context context = {.options = &options};
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    *(tz_context **)lua_getextraspace(L) = &context;
    lua_pushcfunction(L, list_all);
    lua_pushlightuserdata(L, &context);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        fail_msg("%s", lua_tostring(L, -1));
    lua_close(L);
    assert_non_null(strstr(functions, "simulation/1,"));
    assert_non_null(strstr(methods, "simulation:run/2,"));
    assert_non_null(strstr(methods, "array:close/1,"));
}

static void run(int seed, bool check)
{
    char seed_text[40], actions_text[40], folder[40], cells[500], here[440];
    snprintf(seed_text, sizeof seed_text, "seed=%d", seed);
    snprintf(actions_text, sizeof actions_text, "actions=%d", actions);
    snprintf(folder, sizeof folder, "run-%d", seed);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(cells, sizeof cells, "cells=%s/cells.txt", here);
    const char *const sets[] = {seed_text, actions_text, functions, methods, cells};
    const tz_script_options options = {.path = TZ_TEST_SOURCE_DIR "/lua/api_fuzz.lua",
                                       .registry = registry,
                                       .threads = 2,
                                       .out = folder,
                                       .sets_count = 5,
                                       .sets = sets,
                                       .check = check};
    static tz_script_result result;
    tz_error error;
    fprintf(stderr, "\rseed %d%s ", seed, check ? ", check" : "");
    alarm(SECONDS_MAX);
    const tz_status status = tz_script_run(&options, &result, &error);
    alarm(0);
    /* An error in a frame is the run's. */
    if (status != TZ_OK && status != TZ_IO)
        fail_msg("seed %d: status %d: %s", seed, (int)status, error.message);
}

TEST(no_call_does_worse_than_raise)
{
    FILE *file = fopen("cells.txt", "w");
    assert_non_null(file);
    fputs("1 0 1\n0 1 0\n", file);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < scripts; i++)
        run(first_seed + i, i % 3 == 2);
    fprintf(stderr, "\n");
}

static int set_up(void **state)
{
    if (scripts == 0)
        scripts = is_complete() ? SCRIPTS : SCRIPTS / 3;
    return limit_memory() || enter_scratch(state) || open_plugins(state) ||
           setenv("TRAPEZE_CACHE", "cache", 1);
}

static int tear_down(void **state)
{
    return close_plugins(state) || leave_scratch(state);
}

static int read_arguments(int argc, char **argv)
{
    scripts = atoi(argv[1]);
    if (argc > 2)
        first_seed = atoi(argv[2]);
    if (argc > 3)
        actions = atoi(argv[3]);
    return -1;
}

TEST_GROUP_WITH(set_up, tear_down, read_arguments)
