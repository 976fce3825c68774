#include "lua/interrupt.h"

#include <lauxlib.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* Signals closer together than this count as one: timeout(1) sends two at a time. */
static const double same_s = 0.5;
/* So long Lua code goes on after a signal if it is deferred. */
static const double grace_s = 2.0;

static volatile sig_atomic_t arrived, noticed;
static volatile sig_atomic_t deferred; /* a signal is only noticed */
static volatile sig_atomic_t graced;   /* Lua code may go on for a moment */
static struct timespec arrived_at;     /* the handler writes it before `noticed` */
static lua_State *volatile watched;
static lua_State *volatile running;

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

static void stop(lua_State *L, lua_Debug *record)
{
    /* The hook stays set: a script that catches the error is stopped at its next instruction. */
    lua_Debug caller;
    struct timespec now;
    (void)record;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (graced && seconds_between(&arrived_at, &now) < grace_s)
        return;
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
        /* The end of --walltime may come while the checkpoint after a signal is written. */
        if (number == SIGALRM || seconds_between(&arrived_at, &now) < same_s)
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
    sigaddset(&action.sa_mask, SIGALRM);
    action.sa_flags = SA_RESTART;
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

void tz_interrupt_alarm(double seconds)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds,
                     .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void tz_interrupt_grace(bool grace)
{
    graced = grace;
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
