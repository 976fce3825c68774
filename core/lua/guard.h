/* What keeps a script from freeing what a running function uses, and calls from using up C's stack.
 *
 * Whatever a C function of this folder works on lies on its Lua stack while it can call Lua code,
 * which any allocation can do: it may start the collector, and that a script's finalizer. */
#ifndef TZ_CORE_LUA_GUARD_H
#define TZ_CORE_LUA_GUARD_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* A thread that waits for a coroutine that it resumed or closes. Lives on C's stack. */
typedef struct tz_waiting {
    lua_State *thread;
    const struct tz_waiting *next;
} tz_waiting;

/* Does the stack of a running C function hold the userdata? The function that asks does not count.
 * Raises when calls are nested too deeply to look at all of them. */
bool tz_guard_in_use(lua_State *L, const void *userdata);

/* Functions that scripts call begin with this. Raises when more than half of C's stack is used. */
void tz_guard_stack(lua_State *L);

/* The bytes of C's stack that tz_guard_stack allows, from its caller's caller on. */
size_t tz_guard_stack_bytes(void);

#endif
