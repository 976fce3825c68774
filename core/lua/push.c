#include "lua/push.h"

#include <lauxlib.h>

void tz_set_number(lua_State *L, const char *key, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_numbers(lua_State *L, const tz_named_double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tz_set_number(L, values[i].key, values[i].value);
}

void tz_set_integer(lua_State *L, const char *key, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_text(lua_State *L, const char *key, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void tz_set_flag(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void tz_push_integers(lua_State *L, int count, const int64_t *values)
{
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushinteger(L, values[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

void tz_push_line(lua_State *L, char between)
{
    luaL_Buffer line;
    const int n = lua_gettop(L);
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&line, between);
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
}
