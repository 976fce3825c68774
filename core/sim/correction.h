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
    void *state; /* of the backend; NULL when dry */
    bool ahead;  /* stages have advanced it since the last refinement */
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

/* Refine, and set simulation->update. If the fields or the parameters have changed since the last
 * time, stages must wait for the next refinement (simulation->update_known is false, and no stage
 * has run since). */
tz_status tz__correction_refine(tz_simulation *simulation, tz_error *error);

/* The parameters have changed. */
tz_status tz__correction_set_params(tz_simulation *simulation, size_t count,
                                    const tz_assignment *params, tz_error *error);

#endif
