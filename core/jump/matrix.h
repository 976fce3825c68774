/* Sparse matrices by rows, and sums and products whose bits do not depend on the number of
 * threads. */
#ifndef TZ_CORE_JUMP_MATRIX_H
#define TZ_CORE_JUMP_MATRIX_H

#include "base/threads.h"
#include <stdbool.h>

/* Row i has the entries start[i] to start[i + 1] - 1, with columns in ascending order. */
typedef struct tz_matrix {
    int64_t rows;
    int64_t *start;    /* rows + 1 of them */
    int64_t *diagonal; /* the entry of each row on the diagonal: every row has one */
    int32_t *column;
    double *value;
} tz_matrix;

/* Room for a matrix, whose members are not set but start[0]. Errors: TZ_MEMORY. */
tz_status tz_matrix_create(tz_matrix *out, int64_t rows, int64_t entries, tz_error *error);
void tz_matrix_destroy(tz_matrix *matrix);

/* Set `diagonal` from the columns. */
void tz_matrix_find_diagonal(tz_matrix *matrix);

/* The entry at (row, column), or -1. */
int64_t tz_matrix_at(const tz_matrix *matrix, int64_t row, int64_t column);

/* y = r - A x, or A x if r is NULL. y may be r. */
void tz_matrix_multiply(const tz_matrix *matrix, const double *r, const double *x, double *y,
                        tz_threads *threads);

/* The sum of x[i] * y[i]: of pieces of TZ_SUM_PIECE elements, which are added in order. */
enum { TZ_SUM_PIECE = 4096 };
double tz_vector_dot(const double *x, const double *y, int64_t count, tz_threads *threads);

/* y += a x. */
void tz_vector_add(double *y, double a, const double *x, int64_t count, tz_threads *threads);

#endif
