/* The design of a stage of the 2-D stream family: where the rows of each field are kept, and how
 * long.
 *
 * A level is a pass of an iteration; level 0 is the loaded data. When row y of level 0 arrives,
 * level l computes row y - lag[l]. */
#ifndef TZ_CORE_BACKEND_CUDA_FAMILY_ROWS_DESIGN_H
#define TZ_CORE_BACKEND_CUDA_FAMILY_ROWS_DESIGN_H

#include "backend/cuda/family/family.h"

enum {
    ROWS_LEVELS_MAX = 96,
    ROWS_RINGS_MAX = 768,
    ROWS_WARPS = 2,
    ROWS_NO_SWAP = 2,  /* of the knob `swap` */
    ROWS_WARPS_TWO = 8 /* of a multiprocessor: two of a scheduler */
};

/* The cells that a pass reads of a field, in rows and columns to each side. A mirror at one side
 * reads as far to the other side. */
typedef struct rows_reads {
    int8_t left, right, before, after;
} rows_reads;

/* A ring: the rows of a field's version that are kept. Row y + newest is in its last slot when row
 * y of level 0 arrives. */
typedef struct rows_ring {
    int field;
    int level;  /* the level that made it; 0: loaded */
    int depth;  /* rows */
    int newest; /* relative to y */
    /* Rows before the newest that a level reads, and the most that it reads to a side. */
    int before;
    int radius;
    int columns; /* columns to each side that are read */
    int halo;    /* columns of neighbouring lanes that are kept with it, on each side */
    bool read;
} rows_ring;

typedef struct rows_design {
    const tz_problem *problem;
    int vector, ahead, levels;
    rows_reads reads[TZ_PASSES_MAX][TZ_FIELDS_MAX];
    int lag[ROWS_LEVELS_MAX + 1];
    int reach;       /* the lag of the last level: rows loaded after a chunk's last */
    int warm_up;     /* a chunk begins so many rows before its first */
    int first_row;   /* and at this row at a simple end of the grid */
    int left, right; /* ghost columns */
    int radius;      /* the farthest read */
    int rings_count;
    rows_ring rings[ROWS_RINGS_MAX];
    int unroll; /* steps of a loop body */
    /* Levels that take a row of static fields from its queue together. The more they are, the fewer
     * rows are taken, and the more registers they need. */
    int group;
    bool packets; /* TZ_PACKETS of rows.cuh: adjacent lanes copy adjacent packets */
    bool swaps;   /* TZ_SWAP: they also store adjacent packets, and swap one before that */
    bool direct;  /* rows are loaded where they are needed, not into queues ahead of it */
    bool many;    /* an update writes more than four fields */
    bool sums;    /* each row is added to the sums that need it when it arrives (TZ_CELL_ROWS) */
    bool edges;   /* TZ_SIMPLE_ENDS of rows.cuh: the grid's ends are simple */
} rows_design;

/* The design of a plan. False: it has too many levels, or too many rings. */
bool rows_design_make(rows_design *d, const tz_problem *problem, const tz_plan *plan);

const tz_pass *rows_pass(const rows_design *d, int level);

/* What a level reads of a field. */
const rows_reads *rows_reads_of(const rows_design *d, int level, int field);

/* The level whose result level `level` reads of a state field. */
int rows_version_before(const rows_design *d, int field, int level);

/* The ring of a level's result. Of a static field: the ring of the group that begins with the next
 * level. NULL: none. */
const rows_ring *rows_find_ring(const rows_design *d, int field, int level);

/* The first level of a level's group. */
int rows_group_start(const rows_design *d, int level);

/* The `once` values of an update, which depend on static fields alone, are made by the first level
 * of a group or, with several passes, by the first level of each pass. Returns the level that makes
 * those of level `level`, and the number of rows that are kept. */
int rows_once_made(const rows_design *d, int level);
int rows_once_depth(const rows_design *d, int made);

/* Rows of a queue, a multiple of the steps of a loop body: the rows being loaded, the row being
 * taken and, for static fields, the rows that later groups will take. */
int rows_queue(const rows_design *d, bool state);

/* Register moves of a step, which a loop body of `unroll` steps makes at its end. */
double rows_moves(const rows_design *d, int unroll);

/* The steps of a loop body whose code the instruction cache keeps, if that of the design, which has
 * *bytes, is too long and few more moves of registers make it short enough; else d->unroll. *bytes:
 * the length of the body with that many steps. */
int rows_short_unroll(const rows_design *d, double *bytes);

/* Estimated registers of a thread, never far below what the compiler needs. */
int rows_registers(const rows_design *d);

/* Columns that a strip loses at its low and its high side, and those that it keeps; the same of a
 * strip at an end of the grid's rows (`side`), whose ghost zones are whole lanes. */
int rows_ghost_low(const rows_design *d, bool side);
int rows_ghost_high(const rows_design *d, bool side);
int rows_useful(const rows_design *d, bool side);
/* Elements of a row's last lane that lie in the grid. */
int rows_end_columns(const tz_problem *problem, int vector);
/* Do strips at the ends of rows need border code? Periodic rows need none, unless they are bits. */
bool rows_has_sides(const rows_design *d);

/* Bytes of a field's row that a lane has. */
int rows_lane_bytes(const rows_design *d, int field);

/* Do fields have elements of 8 bytes? */
bool rows_is_wide(const tz_problem *problem);

/* Is the update a sum over rows? Then each row is added when it arrives, and is not kept. */
bool rows_is_sum(const tz_stencil *stencil);

/* Does a plan load rows where it needs them? One of height 1 does, unless it has `ahead`. */
bool rows_is_direct(const tz_problem *problem, const tz_plan *plan);

/* Warps of a block, ROWS_WARPS if the plan does not say. */
int rows_warps(const tz_plan *plan);

extern const tz_cuda_planner rows_planner; /* work.c */

#endif
