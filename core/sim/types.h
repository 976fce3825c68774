/* What a simulation tells of its runs. */
#ifndef TZ_CORE_SIM_TYPES_H
#define TZ_CORE_SIM_TYPES_H

#include "stencil/types.h"

typedef struct tz_simulation tz_simulation;

/* How a run ended. */
typedef enum tz_run_status {
    TZ_RUN_NONE,         /* there was no run, or it failed */
    TZ_RUN_DONE,         /* its number of steps */
    TZ_RUN_CONVERGED,    /* the residual or update reached the limit */
    TZ_RUN_STAGNATED,    /* the precision of the fields ends before that */
    TZ_RUN_MAX_STEPS,    /* the most steps were done before that */
    TZ_RUN_INCONSISTENT, /* the stencil knows that no step reaches it; nothing was computed */
    TZ_RUN_UNTIL,        /* a condition of the caller holds */
    TZ_RUN_STOPPED       /* the caller has stopped it */
} tz_run_status;
enum { TZ_RUN_STATUS_LAST = TZ_RUN_STOPPED, TZ_RUN_WHY_SIZE = 200 };

typedef struct tz_run_end {
    tz_run_status status;
    int64_t steps;             /* of that run */
    double residual;           /* NAN: not measured */
    char why[TZ_RUN_WHY_SIZE]; /* of the last two ways to end; else "" */
    /* With a time step that adapts: the least and the largest; else 0. */
    double dt_least, dt_most;
} tz_run_end;

/* Why a plan was used that only fills up the iterations to where something is due. */
#define TZ_WHY_REST "up to an output, a check or the end"

/* A plan that was used, with its stages, iterations and seconds. */
typedef struct tz_plan_use {
    tz_plan plan;
    char backend[16]; /* by which; "": a checkpoint of an earlier version did not say */
    int64_t stages, steps;
    double seconds;
    int64_t under_way; /* steps of stages that may still run */
} tz_plan_use;

/* All jumps of a simulation so far, for records. */
typedef struct tz_jump_use {
    int64_t jumps, steps; /* of steps, those to a steady state do not count */
    int64_t steady;       /* jumps to a steady state */
    double seconds;
    /* the largest estimate of one: what it rounds, as a part of the largest value */
    double rounding;
    int64_t bytes; /* the most memory that one took beside the fields */
    char library[64];
} tz_jump_use;

/* All that was solved for a simulation so far, for records. */
typedef struct tz_solve_use {
    int64_t steady;              /* steady states */
    int64_t steps, covered;      /* implicit steps, and the iterations that they stand for */
    int64_t systems, iterations; /* that were solved, and of the solver */
    double seconds;
    double residual; /* of the last steady state; NAN: none */
    int64_t bytes;   /* the most memory that one took beside the fields */
    char method[40]; /* of the last one */
} tz_solve_use;

#endif
