/* The libraries that a scenario may use. */
#ifndef TZ_CORE_LUA_SANDBOX_H
#define TZ_CORE_LUA_SANDBOX_H

#include <lua.h>
#include <stdbool.h>

/* Open the libraries, `require` and the module trapeze. `unsafe`: all of Lua's libraries; else
 * those that compute, without access to files and processes. May raise. */
void tz_sandbox_open(lua_State *L, bool unsafe);

/* The script is over: from now on no finalizer of it is called, and nothing is collected before
 * lua_close. */
void tz_sandbox_end(lua_State *L);

#endif
