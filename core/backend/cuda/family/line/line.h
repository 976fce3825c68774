/* The stream family in one dimension: strips in registers, a warp each (kernels/cuda/line.cuh). */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_LINE_LINE_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_LINE_LINE_H

#include "backend/cuda/family/family.h"

enum { LINE_UNROLLED = 4 }; /* iterations of a loop body without streamed rows */

/* Elements of a packet: 16 bytes of the widest field. */
int line_packet(const tz_problem *problem);

/* Columns that a strip loses at its low (0) or high (1) end, rounded up to packets; 2: at both. */
int64_t line_ghost(const tz_problem *problem, int height, int side);

/* Does the boundary read other columns of a strip? These must then be in shared memory. */
bool line_staged(const tz_problem *problem);

/* The device text of a plan: one kernel. */
void line_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan);

extern const tz_cuda_planner line_planner; /* work.c */

#endif
