/* The loops that measure a CPU, one set for each instruction set. */
#ifndef TZ_CORE_CALIBRATE_LOOPS_H
#define TZ_CORE_CALIBRATE_LOOPS_H

#include "base/machine.h"
#include <stddef.h>

/* Runs a loop `rounds` times. `memory`: 64-byte aligned, at least TZ_LOOP_BYTES and a vector. */
typedef void tz_loop(long rounds, void *memory);

enum { TZ_LOOP_BYTES = 16384 }; /* range of loads and stores; it fits a first-level cache */

typedef struct tz_loop_row {
    size_t number;    /* offset of its tz_model_number in a record */
    const char *what; /* "additions, 12 chains" */
    tz_loop *call;
    double instructions; /* in a round */
} tz_loop_row;

/* X(number of the record, what it measures, instructions of a round): the loops. BYTES: of a
 * vector. */
#define TZ_LOOP_TABLE(X, BYTES)                                                                    \
    X(fp32_mixed_rate, "6 chains of fp32 additions, 6 of multiplications", 48)                     \
    X(fp64_mixed_rate, "6 chains of fp64 additions, 6 of multiplications", 48)                     \
    X(integer_rate, "32-bit additions, 12 chains", 48)                                             \
    X(logic_rate, "exclusive ors, 12 chains", 48)                                                  \
    X(special_rate, "fp32 divisions, 12 chains", 48)                                               \
    X(load_rate, "aligned loads over 16 KiB", TZ_LOOP_BYTES / BYTES)                               \
    X(unaligned_load_rate, "loads over 16 KiB, 4 bytes off their alignment",                       \
      TZ_LOOP_BYTES / BYTES)                                                                       \
    X(store_rate, "aligned stores over 16 KiB", TZ_LOOP_BYTES / BYTES)                             \
    X(issue_rate, "a load, an addition or product, three scalar additions in turn", 40)

#define TZ_LOOP_COUNT(number, what, instructions) +1
enum { TZ_LOOPS = 0 TZ_LOOP_TABLE(TZ_LOOP_COUNT, 0) };
#undef TZ_LOOP_COUNT

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
