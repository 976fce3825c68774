/* This machine: processor, caches, memory, clock; from procfs, sysfs, the C library and the
 * processor itself. */
#ifndef TZ_CORE_BASE_MACHINE_H
#define TZ_CORE_BASE_MACHINE_H

#include <stdint.h>

/* Instruction sets of row functions, each with all of the one before: its name, the name of the
 * form of a plugin's row functions (tz_row_form.isa), bytes of a vector, what TZ_ROWS_ONLY is for
 * it (trapeze/rows_tables.h), whether this processor has it, and the compiler's target, which on
 * other processors than x86-64 is not used. The first is the compiler's default, which on AArch64
 * has NEON. */
#if defined(__x86_64__)
#define TZ__HAS(feature) __builtin_cpu_supports(feature)
#define TZ_ISA_TARGET(options) __attribute__((target(options)))
#else
#define TZ__HAS(feature) 0
#define TZ_ISA_TARGET(options)
#endif
#if defined(__aarch64__)
#define TZ__ISA_DEFAULT(X) X(BASE, "neon", "base", 16, 1, 1, "")
#else
#define TZ__ISA_DEFAULT(X) X(BASE, "base", "base", 16, 1, 1, "sse2")
#endif
#define TZ_ISA_TABLE(X)                                                                            \
    TZ__ISA_DEFAULT(X)                                                                             \
    X(V3, "v3", "x86-64-v3", 32, 3, TZ__HAS("avx2") && TZ__HAS("fma") && TZ__HAS("bmi2"),          \
      "avx2,fma,bmi,bmi2")                                                                         \
    X(V4, "v4", "x86-64-v4", 64, 4,                                                                \
      TZ__HAS("avx512f") && TZ__HAS("avx512bw") && TZ__HAS("avx512dq") && TZ__HAS("avx512vl"),     \
      "avx512f,avx512bw,avx512dq,avx512vl,fma,bmi,bmi2")

typedef enum tz_isa {
#define TZ__ISA_VALUE(NAME, name, form, bytes, only, has, target) TZ_ISA_##NAME,
    TZ_ISA_TABLE(TZ__ISA_VALUE)
#undef TZ__ISA_VALUE
        TZ_ISA_COUNT
} tz_isa;

typedef struct tz_machine {
    char cpu[128];              /* the processor's name; "unknown" */
    int cores;                  /* processors that this process may use */
    int siblings;               /* processors of a core; 0: unknown */
    int nodes;                  /* of memory (NUMA); 0: unknown */
    int l2_sharers, l3_sharers; /* processors that share the cache of the first one; 0: unknown */
    int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches that one core uses; 0: unknown */
    tz_isa isa;                           /* the best instruction set that row functions may use */
} tz_machine;

/* Members that cannot be read get the values named above. The environment variable TZ_ISA (the name
 * of a row) lowers the instruction set; results have the same bits with each. Any thread. */
void tz_machine_read(tz_machine *machine);

/* tz_machine.isa alone. */
tz_isa tz_machine_isa(void);

const char *tz_isa_name(tz_isa isa);
/* The name of the form of a plugin's row functions (tz_row_form.isa). */
const char *tz_isa_form(tz_isa isa);
/* Bytes of the vectors that row functions of this instruction set use. */
int tz_isa_vector_bytes(tz_isa isa);
/* The best one whose vectors have at most so many bytes. */
tz_isa tz_isa_of_vectors(double bytes);
/* What TZ_ROWS_ONLY is for it (trapeze/rows_tables.h). */
int tz_isa_rows_only(tz_isa isa);

/* Processors that this process may use: what its affinity and its control group's quota allow; at
 * least 1. */
int tz_machine_processors(void);

/* Bytes that this process can still allocate: the least of free memory, what the control group's
 * limit leaves, and what the address-space limit leaves. INT64_MAX if none is known. */
int64_t tz_machine_memory_available(void);

/* Seconds since an unspecified moment, on a clock that never goes back. */
double tz_machine_clock_s(void);

#endif
