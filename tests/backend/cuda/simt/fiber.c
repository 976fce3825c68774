/* Fibers by switching stacks, or by ucontext where that is not known. */
#include "machine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* The sanitizer must know whose stack is in use. */
static void leaving(simt_fiber *from, simt_fiber *to, int over)
{
    to->came_from = from;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(over ? NULL : &from->fake, to->stack, to->stack_bytes);
#else
#endif
}

static void renew_stack(void *stack, size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    /* What ran here before may have been left in the middle of its frames. */
    __asan_unpoison_memory_region(stack, bytes);
#else
#endif
}

static void arriving(simt_fiber *here)
{
#if defined(__SANITIZE_ADDRESS__)
    const void *stack = NULL;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(here->fake, &stack, &bytes);
    /* The thread's own stack is known by what comes from it. */
    if (!here->came_from->stack) {
        here->came_from->stack = (void *)(uintptr_t)stack;
        here->came_from->stack_bytes = bytes;
    }
#else
#endif
}

__attribute__((noreturn, used)) static void simt_fiber_begin(simt_fiber *fiber)
{
    arriving(fiber);
    fiber->run(fiber->argument);
    abort();
}

#if defined(__x86_64__)

/* Saves what a call must keep on the stack, changes stacks, restores. */
void simt_fiber_swap(void **from, void *to) __attribute__((visibility("hidden")));
void simt_fiber_start(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".type simt_fiber_swap,@function\n"
        ".hidden simt_fiber_swap\n"
        ".globl simt_fiber_swap\n"
        "simt_fiber_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size simt_fiber_swap,.-simt_fiber_swap\n"
        ".type simt_fiber_start,@function\n"
        ".hidden simt_fiber_start\n"
        ".globl simt_fiber_start\n"
        "simt_fiber_start:\n"
        "    movq %r12, %rdi\n"
        "    callq *%r13\n"
        "    ud2\n"
        ".size simt_fiber_start,.-simt_fiber_start\n"
        ".popsection\n");

void simt_fiber_prepare(simt_fiber *fiber, void *stack, size_t stack_bytes, void (*run)(void *),
                        void *argument)
{
    *fiber =
        (simt_fiber){.stack = stack, .stack_bytes = stack_bytes, .run = run, .argument = argument};
    renew_stack(stack, stack_bytes);
    uintptr_t *top = (uintptr_t *)((char *)stack + stack_bytes);
    const uintptr_t registers[] = {
        /* r15, r14, r13, r12, rbx, rbp, then where swap returns to */
        0, 0, (uintptr_t)simt_fiber_begin, (uintptr_t)fiber, 0, 0, (uintptr_t)simt_fiber_start,
    };
    /* The stack is aligned to 16 bytes where simt_fiber_start makes its call. */
    memcpy(top - 9, registers, sizeof registers);
    top[-1] = top[-2] = 0;
    fiber->at = top - 9;
}

static void swap(simt_fiber *from, simt_fiber *to)
{
    simt_fiber_swap(&from->at, to->at);
}

#else
#include <ucontext.h>

static void trampoline(unsigned high, unsigned low)
{
    simt_fiber_begin((simt_fiber *)(((uintptr_t)high << 16 << 16) | low));
}

/* A fiber's context lies at the end of its stack; the thread's own is made when first left. */
void simt_fiber_prepare(simt_fiber *fiber, void *stack, size_t stack_bytes, void (*run)(void *),
                        void *argument)
{
    const size_t room = (sizeof(ucontext_t) + 63) / 64 * 64;
    ucontext_t *context = (ucontext_t *)((char *)stack + stack_bytes - room);
    *fiber = (simt_fiber){.at = context,
                          .stack = stack,
                          .stack_bytes = stack_bytes - room,
                          .run = run,
                          .argument = argument};
    renew_stack(stack, stack_bytes);
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = fiber->stack_bytes;
    context->uc_link = NULL;
    makecontext(context, (void (*)(void))trampoline, 2, (unsigned)((uintptr_t)fiber >> 16 >> 16),
                (unsigned)(uintptr_t)fiber);
}

static void swap(simt_fiber *from, simt_fiber *to)
{
    ucontext_t own;
    if (!from->run)
        from->at = &own;
    swapcontext(from->at, to->at);
}
#endif

void simt_fiber_switch(simt_fiber *from, simt_fiber *to)
{
    leaving(from, to, 0);
    swap(from, to);
    arriving(from);
}

void simt_fiber_leave(simt_fiber *from, simt_fiber *to)
{
    leaving(from, to, 1);
    swap(from, to);
}
