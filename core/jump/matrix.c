/* Sparse matrices by rows, sums and products. Called by operator.c, multigrid.c and solver.c. */
#include "jump/matrix.h"

#include <stdlib.h>
#include <string.h>

tz_status tz_matrix_create(tz_matrix *out, int64_t rows, int64_t entries, tz_error *error)
{
    *out = (tz_matrix){.rows = rows};
    out->start = malloc(((size_t)rows + 1) * sizeof *out->start);
    out->diagonal = malloc(((size_t)rows + 1) * sizeof *out->diagonal);
    out->column = malloc(((size_t)entries + 1) * sizeof *out->column);
    out->value = malloc(((size_t)entries + 1) * sizeof *out->value);
    if (out->start && out->diagonal && out->column && out->value) {
        out->start[0] = 0;
        return TZ_OK;
    }
    tz_matrix_destroy(out);
    return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
}

void tz_matrix_destroy(tz_matrix *matrix)
{
    free(matrix->start);
    free(matrix->diagonal);
    free(matrix->column);
    free(matrix->value);
    *matrix = (tz_matrix){.rows = 0};
}

int64_t tz_matrix_at(const tz_matrix *matrix, int64_t row, int64_t column)
{
    int64_t low = matrix->start[row], high = matrix->start[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] == column)
            return middle;
        if (matrix->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void tz_matrix_find_diagonal(tz_matrix *matrix)
{
    for (int64_t i = 0; i < matrix->rows; i++)
        matrix->diagonal[i] = tz_matrix_at(matrix, i, i);
}

/* ---- Products and sums ----------------------------------------------------------------------- */

typedef struct product {
    const tz_matrix *matrix;
    const double *r, *x;
    double *y;
} product;

static void multiply_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const product *p = any;
    const tz_matrix *a = p->matrix;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        double sum = 0.0;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->value[k] * p->x[a->column[k]];
        p->y[i] = p->r ? p->r[i] - sum : sum;
    }
}

void tz_matrix_multiply(const tz_matrix *matrix, const double *r, const double *x, double *y,
                        tz_threads *threads)
{
    tz_threads_for(threads, matrix->rows, multiply_rows, &(product){matrix, r, x, y});
}

typedef struct sums {
    const double *x, *y;
    int64_t first, count;
    double *pieces;
} sums;

enum { PIECES = 1024 }; /* that are summed before they are added up */

static void sum_pieces(void *any, int64_t begin, int64_t end, int thread)
{
    const sums *s = any;
    (void)thread;
    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t from = (s->first + piece) * TZ_SUM_PIECE;
        const int64_t to = from + TZ_SUM_PIECE < s->count ? from + TZ_SUM_PIECE : s->count;
        double lanes[4] = {0.0};
        int64_t i = from;
        for (; i + 4 <= to; i += 4)
            for (int lane = 0; lane < 4; lane++)
                lanes[lane] += s->x[i + lane] * s->y[i + lane];
        for (; i < to; i++)
            lanes[0] += s->x[i] * s->y[i];
        s->pieces[piece] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

double tz_vector_dot(const double *x, const double *y, int64_t count, tz_threads *threads)
{
    double pieces[PIECES], sum = 0.0;
    const int64_t all = (count + TZ_SUM_PIECE - 1) / TZ_SUM_PIECE;
    for (int64_t first = 0; first < all; first += PIECES) {
        const int64_t some = all - first < PIECES ? all - first : PIECES;
        tz_threads_for(threads, some, sum_pieces, &(sums){x, y, first, count, pieces});
        for (int64_t i = 0; i < some; i++)
            sum += pieces[i];
    }
    return sum;
}

typedef struct addition {
    double *y, a;
    const double *x;
} addition;

static void add_part(void *any, int64_t begin, int64_t end, int thread)
{
    const addition *sum = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        sum->y[i] += sum->a * sum->x[i];
}

void tz_vector_add(double *y, double a, const double *x, int64_t count, tz_threads *threads)
{
    tz_threads_for(threads, count, add_part, &(addition){y, a, x});
}
