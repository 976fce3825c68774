#include "base/trap.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* A handler has no argument of its own. NULL on threads that are not in tz_trap_call(). */
static _Thread_local sigjmp_buf *volatile way_out;

static void leave(int signal_number)
{
    if (way_out)
        siglongjmp(*way_out, signal_number);
    /* Another thread's: it returns to the instruction, which raises it again. */
    signal(signal_number, SIG_DFL);
}

int tz_trap_call(void (*call)(void *), void *argument)
{
    struct sigaction before[SIGNALS], action = {.sa_handler = leave};
    sigjmp_buf here;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
    const int raised = sigsetjmp(here, 1);
    if (raised == 0) {
        way_out = &here;
        call(argument);
    }
    way_out = NULL;
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    return raised;
}
