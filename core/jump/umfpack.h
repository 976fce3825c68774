/* UMFPACK 5 or 6, opened at run time: factors of a sparse matrix. Debian and Ubuntu have it in
 * libumfpack5 or libumfpack6. It is free software under the GPL; Trapeze neither contains it nor
 * needs it, and calls it with handles and arrays alone. */
#ifndef TZ_CORE_JUMP_UMFPACK_H
#define TZ_CORE_JUMP_UMFPACK_H

#include "jump/matrix.h"

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
