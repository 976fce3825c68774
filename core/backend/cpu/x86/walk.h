/* An instrument of the planner: what a row function costs, from its machine code. The prediction of
 * plans on a CPU needs it. A run with a fixed plan does without it, and so does every run if
 * libcapstone is missing.
 *
 * A walk follows the machine code of a row function as the processor would, and counts
 * instructions by class. It executes nothing: it knows addresses and counters, but not the values
 * of cells. It is given a span like the engine's, and the memory in which the span and what it
 * points to lie. The cells' addresses need not exist. */
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
    tz_work_mix mix; /* a load or store that is part of another instruction counts as well */
    double slots;    /* instructions issued: a load in another instruction takes no slot of its own,
                      * nor does a branch after its comparison */
    double loads, lines; /* loads, and cache lines that they touch: 2 if a load crosses into the
                          * next */
    double narrow;       /* of the loads, those of one element or a pointer */
    double stores, store_lines;
    double stored_bytes; /* to cells */
    double cell_loads;   /* from cells */
    double branches;
    double estimates; /* branches that depend on cells: the walk does not take them */
    double strays;    /* accesses to addresses that are not known */
    double calls;     /* of other functions: the walk steps over them */
    int vector_bytes; /* of the widest arithmetic */
} tz_walk;

typedef struct tz_walker tz_walker;

/* A walker keeps the decoded instructions of one function. Errors: TZ_MEMORY; TZ_UNSUPPORTED as
 * tz_decoder_open(). */
tz_status tz_walker_create(tz_walker **out, tz_error *error);
void tz_walker_destroy(tz_walker *walker); /* NULL is fine */

/* Walk rows(span). The span, its views, targets and constants must lie in `ranges`. Errors:
 * TZ_MEMORY; TZ_UNSUPPORTED if an instruction is not known, a jump's target is not known, or the
 * function does not end within a million instructions. */
tz_status tz_walker_walk(tz_walker *walker, tz_row_fn *rows, const tz_span *span,
                         const tz_walk_range *ranges, size_t ranges_count, tz_walk *out,
                         tz_error *error);

#endif
