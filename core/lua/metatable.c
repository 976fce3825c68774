#include "lua/metatable.h"

void tz_metatable_create(lua_State *L, const char *type, const luaL_Reg *methods,
                         lua_CFunction close, lua_CFunction index, lua_CFunction tostring)
{
    luaL_newmetatable(L, type);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    if (index)
        lua_pushcclosure(L, index, 1);
    lua_setfield(L, -2, "__index");
    if (close) {
        lua_pushcfunction(L, close);
        lua_setfield(L, -2, "__gc");
        lua_pushcfunction(L, close);
        lua_setfield(L, -2, "__close");
    }
    if (tostring) {
        lua_pushcfunction(L, tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_pushstring(L, type);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
