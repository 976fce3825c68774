/* The loops for each instruction set. */
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

/* Common to all instruction sets. For each, the code below defines:
 *
 *   TZ__ISA       its name, which becomes part of each function's name
 *   TZ__BYTES     of a vector
 *   TZ__REGISTER  the assembler's constraint for a vector register
 *   TZ__TURNED    the order of lanes after a turn by one lane
 *   TZ__BLENDED   the lanes of two vectors that a selection takes
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
#define TZ__BLEND(x) x = __builtin_shufflevector(x, c, TZ__BLENDED)
#define TZ__TURN(x) x = __builtin_shufflevector(x, x, TZ__TURNED)

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
/* One chain of 48. */
#define TZ__CHAIN(name, type, STEP)                                                                \
    static void TZ__V(name)(long rounds, void *memory)                                             \
    {                                                                                              \
        TZ__V(type) c = *(const TZ__V(type) *)memory, x = c;                                       \
        TZ__KEEP(c);                                                                               \
        for (long i = 0; i < 12 * rounds; i++) {                                                   \
            TZ__TWO(x, x, STEP, STEP)                                                              \
            TZ__TWO(x, x, STEP, STEP)                                                              \
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

/* X(name, function, what it measures, instructions of a round) */
#define TZ__LOOPS(X)                                                                               \
    X(FP32_RATE, fp32_rate, "fp32 additions, 12 chains", 48)                                       \
    X(FP32_MULTIPLY_RATE, fp32_multiply_rate, "fp32 multiplications, 12 chains", 48)               \
    X(FP32_MIXED_RATE, fp32_mixed_rate, "6 chains of fp32 additions, 6 of multiplications", 48)    \
    X(FP32_LATENCY, fp32_latency, "dependent fp32 additions", 48)                                  \
    X(FP64_RATE, fp64_rate, "fp64 additions, 12 chains", 48)                                       \
    X(FP64_MULTIPLY_RATE, fp64_multiply_rate, "fp64 multiplications, 12 chains", 48)               \
    X(FP64_MIXED_RATE, fp64_mixed_rate, "6 chains of fp64 additions, 6 of multiplications", 48)    \
    X(FP64_LATENCY, fp64_latency, "dependent fp64 additions", 48)                                  \
    X(INTEGER_RATE, integer_rate, "32-bit additions, 12 chains", 48)                               \
    X(INTEGER_LATENCY, integer_latency, "dependent 32-bit additions", 48)                          \
    X(MULTIPLY_RATE, multiply_rate, "32-bit multiplications, 12 chains", 48)                       \
    X(LOGIC_RATE, logic_rate, "exclusive ors, 12 chains", 48)                                      \
    X(LOGIC_LATENCY, logic_latency, "dependent exclusive ors", 48)                                 \
    X(ALU_RATE, alu_rate, "6 chains of 32-bit additions, 6 of exclusive ors", 48)                  \
    X(MOVE_RATE, move_rate, "selections by a constant mask, 12 chains", 48)                        \
    X(SHUFFLE_RATE, shuffle_rate, "turns by one lane, 12 chains", 48)                              \
    X(SHUFFLE_LATENCY, shuffle_latency, "dependent turns by one lane", 48)                         \
    X(SPECIAL_RATE, special_rate, "fp32 divisions, 12 chains", 48)                                 \
    X(FP64_SPECIAL_RATE, fp64_special_rate, "fp64 divisions, 12 chains", 48)                       \
    X(LOAD_RATE, load_rate, "aligned loads over 16 KiB", TZ_LOOP_BYTES / TZ__BYTES)                \
    X(UNALIGNED_LOAD_RATE, unaligned_load_rate, "loads over 16 KiB, 4 bytes off their alignment",  \
      TZ_LOOP_BYTES / TZ__BYTES)                                                                   \
    X(NARROW_LOAD_RATE, narrow_load_rate, "loads of single elements", TZ_LOOP_BYTES / 16)          \
    X(STORE_RATE, store_rate, "aligned stores over 16 KiB", TZ_LOOP_BYTES / TZ__BYTES)             \
    X(ISSUE_RATE, issue_rate, "a load, an addition or product, three scalar additions in turn", 40)
#define TZ__LOOP_ROW(name, function, what, instructions)                                           \
    [TZ_LOOP_##name] = {what, TZ__V(function), instructions},

#ifdef TZ__ANY_REGISTER
#define TZ__ISA BASE
#define TZ__BYTES 16
#define TZ__REGISTER TZ__ANY_REGISTER
#define TZ__TURNED 1, 2, 3, 0
#define TZ__BLENDED 0, 5, 2, 7
#include "calibrate/loops_vector.h"

#if defined(__x86_64__)
#define TZ__ISA V3
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

#define TZ__ISA V4
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
