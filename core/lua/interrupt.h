/* Ctrl-C and SIGTERM: the one place with state that a signal handler must reach.
 *
 * The first signal sets a flag and hooks the running Lua code, which then raises "interrupted" at
 * its next instruction; a simulation sees the flag after its stage. A second one, half a
 * second later or more, kills at once. */
#ifndef TZ_CORE_LUA_INTERRUPT_H
#define TZ_CORE_LUA_INTERRUPT_H

#include <lua.h>

/* Catch SIGINT and SIGTERM from now on. Also ignores SIGXFSZ, so that a file that may not grow is
 * a write error like any other. */
void tz_interrupt_install(void);

/* The signal that arrived, 0 if none has. */
int tz_interrupt_signal(void);

/* The Lua thread to hook when a signal arrives: the main one, and the one that runs now (a
 * coroutine or the same). NULLs: none. Returns the thread that ran before. */
void tz_interrupt_watch(lua_State *main_thread);
lua_State *tz_interrupt_enter(lua_State *thread);

/* Hook `thread` if a signal has arrived: for a thread that runs on after a coroutine of its own was
 * the one hooked. */
void tz_interrupt_check(lua_State *thread);

#endif
