/* Work: what a plan's kernel does on a grid, counted from the compiled code and the geometry, so
 * that a model needs no engine and an engine no model.
 *
 * All counts are of one stage (height iterations) unless said otherwise; doubles, since they are
 * averages and products. Nothing here is measured time. */
#ifndef TZ_MODEL_WORK_H
#define TZ_MODEL_WORK_H

#include "model/scheduler/rounds.h"

#include <stdbool.h>

enum { TZ_WORK_PARTS_MAX = 6, TZ_WORK_NAME_SIZE = 16, TZ_WORK_LEVELS = 4 };

/* Warps (on a CPU: jobs) that run the same code: the inner ones, those at the border, … */
typedef struct tz_work_part {
    char name[TZ_WORK_NAME_SIZE]; /* "inner", "border" */
    double warps;                 /* that run it in a stage; on a CPU tiles */
    double crowd; /* GPU: of them on the multiprocessor with most to do, where it has few blocks one
                   * after the other; 0 for all parts: not known */
    double steps; /* times that each goes round its loop: rows, planes, iterations */
    tz_work_mix step;         /* instructions of a warp in one step */
    tz_work_mix once;         /* instructions of a warp outside the loop */
    tz_work_mix chain;        /* of one step: the instructions of the longest dependent chain; of a
                               * GPU those alone whose latency the code waits for by name, the
                               * others are in `clocks` */
    double clocks;            /* GPU: of a step of a warp that is alone, without those waits */
    tz_rounds rounds;         /* GPU: of a step, by warps of a multiprocessor */
    tz_rounds once_rounds;    /* GPU: the same, of all that a warp does outside the loop */
    double shared_wavefronts; /* a step and warp: passes of 128 bytes through shared memory and the
                               * first-level cache; on a CPU lines of the first level that loads
                               * touch: two where one crosses over */
    double slots;             /* of one step: issued; 0: all of them. On a CPU a load that is part
                               * of another instruction takes none */
    double narrow;            /* CPU: of one step: loads of a single element */
    double bytes;             /* a step and warp: loaded from global memory */
    double waits;             /* GPU: times that a step waits for memory that was not asked ahead */
    double once_clocks;       /* GPU: of a warp alone outside the loop */
    double once_waits;        /* GPU: times that it waits for memory there */
    double text_bytes;        /* of the loop's code; 0: not known */
    double loop_bytes;        /* the same without what only some of its steps run */
    double own_bytes;         /* GPU: of code that a step runs and those of the first part do not */
    double apart;             /* GPU: of pairs of stores, those whose second one comes later */
    double late;              /* GPU: of the step before one needs what a step asks for, the part
                               * that is over when it asks */
    double spills;            /* GPU: of one step: words of 128 bytes of spilt registers */
    double spilt_stores;      /* of them stored */
} tz_work_part;

typedef enum tz_work_kind { TZ_WORK_GPU, TZ_WORK_CPU } tz_work_kind;

typedef struct tz_model_work {
    tz_work_kind kind;
    int height;
    double cells;      /* useful cell updates */
    double redundancy; /* updates computed / useful ones, >= 1 */
    int parts_count;
    tz_work_part parts[TZ_WORK_PARTS_MAX];

    /* Bytes. Compulsory: what has to cross the memory bus at least, once. */
    double read_bytes; /* compulsory, state and static fields and streamed slabs */
    double write_bytes;
    double ghost_bytes;  /* read once more because tiles overlap: from cache, if it was kept */
    double far_bytes;    /* of them: by tiles that run at other times, so that no cache kept them */
    double stream_bytes; /* read once and never again, from memory: on a GPU a part of read_bytes,
                          * on a CPU besides them */
    double resident_bytes; /* all that a stage touches: what a cache must hold to keep the grid */

    /* GPU */
    int registers;            /* a thread */
    int local_bytes;          /* a thread: spilt registers */
    int shared_bytes;         /* a block */
    int threads;              /* of a block */
    double blocks;            /* of a launch */
    double torn_bytes;        /* written in pieces that end within a burst of 64 bytes */
    double pairs_bytes;       /* written by lanes with two packets each, a pair of stores */
    double half_bytes;        /* loaded and stored by lanes of which each has half a sector of 32
                               * bytes of the second level, and the next one has not the other */
    double ahead_bytes;       /* a warp has asked for this much before it needs it */
    bool cooperative;         /* all blocks are resident; they meet `meetings` times a launch */
    double meetings;          /* meetings of neighbouring blocks, or of all */
    double stages_per_launch; /* 1, or more where a launch runs several */
    bool estimated;           /* counts interpolated, registers estimated: not compiled yet */

    /* CPU. Bytes that leave or enter the first level: for rings that fit L2, and of these the part
     * that comes from further away if they do not. Arrays come from wherever resident_bytes fit. */
    int workers;                    /* threads */
    double jobs;                    /* tiles that threads take one after the other */
    double slowest;                 /* updates of the busiest thread / of the average, >= 1 */
    double rows, spans;             /* inner loops entered, and calls of row functions */
    double views;                   /* rows (3-D: planes) to read that these are handed */
    double ends;                    /* rows of planes that end at the grid's edge */
    double vector_bytes;            /* of the instructions counted */
    double ring_bytes;              /* that one thread goes round again and again: the rings */
    double near_reads, near_writes; /* between L1 and L2 */
    double starts;                  /* rows of arrays read that do not begin where another ended */
    double stream_starts;           /* the same of streamed rows */
    double ring_reads, ring_writes; /* between L2 and L3 if the rings do not fit L2 */
    double level_bytes[TZ_WORK_LEVELS]; /* asked of L1, of L2, of L3, of memory, if nothing fits */
    double forks;                       /* parallel regions */
} tz_model_work;

#endif
