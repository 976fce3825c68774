/* Advancing a simulation: a number of steps, or until its residual is small; with events. */
#ifndef TZ_CORE_SIM_RUN_H
#define TZ_CORE_SIM_RUN_H

#include "sim/residual.h"
#include "sim/simulated_time.h"

struct tz_snapshot; /* snapshot.h */

/* A regular event of a run, for example an output. */
typedef struct tz_event {
    tz_interval every;   /* when it fires; at step 0 only at the start of the first run */
    bool wants_residual; /* the residual is measured before it */
    tz_status (*fire)(void *context, tz_simulation *simulation, tz_error *error);
    void *context;
    /* Called instead of fire() if the backend has snapshots. It holds the snapshot as long as it
     * needs it (tz_snapshot_hold) and returns soon, while the run goes on. NULL: always fire(). */
    tz_status (*later)(void *context, struct tz_snapshot *snapshot, tz_error *error);
    uint32_t fields; /* state fields that later() reads */
} tz_event;

/* What a run does at the moment. */
typedef enum tz_run_phase {
    TZ_RUN_AT_START,  /* events of step 0, and the first check */
    TZ_RUN_AT_STAGES, /* stages up to `stop` */
    TZ_RUN_AT_CHECK,  /* a check and events at `stop` */
    TZ_RUN_AT_TRIAL   /* events before an iteration that a check tries */
} tz_run_phase;

/* Where a run is: what it needs, besides the simulation, to go on from there. */
typedef struct tz_run_position {
    tz_run_phase phase;
    int64_t start, end; /* steps; end < 0: unlimited */
    int64_t stop;       /* the step at which something is due next */
    bool is_check;      /* it is a check */
    int64_t firing;     /* the index of the event that is being fired; -1: none */
    tz_checks checks;
    double *sample; /* of a run that seems to be stuck, malloc'd; NULL: none */
    size_t sample_count;
    int64_t sampled_at;           /* the number of that check */
    struct tz_run_result *result; /* so far; borrowed from the caller of the run */
} tz_run_position;

typedef struct tz_run {
    bool
        jumps; /* by jumps (sim/jump.h): up to each event, or fewer steps at once; not with a limit */
    int64_t jumps_most;    /* iterations of one jump; 0: any */
    bool unchecked;        /* do not ask check_run(): fields are random, and only bits matter */
    int64_t steps;         /* iterations to run; < 0: unlimited (needs until_residual) */
    double until_residual; /* stop when the residual is <= this; NAN: no test */
    bool until_is_update; /* test the largest change of an iteration, as memory holds it, instead */
    int64_t check_every;  /* iterations between tests; 0: those of tz_checks_next */
    size_t events_count;
    const tz_event *events;
    /* Called after each stage, with the steps done and `steps` (-1: unlimited). If it returns
     * false, the run ends with TZ_INTERRUPTED. May be NULL. */
    bool (*progress)(void *context, const tz_simulation *simulation, int64_t done, int64_t total);
    void *progress_context;
    /* Gets a warning, each kind once a simulation: of the stencil's check_run(); that the fields of
     * a run without until_residual no longer move although the update in double is not 0; that the
     * residual or update of a run without an end does not fall. May be NULL. */
    void (*warns)(void *context, const char *text);
    void *warns_context;
    /* Required if an event has later(). settle() waits for all work that later() or fire() began and returns
     * its first error; it is called before a fire() that follows and at the end of the run.
     * refused(), which may be NULL, gets the reason why snapshots failed, once a run. */
    tz_status (*settle)(void *context, tz_error *error);
    void (*refused)(void *context, const tz_error *why);
    void *later_context;
    /* Called between two calls of the backend, at steps that depend on the plan; stages may still
     * run. An error ends the run. May be NULL. */
    tz_status (*pause)(void *context, tz_simulation *simulation, tz_error *error);
    void *pause_context;
    /* Somebody looks at the run. wants() is asked between two calls of the backend; if it returns
     * true, all stages are waited for, and attend() may read fields, set cells and parameters (but not
     * the time step), and make *most, the iterations of the next call, smaller. An error ends the run.
     * Both may be NULL. */
    bool (*wants)(void *context);
    tz_status (*attend)(void *context, tz_simulation *simulation, int64_t *most, tz_error *error);
    void *attend_context;
    /* Kept up to date while the run calls pause(), fire() and later(). May be NULL. With `resumes` the
     * run goes on from there, and from *result; an event that was being fired is done. The run frees
     * its sample. */
    tz_run_position *position;
    bool resumes;
    const tz_error
        *failed; /* with `resumes`: the error of the event that was being fired; or NULL */
} tz_run;

typedef struct tz_run_result {
    int64_t steps;   /* iterations of this run */
    double residual; /* of the fields as they are, with until_residual or stagnation; else NAN */
    double update;   /* largest change of an iteration: in double with until_residual, as memory
                      * holds it with until_update, else NAN */
    tz_run_status status;
    double seconds; /* wall time in stages and residuals, without tz_simulation_set_up_seconds() */
    int64_t stages;
    double energy_j; /* of the device during the run; NAN without a counter */
} tz_run_result;

/* Errors: TZ_RANGE and TZ_UNSTABLE if the stencil's check_run() refuses the fields and parameters,
 * before anything runs; TZ_DIVERGED names step, field and cell of the first NaN or infinity; TZ_INTERRUPTED;
 * errors of the backend, of the policy, of pause() and of events. `result` is always set. */
tz_status tz_simulation_run(tz_simulation *simulation, const tz_run *run, tz_run_result *result,
                            tz_error *error);

#endif
