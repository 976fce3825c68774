/* The direct family (kernels/cuda/direct.cuh): one iteration of a 3-D grid. Each cell loads its neighbours
 * where it needs them, so there is no ghost zone to compute. Where fused iterations gain little, as with
 * wide stars, this is the fastest kernel: all memory bandwidth goes to cells.
 *
 * plan.tile: columns of a block (32*vector), its rows (warps), and the planes of a chunk (0: chosen at
 * launch). plan.ahead: planes of a lane's own columns that are loaded before the step that needs them. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_DIRECT_DIRECT_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_DIRECT_DIRECT_H

#include "backend/cuda/family/family.h"
#include "backend/cuda/family/footprint.h"

/* What the pass reads. */
typedef struct direct_design {
    const tz_problem *problem;
    int vector, ahead;
    int reach; /* largest distance */
    int below[TZ_AXES], above[TZ_AXES];
    tz_footprint footprint;
} direct_design;

void direct_design_make(direct_design *d, const tz_problem *problem, const tz_plan *plan);
/* The columns of a row that the cells of a lane read: bit `reach` is the lane's first own column. */
uint32_t direct_columns(const direct_design *d, int field, int dz, int dy);
/* The planes in which a field is read in the lane's own row. False: none. */
bool direct_queue(const direct_design *d, int field, int *low, int *high);
/* The mask of the fields that the kernel stores: of those that the pass writes, all but the handed ones. */
uint32_t direct_stored(const tz_problem *problem);

int direct_warps(const tz_plan *plan);

void direct_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                      const tz_plan *plan);

extern const tz_cuda_planner direct_planner; /* work.c */

#endif
