/* Steady states and implicit steps of any linear update: what an iteration takes away is found as a
 * matrix (operator.h), and systems with it are solved (system.h). */
#ifndef TZ_CORE_JUMP_SOLVER_H
#define TZ_CORE_JUMP_SOLVER_H

#include "base/cancel.h"
#include "jump/jump.h"

typedef struct tz_solver tz_solver;

/* What a call has done. */
typedef struct tz_solver_facts {
    const char *method; /* tz_system_method() */
    int64_t iterations; /* of it, all together */
    int64_t systems;    /* solved */
    int64_t bytes;      /* of memory beside the fields */
    double largest;     /* the update of the state in double precision afterwards */
} tz_solver_facts;

/* Find the operator of the problem as parameters and static fields are now. The fields stay as they
 * are. Errors: TZ_UNSUPPORTED with the reason why it cannot be solved, such as an update that is
 * not linear; TZ_MEMORY with the bytes needed and available. */
tz_status tz_solver_create(tz_solver **out, const tz_jump_context *context, tz_error *error);
void tz_solver_destroy(tz_solver *solver); /* NULL is fine */

/* From now on by factors, or not. */
void tz_solver_use_factors(tz_solver *solver, bool direct);

/* Static fields have changed: look again when it is used next. */
void tz_solver_doubt(tz_solver *solver);

/* Make of the state fields those that an iteration leaves as they are. `update`: the largest change
 * of an iteration that is small enough; 0: as small as double precision can tell. Errors:
 * TZ_DIVERGED: there is no such state ("inconsistent"), or the solver does not find it;
 * TZ_INTERRUPTED. The fields are then as they were. */
tz_status tz_solver_steady(tz_solver *solver, double update, const tz_cancel *cancel,
                           tz_solver_facts *facts, tz_error *error);

/* Whether an iteration is an explicit Euler step, u + dt f(u), where dt is that parameter: it is
 * tried with another one. Errors: TZ_UNSUPPORTED: it is not. */
tz_status tz_solver_check_euler(tz_solver *solver, const char *dt, tz_error *error);

/* Advance the fields by an implicit step as long as `iterations`, of which each is an explicit
 * Euler step. `order`: 1 (backward Euler) or 2. Errors: as above. */
tz_status tz_solver_step(tz_solver *solver, double iterations, int order, const tz_cancel *cancel,
                         tz_solver_facts *facts, tz_error *error);

#endif
