/* The inside of tz_simulation, for the files of this folder.
 *
 * In mixed precision a simulation keeps its fields in double precision, and iterates their
 * correction in single precision: the problem of tz_problem_correction(), in a state of its own.
 *
 *   refine: solution += correction; correction = 0; the correction's source = residual of the
 *   solution, computed in double.
 *
 * Stages then advance the correction. The solution is up to date after each refinement. */
#ifndef TZ_CORE_SIM_STATE_H
#define TZ_CORE_SIM_STATE_H

#include "backend/backend.h"
#include "base/ranks.h"
#include "policy/policy.h"
#include "sim/types.h"
#include "stencil/registry.h"
#include "stencil/streamed_source.h"

/* Complete stages of one plan, timed together for a policy: from the first launch until all are
 * done. */
typedef struct tz_stopwatch {
    int64_t stages, iterations;
    double seconds;
    bool running;     /* stages may still run: time goes on until they are waited for */
    double started_s; /* on the clock of the run, while it runs */
} tz_stopwatch;

/* The simulated time at step `since`, as a sum of two numbers: more digits than one has. Iterations
 * from then on have the present time step. */
typedef struct tz_time_base {
    int64_t since;
    double time, rest;
} tz_time_base;

typedef struct tz_correction {
    tz_problem problem;
    void *state; /* of the backend; NULL when dry */
    bool ahead;  /* stages have advanced it since the last refinement */
} tz_correction;

typedef struct tz_ahead tz_ahead;           /* sim/ahead.h */
typedef struct tz_point_sets tz_point_sets; /* sim/points.c */

struct tz_simulation {
    tz_problem problem;
    const tz_plugin *plugin;
    const tz_registry *registry; /* it is from there */
    tz_series *scalars;          /* of the problem */
    const tz_backend *backend;
    bool backend_given;        /* not "auto", or devices are given */
    char choice[300];          /* of "auto": why that backend; "": nothing to say */
    tz_ahead *ahead;           /* what a thread does beside the script; NULL: nothing */
    tz_backend slabs;          /* that table, if there are several devices */
    tz_devices devices;        /* count 0: one device holds the grid */
    tz_model_device *record;   /* of several devices, for their exchanges; NULL: none */
    tz_link joined;            /* what joins ranks; zeros: not known */
    void *state;               /* of the backend; NULL when dry */
    tz_correction *correction; /* of mixed precision; NULL: stages advance `state` */
    tz_point_sets *points;     /* receivers and sources; NULL: none */
    bool dry;
    bool y_up;             /* as tz_simulation_y_up has it */
    bool rows_up;          /* as tz_simulation_rows_up has it */
    bool sync;             /* wait for every stage */
    const tz_ranks *ranks; /* NULL: alone */
    int threads;           /* that the simulation was created with */
    tz_threads *pool;      /* of so many */
    /* As tz_simulation_config has them. */
    int (*stopped)(void);
    int (*overdue)(void);
    const atomic_bool *cancelled;
    void (*compiled)(void *told);
    void *told;
    tz_isa isa;        /* of row functions that the simulation itself calls */
    int device;        /* ordinal of the GPU */
    tz_limits limits;  /* the device's */
    tz_policy *policy; /* NULL only during creation */
    tz_stopwatch watch;
    tz_plan plan; /* complete */
    int64_t bytes;
    int64_t step;
    tz_time_base time_base;
    int64_t fired_step; /* step at which events fired last; -1: never */
    double seconds;
    double waited_s;  /* for the first kernel, which was compiled beside the script */
    tz_update update; /* of the fields as they are, if it is known */
    bool update_known;
    bool facts_known;  /* check_run() has seen the parameters and static fields as they are */
    bool facts_told;   /* its warning */
    bool stall_told;   /* that the residual does not fall */
    int64_t look_step; /* of the next look whether the fields move; 0: the first, -1: no more */
    tz_run_end last_run;
    tz_streamed_source streamed[TZ_FIELDS_MAX];
    const tz_streamed_source *streamed_pointers[TZ_FIELDS_MAX];
    tz_plan_use *uses;
    size_t uses_count, uses_last; /* last: the plan of the latest stage */
    /* what jumps need; NULL: not known for the parameters and static fields now */
    struct tz_jump *jump;
    tz_jump_use jumps; /* so far */
    /* what steady states and implicit steps need; NULL: not known */
    struct tz_solver *solver;
    tz_solve_use solved;     /* so far */
    double energy_j;         /* of all runs so far, if the device counts it */
    int64_t steps_unchecked; /* iterations since the last check that every cell is finite */
    int64_t finite_step;     /* step of that check */
};

