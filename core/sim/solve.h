/* Jumps of a simulation: many iterations at once, for linear updates with constant coefficients
 * (jump/jump.h; tz_run.jumps makes a run of them). Steady states and implicit steps: by jumps where
 * these apply, else by solving systems (jump/solver.h). */
#ifndef TZ_CORE_SIM_SOLVE_H
#define TZ_CORE_SIM_SOLVE_H

#include "sim/simulation.h"

/* How a steady state is found. */
typedef enum tz_steady_by {
    TZ_STEADY_AUTO,      /* by transforms where they apply, else by the solver */
    TZ_STEADY_TRANSFORM, /* as a jump of infinitely many iterations */
    TZ_STEADY_SOLVER,
    TZ_STEADY_DIRECT /* by factors */
} tz_steady_by;

typedef struct tz_steady {
    double tolerance; /* the residual that is small enough; 0: what double precision can tell */
    tz_steady_by by;
} tz_steady;

typedef struct tz_steady_result {
    bool converged;     /* else the precision of the fields ends at `residual` */
    double residual;    /* of the fields as they are */
    int64_t iterations; /* of the solver; 0: a transform */
    double seconds;
    char method[40];
} tz_steady_result;

/* Make the state fields those that an iteration leaves as they are. Steps and simulated time stay.
 * Errors: TZ_UNSUPPORTED with the reason if the update is not linear; TZ_DIVERGED if there is no
 * such state ("inconsistent", with the condition), or none that is found; TZ_MEMORY;
 * TZ_INTERRUPTED; those of the backend. The fields are then as they were. */
tz_status tz_simulation_steady(tz_simulation *simulation, const tz_steady *wanted,
                               tz_steady_result *result, tz_error *error);

/* Whether the description of the simulation allows that: quick, and also for a dry one. Errors:
 * TZ_UNSUPPORTED, with the reason. */
tz_status tz_simulation_check_solve(const tz_simulation *simulation, tz_error *error);

/* The same of implicit steps, which need a time step. */
tz_status tz_simulation_check_implicit(const tz_simulation *simulation, tz_error *error);

/* An implicit step as long as `iterations`, after all stages; the caller counts them. `order`: 1,
 * backward Euler, or 2. `direct`: by factors. *seconds: that it took. Errors: as above;
 * TZ_UNSUPPORTED if an iteration is not an explicit Euler step. */
tz_status tz__simulation_implicit(tz_simulation *simulation, int64_t iterations, int order,
                                  bool direct, double *seconds, tz_error *error);

/* steady + steps is 0: nothing was solved. */
const tz_solve_use *tz_simulation_solved(const tz_simulation *simulation);

/* ---- Jumps ----------------------------------------------------------------------------------- */

/* jumps + steady is 0: there were none. */
const tz_jump_use *tz_simulation_jumps(const tz_simulation *simulation);

/* Whether the description of the simulation allows jumps: quick, and also for a dry one. Whether
 * its update is linear shows when it is tried. Errors: TZ_UNSUPPORTED, with the reason. */
tz_status tz_simulation_check_jump(const tz_simulation *simulation, tz_error *error);

/* One jump, after all stages; the caller counts its steps. *seconds: that it took. */
tz_status tz__simulation_jump(tz_simulation *simulation, int64_t steps, double *seconds,
                              tz_error *error);

#endif
