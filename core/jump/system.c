/* Conjugate gradients and conjugate residuals with multigrid before; factors by UMFPACK. Called by
 * solver.c, and by `trapeze doctor`. */
#include "jump/system.h"

#include "base/library.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITERATIONS_MAX = 1000,
    DEPTH = 20, /* directions that conjugate residuals keep */
    VECTORS = 5,
    VECTORS_MAX = 2 + 2 * DEPTH /* without symmetry */
};

static const double EPSILON = 0x1p-52;
/* Weights that two ways to a cell give may differ by so much. */
static const double ALIKE = 1e-8;
/* In units of rounding: a row whose sum is less than this times its coefficients has the sum 0. */
static const double ROW_ROUNDING = 64.0;
/* Of the square of the residual, after DEPTH iterations: no more will come. */
static const double STALLED = 0.99;

struct tz_system {
    const tz_operator *op;
    tz_threads *threads;
    double shift, scale;
    /* Rows that feel other rows. The others stand alone: their x is r / diagonal. */
    int64_t count;
    int32_t *row;   /* of the operator, of each of them */
    int32_t *place; /* of each row of the operator among them, or -1 */
    bool alone;     /* some rows stand alone */
    bool symmetric;
    double *weight; /* of each; without symmetry the inverse of the diagonal */
    int32_t *part;  /* of each: the first of those that are coupled with it */
    bool *keeps;    /* by the first of a part: it keeps its sum */
    bool any_keeps;
    tz_matrix matrix; /* in weights */
    tz_multigrid *multigrid;
    tz_umfpack *factors;         /* in its place, or NULL */
    double *vector[VECTORS_MAX]; /* of `count` */
    double *all[2];              /* of all rows */
};

/* ---- Which rows, and their parts ------------------------------------------------------------- */

static bool stands_alone(const tz_operator *op, int64_t row)
{
    const tz_matrix *m = &op->matrix;
    for (int64_t k = m->start[row]; k < m->start[row + 1]; k++)
        if (m->column[k] != row && m->value[k] != 0.0)
            return false;
    return true;
}

static void find_rows(tz_system *s)
{
    for (int64_t row = 0; row < s->op->rows; row++) {
        s->place[row] = -1;
        if (stands_alone(s->op, row))
            continue;
        s->row[s->count] = (int32_t)row;
        s->place[row] = (int32_t)s->count++;
    }
    s->alone = s->count < s->op->rows;
}

static int32_t first_of(int32_t *part, int32_t i)
{
    while (part[i] != i)
        i = part[i] = part[part[i]];
    return i;
}

static void find_parts(tz_system *s)
{
    const tz_matrix *m = &s->matrix;
    for (int64_t i = 0; i < s->count; i++)
        s->part[i] = (int32_t)i;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            const int32_t a = first_of(s->part, (int32_t)i), b = first_of(s->part, m->column[k]);
            s->part[a < b ? b : a] = a < b ? a : b;
        }
    for (int64_t i = 0; i < s->count; i++)
        s->part[i] = first_of(s->part, (int32_t)i);
}

/* Parts of which nothing is taken: each row's sum is 0, also without the rows that stand alone. */
static void find_keeping(tz_system *s)
{
    const tz_matrix *m = &s->op->matrix;
    for (int64_t i = 0; i < s->count; i++)
        s->keeps[i] = true;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t row = s->row[i];
        double sum = s->op->sum[row], weight = 0.0;
        for (int64_t k = m->start[row]; k < m->start[row + 1]; k++) {
            sum -= s->place[m->column[k]] < 0 ? m->value[k] : 0.0;
            weight += fabs(m->value[k]);
        }
        if (s->symmetric && fabs(sum) > ROW_ROUNDING * EPSILON * weight)
            s->keeps[s->part[i]] = false;
    }
    for (int64_t i = 0; i < s->count; i++)
        s->any_keeps = s->any_keeps || (s->symmetric && s->keeps[s->part[i]]);
}

/* ---- The matrix ------------------------------------------------------------------------------ */

