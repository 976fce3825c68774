/* The device text of the tile family. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_TILE_TEXT_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_TILE_TEXT_H

#include "backend/cuda/family/family.h"

enum { TILE_WARPS = 8 }; /* of a block */

/* The text of a plan: one kernel. */
void tile_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                    const tz_plan *plan);

extern const tz_cuda_planner tile_planner; /* work.c */

#endif
