/* Calls foreign code that may end the process by a fault. */
#ifndef TZ_CORE_BASE_TRAP_H
#define TZ_CORE_BASE_TRAP_H

/* Calls `call(argument)`. Returns 0, or the signal (SIGFPE, SIGSEGV, SIGBUS or SIGILL) that it raised
 * on this thread: it has then been left where it was, with what it had written until then. Signals
 * of other threads keep their effect. Calls may not be nested. One thread at a time, since handlers
 * of signals belong to the process. */
int tz_trap_call(void (*call)(void *), void *argument);

#endif
