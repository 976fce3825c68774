/* Reads the option `scalars` into series: formulas, lists or numbers. Called by problem.c;
 * simulation.c registers sim:scalar. */
#include "lua/scalars.h"

#include "define/scalar.h"
#include "lua/api.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/module.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FORMULA[] = "trapeze.formula";
static const char kept_key; /* its address is a key */

static int formula_gc(lua_State *L)
{
    tz_named_scalar **formula = luaL_checkudata(L, 1, FORMULA);
    tz_named_scalar_destroy(*formula);
    *formula = NULL;
    return 0;
}

/* The formula on the top of the stack, kept in the table `kept`. */
static tz_series take_formula(lua_State *L, int kept, const char *what, const tz_stencil *stencil,
                              const char *name)
{
    size_t length = 0;
    const char *text = lua_tolstring(L, -1, &length);
    tz_error error;
    tz_named_scalar **formula = lua_newuserdatauv(L, sizeof *formula, 0);
    *formula = NULL;
    luaL_setmetatable(L, FORMULA);
    if (tz_named_scalar_create(formula, stencil, name, text, length, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    luaL_ref(L, kept);
    return tz_named_scalar_series(*formula);
}

/* The list or number on the top of the stack. */
static tz_series take_list(lua_State *L, int kept, const char *where, const char *name)
{
    const bool list = lua_istable(L, -1);
    if (list)
        tz_list_check(L, where, name);
    const size_t count = list ? lua_rawlen(L, -1) : 1;
    if (count == 0)
        tz_raise(L, "%s: the list '%.60s' is empty", where, name);
    double *values = lua_newuserdatauv(L, count * sizeof *values, 0);
    for (size_t i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(L, -2, (lua_Integer)i + 1);
        else
            lua_pushvalue(L, -2);
        if (lua_type(L, -1) != LUA_TNUMBER)
            tz_raise(L, "%s: number %lld of the list '%.60s' is %s", where, (long long)i + 1, name,
                     tz_kind_text(L, -1));
        values[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    luaL_ref(L, kept);
    return (tz_series){.name = name, .count = count, .values = values};
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const tz_series *)a)->name, ((const tz_series *)b)->name);
}

void tz_scalars_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                     tz_simulation_config *config)
{
    char where[64];
    index = lua_absindex(L, index);
    snprintf(where, sizeof where, "%s: 'scalars'", what);
    if (tz_table_get(L, index, "scalars") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: needs a table of NAME = \"a formula of step\" or a list, not %s", where,
                 tz_kind_text(L, -1));
    const int given = lua_gettop(L);
    tz_table_copy(L, given, where);
    lua_newtable(L);
    const int kept = lua_gettop(L);
    tz_series *series = lua_newuserdatauv(L, TZ_CONSTANTS_MAX * sizeof *series, 0);
    luaL_ref(L, kept);
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, given) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = value, not a list", where);
        const char *name = tz_text_check(L, -2, where, "name");
        if (count == TZ_CONSTANTS_MAX)
            tz_raise(L, "%s: more than %d names", where, TZ_CONSTANTS_MAX);
        const int type = lua_type(L, -1);
        if (type == LUA_TSTRING)
            series[count++] = take_formula(L, kept, what, stencil, name);
        else if (type == LUA_TTABLE || type == LUA_TNUMBER)
            series[count++] = take_list(L, kept, where, name);
        else
            tz_raise(L,
                     "%s: '%.60s' must be a formula of step (a text), a list or a number, not %s",
                     where, name, tz_kind_text(L, -1));
    }
    qsort(series, count, sizeof *series, compare_names);
    lua_pushvalue(L, given); /* the names */
    luaL_ref(L, kept);
    lua_setfield(L, index, "scalars");
    lua_pop(L, 1);
    config->scalars = series;
    config->scalars_count = count;
}

void tz_scalars_keep(lua_State *L, int index, int handle)
{
    lua_getiuservalue(L, handle, 1);
    tz_table_get(L, index, "scalars");
    lua_rawsetp(L, -2, &kept_key);
    lua_pop(L, 1);
}

/* sim:scalar(name[, step]): the value of a constant in an iteration, by default the next one. */
static int method_scalar(lua_State *L)
{
    const char *what = "sim:scalar";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const char *name = tz_text_check(L, 2, what, "name");
    const int64_t step = lua_isnoneornil(L, 3)
                             ? tz_simulation_step(handle->simulation)
                             : tz_integer_check(L, 3, what, "step", 0, INT64_MAX / 4);
    tz_error error;
    double value;
    if (tz_simulation_scalar(handle->simulation, name, step, &value, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    lua_pushnumber(L, value);
    return 1;
}

void tz_scalars_add(lua_State *L)
{
    static const tz_api_function methods[] = {
        TZ_API("sim:scalar(name[, step])", method_scalar,
               "The value of a constant that changes with the iteration: in iteration `step`, 0 "
               "being the first, or in the next one."),
        TZ_API_END};
    tz_metatable_create(L, FORMULA, (const tz_api_function[]){TZ_API_END}, formula_gc, NULL, NULL);
    tz_api_add(L, methods);
}
