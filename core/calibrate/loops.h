/* The loops that measure a CPU, one set for each instruction set. */
#ifndef TZ_CORE_CALIBRATE_LOOPS_H
#define TZ_CORE_CALIBRATE_LOOPS_H

#include "base/machine.h"
#include <stddef.h>

/* Runs a loop `rounds` times. `memory`: 64-byte aligned, at least TZ_LOOP_BYTES and a vector. */
typedef void tz_loop(long rounds, void *memory);

enum { TZ_LOOP_BYTES = 16384 }; /* range of loads and stores; it fits a first-level cache */

typedef struct tz_loop_row {
    const char *what; /* "additions, 12 chains" */
    tz_loop *call;
    double instructions; /* in a round */
} tz_loop_row;

/* X(name): the loops, in the order of tz_loop_set.rows. */
#define TZ_LOOP_TABLE(X)                                                                           \
    X(FP32_RATE)                                                                                   \
    X(FP32_MULTIPLY_RATE)                                                                          \
    X(FP32_MIXED_RATE)                                                                             \
    X(FP32_LATENCY)                                                                                \
    X(FP64_RATE)                                                                                   \
    X(FP64_MULTIPLY_RATE)                                                                          \
    X(FP64_MIXED_RATE)                                                                             \
    X(FP64_LATENCY)                                                                                \
    X(INTEGER_RATE)                                                                                \
    X(INTEGER_LATENCY)                                                                             \
    X(MULTIPLY_RATE)                                                                               \
    X(LOGIC_RATE)                                                                                  \
    X(LOGIC_LATENCY)                                                                               \
    X(ALU_RATE)                                                                                    \
    X(MOVE_RATE)                                                                                   \
    X(SHUFFLE_RATE)                                                                                \
    X(SHUFFLE_LATENCY)                                                                             \
    X(SPECIAL_RATE)                                                                                \
    X(FP64_SPECIAL_RATE)                                                                           \
    X(LOAD_RATE)                                                                                   \
    X(UNALIGNED_LOAD_RATE)                                                                         \
    X(NARROW_LOAD_RATE)                                                                            \
    X(STORE_RATE)                                                                                  \
    X(ISSUE_RATE)

typedef enum tz_loop_name {
#define TZ_LOOP_ENUM(name) TZ_LOOP_##name,
    TZ_LOOP_TABLE(TZ_LOOP_ENUM)
#undef TZ_LOOP_ENUM
        TZ_LOOPS
} tz_loop_name;

typedef struct tz_loop_set {
    int vector_bytes;
    tz_loop_row rows[TZ_LOOPS];
    /* Aligned; `bytes` is a multiple of 256. */
    void (*copy)(void *to, const void *from, size_t bytes);
    void (*read)(const void *from, size_t bytes);
} tz_loop_set;

/* NULL: no loops for this processor. */
const tz_loop_set *tz_loops_of(tz_isa isa);

/* Dependent scalar additions: one a cycle on every processor that trapeze runs on. */
void tz_loop_clock(long additions);
/* Follow pointers, each to the next. Returns the last. */
void *tz_loop_chase(void *first, long steps);

#endif