/* 1 - A of the rows that feel others. */
static tz_status take_matrix(tz_system *s, tz_error *error)
{
    const tz_matrix *from = &s->op->matrix;
    tz_matrix *to = &s->matrix;
    const tz_status status = tz_matrix_create(to, s->count, from->start[from->rows], error);
    int64_t used = 0;
    for (int64_t i = 0; !status && i < s->count; i++) {
        const int64_t row = s->row[i];
        for (int64_t k = from->start[row]; k < from->start[row + 1]; k++)
            if (s->place[from->column[k]] >= 0) {
                to->column[used] = s->place[from->column[k]];
                to->value[used++] = from->value[k];
            }
        to->start[i + 1] = used;
    }
    if (!status)
        tz_matrix_find_diagonal(to);
    return status;
}

/* The weight that row i gives a row that it feels; NAN: none can make them alike. */
static double weight_from(const tz_system *s, int64_t i, int64_t k)
{
    const tz_matrix *m = &s->matrix;
    const int64_t back = tz_matrix_at(m, m->column[k], i);
    const double weight = back < 0 ? NAN : s->weight[i] * m->value[k] / m->value[back];
    return weight > 0.0 && isfinite(weight) ? weight : NAN;
}

/* From one row of each part on: 0 is a weight that is not known. */
static bool find_weights(tz_system *s, int32_t *stack)
{
    const tz_matrix *m = &s->matrix;
    for (int64_t root = 0; root < s->count; root++) {
        int64_t depth = 0;
        if (s->weight[root] != 0.0)
            continue;
        s->weight[root] = 1.0;
        stack[depth++] = (int32_t)root;
        while (depth > 0) {
            const int64_t i = stack[--depth];
            if (!(m->value[m->diagonal[i]] > 0.0))
                return false;
            for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
                const int64_t j = m->column[k];
                if (j == i || m->value[k] == 0.0)
                    continue;
                const double weight = weight_from(s, i, k);
                if (s->weight[j] == 0.0 && weight > 0.0) {
                    s->weight[j] = weight;
                    stack[depth++] = (int32_t)j;
                } else if (!(fabs(weight - s->weight[j]) <= ALIKE * s->weight[j])) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* The largest weight of each part becomes 1. */
static void scale_weights(tz_system *s, double *largest)
{
    memset(largest, 0, (size_t)s->count * sizeof *largest);
    for (int64_t i = 0; i < s->count; i++)
        largest[s->part[i]] = fmax(largest[s->part[i]], s->weight[i]);
    for (int64_t i = 0; i < s->count; i++)
        s->weight[i] /= largest[s->part[i]];
}

/* weight (shift + scale (1 - A)) of the rows that feel others. */
static void set_values(tz_system *s)
{
    const tz_matrix *from = &s->op->matrix;
    tz_matrix *to = &s->matrix;
    int64_t used = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t row = s->row[i];
        for (int64_t k = from->start[row]; k < from->start[row + 1]; k++)
            if (s->place[from->column[k]] >= 0)
                to->value[used++] = s->weight[i] * s->scale * from->value[k];
        to->value[to->diagonal[i]] += s->weight[i] * s->shift;
    }
}

/* ---- Creation -------------------------------------------------------------------------------- */

static tz_status create_arrays(tz_system *s, tz_error *error)
{
    const size_t rows = (size_t)s->op->rows + 1;
    bool there = true;
    s->row = malloc(rows * sizeof *s->row);
    s->place = malloc(rows * sizeof *s->place);
    s->part = malloc(rows * sizeof *s->part);
    s->keeps = malloc(rows * sizeof *s->keeps);
    s->weight = calloc(rows, sizeof *s->weight);
    for (int i = 0; i < VECTORS; i++)
        there = (s->vector[i] = malloc(rows * sizeof **s->vector)) && there;
    for (int i = 0; i < 2; i++)
        there = (s->all[i] = malloc(rows * sizeof **s->all)) && there;
    there = there && s->row && s->place && s->part && s->keeps && s->weight;
    return there ? TZ_OK : tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
}

/* The matrix has no symmetry: rows of one size, and room for conjugate residuals. */
static tz_status prepare_any(tz_system *s, tz_error *error)
{
    bool there = true;
    for (int64_t i = 0; i < s->count; i++) {
        const double diagonal = s->matrix.value[s->matrix.diagonal[i]];
        s->weight[i] = diagonal > 0.0 ? 1.0 / diagonal : 1.0;
    }
    for (int i = VECTORS; i < VECTORS_MAX; i++)
        there = (s->vector[i] = malloc(((size_t)s->count + 1) * sizeof **s->vector)) && there;
    return there ? TZ_OK : tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
}

static tz_status create(tz_system *s, bool direct, tz_error *error)
{
    tz_status status = create_arrays(s, error);
    if (status)
        return status;
    find_rows(s);
    status = take_matrix(s, error);
    if (status)
        return status;
    find_parts(s);
    s->symmetric = find_weights(s, (int32_t *)s->vector[0]);
    if (!s->symmetric)
        status = prepare_any(s, error);
    if (status)
        return status;
    scale_weights(s, s->vector[0]);
    find_keeping(s);
    set_values(s);
    if (direct && s->count > 0)
        return tz_umfpack_create(&s->factors, &s->matrix, error);
    return tz_multigrid_create(&s->multigrid, &s->matrix, s->symmetric, s->threads, error);
}

tz_status tz_system_create(tz_system **out, const tz_operator *op, double shift, double scale,
                           bool direct, tz_threads *threads, tz_error *error)
{
    tz_system *s = *out = calloc(1, sizeof *s);
    if (!s)
        return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    s->op = op;
    s->threads = threads;
    s->shift = shift;
    s->scale = scale;
    const tz_status status = create(s, direct, error);
    if (status) {
        tz_system_destroy(s);
        *out = NULL;
    }
    return status;
}

void tz_system_destroy(tz_system *system)
{
    if (!system)
        return;
    tz_multigrid_destroy(system->multigrid);
    tz_umfpack_destroy(system->factors);
    tz_matrix_destroy(&system->matrix);
    free(system->row);
    free(system->place);
    free(system->part);
    free(system->keeps);
    free(system->weight);
    for (int i = 0; i < VECTORS_MAX; i++)
        free(system->vector[i]);
    for (int i = 0; i < 2; i++)
        free(system->all[i]);
    free(system);
}

void tz_system_change(tz_system *system, double shift, double scale)
{
    if (system->shift == shift && system->scale == scale)
        return;
    system->shift = shift;
    system->scale = scale;
    set_values(system);
}

const char *tz_system_method(const tz_system *system)
{
    return system->factors     ? "UMFPACK"
           : system->symmetric ? "conjugate gradients"
                               : "conjugate residuals";
}

/* ---- What is kept ---------------------------------------------------------------------------- */

/* The weighted sums of v, and those of the weights, of each part. */
static void sum_parts(const tz_system *s, const double *v, double *sums, double *weights)
{
    memset(sums, 0, (size_t)s->count * sizeof *sums);
    memset(weights, 0, (size_t)s->count * sizeof *weights);
    for (int64_t i = 0; i < s->count; i++) {
        sums[s->part[i]] += s->weight[i] * v[i];
        weights[s->part[i]] += s->weight[i];
    }
}

/* Take from v the mean of each part that keeps its sum. */
static void remove_means(const tz_system *s, double *v, double *sums, double *weights)
{
    if (!s->any_keeps || s->shift != 0.0)
        return;
    sum_parts(s, v, sums, weights);
    for (int64_t i = 0; i < s->count; i++)
        if (s->keeps[s->part[i]])
            v[i] -= sums[s->part[i]] / weights[s->part[i]];
}

/* z = about the inverse of the matrix times r. */
static void precondition(const tz_system *s, const double *r, double *z)
{
    if (s->factors)
        tz_umfpack_apply(s->factors, r, z);
    else
        tz_multigrid_apply(s->multigrid, r, z);
}

/* ---- Conjugate gradients --------------------------------------------------------------------- */

static tz_status is_stopped(const tz_cancel *cancel, tz_error *error)
{
    return cancel && tz_cancelled(cancel)
               ? tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted while solving")
               : TZ_OK;
}

/* x from r, which becomes the residual: the flexible method, since the preconditioner is not the
 * same in each iteration. */
static tz_status solve_symmetric(tz_system *s, double *r, double *x, double limit,
                                 const tz_cancel *cancel, tz_system_facts *facts, tz_error *error)
{
    const int64_t n = s->count;
    double *const z = s->vector[2], *const d = s->vector[3], *const q = s->vector[4];
    double rho = 0.0, norm = tz_vector_dot(r, r, n, s->threads);
    const double enough = limit * limit * norm;
    tz_status status = TZ_OK;
    facts->reduction = norm;
    while (!status && norm > enough && facts->iterations < ITERATIONS_MAX) {
        precondition(s, r, z);
        const double beta = facts->iterations > 0 ? -tz_vector_dot(z, q, n, s->threads) / rho : 0.0;
        for (int64_t i = 0; i < n; i++)
            d[i] = z[i] + (beta != 0.0 ? beta * d[i] : 0.0);
        tz_matrix_multiply(&s->matrix, NULL, d, q, s->threads);
        rho = tz_vector_dot(d, q, n, s->threads);
        if (!(rho > 0.0))
            break;
        const double alpha = tz_vector_dot(d, r, n, s->threads) / rho;
        tz_vector_add(x, alpha, d, n, s->threads);
        tz_vector_add(r, -alpha, q, n, s->threads);
        norm = tz_vector_dot(r, r, n, s->threads);
        facts->iterations++;
        status = is_stopped(cancel, error);
    }
    facts->reduction = facts->reduction > 0.0 ? sqrt(norm / facts->reduction) : 0.0;
    return status;
}

/* ---- Conjugate residuals --------------------------------------------------------------------- */

/* Without symmetry. The residual never grows, and the preconditioner may differ in each iteration
 * (Eisenstat, Elman and Schultz, SIAM J. Numer. Anal. 20, 1983, with the last DEPTH directions). */
static tz_status solve_any(tz_system *s, double *r, double *x, double limit,
                           const tz_cancel *cancel, tz_system_facts *facts, tz_error *error)
{
    const int64_t n = s->count;
    double *const *d = s->vector + 2, *const *q = s->vector + 2 + DEPTH, squares[DEPTH];
    double norm = tz_vector_dot(r, r, n, s->threads), before = norm;
    const double enough = limit * limit * norm;
    int kept = 0;
    tz_status status = TZ_OK;
    facts->reduction = norm;
    while (!status && norm > enough && facts->iterations < ITERATIONS_MAX) {
        const int at = (int)(facts->iterations % DEPTH);
        if (at == 0 && kept == DEPTH && norm > STALLED * before)
            break; /* rounding leaves the rest */
        before = at == 0 ? norm : before;
        precondition(s, r, d[at]);
        tz_matrix_multiply(&s->matrix, NULL, d[at], q[at], s->threads);
        for (int i = 0; i < kept; i++) {
            if (i == at)
                continue;
            const double beta = tz_vector_dot(q[at], q[i], n, s->threads) / squares[i];
            tz_vector_add(d[at], -beta, d[i], n, s->threads);
            tz_vector_add(q[at], -beta, q[i], n, s->threads);
        }
        kept += kept < DEPTH;
        squares[at] = tz_vector_dot(q[at], q[at], n, s->threads);
        if (!(squares[at] > 0.0))
            break;
        const double alpha = tz_vector_dot(q[at], r, n, s->threads) / squares[at];
        tz_vector_add(x, alpha, d[at], n, s->threads);
        tz_vector_add(r, -alpha, q[at], n, s->threads);
        norm = tz_vector_dot(r, r, n, s->threads);
        facts->iterations++;
        status = is_stopped(cancel, error);
    }
    facts->reduction = facts->reduction > 0.0 ? sqrt(norm / facts->reduction) : 0.0;
    return status;
}

/* ---- A solution ------------------------------------------------------------------------------ */

/* The rows that stand alone, and what they leave of r for the others. */
static const double *settle_alone(tz_system *s, const double *r, double *x)
{
    const tz_matrix *m = &s->op->matrix;
    memset(x, 0, (size_t)s->op->rows * sizeof *x);
    if (!s->alone)
        return r;
    for (int64_t row = 0; row < s->op->rows; row++) {
        const double diagonal = s->shift + s->scale * m->value[m->diagonal[row]];
        if (s->place[row] < 0 && diagonal != 0.0)
            x[row] = r[row] / diagonal;
    }
    tz_matrix_multiply(m, NULL, x, s->all[1], s->threads);
    for (int64_t row = 0; row < s->op->rows; row++)
        s->all[1][row] = r[row] - s->scale * s->all[1][row];
    return s->all[1];
}

/* Of a row that stands alone and keeps its value, r itself must be 0. */
static bool find_alone(const tz_system *s, const double *r, int64_t *row, double *mean)
{
    const tz_matrix *m = &s->op->matrix;
    for (int64_t i = 0; s->alone && i < s->op->rows; i++)
        if (s->place[i] < 0 && m->value[m->diagonal[i]] == 0.0 && fabs(r[i]) > fabs(*mean)) {
            *row = i;
            *mean = r[i];
        }
    return *mean != 0.0;
}

bool tz_system_mean(tz_system *system, const double *r, int64_t *row, double *mean)
{
    double *const *v = system->vector;
    *mean = 0.0;
    bool found = find_alone(system, r, row, mean);
    if (!system->any_keeps)
        return found;
    r = settle_alone(system, r, system->all[0]);
    for (int64_t i = 0; i < system->count; i++)
        v[0][i] = r[system->row[i]];
    sum_parts(system, v[0], v[1], v[2]);
    for (int64_t i = 0; i < system->count; i++)
        if (system->part[i] == i && system->keeps[i] && !(fabs(v[1][i]) <= fabs(*mean) * v[2][i])) {
            found = true;
            *row = system->row[i];
            *mean = v[1][i] / v[2][i];
        }
    return found;
}

tz_status tz_system_solve(tz_system *system, const double *r, double *x, double reduction,
                          const tz_cancel *cancel, tz_system_facts *facts, tz_error *error)
{
    double *const rest = system->vector[0], *const found = system->vector[1];
    *facts = (tz_system_facts){.iterations = 0};
    r = settle_alone(system, r, x);
    for (int64_t i = 0; i < system->count; i++)
        rest[i] = r[system->row[i]];
    remove_means(system, rest, system->vector[2], system->vector[3]);
    for (int64_t i = 0; i < system->count; i++) {
        rest[i] *= system->weight[i];
        found[i] = 0.0;
    }
    const tz_status status =
        system->symmetric ? solve_symmetric(system, rest, found, reduction, cancel, facts, error)
                          : solve_any(system, rest, found, reduction, cancel, facts, error);
    remove_means(system, found, system->vector[2], system->vector[3]);
    for (int64_t i = 0; i < system->count; i++)
        x[system->row[i]] = found[i];
    return status;
}

/* ---- UMFPACK --------------------------------------------------------------------------------- */

enum { TRANSPOSED = 1, OUT_OF_MEMORY = -1 }; /* UMFPACK_At: our rows are its columns */

typedef struct library {
    long (*symbolic)(long rows, long columns, const long *start, const long *index,
                     const double *value, void **out, const double *control, double *info);
    long (*numeric)(const long *start, const long *index, const double *value, void *symbolic,
                    void **out, const double *control, double *info);
    long (*solve)(long system, const long *start, const long *index, const double *value, double *x,
                  const double *b, void *numeric, const double *control, double *info);
    void (*free_symbolic)(void **symbolic);
    void (*free_numeric)(void **numeric);
} library;

struct tz_umfpack {
    library library;
    void *numeric;
    long *start, *column;
    double *value;
};

static tz_status open_library(library *out, const char **name, tz_error *error)
{
    static const char *const known[] = {"libumfpack.so.6", "libumfpack.so.5", "libumfpack.so",
                                        NULL};
    static const tz_library_symbol symbols[] = {
        {"umfpack_dl_symbolic", offsetof(library, symbolic), false},
        {"umfpack_dl_numeric", offsetof(library, numeric), false},
        {"umfpack_dl_solve", offsetof(library, solve), false},
        {"umfpack_dl_free_symbolic", offsetof(library, free_symbolic), false},
        {"umfpack_dl_free_numeric", offsetof(library, free_numeric), false}};
    const tz_library opened =
        tz_library_open(known, out, symbols, sizeof symbols / sizeof *symbols);
    *name = opened.name;
    if (!opened.handle || opened.missing)
        return tz_error_set(error, TZ_UNSUPPORTED, "direct",
                            "factors need libumfpack, which is not found: install it (Debian, "
                            "Ubuntu: apt-get install libumfpack5, or libumfpack6), or leave by = "
                            "\"direct\" out");
    return TZ_OK;
}

bool tz_umfpack_describe(char *text, size_t size)
{
    library found;
    const char *name;
    const bool there = open_library(&found, &name, NULL) == TZ_OK;
    if (there)
        snprintf(text, size, "factors of steady states (by = \"direct\"): by %s", name);
    else
        snprintf(text, size,
                 "factors of steady states (by = \"direct\"): libumfpack is missing, optional: "
                 "apt-get install libumfpack5 or libumfpack6 (free software under the GPL)");
    return there;
}

static tz_status copy(tz_umfpack *u, const tz_matrix *matrix, tz_error *error)
{
    const int64_t entries = matrix->start[matrix->rows];
    u->start = malloc(((size_t)matrix->rows + 1) * sizeof *u->start);
    u->column = malloc(((size_t)entries + 1) * sizeof *u->column);
    u->value = malloc(((size_t)entries + 1) * sizeof *u->value);
    if (!u->start || !u->column || !u->value)
        return tz_error_set(error, TZ_MEMORY, "direct", "not enough memory");
    for (int64_t i = 0; i <= matrix->rows; i++)
        u->start[i] = matrix->start[i];
    for (int64_t k = 0; k < entries; k++) {
        u->column[k] = matrix->column[k];
        u->value[k] = matrix->value[k];
    }
    return TZ_OK;
}

static tz_status factorize(tz_umfpack *u, int64_t rows, tz_error *error)
{
    void *symbolic = NULL;
    long failed =
        u->library.symbolic(rows, rows, u->start, u->column, u->value, &symbolic, NULL, NULL);
    if (failed == 0)
        failed =
            u->library.numeric(u->start, u->column, u->value, symbolic, &u->numeric, NULL, NULL);
    if (symbolic)
        u->library.free_symbolic(&symbolic);
    if (failed == OUT_OF_MEMORY)
        return tz_error_set(
            error, TZ_MEMORY, "direct",
            "there is not enough memory for the factors: leave by = \"direct\" out");
    return failed == 0 ? TZ_OK
                       : tz_error_set(error, TZ_UNSUPPORTED, "direct",
                                      "the system is singular (UMFPACK's status %ld): something is "
                                      "kept, so leave by = \"direct\" out",
                                      failed);
}

tz_status tz_umfpack_create(tz_umfpack **out, const tz_matrix *matrix, tz_error *error)
{
    const char *name;
    tz_umfpack *u = *out = calloc(1, sizeof *u);
    if (!u)
        return tz_error_set(error, TZ_MEMORY, "direct", "not enough memory");
    tz_status status = open_library(&u->library, &name, error);
    if (!status)
        status = copy(u, matrix, error);
    if (!status)
        status = factorize(u, matrix->rows, error);
    if (status) {
        tz_umfpack_destroy(u);
        *out = NULL;
    }
    return status;
}

void tz_umfpack_destroy(tz_umfpack *factors)
{
    if (!factors)
        return;
    if (factors->numeric)
        factors->library.free_numeric(&factors->numeric);
    free(factors->start);
    free(factors->column);
    free(factors->value);
    free(factors);
}

void tz_umfpack_apply(const tz_umfpack *factors, const double *r, double *x)
{
    factors->library.solve(TRANSPOSED, factors->start, factors->column, factors->value, x, r,
                           factors->numeric, NULL, NULL);
}
