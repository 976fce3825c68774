/* The loops for each instruction set. */
#include "calibrate/loops.h"

#include "model/device.h"

#if defined(__x86_64__)
#define TZ__ANY_REGISTER "x"
#elif defined(__aarch64__)
#define TZ__ANY_REGISTER "w"
#endif

#define TZ__CAT_(a, b) a##_##b
#define TZ__CAT(a, b) TZ__CAT_(a, b)
#define TZ__V(name) TZ__CAT(name, TZ__ISA)

/* Common to all instruction sets. For each, the code below defines:
 *
 *   TZ__ISA       its name, which becomes part of each function's name
 *   TZ__BYTES     of a vector
 *   TZ__REGISTER  the assembler's constraint for a vector register
 *
 * TZ__KEEP hides a vector's value from the compiler, so that it neither drops nor merges
 * instructions. TZ__USE only reads the vector. TZ__HIDE hides a scalar. */
#define TZ__KEEP(value) __asm__ volatile("" : "+" TZ__REGISTER(value))
#define TZ__USE(value) __asm__ volatile("" : : TZ__REGISTER(value))
#define TZ__HIDE(pointer) __asm__ volatile("" : "+r"(pointer))

/* A STEP changes x using a constant c that is hidden from the compiler. */
#define TZ__ADD(x) x += c
#define TZ__MULTIPLY(x) x *= c
#define TZ__DIVIDE(x) x = c / x
#define TZ__XOR(x) x ^= c

/* Twelve independent chains, every other one of a second step. */
#define TZ__TWO(x, y, STEP, OTHER)                                                                 \
    STEP(x);                                                                                       \
    TZ__KEEP(x);                                                                                   \
    OTHER(y);                                                                                      \
    TZ__KEEP(y);
#define TZ__CHAINS(name, type, STEP, OTHER)                                                        \
    static void TZ__V(name)(long rounds, void *memory)                                             \
    {                                                                                              \
        TZ__V(type) c = *(const TZ__V(type) *)memory;                                              \
        TZ__KEEP(c);                                                                               \
        TZ__V(type) x0 = c, x1 = c, x2 = c, x3 = c, x4 = c, x5 = c;                                \
        TZ__V(type) y0 = c, y1 = c, y2 = c, y3 = c, y4 = c, y5 = c;                                \
        for (long i = 0; i < 4 * rounds; i++) {                                                    \
            TZ__TWO(x0, y0, STEP, OTHER)                                                           \
            TZ__TWO(x1, y1, STEP, OTHER)                                                           \
            TZ__TWO(x2, y2, STEP, OTHER)                                                           \
            TZ__TWO(x3, y3, STEP, OTHER)                                                           \
            TZ__TWO(x4, y4, STEP, OTHER)                                                           \
            TZ__TWO(x5, y5, STEP, OTHER)                                                           \
        }                                                                                          \
    }
/* The parts of a loop over rows: a load, a vector addition or product, three scalar additions. They
 * do not wait for each other. */
#define TZ__ISSUE(k, x, STEP, m, n, o)                                                             \
    {                                                                                              \
        const TZ__V(f32) value = at[k];                                                            \
        TZ__USE(value);                                                                            \
        STEP(x);                                                                                   \
        TZ__KEEP(x);                                                                               \
        m += step;                                                                                 \
        TZ__HIDE(m);                                                                               \
        n += step;                                                                                 \
        TZ__HIDE(n);                                                                               \
        o += step;                                                                                 \
        TZ__HIDE(o);                                                                               \
    }

#define TZ__LOOP_ROW(number, what, instructions)                                                   \
    {offsetof(tz_model_device, number), what, TZ__V(number), instructions},

#ifdef TZ__ANY_REGISTER
#define TZ__ISA BASE
#define TZ__BYTES 16
#define TZ__REGISTER TZ__ANY_REGISTER
#include "calibrate/loops_vector.h"

#if defined(__x86_64__)
#define TZ__ISA V3
#define TZ__BYTES 32
#define TZ__REGISTER "x"
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

#define TZ__ISA V4
#define TZ__BYTES 64
#define TZ__REGISTER "v"
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
#define SET(NAME, name, form, bytes, only, has, target) &set_##NAME,
    static const tz_loop_set *const sets[TZ_ISA_COUNT] = {TZ_ISA_TABLE(SET)};
    return sets[isa];
#elif defined(__aarch64__)
    (void)isa;
    return &set_BASE;
#else
    (void)isa;
    return NULL;
#endif
}

void tz_loop_clock(long additions)
{
    unsigned long sum = 1, step = 3;
    __asm__ volatile("" : "+r"(step)); /* additions of a constant may be free */
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
