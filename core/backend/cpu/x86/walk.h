/* The cost of a row function, from its machine code. The prediction of plans on a CPU needs it.
 * Runs with a fixed plan do not, and neither do runs without libcapstone.
 *
 * A walk follows the machine code of a row function as the processor would, and counts instructions
 * by class. It executes nothing: it computes addresses and counters, but not the values of cells.
 * Its input is a span like the engine's, and the memory with the span, its views, targets and
 * constants. The addresses of cells need not exist. */
#ifndef TZ_CORE_BACKEND_CPU_X86_WALK_H
#define TZ_CORE_BACKEND_CPU_X86_WALK_H

#include "backend/cpu/x86/value.h"

#include <trapeze/plugin.h>

typedef struct tz_walk {
    tz_work_mix mix; /* a load or store within another instruction counts in addition */
    /* issue slots: a load within another instruction takes none, nor does a branch after its
     * comparison */
    double slots;
    double loads, lines; /* loads, and the cache lines that they touch: 1 or 2 for each load */
    double narrow;       /* loads of one element or pointer */
    double stores, store_lines;
    double stored_bytes; /* to cells */
    double branches;
    double estimates; /* branches that depend on cells; the walk assumes that they are not taken */
    double strays;    /* accesses to addresses that are not known */
    double calls;     /* of other functions, which the walk does not follow */
    int vector_bytes; /* of the widest arithmetic */
} tz_walk;

/* A walker keeps the decoded instructions of the last function. Errors: TZ_MEMORY; TZ_UNSUPPORTED
 * as of tz_decoder_open(). */
tz_status tz_walker_create(tz_walker **out, tz_error *error);
void tz_walker_destroy(tz_walker *walker); /* NULL is fine */

/* Walk rows(span). The span, its views, targets and constants must lie in `ranges`. Errors:
 * TZ_MEMORY; TZ_UNSUPPORTED if an instruction or the target of a jump is not known, or if the
 * function does not end within a million instructions. */
tz_status tz_walker_walk(tz_walker *walker, tz_row_fn *rows, const tz_span *span,
                         const tz_walk_range *ranges, size_t ranges_count, tz_walk *out,
                         tz_error *error);

#endif
