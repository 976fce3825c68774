/* Fields of states as arrays of doubles, and the check of an operator on the whole grid. */
#ifndef TZ_CORE_JUMP_GRID_H
#define TZ_CORE_JUMP_GRID_H

#include "backend/backend.h"

/* A state and its problem. */
typedef struct tz_grid_state {
    const tz_problem *problem;
    const tz_backend *backend;
    void *state;
    tz_threads *threads; /* of the host */
} tz_grid_state;

/* All elements of a field of real numbers, x fastest, as memory holds them. Writing rounds to the
 * field's precision. */
tz_status tz_grid_read(const tz_grid_state *from, int field, double *values, tz_error *error);
tz_status tz_grid_write(const tz_grid_state *to, int field, const double *values, tz_error *error);

/* Copy all static fields between states of one grid; the precisions may differ. */
tz_status tz_grid_copy_static(const tz_grid_state *from, const tz_grid_state *to, tz_error *error);

/* Try an iteration (with `plan`) of values of about `size` on the whole grid of `in`, a state in
 * double precision with the static fields, and compare each cell with the operator. `source`: s of
 * each field of the operator, as arrays; NULL: 0. `in` has any values in its state fields after
 * that. Errors: TZ_UNSUPPORTED with the cell and the likely cause. */
tz_status tz_grid_verify(const tz_grid_state *in, const tz_plan *plan, const tz_linear *linear,
                         const double *const *source, double size, tz_error *error);

#endif
