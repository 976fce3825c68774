/* What cell functions read, found by calling them. */
#ifndef TZ_CORE_BACKEND_CPU_FOOTPRINT_H
#define TZ_CORE_BACKEND_CPU_FOOTPRINT_H

#include "stencil/problem.h"

/* The cells that an update of a pass reads: of the row at a distance of dy and dz, a mask in which bit
 * dx + TZ_RADIUS_MAX stands for the cell at dx. */
enum { TZ_FOOTPRINT_REACH = 2 * TZ_RADIUS_MAX + 1 };
typedef struct tz_footprint {
    uint32_t row[TZ_FIELDS_MAX][TZ_FOOTPRINT_REACH]
                [TZ_FOOTPRINT_REACH]; /* [field][dz + TZ_RADIUS_MAX][dy + TZ_RADIUS_MAX] */
} tz_footprint;

/* Calls the pass' cell function once, with all cells 0. What it would read under another condition is
 * not found. */
void tz_footprint_find(const tz_problem *problem, const tz_pass *pass, tz_footprint *out);

#endif
