/* An approximate inverse of a sparse matrix, as a preconditioner: multigrid by aggregation, with
 * two steps of conjugate gradients on each coarser level (a K-cycle; Notay, ETNA 37, 2010).
 *
 * Cells are joined in pairs along their strongest coupling, and the pairs in pairs again: so thin
 * layers and coefficients that jump are followed, whatever the grid is. */
#ifndef TZ_CORE_JUMP_MULTIGRID_H
#define TZ_CORE_JUMP_MULTIGRID_H

#include "jump/matrix.h"

typedef struct tz_multigrid tz_multigrid;

/* `matrix` is borrowed. Its values may change a little later on: those of coarser levels stay.
 * `symmetric`: it is, and it is positive definite or semidefinite. Errors: TZ_MEMORY. */
tz_status tz_multigrid_create(tz_multigrid **out, const tz_matrix *matrix, bool symmetric,
                              tz_threads *threads, tz_error *error);
void tz_multigrid_destroy(tz_multigrid *multigrid); /* NULL is fine */

/* x = about the inverse times r. r and x are different vectors. */
void tz_multigrid_apply(tz_multigrid *multigrid, const double *r, double *x);

#endif
