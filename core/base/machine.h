/* What this machine has: read from sysfs, procfs and the processor, never assumed silently. */
#ifndef TZ_CORE_BASE_MACHINE_H
#define TZ_CORE_BASE_MACHINE_H

#include <stdint.h>
#include <trapeze/plugin.h>

typedef struct tz_machine {
    char cpu[128];                        /* the processor's name; "unknown" */
    int cores;                            /* processors that this process may use */
    int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches as one core sees them; 0: unknown */
    tz_isa isa;                           /* the best instruction set that row functions may use */
} tz_machine;

/* Never fails: what cannot be read keeps the value named above. The instruction set can be lowered
 * with TZ_ISA=base|v3|v4 in the environment (the results' bits do not depend on it). */
void tz_machine_read(tz_machine *machine);

const char *tz_isa_name(tz_isa isa);
/* Of the vectors that row functions use: 16, 32 or 64. */
int tz_isa_vector_bytes(tz_isa isa);

/* Bytes that this process could still allocate: the least of free memory, the control group's
 * limit and the address-space limit. INT64_MAX when nothing is known. */
int64_t tz_machine_memory_available(void);

/* Seconds on a clock that only goes forward. */
double tz_machine_clock_s(void);

#endif
