/* Instruction classes, counts by class, and the clocks of a multiprocessor for a step of its
 * warps. */
#ifndef TZ_MODEL_SCHEDULER_ROUNDS_H
#define TZ_MODEL_SCHEDULER_ROUNDS_H

/* Instructions by the unit that executes them: of a warp on a GPU, of a vector or a scalar on a
 * CPU. */
typedef enum tz_work_class {
    TZ_WORK_FP32,    /* add, multiply, fused, min, max, compare in single precision */
    TZ_WORK_FP64,    /* the same in double precision */
    TZ_WORK_INTEGER, /* add, compare, address arithmetic */
    /* integer multiply-add; of GPUs a part of the single precision unit, with the additions that go
     * there */
    TZ_WORK_MULTIPLY,
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

/* The sum over all classes. */
double tz_work_mix_sum(const tz_work_mix *mix);

/* Why warps wait. */
typedef enum tz_rounds_wait {
    TZ_ROUNDS_LATENCY, /* results of instructions just before */
    TZ_ROUNDS_SHUFFLE, /* results of shuffles, shared memory, special functions */
    TZ_ROUNDS_LOCAL,   /* spilt registers */
    TZ_ROUNDS_SINGLE,  /* a free unit: single precision, double precision, integers, … */
    TZ_ROUNDS_DOUBLE,
    TZ_ROUNDS_INTEGER,
    TZ_ROUNDS_QUEUE, /* … the queue to shuffles and shared memory */
    TZ_ROUNDS_SYNC,  /* other warps of the block, at a barrier or an arrival */
    TZ_ROUNDS_SLOT,  /* a free issue slot */
    TZ_ROUNDS_WAITS
} tz_rounds_wait;

enum { TZ_ROUNDS_MAX = 10 };

/* Clocks of a multiprocessor for one step of all its warps, by the number of warps. */
typedef struct tz_rounds {
    int count;                                    /* 0: not known */
    double warps[TZ_ROUNDS_MAX];                  /* ascending */
    double clocks[TZ_ROUNDS_MAX];                 /* until each warp has done a step */
    double waits[TZ_ROUNDS_MAX][TZ_ROUNDS_WAITS]; /* shares of the warps' time */
} tz_rounds;

/* Clocks of a step with `warps` > 0 warps on a multiprocessor: interpolated between the entries, in
 * proportion beyond the last. 0 without entries. */
double tz_rounds_clocks(const tz_rounds *rounds, double warps);
/* The entry nearest to `warps`; -1 without entries. */
int tz_rounds_near(const tz_rounds *rounds, double warps);
/* to = a * to + b * from, at the entries of `to`. An empty `to` takes the entries of `from`. */
void tz_rounds_blend(tz_rounds *to, double a, const tz_rounds *from, double b);

#endif
