/* The update of a linear problem on its whole grid as a matrix: F(u) = A u + b. Coefficients may
 * differ from cell to cell, there may be any number of state fields, and any sides.
 *
 * It is found by trying: each iteration of impulses, so far apart that no cell feels two of them,
 * gives a coefficient of every cell. */
#ifndef TZ_CORE_JUMP_OPERATOR_H
#define TZ_CORE_JUMP_OPERATOR_H

#include "backend/backend.h"
#include "jump/matrix.h"

/* ---- Fields as arrays of doubles ------------------------------------------------------------- */

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

/* ---- The matrix ------------------------------------------------------------------------------ */

/* Vectors have the cells of one state field after the other. */
typedef struct tz_operator {
    const tz_grid_state *grid; /* borrowed: in double precision, with the static fields */
    const tz_plan *plan;       /* borrowed: of one iteration */
    int fields_count;
    int field[TZ_FIELDS_MAX];
    int64_t cells, rows;
    tz_matrix matrix; /* 1 - A: what an iteration takes away, but for b */
    double *constant; /* b */
    double *sum;      /* of each row of 1 - A, with more digits than adding it up gives */
    double weight;    /* the largest sum of |coefficients| of a row of A */
    int64_t tried;    /* iterations that it took */
} tz_operator;

/* Whether it can be one as far as the description tells: state fields of real numbers, nothing
 * streamed, every iteration the same. Errors: TZ_UNSUPPORTED with the reason. */
tz_status tz_operator_describe(const tz_problem *problem, tz_error *error);

/* Find it. `size`: of values that the fields have, for which it must be right. The state fields
 * have any values after that. Release it also after an error. Errors: TZ_UNSUPPORTED: it is not
 * linear, with the place; TZ_MEMORY. */
tz_status tz_operator_find(tz_operator *out, const tz_grid_state *grid, const tz_plan *plan,
                           double size, tz_error *error);
void tz_operator_clear(tz_operator *op);

/* When static fields have changed: b anew. *same: and A is what it was. */
tz_status tz_operator_renew(tz_operator *op, double size, bool *same, tz_error *error);

/* out = F(u), by the engine. */
tz_status tz_operator_iterate(tz_operator *op, const double *u, double *out, tz_error *error);

/* Bytes that finding it takes beside the state. */
int64_t tz_operator_bytes(const tz_problem *problem);

#endif
