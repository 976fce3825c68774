/* The inside of roofs for GPUs: what computing takes (roofs_gpu_compute.c), and the rest of a stage
 * (roofs_gpu.c). */
#ifndef TZ_MODEL_ROOFS_GPU_IMPL_H
#define TZ_MODEL_ROOFS_GPU_IMPL_H

#include "model/roofs.h"

enum { TZ__SCHEDULERS = 4, TZ__WARP = 32, TZ__LINE = 128 };

typedef struct unit {
    const char *name;
    double clocks; /* that a step of a warp takes of it */
} unit;

enum { ISSUE, SINGLE, DOUBLE, INTEGER, EXCHANGE, SPECIAL, UNITS };

typedef struct cost {
    unit units[UNITS];
    double clocks;   /* of a warp's step in a full multiprocessor */
    double alone;    /* the same of a warp that is alone */
    double barriers; /* of a step: waits at barriers that no other warp of the block hides */
    int longest;     /* the unit that takes most */
} cost;

typedef struct stage {
    const tz_model_work *work;
    const tz_model_device *device;
    cost parts[TZ_WORK_PARTS_MAX], once[TZ_WORK_PARTS_MAX]; /* a step, and all outside the loop */
    double kept;          /* share of the grid that stays in L2 from one stage to the next */
    double memory_clocks; /* latency of what is loaded */
    int blocks;           /* of a multiprocessor at once */
    double warps;         /* of a block */
    char occupancy[96];   /* what limits `blocks` */
} stage;

typedef struct computing {
    double waves, full;    /* waves of blocks, and those with as many blocks as there is room for */
    double rest;           /* blocks of the last wave */
    double clocks;         /* of a stage */
    double even;           /* the same if work could be divided at will */
    double warps, seconds; /* warps of a multiprocessor at once; of a stage */
} computing;

/* (a^n + b^n)^(1/n): a soft maximum of numbers of at least 0. */
double tz__roofs_soft_max(double a, double b, double exponent);

/* A measured time in clocks of the device; 0 where it is not known. */
double tz__roofs_clocks(const tz_model_device *device, const tz_model_number *time);

/* Fills stage->parts and stage->once, from everything else in it. */
void tz__roofs_find_costs(stage *s);

/* Clocks that a multiprocessor with so many warps of part p takes for a step of all of them. */
double tz__roofs_step_clocks(const stage *s, int p, double warps);

/* All blocks of a stage. */
computing tz__roofs_compute(const stage *s);

#endif
