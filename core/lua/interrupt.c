/* Signal handlers, Lua hooks, and the thread that ends the process. core/cli installs them;
 * core/lua asks for a signal in scenario.c, running.c, sandbox.c and others. */
#include "lua/interrupt.h"

#include "base/threads.h"
#include <errno.h>
#include <lauxlib.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Signals closer together than this count as one: timeout(1) sends two at a time. */
static const double same_s = 0.5;
/* So long Lua code goes on after a signal with grace. */
static const double grace_s = 2.0;

static volatile sig_atomic_t arrived, noticed;
static volatile sig_atomic_t graced; /* Lua code may go on for a moment */
static struct timespec arrived_at;   /* the handler writes it before `noticed` */
/* Handlers are installed. Else nothing of this file changes, and threads may run scripts at
 * once. */
static bool installed;
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

static void take(int number)
{
    arrived = number;
    if (watched)
        hook(watched);
    if (running && running != watched)
        hook(running);
}

/* ---- The end, whatever the process is doing -------------------------------------------------- */

/* The watcher ends the process when both have passed since the signal, or the third: on a machine
 * that is busy with other things an orderly end takes longer. Without the time of a promised
 * checkpoint. */
static const double wait_s = 0.9, wait_cpu_s = 0.3, wait_most_s = 3.0;

static sem_t signalled;
static atomic_int promises;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*last_act)(void *context);
static void *last_context;

void tz_interrupt_promise_begin(void)
{
    atomic_fetch_add(&promises, 1);
}

void tz_interrupt_promise_end(void)
{
    atomic_fetch_sub(&promises, 1);
}

void tz_interrupt_at_end(void (*last)(void *context), void *context)
{
    if (!installed)
        return;
    pthread_mutex_lock(&last_lock);
    last_act = last;
    last_context = context;
    pthread_mutex_unlock(&last_lock);
}

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void say(const char *line)
{
    (void)!write(STDERR_FILENO, line, strlen(line));
}

static void *watch(void *nothing)
{
    static const struct timespec pause = {.tv_nsec = 20000000};
    while (sem_wait(&signalled) != 0 && errno == EINTR)
        ;
    double waited = 0, last = clock_s(CLOCK_MONOTONIC);
    const double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    bool told = false;
    for (;;) {
        nanosleep(&pause, NULL);
        const double now = clock_s(CLOCK_MONOTONIC), more = graced ? grace_s : 0;
        const bool promised = atomic_load(&promises) > 0;
        waited += promised ? 0 : now - last;
        last = now;
        if (promised && !told && noticed != SIGALRM)
            say("trapeze: a checkpoint is written first; another signal gives it up\n");
        told = told || promised;
        if (waited > wait_most_s + more ||
            (waited > wait_s + more && clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu > wait_cpu_s))
            break;
    }
    pthread_mutex_lock(&last_lock);
    if (last_act)
        last_act(last_context);
    say("trapeze: interrupted\n");
    _exit(noticed == SIGALRM ? 3 : 128 + noticed);
    return nothing;
}

/* Without the thread, which a limit on processes may refuse, the second signal ends the process. */
static void start_watcher(void)
{
    static bool started;
    pthread_t thread;
    if (started || sem_init(&signalled, 0, 0) != 0)
        return;
    started = tz_thread_start(&thread, watch, NULL) == 0;
    if (started)
        pthread_detach(thread);
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
    take(number);
    sem_post(&signalled);
}

void tz_interrupt_install(void)
{
    installed = true;
    start_watcher();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGHUP);
    sigaddset(&action.sa_mask, SIGALRM);
    action.sa_flags = SA_RESTART;
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
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
    if (installed)
        graced = grace;
}

int tz_interrupt_signal(void)
{
    return arrived;
}

int tz_interrupt_overdue(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return noticed != 0 && seconds_between(&arrived_at, &now) > same_s + (graced ? grace_s : 0)
               ? arrived
               : 0;
}

void tz_interrupt_watch(lua_State *main_thread)
{
    if (!installed)
        return;
    watched = main_thread;
    running = main_thread;
    if (main_thread)
        tz_interrupt_check(main_thread);
}

lua_State *tz_interrupt_enter(lua_State *thread)
{
    if (!installed)
        return NULL;
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
