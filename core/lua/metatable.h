/* Metatables of the userdata that scripts hold. */
#ifndef TZ_CORE_LUA_METATABLE_H
#define TZ_CORE_LUA_METATABLE_H

#include <lauxlib.h>
#include <lua.h>

/* Make the metatable `type`, hidden from scripts. `close` becomes __gc and __close. `index` NULL:
 * the table of methods itself is __index; else that function, with the table as upvalue 1. `close`
 * and `tostring` may be NULL. Leaves the stack as it was. */
void tz_metatable_create(lua_State *L, const char *type, const luaL_Reg *methods,
                         lua_CFunction close, lua_CFunction index, lua_CFunction tostring);

#endif
