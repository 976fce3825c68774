/* What the loops of kernels/cpu read past fixed sides (tz_stage.outside). */
#ifndef TZ_CORE_BACKEND_CPU_OUTSIDE_H
#define TZ_CORE_BACKEND_CPU_OUTSIDE_H

#include "kernels/cpu/stage.h"
#include "stencil/problem.h"

typedef struct tz_cpu_outside {
    tz_view view[TZ_FIELDS_MAX][TZ_SIDES]; /* for tz_stage.outside */
    void *memory[TZ_FIELDS_MAX][TZ_SIDES];
} tz_cpu_outside;

/* Make the values past all fixed sides, for reads up to `ghost` elements outside the grid. Errors:
 * TZ_MEMORY; the caller must clear it also after an error. */
tz_status tz_cpu_outside_create(tz_cpu_outside *outside, const tz_problem *problem, int ghost,
                                tz_error *error);
void tz_cpu_outside_clear(tz_cpu_outside *outside);

/* Bytes that it takes. */
int64_t tz_cpu_outside_bytes(const tz_problem *problem, int ghost);

#endif
