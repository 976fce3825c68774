/* Work: what a plan's kernel does on a grid, from the geometry and from the compiled code, which is
 * counted for a GPU and timed for a CPU. Backends fill it, models read it.
 *
 * Numbers are of one stage (height iterations) unless a comment says otherwise. They are doubles,
 * because they are averages and products. */
#ifndef TZ_MODEL_WORK_H
#define TZ_MODEL_WORK_H

#include "model/exchange.h"
#include "model/scheduler/rounds.h"

#include <stdbool.h>

enum { TZ_WORK_PARTS_MAX = 6, TZ_WORK_RUNS_MAX = 64, TZ_WORK_NAME_SIZE = 16 };

/* Warps (on a CPU: tiles) that run the same code: the inner ones, those at the border, ...
 * "A step" is one step of one warp. */
typedef struct tz_work_part {
    char name[TZ_WORK_NAME_SIZE]; /* "inner", "border" */
    double warps;                 /* of a stage; on a CPU tiles */
    /* GPU: warps of this part on the busiest multiprocessor. Known where it runs few blocks one
     * after the other; else 0 in all parts */
    double busiest_warps;
    double steps;     /* how often a warp goes round its loop: rows, planes, iterations */
    tz_work_mix step; /* instructions of a step */
    tz_work_mix once; /* instructions of a warp outside the loop */
    /* The longest chain of dependent instructions in a step. On a GPU only instructions whose
     * latency the code waits for with a barrier; `clocks` has the others. */
    tz_work_mix chain;
    double clocks;         /* GPU: clocks of a step of a warp that is alone, without those waits */
    tz_rounds rounds;      /* GPU: clocks of a step, by warps of a multiprocessor */
    tz_rounds once_rounds; /* GPU: the same outside the loop */
    /* GPU: passes of 128 bytes through shared memory and the first-level cache, in a step. CPU:
     * lines of the first level that the loads of a step touch: two where a load crosses a line. */
    double shared_wavefronts;
    /* instructions issued in a step; 0: all. On a CPU a load that is part of another instruction
     * needs no slot */
    double slots;
    double bytes;       /* loaded from global memory in a step */
    double waits;       /* GPU: how often a step waits for loads that were not prefetched */
    double once_clocks; /* GPU: clocks outside the loop, of a warp that is alone */
    double once_waits;  /* GPU: how often a warp waits for memory outside the loop */
    double text_bytes;  /* code of the loop; 0: not known */
    double loop_bytes;  /* the same without code that only some steps run */
    double own_bytes;   /* GPU: code that a step of this part runs and a step of part 0 does not */
    double apart;       /* GPU: share of pairs of stores whose second store comes later */
    /* GPU: loads are issued in the step before the one that needs them, after this share of it */
    double late;
    double spills;       /* GPU: words of 128 bytes of spilt registers in a step */
    double spilt_stores; /* the stores among `spills` */
} tz_work_part;

/* Blocks of a launch that follow one another, all of whose warps are of one part. */
typedef struct tz_work_run {
    int part;
    double blocks;
} tz_work_run;

typedef enum tz_work_kind { TZ_WORK_GPU, TZ_WORK_CPU } tz_work_kind;

typedef struct tz_model_work {
    tz_work_kind kind;
    int height;
    double cells;      /* useful cell updates */
    double redundancy; /* updates computed / useful ones, >= 1 */
    int parts_count;
    tz_work_part parts[TZ_WORK_PARTS_MAX];

    /* Compulsory bytes cross the memory bus once at least. */
    double read_bytes;  /* compulsory: state and static fields and streamed slabs */
    double write_bytes; /* compulsory */
    double ghost_bytes; /* read again because tiles overlap: from cache, if a cache kept them */
    double far_bytes; /* the part of ghost_bytes that no cache kept: the tiles run at other times */
    double plane_bytes; /* GPU, tiles that march along planes: of one, of all arrays; 0: others */
    /* of streamed fields, read once. On a GPU a part of read_bytes, on a CPU in addition to it */
    double streamed_bytes;
    double resident_bytes; /* all that a stage touches: a cache of this size keeps the grid */

    /* GPU */
    int registers;                      /* of a thread */
    int local_bytes;                    /* of a thread: spilt registers */
    int shared_bytes;                   /* of a block */
    int threads;                        /* of a block */
    double blocks;                      /* of a launch */
    tz_work_run runs[TZ_WORK_RUNS_MAX]; /* the blocks, in the order in which they start */
    int runs_count;                     /* 0: not known, or warps of a block are of several parts */
    double memory_share; /* of the copy bandwidth that it reaches; 0: TZ_FIT_MEMORY_SHARE */
    double pairs_bytes;  /* written by lanes with two packets each: a pair of stores */
    /* of lanes that load or store half a sector of 32 bytes of the second level, where the next
     * lane does not use the other half */
    double half_bytes;
    double ahead_bytes; /* that a warp has prefetched before it needs them */
    /* each step loads what it needs: warps that wait for loads do so while others compute, also
     * where all blocks begin together */
    bool streams;
    bool marches;     /* a thread marches along the last axis, and computes little in each step */
    bool cooperative; /* all blocks are resident */
    double syncs;     /* synchronisations of adjacent blocks, or of all, in a stage */
    /* lines of the second level through which adjacent blocks hand each other cells */
    double slots_bytes;
    double stages_per_launch; /* below 1: a stage is several launches */
    double updates; /* of cells in the code of a step: its length grows with them. 0: not known */
    bool estimated; /* not compiled yet: counts are interpolated, registers estimated */

    /* CPU. A thread keeps the levels of a tile in rings of rows or planes. */
    /* Of all threads together, timed with rows in L1: the inner loops of row functions, and the
     * rest of these. 0: not timed, so that the instructions of the parts count */
    double loops_s, rows_s;
    int workers;                    /* threads that compute */
    int idle;                       /* threads without work: there are fewer parts than threads */
    double slowest;                 /* updates of the busiest thread / of the average, >= 1 */
    double rows, spans;             /* inner loops entered, and calls of row functions */
    double views;                   /* rows (3-D: planes) that those calls read */
    double ends;                    /* rows of planes that end at the grid's edge */
    double vector_bytes;            /* of the instructions counted */
    double ring_bytes;              /* rings of one thread */
    double near_reads, near_writes; /* bytes between L1 and L2, if the rings fit L2 */
    double starts;                  /* rows of arrays that do not begin where another ended */
    /* cache lines of the first rows of slabs that do not begin where another ended */
    double edge_lines;
    double streamed_starts;         /* the same of streamed rows */
    double ring_reads, ring_writes; /* bytes between L2 and L3, if the rings do not fit L2 */
    double forks;                   /* parallel regions */
    int sharers; /* threads of all slabs on this CPU, which share its memory; 0: the workers */

    /* Of a grid in slabs: all else here is the work of the slowest one, with its ghost zone. */
    tz_exchanges exchange;
} tz_model_work;

#endif
