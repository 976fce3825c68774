/* Many iterations at once, of any simulation whose update is linear with constant coefficients
 * (backend/spectral.h says how). Whether it is one is found by trying it: first on a patch, then on
 * the whole grid, where each cell of one iteration is compared with what the operator gives. */
#ifndef TZ_CORE_JUMP_JUMP_H
#define TZ_CORE_JUMP_JUMP_H

#include "backend/backend.h"

typedef struct tz_jump tz_jump;

/* What is jumped. All is borrowed for the life of the tz_jump. */
typedef struct tz_jump_context {
    const tz_problem *problem;
    const tz_backend *backend;
    void *state;                       /* of the backend; all stages are done */
    const tz_backend_context *context; /* with which it was created; copied */
    const tz_place *place;             /* borrowed by create() alone */
} tz_jump_context;

/* Find the operator and the constant part of the problem's update, as parameters and static fields
 * are now: after a change of them, destroy this and create another. The fields stay as they are.
 * Errors: TZ_UNSUPPORTED with the reason why it cannot be jumped; TZ_MEMORY with the bytes needed
 * and available. */
tz_status tz_jump_create(tz_jump **out, const tz_jump_context *context, tz_error *error);
void tz_jump_destroy(tz_jump *jump); /* NULL is fine */

/* Whether the fields' values are of a size at which the update was tried. If not, destroy this and
 * create another: the update may do something else there. */
tz_status tz_jump_covers(const tz_jump *jump, bool *covers, tz_error *error);

/* Advance the fields by `steps` >= 1 iterations, or to TZ_JUMP_LIMIT. Errors: those of
 * tz_jump_function; the fields are then as they were. */
tz_status tz_jump_advance(tz_jump *jump, int64_t steps, tz_jump_facts *facts, tz_error *error);

/* By how much `steps` iterations make rounding larger than the 4e-15 of the largest value that the
 * transforms cost: 1 where all waves decay; more where waves grow, or turn so often that their
 * phase loses digits. Found on some of the frequencies. 1 for the limit. */
double tz_jump_condition(const tz_jump *jump, int64_t steps);

#endif
