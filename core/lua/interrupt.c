#include "lua/interrupt.h"

#include <lauxlib.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

/* Signals closer together than this count as one: timeout(1) sends two at a time. */
static const double same_s = 0.5;

static volatile sig_atomic_t arrived, noticed;
static volatile sig_atomic_t deferred; /* a signal is only noticed */
static struct timespec arrived_at;     /* only the handler reads and writes it */
static lua_State *volatile watched;
static lua_State *volatile running;

static void stop(lua_State *L, lua_Debug *record)
{
    /* The hook stays set: a script that catches the error is stopped at its next instruction. */
    lua_Debug caller;
    (void)record;
    for (int level = 0; lua_getstack(L, level, &caller); level++) {
        lua_getinfo(L, "Sl", &caller);
        if (caller.currentline > 0) {
            lua_pushfstring(L, "%s:%d: interrupted", caller.short_src, caller.currentline);
            lua_error(L);
        }
    }
    luaL_error(L, "interrupted");
}

static void hook(lua_State *thread)
{
    lua_sethook(thread, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

void tz_interrupt_take(int number)
{
    arrived = number;
    if (watched)
        hook(watched);
    if (running && running != watched)
        hook(running);
}

static void on_signal(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (noticed != 0) {
        if ((double)(now.tv_sec - arrived_at.tv_sec) +
                1e-9 * (double)(now.tv_nsec - arrived_at.tv_nsec) <
            same_s)
            return;
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    arrived_at = now;
    noticed = number;
    if (!deferred)
        tz_interrupt_take(number);
}

void tz_interrupt_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    action.sa_flags = SA_RESTART;
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

int tz_interrupt_signal(void)
{
    return arrived;
}

void tz_interrupt_defer(void)
{
    deferred = 1;
}

int tz_interrupt_noticed(void)
{
    return noticed;
}

void tz_interrupt_watch(lua_State *main_thread)
{
    watched = main_thread;
    running = main_thread;
    if (main_thread)
        tz_interrupt_check(main_thread);
}

lua_State *tz_interrupt_enter(lua_State *thread)
{
    lua_State *before = running;
    running = thread;
    tz_interrupt_check(thread);
    return before;
}

void tz_interrupt_check(lua_State *thread)
{
    if (arrived != 0)
        hook(thread);
}
