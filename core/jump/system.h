/* Solves (shift + scale (1 - A)) x = r for an operator (operator.h): by conjugate gradients if that
 * is symmetric in weights of its own, else by conjugate residuals, with multigrid before.
 *
 * The weights are found: with them the coefficient by which a cell feels another is the one by
 * which that feels it. For cells of different heat capacity they are the capacities, beside mirror
 * sides 1/2. What they sum up is what an iteration keeps if nothing is added. */
#ifndef TZ_CORE_JUMP_SYSTEM_H
#define TZ_CORE_JUMP_SYSTEM_H

#include "base/cancel.h"
#include "jump/matrix.h"
#include "jump/multigrid.h"
#include "jump/operator.h"

typedef struct tz_system tz_system;

/* What a solution took. */
typedef struct tz_system_facts {
    int64_t iterations;
    double reduction; /* of the residual, as a sum of squares in the weights */
} tz_system_facts;

/* `op` is borrowed. `direct`: factors by UMFPACK are the preconditioner. Errors: TZ_MEMORY; those
 * of tz_umfpack_create(). */
tz_status tz_system_create(tz_system **out, const tz_operator *op, double shift, double scale,
                           bool direct, tz_threads *threads, tz_error *error);
void tz_system_destroy(tz_system *system); /* NULL is fine */

/* Another shift and scale; the preconditioner stays, so it must be about the same. */
void tz_system_change(tz_system *system, double shift, double scale);

/* Solve for x, of all rows, until the residual is `reduction` times that of 0. What a row that
 * stands alone has, it has exactly. Errors: TZ_INTERRUPTED. */
tz_status tz_system_solve(tz_system *system, const double *r, double *x, double reduction,
                          const tz_cancel *cancel, tz_system_facts *facts, tz_error *error);

/* "conjugate gradients", "conjugate residuals" or "UMFPACK". */
const char *tz_system_method(const tz_system *system);
/* Cells that keep their weighted sum, since none of them feels anything else: there is a solution
 * only where the weighted mean of r is 0. True if there are such, with the mean that is farthest
 * from 0, and a row of that part. */
bool tz_system_mean(tz_system *system, const double *r, int64_t *row, double *mean);

/* ---- UMFPACK --------------------------------------------------------------------------------- */

/* UMFPACK 5 or 6, opened at run time: factors of a sparse matrix. Debian and Ubuntu have it in
 * libumfpack5 or libumfpack6. It is free software under the GPL; Trapeze neither contains it nor
 * needs it, and calls it with handles and arrays alone. */

typedef struct tz_umfpack tz_umfpack;

/* Factors of a matrix, which is not needed afterwards. Errors: TZ_UNSUPPORTED: the library is not
 * there, with what to install, or the matrix is singular; TZ_MEMORY. */
tz_status tz_umfpack_create(tz_umfpack **out, const tz_matrix *matrix, tz_error *error);
void tz_umfpack_destroy(tz_umfpack *factors); /* NULL is fine */

/* x = the inverse times r: different vectors. */
void tz_umfpack_apply(const tz_umfpack *factors, const double *r, double *x);

/* Write whether it is there, or how to get it, for `trapeze doctor`: a line. Returns which. */
bool tz_umfpack_describe(char *text, size_t size);

#endif
