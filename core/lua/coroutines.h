/* Coroutines that Ctrl-C can reach. */
#ifndef TZ_CORE_LUA_COROUTINES_H
#define TZ_CORE_LUA_COROUTINES_H

#include <lua.h>

/* Replace resume and wrap of the coroutine library on the top of the stack. */
void tz_coroutines_patch(lua_State *L);

#endif
