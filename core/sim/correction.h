/* Mixed precision. A simulation keeps its fields in double precision, and iterates their correction
 * in single precision: the problem of tz_problem_correction(), in a state of its own.
 *
 *   refine: solution += correction; correction = 0; the correction's source = residual of the
 *   solution, computed in double.
 *
 * Stages then advance the correction. The solution is up to date after each refinement. */
#ifndef TZ_CORE_SIM_CORRECTION_H
#define TZ_CORE_SIM_CORRECTION_H

#include "backend/backend.h"
#include "sim/simulation.h"

typedef struct tz_correction {
    tz_problem problem;
    void *state;  /* of the backend; NULL when dry */
    bool started; /* its source is the residual of the solution */
    bool ahead;   /* stages have advanced it since then */
} tz_correction;

/* Gives a simulation its correction's problem. */
tz_status tz__correction_resolve(tz_simulation *simulation, tz_error *error);
tz_status tz__correction_create_fields(tz_simulation *simulation, tz_error *error);
void tz__correction_destroy(tz_simulation *simulation);

/* The problem and the state that stages advance: the correction's, or the simulation's own. */
const tz_problem *tz__iterated_problem(const tz_simulation *simulation);
void *tz__iterated_state(const tz_simulation *simulation);

/* Host bytes of both problems, or of the only one. */
int64_t tz__simulation_bytes_with(const tz_simulation *simulation, const tz_plan *plan);

/* Refine if stages have advanced the correction since the last time; with `start`, only if it has not
 * started. Without mixed precision, does nothing. */
tz_status tz__correction_refine(tz_simulation *simulation, bool start, tz_error *error);

/* The solution or its source has changed: the next stage starts from a new residual. */
void tz__correction_restart(tz_simulation *simulation);
/* The parameters have changed. */
tz_status tz__correction_set_params(tz_simulation *simulation, size_t count,
                                    const tz_assignment *params, tz_error *error);

#endif
