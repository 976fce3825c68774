/* tz.sweep: the parameters that trapeze sweep varies. */
#include "base/number.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/module.h"
#include "output/sweep/sheet.h"
#include <math.h>
#include <string.h>

static const char what[] = "tz.sweep";

/* Push the text of the value on the top of the stack, which --set reads back as the same value. */
static void push_value_text(lua_State *L, const char *name)
{
    char text[TZ_NUMBER_SIZE + 4];
    const int type = lua_type(L, -1);
    if (type == LUA_TBOOLEAN) {
        lua_pushstring(L, lua_toboolean(L, -1) ? "true" : "false");
    } else if (type == LUA_TNUMBER && !lua_isinteger(L, -1)) {
        if (!isfinite(lua_tonumber(L, -1)))
            tz_raise(L, "%s: '%s' has a value that is not finite", what, name);
        tz_number_format(text, lua_tonumber(L, -1));
        if (text[strspn(text, "-0123456789")] == '\0')
            strcat(text, ".0");
        lua_pushstring(L, text);
    } else if (type == LUA_TNUMBER) {
        lua_pushfstring(L, "%I", (LUAI_UACINT)lua_tointeger(L, -1));
    } else if (type == LUA_TSTRING) {
        const char *value = tz_text_check(L, -1, what, name);
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
            lua_stringtonumber(L, value) != 0)
            tz_raise(L, "%s: '%s' has the text \"%.60s\"; write it without quotes", what, name,
                     value);
        lua_pushvalue(L, -1);
    } else {
        tz_raise(L, "%s: '%s' must have numbers, texts or booleans, not %s", what, name,
                 tz_kind_text(L, -1));
    }
}

/* The list on the top of the stack as an axis of `grid`. */
static void add_axis(lua_State *L, tz_sweep_grid *grid, const char *name)
{
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: '%s' must be a list of values, not %s", what, name, tz_kind_text(L, -1));
    tz_list_check(L, what, name);
    const size_t count = lua_rawlen(L, -1);
    const int list = lua_gettop(L);
    if (count > TZ_SWEEP_POINTS_MAX)
        tz_raise(L, "%s: the sweep has more than %d points; give fewer values", what,
                 TZ_SWEEP_POINTS_MAX);
    luaL_checkstack(L, 4, what);
    const char **values = lua_newuserdatauv(L, (count + 1) * sizeof *values, 0);
    lua_createtable(L, (int)count, 0); /* keeps the texts */
    for (size_t i = 0; i < count; i++) {
        const int first = lua_rawgeti(L, list, 1);
        if (lua_rawgeti(L, list, (lua_Integer)i + 1) != first)
            tz_raise(L, "%s: the values of '%s' have different types", what, name);
        push_value_text(L, name);
        values[i] = lua_tostring(L, -1);
        lua_rawseti(L, list + 2, (lua_Integer)i + 1);
        lua_pop(L, 2);
    }
    tz_error error;
    if (tz_sweep_grid_add(grid, name, values, count, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    lua_settop(L, list);
}

static int grid_close(lua_State *L)
{
    tz_sweep_grid_clear(lua_touserdata(L, 1));
    return 0;
}

/* A grid that is freed also if something raises. */
static tz_sweep_grid *new_grid(lua_State *L)
{
    tz_sweep_grid *grid = lua_newuserdatauv(L, sizeof *grid, 0);
    memset(grid, 0, sizeof *grid);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, grid_close);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return grid;
}

/* The value of this run: that of --set, else the first one. */
static void push_chosen(lua_State *L, const tz_sweep_axis *axis)
{
    tz_table_get(L, 1, axis->name);
    lua_rawgeti(L, -1, 1);
    tz_args_push(L, axis->name);
    if (lua_isnil(L, -1))
        lua_pop(L, 1);
    else if (lua_type(L, -1) != lua_type(L, -2))
        tz_raise(L, "%s: '%s' is %s, but its list has values such as %s", what, axis->name,
                 tz_kind_text(L, -1), axis->values.items[0]);
}

/* tz.sweep { NAME = {values}, … } */
static int sweep(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    const tz_script_sink *sink = &context->options->sink;
    if (context->sweeps)
        tz_raise(L, "%s: the script calls it a second time; one call has all parameters", what);
    tz_options_check(L, 1, what);
    tz_table_copy(L, 1, what);
    tz_sweep_grid *grid = new_grid(L);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = {values}, not %s as a name", what, tz_kind_text(L, -2));
        add_axis(L, grid, lua_tostring(L, -2));
    }
    if (grid->count == 0)
        tz_raise(L, "%s: needs NAME = {values}", what);
    lua_createtable(L, 0, (int)grid->count);
    const int result = lua_gettop(L);
    for (size_t i = 0; i < grid->count; i++) {
        push_chosen(L, &grid->axes[i]);
        lua_setfield(L, result, grid->axes[i].name);
        lua_settop(L, result);
    }
    context->sweeps = true;
    tz_error error;
    if (sink->sweep && sink->sweep(sink->context, grid, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    return 1;
}

void tz_sweep_register(lua_State *L)
{
    static const tz_api_function functions[] = {
        TZ_API(
            "tz.sweep(parameters)", sweep,
            "The parameters of a sweep, `{ NAME = {values}, … }`: `trapeze sweep SCRIPT` runs the "
            "script with each combination of them. Returns a table with one value of each: in a "
            "run of the sweep its own, in `trapeze run` the first ones, or what `--set NAME=VALUE` "
            "says. The values of a list are numbers, texts or booleans."),
        TZ_API_END};
    tz_api_add(L, functions);
}
