/* Walks through a compiled row function: follows its machine code as the processor would, knowing
 * addresses and counters but not the cells' values, and counts instructions by class.
 *
 * Nothing is executed. What the walk is given are a span like the engine's and the memory in which
 * the span and what it points to lie; cells are at addresses that need not exist. */
#ifndef TZ_CORE_BACKEND_CPU_X86_WALK_H
#define TZ_CORE_BACKEND_CPU_X86_WALK_H

#include "backend/cpu/x86/instruction.h"

#include <trapeze/plugin.h>

/* Memory that the walk may look into. */
typedef struct tz_walk_range {
    const void *at;
    size_t bytes;
} tz_walk_range;

typedef struct tz_walk {
    tz_work_mix mix; /* loads and stores are counted beside the instruction that they are part of */
    double slots;    /* instructions that are issued: a load within another takes none, a branch
                      * none beside its comparison */
    double loads, lines; /* loads, and lines that they touch: one that crosses into the next, two */
    double narrow;       /* of the loads: of one element, repeated or not, or a pointer */
    double stores, store_lines;
    double stored_bytes; /* to cells: not to the stack */
    double cell_loads;   /* from cells */
    double branches;
    double estimates; /* branches that depend on cells: taken as not taken */
    double strays;    /* accesses to addresses that are not known */
    double calls;     /* of other functions: stepped over */
    int vector_bytes; /* of the widest arithmetic */
} tz_walk;

typedef struct tz_walker tz_walker;

/* TZ_UNSUPPORTED as tz_decoder_open(). Decoded instructions are kept until it is destroyed. */
tz_status tz_walker_create(tz_walker **out, tz_error *error);
void tz_walker_destroy(tz_walker *walker); /* NULL is fine */

/* Walk rows(span). The span, its views, targets and constants must lie in `ranges`.
 * TZ_UNSUPPORTED: an instruction that is not known, a jump to somewhere not known, or no end after
 * a million instructions. */
tz_status tz_walker_walk(tz_walker *walker, tz_row_fn *rows, const tz_span *span,
                         const tz_walk_range *ranges, size_t ranges_count, tz_walk *out,
                         tz_error *error);

#endif
