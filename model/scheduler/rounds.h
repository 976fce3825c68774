/* Instruction classes, mixes of them, and the clocks that a multiprocessor takes for a step of its warps. */
#ifndef TZ_MODEL_SCHEDULER_ROUNDS_H
#define TZ_MODEL_SCHEDULER_ROUNDS_H

/* Instructions by the unit that executes them. On a GPU one is a warp's, on a CPU a vector's (or a
 * scalar one). */
typedef enum tz_work_class {
    TZ_WORK_FP32,        /* add, multiply, fused, min, max, compare in single precision */
    TZ_WORK_FP64,        /* the same in double precision */
    TZ_WORK_INTEGER,     /* add, compare, address arithmetic */
    TZ_WORK_MULTIPLY,    /* integer multiply-add; of GPUs a part of the single precision unit */
    TZ_WORK_LOGIC,       /* LOP3, shifts, bit and vector logic */
    TZ_WORK_MOVE,        /* moves, selections, permutes of bytes, conversions, predicates */
    TZ_WORK_SHUFFLE,     /* between lanes: SHFL; on a CPU shuffles, blends and rotations */
    TZ_WORK_SPECIAL,     /* division, square root, transcendental */
    TZ_WORK_SHARED_READ, /* shared memory */
    TZ_WORK_SHARED_WRITE,
    TZ_WORK_READ,    /* global memory; on a CPU loads from any level */
    TZ_WORK_WRITE,   /* the same, stores */
    TZ_WORK_COPY,    /* asynchronous copies, global to shared */
    TZ_WORK_BARRIER, /* of a block */
    TZ_WORK_CONTROL, /* branches, loop counters of their own unit, everything else */
    TZ_WORK_CLASSES
} tz_work_class;

typedef struct tz_work_mix {
    double of[TZ_WORK_CLASSES];
} tz_work_mix;

/* What warps wait for (model/scheduler.h). */
typedef enum tz_rounds_wait {
    TZ_ROUNDS_LATENCY, /* results of instructions just before */
    TZ_ROUNDS_SHUFFLE, /* results of shuffles, shared memory, special functions */
    TZ_ROUNDS_LOCAL,   /* spilt registers */
    TZ_ROUNDS_SINGLE,  /* that a unit is free: single precision, double, whole numbers, … */
    TZ_ROUNDS_DOUBLE,
    TZ_ROUNDS_WHOLE,
    TZ_ROUNDS_QUEUE, /* … shuffles and shared memory */
    TZ_ROUNDS_MEET,  /* other warps of the block */
    TZ_ROUNDS_TURN,  /* that a slot is free */
    TZ_ROUNDS_WAITS
} tz_rounds_wait;

enum { TZ_ROUNDS_MAX = 10 };

/* Clocks that a multiprocessor takes for one step of all of its warps, by how many they are. */
typedef struct tz_rounds {
    int count;                                    /* 0: not known */
    double warps[TZ_ROUNDS_MAX];                  /* ascending */
    double clocks[TZ_ROUNDS_MAX];                 /* of a step of each of them */
    double waits[TZ_ROUNDS_MAX][TZ_ROUNDS_WAITS]; /* shares of the warps' time */
} tz_rounds;

/* Clocks of a round with so many warps in a multiprocessor, more than 0; between those that were
 * tried on a line, beyond them in proportion. 0 where nothing was tried. */
double tz_rounds_clocks(const tz_rounds *rounds, double warps);
/* The entry next to so many warps; -1: there is none. */
int tz_rounds_near(const tz_rounds *rounds, double warps);
/* to = a * to + b * from, at to's numbers of warps; where `to` has none, those of `from`. */
void tz_rounds_blend(tz_rounds *to, double a, const tz_rounds *from, double b);

#endif