/* Where plans of the simulation run; `record` may be NULL. */
tz_place tz__simulation_place(const tz_simulation *simulation, const tz_model_device *record);

/* What its policy chooses plans for. */
tz_policy_subject tz__simulation_subject(const tz_simulation *simulation);

/* tz_simulation_set_policy() where the simulation is. */
tz_status tz__simulation_choose(tz_simulation *simulation, const tz_plan_wish *wish,
                                tz_error *error);

/* From which file other ranks get the plugin. */
const char *tz__simulation_plugin_file(const tz_simulation *simulation);

/* With what a state of a problem on its grid is created. */
tz_backend_context tz__simulation_context(const tz_simulation *simulation,
                                          const tz_problem *problem);

/* Cells of a field are written. */
void tz__simulation_field_changes(tz_simulation *simulation, int field);

/* Parameters or static fields change: what jumps know is wrong then. */
void tz__simulation_forget_jump(tz_simulation *simulation);
/* The same of all that is known of the update, also of what is solved. */
void tz__simulation_forget_update(tz_simulation *simulation);

/* TZ_UNSUPPORTED: the simulation is dry and has no fields. */
tz_status tz__simulation_need_fields(const tz_simulation *simulation, tz_error *error);

/* ---- Derived fields -------------------------------------------------------------------------- */

/* Nothing stores them. They are computed with the stencil's outputs from the other fields as they
 * are now, when they are read. TZ_STEP is then the number of iterations done, and constants that
 * vary have the values of the next iteration. The memory that this takes does not grow with the
 * grid. */
bool tz__is_derived(const tz_simulation *simulation, int field);

/* Where the other fields come from: load() is that of tz_backend. */
typedef struct tz_field_reader {
    tz_status (*load)(void *context, int field, const tz_box *box, void *elements, tz_error *error);
    void *context;
    int64_t step;
    const tz_slot *constants;
} tz_field_reader;
/* [any thread] if load() is, and the box is small */
tz_status tz__derived_from(const tz_simulation *simulation, const tz_field_reader *from, int field,
                           const tz_box *box, void *elements, tz_error *error);

/* As load and reduce of tz_backend, for any field that is not streamed. */
tz_status tz__field_load(const tz_simulation *simulation, int field, const tz_box *box,
                         void *elements, tz_error *error);
tz_status tz__field_reduce(const tz_simulation *simulation, int field, tz_reduction *out,
                           tz_error *error);

/* ---- Cells as numbers, a few at a time ------------------------------------------------------- */

/* Gives `count` values of a row. The first is number i of the box, and cell number `cell` of the
 * grid. Several threads may call it at the same time. */
typedef void tz__values_fn(const void *context, int64_t i, int64_t cell, int64_t count,
                           double *values);

/* Write a box inside the grid, with values that fit the field. */
tz_status tz__cells_write(tz_simulation *simulation, int field, const tz_box *box,
                          tz__values_fn *values, const void *context, tz_error *error);

/* Read a box of a field of bits, x fastest, a byte each. */
tz_status tz__cells_read_bits(const tz_simulation *simulation, int field, const tz_box *box,
                              uint8_t *cells, tz_error *error);

/* ---- Mixed precision ------------------------------------------------------------------------- */

/* The problem and the state that stages advance: the correction's, or the simulation's own. */
const tz_problem *tz__iterated_problem(const tz_simulation *simulation);
void *tz__iterated_state(const tz_simulation *simulation);

/* Host bytes of both problems, or of the only one. */
int64_t tz__simulation_bytes_with(const tz_simulation *simulation, const tz_plan *plan);

/* Refine, and set simulation->update. If the fields or the parameters have changed since the last
 * time, stages must wait for the next refinement (simulation->update_known is false, and no stage
 * has run since). */
tz_status tz__correction_refine(tz_simulation *simulation, tz_error *error);
/* Before the fields are made others than by stages: refine if stages have advanced the correction.
 * Afterwards: nothing is left of it. Without mixed precision both do nothing. */
tz_status tz__correction_settle(tz_simulation *simulation, tz_error *error);
tz_status tz__correction_clear(tz_simulation *simulation, tz_error *error);

#endif
