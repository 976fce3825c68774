/* Ctrl-C, SIGTERM and SIGHUP. The state is global, because a signal handler must reach it.
 *
 * The first signal sets a flag and hooks the running Lua code, which raises "interrupted" at its
 * next instruction. A simulation checks the flag after each stage. Code that asks for no flag (a C
 * function of Lua, a finalizer, a picture that is painted, a compiler within this process, a long
 * stage) is not waited for: a thread ends the process a second after the signal, as kill -9 would,
 * and files are as after that. A checkpoint that was promised is waited for. A second signal, at
 * least half a second later, ends the process at once. */
#ifndef TZ_CORE_LUA_INTERRUPT_H
#define TZ_CORE_LUA_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* Catch SIGINT, SIGTERM and SIGHUP (unless that is ignored, as by nohup) from now on. Ignores
 * SIGXFSZ: a file that exceeds the size limit becomes an ordinary write error. */
void tz_interrupt_install(void);

/* Between begin and end a checkpoint is promised: the end of the process waits for it. Calls may be
 * nested. */
void tz_interrupt_promise_begin(void);
void tz_interrupt_promise_end(void);

/* What the thread that ends the process calls first; NULL: nothing. It must not wait for other
 * threads. */
void tz_interrupt_at_end(void (*last)(void *context), void *context);

/* Seconds from now SIGALRM arrives, which is treated as the others are; 0: it does not. */
void tz_interrupt_alarm(double seconds);

/* With `grace` a signal does not stop Lua code for two seconds, so that it comes to a place where a
 * checkpoint can be written; without it does again, at once. */
void tz_interrupt_grace(bool grace);

/* The signal that arrived, 0 if none has. */
int tz_interrupt_signal(void);

/* The same half a second later, with grace two and a half: what a run waits for may end in order
 * until then, and the stage that needs it. */
int tz_interrupt_overdue(void);

/* The main Lua thread, to be hooked when a signal arrives. NULL: none. */
void tz_interrupt_watch(lua_State *main_thread);
/* The thread that runs from now on, a coroutine or the main one, to be hooked as well. Returns the
 * thread that ran before. */
lua_State *tz_interrupt_enter(lua_State *thread);

/* Hook `thread` if a signal has arrived. Call it for a thread that continues after its coroutine,
 * because the signal hooked the coroutine. */
void tz_interrupt_check(lua_State *thread);

#endif
