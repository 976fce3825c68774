/* Signal handlers that leave a call by siglongjmp. Called by core/stencil/probe.c, which tries the
 * functions of plugins. */
#include "base/trap.h"

#include <setjmp.h>
#include <stddef.h>

static const int signals[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};
enum { SIGNALS = sizeof signals / sizeof *signals };
_Static_assert(SIGNALS == sizeof((tz_trap *)0)->before / sizeof(struct sigaction), "room for all");

/* A handler has no argument of its own. NULL on threads that are not in tz_trap_call(). */
static _Thread_local sigjmp_buf *volatile way_out;

/* The handlers of the process, while a trap is open. */
static const tz_trap *volatile opened;

static void leave(int signal_number)
{
    if (way_out)
        siglongjmp(*way_out, signal_number);
    /* Another thread's: it returns to the instruction, which raises it again, for the handler that
     * the program has. */
    const tz_trap *trap = opened;
    for (int i = 0; trap && i < SIGNALS; i++)
        if (signals[i] == signal_number)
            sigaction(signal_number, &trap->before[i], NULL);
}

void tz_trap_open(tz_trap *trap)
{
    opened = trap;
    /* The signal is not blocked in the handler, so leaving it restores nothing. */
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &trap->before[i]);
}

void tz_trap_close(const tz_trap *trap)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &trap->before[i], NULL);
    opened = NULL;
}

int tz_trap_call(void (*call)(void *), void *argument)
{
    sigjmp_buf here;
    const int raised = sigsetjmp(here, 0);
    if (raised == 0) {
        way_out = &here;
        call(argument);
    }
    way_out = NULL;
    return raised;
}
