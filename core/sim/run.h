/* Advancing a simulation: a number of steps, or until its residual is small.
 *
 * The caller writes outputs and watches the clock. It begins a run, calls tz_simulation_advance()
 * with the step at which something is due next, does what that call's reason to stop asks for, and
 * calls it again until the run ends:
 *
 *   status = tz_simulation_begin(simulation, &wanted, &course, &error);
 *   while (!status && stop != TZ_STOP_END)
 *       status = tz_simulation_advance(simulation, &course, &until, &stop, &error);
 *   status = tz_simulation_end(simulation, &course, status, &error);
 */
#ifndef TZ_CORE_SIM_RUN_H
#define TZ_CORE_SIM_RUN_H

#include "sim/adapt.h"
#include "sim/residual.h"
#include "sim/simulated_time.h"

/* What is wanted of a run. */
typedef struct tz_run {
    bool jumps;         /* by jumps (sim/solve.h): up to each stop, or fewer; not with a limit */
    int64_t jumps_most; /* iterations of one jump; 0: any */
    /* jumps are implicit steps (sim/solve.h) of about jumps_most iterations, and of this order;
     * 0: they are not */
    int implicit_order;
    bool implicit_direct; /* by factors */
    bool unchecked;       /* do not ask check_run(): fields are random, and only bits matter */
    /* iterations to run; < 0: unlimited (needs until_residual or until_called) */
    int64_t steps;
    bool until_called;     /* the caller ends it by tz_simulation_stop() */
    double until_residual; /* stop when the residual is <= this; NAN: no test */
    bool until_is_update; /* test the largest change of an iteration, as memory holds it, instead */
    int64_t check_every;  /* iterations between tests; 0: those of tz_checks_next */
    tz_adaptive adaptive;
} tz_run;

typedef struct tz_run_result {
    int64_t steps;   /* iterations of this run */
    double residual; /* of the fields as they are, with until_residual or stagnation; else NAN */
    /* The largest change of an iteration: in double with until_residual, as memory holds it with
     * until_update, else NAN. */
    double update;
    tz_run_status status;
    double seconds; /* wall time in stages and residuals, without tz_simulation_set_up_seconds() */
    int64_t stages;
    double energy_j;           /* of the device during the run; NAN without a counter */
    char why[TZ_RUN_WHY_SIZE]; /* as in tz_run_end */
    double dt_least, dt_most;  /* likewise */
} tz_run_result;

/* What a run does at the moment. */
typedef enum tz_run_phase {
    TZ_RUN_AT_START,  /* outputs of step 0, and the first check */
    TZ_RUN_AT_STAGES, /* stages up to `stop` */
    TZ_RUN_AT_CHECK,  /* outputs at `stop`, after its check */
    TZ_RUN_AT_TRIAL   /* outputs before an iteration that a check tries */
} tz_run_phase;

/* A run under way, and what has come of it. A checkpoint keeps the members from `phase` to
 * `result`. */
typedef struct tz_course {
    tz_run wanted;
    tz_run_phase phase;
    int64_t start, end; /* steps; end < 0: unlimited */
    int64_t stop;       /* the step at which something is due next */
    bool is_check;      /* it is a check */
    int64_t firing;     /* the caller's: the index of the output that it writes now; -1: none */
    tz_checks checks;
    double *sample; /* of a run that seems to be stuck, malloc'd; NULL: none */
    size_t sample_count;
    int64_t sampled_at; /* the number of that check */
    int64_t adapted_at; /* the step at which the time step was chosen; -1: none */
    double dt_whole;    /* what it would be if the run did not end; 0: as it is */
    tz_run_result result;
    /* A warning for the user, each kind once a simulation; the caller empties it. It is of the
     * stencil's check_run(); that the fields of a run without until_residual no longer move
     * although the update in double is not 0; that the residual or update of a run without an end
     * does not fall. */
    char warning[400];
    bool had_turn; /* the caller has, before the next stages */
    bool hopeless; /* the stencil knows that until_residual is out of reach */
    bool metered;  /* joules is set */
    double joules; /* of the device's counter, when the run began */
} tz_course;

typedef struct tz_until {
    int64_t step; /* something is due there, after the present step; INT64_MAX: nothing */
    int64_t most; /* iterations of the next call of the backend; 0: any number */
} tz_until;

typedef enum tz_stop {
    /* between two calls of the backend, whose stages may still run. The caller may write a
     * checkpoint; after tz_run_wait() it may read fields, set cells, and parameters but the time
     * step */
    TZ_STOP_PAUSE,
    TZ_STOP_ASKS, /* a function policy asks for a plan: tz_policy_question, tz_policy_answer */
    /* at a step where something may be due; once a step. In mixed precision fields are refined */
    TZ_STOP_DUE,
    TZ_STOP_ADAPTED, /* the time step is another one, and so may be the step that is due next */
    TZ_STOP_END      /* the run has come to its end; all stages are waited for */
} tz_stop;

/* Errors: TZ_RANGE and TZ_UNSTABLE if the stencil's check_run() refuses the fields and parameters.
 * *course is always set. */
tz_status tz_simulation_begin(tz_simulation *simulation, const tz_run *wanted, tz_course *course,
                              tz_error *error);
/* Compute up to a step at which something is due, in at most one call of the backend. Errors:
 * TZ_DIVERGED names step, field and cell of the first NaN or infinity; those of the backend and of
 * the policy. */
tz_status tz_simulation_advance(tz_simulation *simulation, tz_course *course, const tz_until *until,
                                tz_stop *stop, tz_error *error);
/* When something is due (TZ_STOP_DUE), or before the first call: the run ends here, as
 * TZ_RUN_UNTIL or TZ_RUN_STOPPED. */
void tz_simulation_stop(tz_course *course, tz_run_status status, const char *why);
/* A run that has ended with its steps, and whose course is kept, goes on to a later step. TZ_RANGE:
 * it has converged or the like, is there already, or streamed fields and sources end earlier.
 * TZ_UNSUPPORTED: its time steps are adaptive. */
tz_status tz_simulation_extend(tz_simulation *simulation, tz_course *course, int64_t end,
                               tz_error *error);
/* After a run, with what it has come to; also if it did not begin. Sets the result, frees what the
 * course holds, and returns the status, or TZ_DIVERGED. */
tz_status tz_simulation_end(tz_simulation *simulation, tz_course *course, tz_status status,
                            tz_error *error);

/* ---- For outputs during a run: their seconds are the run's ----------------------------------- */

/* Wait for all stages. */
tz_status tz_run_wait(tz_simulation *simulation, tz_course *course, tz_error *error);
/* The update of the fields as they are. */
tz_status tz_run_measure(tz_simulation *simulation, tz_course *course, tz_update *update,
                         tz_error *error);

#endif
