/* Loops for one instruction set after the other; the table of each. */
#include "calibrate/loops.h"

#include <stdint.h>

#if defined(__x86_64__)
#define TZ__ANY_REGISTER "x"
#elif defined(__aarch64__)
#define TZ__ANY_REGISTER "w"
#endif

#define TZ__CAT_(a, b) a##_##b
#define TZ__CAT(a, b) TZ__CAT_(a, b)
#define TZ__V(name) TZ__CAT(name, TZ__ISA)

#ifdef TZ__ANY_REGISTER
#define TZ__ISA base
#define TZ__BYTES 16
#define TZ__REGISTER TZ__ANY_REGISTER
#define TZ__TURNED 1, 2, 3, 0
#define TZ__BLENDED 0, 5, 2, 7
#include "calibrate/loops_vector.h"

#if defined(__x86_64__)
#define TZ__ISA v3
#define TZ__BYTES 32
#define TZ__REGISTER "x"
#define TZ__TURNED 1, 2, 3, 4, 5, 6, 7, 0
#define TZ__BLENDED 0, 9, 2, 11, 4, 13, 6, 15
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2")
#endif
#include "calibrate/loops_vector.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define TZ__ISA v4
#define TZ__BYTES 64
#define TZ__REGISTER "v"
#define TZ__TURNED 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0
#define TZ__BLENDED 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31
#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2"))),                    \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2,prefer-vector-width=512")
#endif
#include "calibrate/loops_vector.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#endif

const tz_loop_set *tz_loops_of(tz_isa isa)
{
#if defined(__x86_64__)
    static const tz_loop_set *const sets[TZ_ISA_COUNT] = {&set_base, &set_v3, &set_v4};
    return sets[isa];
#elif defined(__aarch64__)
    (void)isa;
    return &set_base;
#else
    (void)isa;
    return NULL;
#endif
}

void tz_loop_clock(long additions)
{
    unsigned long sum = 1, step = 3;
    __asm__ volatile("" : "+r"(step)); /* an addition of a constant may cost nothing */
    for (long i = 0; i < additions; i += 16) {
#pragma GCC unroll 16
        for (int k = 0; k < 16; k++) {
            sum += step;
            __asm__ volatile("" : "+r"(sum));
        }
    }
}

void *tz_loop_chase(void *first, long steps)
{
    void **at = first;
    for (long i = 0; i < steps; i++)
        at = *(void ***)at;
    return at;
}
