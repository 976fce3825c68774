/* This machine: processor, caches, memory, clock; from procfs, sysfs, the C library and the processor itself. */
#ifndef TZ_CORE_BASE_MACHINE_H
#define TZ_CORE_BASE_MACHINE_H

#include <stdint.h>

/* Instruction sets of row functions. */
typedef enum tz_isa {
    TZ_ISA_BASE, /* the compiler's default */
    TZ_ISA_V3,   /* x86-64 with AVX2, FMA and BMI2 */
    TZ_ISA_V4,   /* x86-64 with AVX-512 F, BW, DQ and VL */
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

/* Members that cannot be read get the values named above. The environment variable TZ_ISA (base,
 * v3, v4) lowers the instruction set; results have the same bits with each. Any thread. */
void tz_machine_read(tz_machine *machine);

/* tz_machine.isa alone. */
tz_isa tz_machine_isa(void);

const char *tz_isa_name(tz_isa isa);
/* The name of the form of a plugin's row functions (tz_row_form.isa). */
const char *tz_isa_form(tz_isa isa);
/* Bytes of the vectors that row functions of this instruction set use: 16, 32 or 64. */
int tz_isa_vector_bytes(tz_isa isa);

/* Bytes that this process can still allocate: the least of free memory, what the control group's
 * limit leaves, and what the address-space limit leaves. INT64_MAX if none is known. */
int64_t tz_machine_memory_available(void);

/* Seconds since an unspecified moment, on a clock that never goes back. */
double tz_machine_clock_s(void);

#endif
