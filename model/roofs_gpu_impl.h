/* The inside of roofs for GPUs. roofs_gpu_compute.c has the time of computing, roofs_gpu.c the rest
 * of a stage. */
#ifndef TZ_MODEL_ROOFS_GPU_IMPL_H
#define TZ_MODEL_ROOFS_GPU_IMPL_H

#include "model/roofs.h"

enum { TZ__SCHEDULERS = 4, TZ__WARP = 32, TZ__LINE = 128 };

typedef struct unit {
    const char *name;
    double clocks; /* of this unit, for a step of a warp */
} unit;

enum { ISSUE, SINGLE, DOUBLE, INTEGER, EXCHANGE, SPECIAL, UNITS };

typedef struct cost {
    unit units[UNITS];
    double clocks;   /* of a step of a warp in a full multiprocessor */
    double alone;    /* of a step of a warp that is alone */
    double barriers; /* waits at barriers in a step that no other warp of the block hides */
    int longest;     /* the busiest unit */
} cost;

typedef struct stage {
    const tz_model_work *work;
    const tz_model_device *device;
    cost parts[TZ_WORK_PARTS_MAX], once[TZ_WORK_PARTS_MAX]; /* of a step, and outside the loop */
    double kept;          /* share of the grid that stays in L2 from one stage to the next */
    double memory_clocks; /* latency of a load */
    int blocks;           /* at once on a multiprocessor */
    double warps;         /* of a block */
    char occupancy[96];   /* what limits `blocks` */
} stage;

typedef struct computing {
    double waves, full;    /* waves of blocks; the full ones among them */
    double rest;           /* blocks of the last wave */
    double clocks;         /* of a stage */
    double even;           /* the same if blocks could be divided at will */
    double warps, seconds; /* warps at once on a multiprocessor; the time of a stage */
} computing;

/* (a^n + b^n)^(1/n): a soft maximum of numbers of at least 0. */
double tz__roofs_soft_max(double a, double b, double exponent);

/* A measured time in clocks of the device; 0 if it is not known. */
double tz__roofs_clocks(const tz_model_device *device, const tz_model_number *time);

/* Fill stage->parts and stage->once from the other members. */
void tz__roofs_find_costs(stage *s);

/* Clocks of a multiprocessor for a step of all its warps, `warps` of part p. */
double tz__roofs_step_clocks(const stage *s, int p, double warps);

/* The time of computing all blocks of a stage. */
computing tz__roofs_compute(const stage *s);

#endif
