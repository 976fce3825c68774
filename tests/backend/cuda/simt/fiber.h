/* Fibers: functions with stacks of their own that hand the processor to each other by name. */
#ifndef TZ_SIMT_FIBER_H
#define TZ_SIMT_FIBER_H

#include <stddef.h>

typedef struct simt_fiber {
    void *at; /* where it goes on: its stack pointer, or a ucontext_t */
    void *stack;
    size_t stack_bytes;
    void *fake; /* the address sanitizer's */
    void (*run)(void *);
    void *argument;
    struct simt_fiber *came_from; /* the fiber that switched to it */
} simt_fiber;

/* A fiber that will call run(argument), which must not return. `stack` is the caller's. The fiber
 * that a thread begins in needs nothing but zeros. */
void simt_fiber_prepare(simt_fiber *fiber, void *stack, size_t stack_bytes, void (*run)(void *),
                        void *argument);
/* Goes on with `to`; returns when some fiber switches to `from`. */
void simt_fiber_switch(simt_fiber *from, simt_fiber *to);
/* The same for the last time: `from` is over. */
void simt_fiber_leave(simt_fiber *from, simt_fiber *to);

#endif
