/* Calls foreign code that may end the process by a fault. */
#ifndef TZ_CORE_BASE_TRAP_H
#define TZ_CORE_BASE_TRAP_H

#include <signal.h>

/* The handlers that were there before. */
typedef struct tz_trap {
    struct sigaction before[4];
} tz_trap;

/* Catch SIGFPE, SIGSEGV, SIGBUS and SIGILL until tz_trap_close(). Not nested. One thread of the
 * process at a time, since handlers of signals belong to it. */
void tz_trap_open(tz_trap *trap);
void tz_trap_close(const tz_trap *trap);

/* While a trap is open, calls `call(argument)`. Returns 0, or the signal that it raised on this
 * thread: it has then been left where it was, with what it had written until then. Signals of other
 * threads have the effect that they had before the trap. Calls may not be nested. */
int tz_trap_call(void (*call)(void *), void *argument);

#endif
