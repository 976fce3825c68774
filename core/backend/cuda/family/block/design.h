/* The design of a kernel of the block family: which fields have tiles in shared memory, how wide their
 * halo is, and which planes of a thread's own column are in registers. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_BLOCK_DESIGN_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_BLOCK_DESIGN_H

#include "backend/cuda/family/family.h"

typedef struct block_field {
    bool read;     /* as a state or static field; streamed fields are read from memory */
    bool tiled;    /* beside the thread's own column */
    int low, high; /* planes of that column, relative to the cell's plane; low <= high if `read` */
    int shared;    /* byte at which its tiles begin */
} block_field;

typedef struct block_design {
    block_field fields[TZ_FIELDS_MAX];
    int tiled;           /* fields with tiles */
    int low[2], high[2]; /* the halo of all tiles along x and y; 0 or more */
    int below, above;    /* planes of tiles that are read: -below to above */
    bool corners;        /* of the halo are read */
    int x, y;            /* threads that have a cell */
    int threads;         /* x * y, rounded up to warps */
    int stride;          /* elements along the last axis of a step */
    int ahead;           /* steps before which planes are loaded */
    int span;            /* the most planes of a column that a step needs, but for one */
    int slots;           /* of a ring of tiles */
    int group;           /* steps of the unrolled loop */
    int64_t shared_bytes;
} block_design;

/* `plan` has the block's shape in tile[0] and tile[1], and planes ahead. */
void block_design_make(block_design *design, const tz_problem *problem, const tz_plan *plan);

void block_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                     const tz_plan *plan);

extern const tz_cuda_planner block_planner; /* work.c */

#endif
