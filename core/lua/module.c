#include "lua/module.h"

#include "backend/backend.h"
#include "base/names.h"
#include "lua/array.h"
#include "lua/context.h"
#include "lua/floorplan.h"
#include "lua/keys.h"
#include "lua/output.h"
#include "lua/picture.h"
#include "lua/plot.h"
#include "lua/predict.h"
#include "lua/random.h"
#include "lua/read.h"
#include "lua/simulation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tz.expect(condition[, message]) */
static int module_expect(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    luaL_checkany(L, 1);
    if (context->options->check) {
        if (!context->expectations_noted)
            tz_context_print(context, "  expectations: skipped\n");
        context->expectations_noted = true;
        return 0;
    }
    if (lua_toboolean(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    const char *message =
        lua_isnoneornil(L, 2) ? "the condition is false" : luaL_tolstring(L, 2, NULL);
    tz_raise(L, "expectation failed: %.1500s", message);
}

static int module_log(lua_State *L)
{
    luaL_Buffer line;
    const int n = lua_gettop(L);
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&line, ' ');
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    /* A check computes nothing: its log would show zeros. */
    if (!tz_context_get(L)->options->check)
        tz_context_note(tz_context_get(L), TZ_NOTE_LOG, "%s", lua_tostring(L, -1));
    return 0;
}

/* tz.backends(): the names that backend = … takes besides "auto". */
static int module_backends(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; tz_backends[i]; i++) {
        lua_pushstring(L, tz_backends[i]->name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* ---- tz.args --------------------------------------------------------------------------------- */

static bool is_set(const char *pair, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (strncmp(pair, name, length) != 0 || pair[length] != '=')
        return false;
    *value = pair + length + 1;
    return true;
}

static void push_value(lua_State *L, const char *value)
{
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        lua_pushboolean(L, value[0] == 't');
    else if (lua_stringtonumber(L, value) == 0)
        lua_pushstring(L, value);
}

static int args_index(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    const tz_script_options *options = context->options;
    const char *name = luaL_checkstring(L, 2), *value = NULL;
    bool known = false;
    for (size_t i = 0; !known && i < context->read_names.count; i++)
        known = strcmp(context->read_names.items[i], name) == 0;
    tz_error error;
    if (!known && tz_paths_add(&context->read_names, name, &error) != TZ_OK)
        tz_raise_error(L, "tz.args", &error);
    /* Of several values for one name the last counts. */
    lua_pushnil(L);
    for (size_t i = options->sets_count; i-- > 0;)
        if (is_set(options->sets[i], name, &value)) {
            if (lua_isnil(L, -1)) {
                lua_pop(L, 1);
                push_value(L, value);
            }
            context->sets_read[i] = true;
        }
    return 1;
}

static int args_newindex(lua_State *L)
{
    tz_raise(L, "tz.args cannot be changed; give values with --set NAME=VALUE");
}

/* pairs(tz.args) counts as reading all of them. */
static int args_pairs(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    const tz_script_options *options = context->options;
    lua_getglobal(L, "next");
    lua_newtable(L);
    for (size_t i = 0; i < options->sets_count; i++) {
        const char *equals = strchr(options->sets[i], '=');
        if (!equals)
            continue;
        lua_pushlstring(L, options->sets[i], (size_t)(equals - options->sets[i]));
        push_value(L, equals + 1);
        lua_rawset(L, -3);
        context->sets_read[i] = true;
    }
    lua_pushnil(L);
    return 3;
}

static void push_args(lua_State *L)
{
    static const luaL_Reg events[] = {{"__index", args_index},
                                      {"__newindex", args_newindex},
                                      {"__pairs", args_pairs},
                                      {NULL, NULL}};
    lua_newtable(L);
    luaL_newlib(L, events);
    lua_pushliteral(L, "trapeze.args");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

/* An unknown name of the module: raise with the nearest one. */
static int module_index(lua_State *L)
{
    const char *names[64];
    size_t n = 0;
    const char *key = luaL_tolstring(L, 2, NULL);
    lua_pushnil(L);
    while (n < 64 && lua_next(L, 1) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            names[n++] = lua_tostring(L, -1);
    }
    const char *nearest = tz_names_nearest(key, names, n);
    tz_raise(L, "trapeze has no '%.60s'%s%s%s", key, nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "");
}

int tz_module_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"expect", module_expect},
                                         {"log", module_log},
                                         {"backends", module_backends},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    tz_array_register(L);
    tz_random_register(L);
    tz_read_register(L);
    tz_floorplan_register(L);
    tz_output_register(L);
    tz_simulation_register(L);
    tz_picture_register(L);
    tz_predict_register(L);
    tz_plot_register(L);
    lua_pushliteral(L, TZ_VERSION);
    lua_setfield(L, -2, "version");
    lua_pushboolean(L, tz_context_get(L)->options->check);
    lua_setfield(L, -2, "checking");
    push_args(L);
    lua_setfield(L, -2, "args");
    lua_newtable(L);
    lua_pushcfunction(L, module_index);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}
