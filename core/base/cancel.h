/* Whether long work shall end early: at a signal, or since nobody waits for it any more. */
#ifndef TZ_CORE_BASE_CANCEL_H
#define TZ_CORE_BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

/* Zeros: it never ends early. Borrowed; any thread may ask. */
typedef struct tz_cancel {
    int (*stopped)(void);        /* not 0: it ends */
    const atomic_bool *unwanted; /* true: it ends */
    /* The same, of the program that uses the library. */
    const atomic_bool *cancelled;
} tz_cancel;

static inline bool tz_cancelled(const tz_cancel *cancel)
{
    return (cancel->unwanted && atomic_load(cancel->unwanted)) ||
           (cancel->cancelled && atomic_load(cancel->cancelled)) ||
           (cancel->stopped && cancel->stopped() != 0);
}

#endif
