/* How the resident family cuts a grid: blocks, threads and what is kept where. Pure arithmetic. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_RESIDENT_DESIGN_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_RESIDENT_DESIGN_H

#include "backend/cuda/family/family.h"

enum {
    TZ_RESIDENT_HEIGHT_MAX = 256,
    TZ_RESIDENT_CELLS_MAX = 32,   /* along an axis, of a thread */
    TZ_RESIDENT_TAGS_BYTES = 1024 /* at the start of scratch, before the slots; TZ_TAGS words */
};

typedef struct tz_resident {
    int blocks[TZ_AXES];
    int threads[TZ_AXES]; /* of a block */
    int cells[TZ_AXES];   /* of a thread */
    int ghost;            /* cells; 0: one block */
    int radius, rim;      /* how far bricks are looked out of, and into */
    int warps;
    bool held;        /* bricks are in registers, else in shared memory */
    int buffers;      /* of a written field in shared memory */
    int shared_bytes; /* of a block */
    int registers;    /* of a thread, about */
    int batch;        /* ghost cells of a thread that are asked for at once */
    int sent_words;   /* 32-bit words that a cell's exchange takes */
    double cost;      /* clocks an iteration, about */
} tz_resident;

/* The cheapest design for a plan with a height; tile, vector and warps of the plan are kept where
 * they are not 0. False when none fits. */
bool tz_resident_design(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                        tz_resident *design);

/* The height whose best design is cheapest; 1 when none fits. */
int tz_resident_height(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan);

/* Its text takes a compiler more than a few seconds, and spills: large bricks of words in three
 * dimensions (8 words a thread: 3 s, 25: 17 s). Such a plan is not chosen unasked. */
bool tz_resident_is_lengthy(const tz_problem *problem, const tz_resident *design);

/* Does a field take shared memory, and how many bytes? */
bool tz_resident_is_shared(const tz_problem *problem, const tz_resident *design, int field);
int tz_resident_shared_bytes(const tz_problem *problem, const tz_resident *design, int field);

/* The device text of a plan: one kernel. */
void resident_text_emit(tz_cuda_text *t, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan);

extern const tz_cuda_planner resident_planner; /* work.c */

#endif
