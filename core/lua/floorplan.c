#include "lua/floorplan.h"

#include "base/names.h"
#include "lua/api.h"
#include "lua/guard.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/push.h"
#include <limits.h>
#include <string.h>

static int floorplan_close(lua_State *L)
{
    tz_floorplan_value *value = luaL_checkudata(L, 1, TZ_TYPE_FLOORPLAN);
    if (tz_guard_in_use(L, value))
        tz_raise(L, "floorplan:close: a function that uses the floorplan has not returned");
    tz_floorplan_clear(&value->plan);
    tz_ptrace_clear(&value->trace);
    memset(&value->plan, 0, sizeof value->plan);
    memset(&value->trace, 0, sizeof value->trace);
    return 0;
}

/* plan.units (a list of {name=, width_m=, …}), plan.samples, plan.width_m, plan.height_m. */
static int floorplan_index(lua_State *L)
{
    const tz_floorplan_value *value = luaL_checkudata(L, 1, TZ_TYPE_FLOORPLAN);
    const char *key = luaL_checkstring(L, 2);
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    if (strcmp(key, "samples") == 0) {
        lua_pushinteger(L, (lua_Integer)value->trace.sample_count);
    } else if (strcmp(key, "width_m") == 0) {
        lua_pushnumber(L, value->plan.width_m);
    } else if (strcmp(key, "height_m") == 0) {
        lua_pushnumber(L, value->plan.height_m);
    } else if (strcmp(key, "units") == 0) {
        lua_createtable(L, (int)value->plan.unit_count, 0);
        for (size_t i = 0; i < value->plan.unit_count; i++) {
            const tz_floorplan_unit *unit = &value->plan.units[i];
            lua_createtable(L, 0, 5);
            tz_set_text(L, "name", unit->name);
            tz_set_number(L, "width_m", unit->width_m);
            tz_set_number(L, "height_m", unit->height_m);
            tz_set_number(L, "left_m", unit->left_m);
            tz_set_number(L, "bottom_m", unit->bottom_m);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
    } else {
        static const char *const known[] = {"units", "samples", "width_m", "height_m", "close"};
        char hint[256];
        tz_raise(L, "a floorplan has no '%.60s'%s", key,
                 tz_names_hint(hint, sizeof hint, key, known, 5));
    }
    return 1;
}

static int value_floorplan(lua_State *L)
{
    static const char *const keys[] = {"flp", "ptrace", "row", "width_m", "height_m"};
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    tz_keys_check(L, 1, "tz.floorplan", keys, 5, false);
    const char *flp = NULL, *ptrace = NULL;
    char plan_path[PATH_MAX], trace_path[PATH_MAX];
    if (!tz_key_text(L, 1, "tz.floorplan", "flp", &flp) ||
        !tz_key_text(L, 1, "tz.floorplan", "ptrace", &ptrace))
        tz_raise(L, "tz.floorplan: needs flp = \"FILE.flp\" and ptrace = \"FILE.ptrace\"");
    int64_t row = 0;
    const bool has_row = tz_key_integer(L, 1, "tz.floorplan", "row", 1, INT64_MAX, &row);
    double width_m = 0, height_m = 0;
    tz_key_number(L, 1, "tz.floorplan", "width_m", &width_m);
    tz_key_number(L, 1, "tz.floorplan", "height_m", &height_m);
    if (width_m < 0 || height_m < 0 || (width_m > 0) != (height_m > 0))
        tz_raise(L, "tz.floorplan: 'width_m' and 'height_m' go together and must be positive");
    tz_path_resolve(L, flp, plan_path, sizeof plan_path);
    tz_path_resolve(L, ptrace, trace_path, sizeof trace_path);
    tz_floorplan_value *value = lua_newuserdatauv(L, sizeof *value, 0);
    memset(value, 0, sizeof *value);
    luaL_setmetatable(L, TZ_TYPE_FLOORPLAN);
    value->row = has_row ? row - 1 : -1;
    value->width_m = width_m;
    value->height_m = height_m;
    tz_error error;
    if (tz_floorplan_read(plan_path, &value->plan, &error) != TZ_OK ||
        tz_ptrace_read(trace_path, &value->trace, &error) != TZ_OK)
        tz_raise_error(L, "tz.floorplan", &error);
    if (has_row && row > (int64_t)value->trace.sample_count)
        tz_raise(L, "tz.floorplan: 'row' is %lld, but %.300s has %zu row%s", (long long)row,
                 trace_path, value->trace.sample_count, value->trace.sample_count == 1 ? "" : "s");
    return 1;
}

void tz_floorplan_register(lua_State *L)
{
    static const tz_api_function methods[] = {{"floorplan:close()", floorplan_close}, {NULL, NULL}};
    static const tz_api_function functions[] = {{"tz.floorplan(options)", value_floorplan},
                                                {NULL, NULL}};
    tz_metatable_create(L, TZ_TYPE_FLOORPLAN, methods, floorplan_close, floorplan_index, NULL);
    tz_api_add(L, functions);
}
