/* Builds the table of the module, with tz.expect, tz.log, tz.report, tz.backends and tz.args.
 * Called by sandbox.c for scripts, and by manual.c; sweep.c reads tz.args here. */
#include "lua/module.h"

#include "backend/backend.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "lua/push.h"
#include "output/report/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tz.expect(condition[, message]) */
static int module_expect(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    if (lua_gettop(L) == 0)
        tz_raise(L, "tz.expect: needs a condition");
    context->asked = true;
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
    tz_push_line(L, ' ');
    const char *line = tz_text_check(L, -1, "tz.log", "text");
    /* A check computes nothing: its log would show zeros. */
    if (!tz_context_get(L)->options->check)
        tz_context_log(tz_context_get(L), line);
    return 0;
}

/* tz.report(): also while a run is replayed, which then writes it at its end. */
static int module_report(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    if (context->options->check && !context->reports)
        tz_context_print(context, "  writes %s\n", TZ_REPORT_NAME);
    context->reports = true;
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

void tz_args_push(lua_State *L, const char *name)
{
    tz_context *context = tz_context_get(L);
    const tz_script_options *options = context->options;
    const char *value = NULL;
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
}

static int args_index(lua_State *L)
{
    tz_args_push(L, tz_text_check(L, 2, "tz.args", "name"));
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

static int module_index(lua_State *L)
{
    tz_raise_missing(L, "trapeze", luaL_tolstring(L, 2, NULL), 1, NULL, 0);
}

int tz_module_open(lua_State *L)
{
    static const tz_api_function functions[] = {
        TZ_API("tz.expect(condition[, message])", module_expect,
               "An error unless the condition is true: a scenario that checks itself. Returns the "
               "condition."),
        TZ_API("tz.log(...)", module_log, "A line of the log, made as by `print`."),
        TZ_API(
            "tz.report()", module_report,
            "The run writes `report.html` into its folder when it ends, in whatever way: one page "
            "with its result, frames, tables and plans, as `trapeze report` does."),
        TZ_API("tz.backends()", module_backends,
               "The names that `backend = …` takes besides `\"auto\"`.", .recall = TZ_RECALL_GIVE),
        TZ_API_END};
    lua_newtable(L);
    tz_api_add(L, functions);
    tz_array_register(L);
    tz_random_register(L);
    tz_read_register(L);
    tz_floorplan_register(L);
    tz_output_register(L);
    tz_checkpoint_register(L);
    tz_simulation_register(L);
    tz_picture_register(L);
    tz_predict_register(L);
    tz_tune_register(L);
    tz_plot_register(L);
    tz_stencil_register(L);
    tz_sweep_register(L);
    lua_pushliteral(L, TZ_VERSION);
    lua_setfield(L, -2, "version");
    tz_set_flag(L, "checking", tz_context_get(L)->options->check);
    push_args(L);
    lua_setfield(L, -2, "args");
    lua_newtable(L);
    lua_pushcfunction(L, module_index);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "trapeze");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    return 1;
}
