/* tz.read: arrays from files. */
#ifndef TZ_CORE_LUA_READ_H
#define TZ_CORE_LUA_READ_H

#include <lua.h>

/* Adds its functions to the table on the top of the stack. */
void tz_read_register(lua_State *L);

#endif
