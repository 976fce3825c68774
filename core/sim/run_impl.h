/* The inside of a run, for the files run*.c. */
#ifndef TZ_CORE_SIM_RUN_IMPL_H
#define TZ_CORE_SIM_RUN_IMPL_H

#include "sim/run.h"
#include "sim/simulation_impl.h"

typedef struct tz_runner {
    tz_simulation *simulation;
    const tz_run *run;
    tz_run_result *result;
    tz_run_position *at;
    bool until;     /* there are checks */
    bool looks;     /* whether the fields move */
    bool unsettled; /* work of later() may not be done yet */
    bool refused;   /* no snapshots in this run */
    bool hopeless;  /* the stencil knows that until_residual is out of reach */
} tz_runner;

/* ---- run.c ---- */
tz_status tz__run_wait(tz_runner *r, tz_error *error);
/* The update of the fields as they are, and the time that it took. */
tz_status tz__run_measure(tz_runner *r, tz_update *update, tz_error *error);
/* After a stage of one iteration: how much it changed. */
tz_status tz__run_measure_change(tz_runner *r, double *change, tz_error *error);
/* In mixed precision: bring the solution up to date, or start its correction. */
tz_status tz__run_refine(tz_runner *r, tz_error *error);
tz_status tz__run_advance(tz_runner *r, int iterations, bool timed, tz_error *error);

/* ---- run_facts.c ---- */
/* Ask the stencil whether fields and parameters fit, unless nothing has changed since the last time. */
tz_status tz__run_check_facts(tz_runner *r, tz_error *error);

/* ---- jump.c ---- */
/* One jump, after all stages. */
tz_status tz__run_jump(tz_runner *r, int64_t steps, tz_error *error);

/* ---- run_events.c ---- */
tz_status tz__run_settle(tz_runner *r, tz_error *error);
/* Fire what is due at this step, once a step. */
tz_status tz__run_fire(tz_runner *r, tz_error *error);
/* Fire what is left of a step whose event at->firing was the last one that began. */
tz_status tz__run_fire_rest(tz_runner *r, tz_error *error);

/* ---- run_checks.c ---- */
/* A check of until_update. A change of 0 is no convergence if rounding hides a larger one. */
tz_status tz__run_check_change(tz_runner *r, tz_error *error);
/* A check of until_residual. */
tz_status tz__run_check_residual(tz_runner *r, tz_error *error);
/* The rest of a check that was at TZ_RUN_AT_TRIAL, after its events. */
tz_status tz__run_end_trial(tz_runner *r, tz_error *error);

#endif
