/* The module `trapeze`. */
#ifndef TZ_CORE_LUA_MODULE_H
#define TZ_CORE_LUA_MODULE_H

#include <lua.h>

/* For luaL_requiref: pushes the module. */
int tz_module_open(lua_State *L);

#endif
