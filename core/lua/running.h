/* sim:run and sim:rewind. */
#ifndef TZ_CORE_LUA_RUNNING_H
#define TZ_CORE_LUA_RUNNING_H

#include <lua.h>

/* Adds them to the table of methods on the top of the stack. */
void tz_running_add(lua_State *L);

#endif
