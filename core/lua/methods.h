/* Methods that read and change a simulation: sim:get, sim:set, sim:params and so on. */
#ifndef TZ_CORE_LUA_METHODS_H
#define TZ_CORE_LUA_METHODS_H

#include <lua.h>

/* Adds them to the table of methods on the top of the stack. */
void tz_methods_add(lua_State *L);

#endif
