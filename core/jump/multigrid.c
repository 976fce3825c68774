/* Multigrid by aggregation. Called by solver.c. */
#include "jump/multigrid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_MAX = 24,
    DENSE_ROWS = 256,  /* a level of so few rows is solved directly */
    BLOCK_ROWS = 8192, /* rows that are relaxed one after the other; blocks side by side */
    COARSEST_SWEEPS = 8
};

/* A neighbour is coupled strongly if its coefficient is at least this part of the largest. */
static const double STRONG = 0.25;
/* A row whose diagonal is so many times the sum of the others needs no coarser level. */
static const double DOMINANT = 5.0;
/* The second step of a K-cycle is left out if the first leaves no more than this. */
static const double ENOUGH = 0.25;
/* A coarser level with more than this part of the rows is not worth while. */
static const double STALLED = 0.8;

typedef struct level {
    tz_matrix own;           /* but for the finest level */
    const tz_matrix *matrix; /* of it */
    double *inverse;         /* of the diagonal; 0 where that is 0 */
    int32_t *into;           /* the row of the next level, or -1 */
    /* vectors of the level */
    double *r, *rest, *x, *first, *image, *second, *image_2;
} level;

struct tz_multigrid {
    tz_threads *threads;
    bool symmetric;
    int count;
    level levels[LEVELS_MAX];
    double *dense; /* factors of the coarsest level, row by row; NULL: it is relaxed */
    int *order;    /* of its rows */
};

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Whether relaxation alone is enough for a row. */
static bool is_dominant(const tz_matrix *a, int64_t i)
{
    double others = 0.0;
    for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
        others += a->column[k] == i ? 0.0 : fabs(a->value[k]);
    return fabs(a->value[a->diagonal[i]]) > DOMINANT * others;
}

enum { FREE = -2 }; /* a row that has no pair yet */

/* The neighbour to pair a row with, or -1: the free one with the strongest coupling. If only such
 * are strong that have pairs already, the strongest of these. */
static int64_t strongest(const tz_matrix *a, int64_t i, const int32_t *into)
{
    const double sign = a->value[a->diagonal[i]] < 0.0 ? -1.0 : 1.0;
    double most = 0.0, best = 0.0, best_taken = 0.0;
    int64_t found = -1, taken = -1;
    for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
        const int64_t j = a->column[k];
        const double coupling = j == i ? 0.0 : -sign * a->value[k];
        most = coupling > most ? coupling : most;
        if (coupling > best && into[j] == FREE) {
            best = coupling;
            found = j;
        } else if (coupling > best_taken && into[j] >= 0) {
            best_taken = coupling;
            taken = j;
        }
    }
    return best >= STRONG * most ? found : best_taken >= STRONG * most ? taken : -1;
}

/* Give each row the pair that it belongs to. Returns the number of pairs. Some have more rows than
 * two: a layer of rows that are coupled weakly with each other and strongly with rows that are
 * pairs of their own would be left over, on every level. `drop`: dominant rows belong to none. */
static int64_t pair_rows(const tz_matrix *a, bool drop, int32_t *into)
{
    int64_t pairs = 0;
    for (int64_t i = 0; i < a->rows; i++)
        into[i] = drop && is_dominant(a, i) ? -1 : FREE;
    for (int64_t i = 0; i < a->rows; i++) {
        if (into[i] != FREE)
            continue;
        const int64_t j = strongest(a, i, into);
        if (j >= 0 && into[j] != FREE) {
            into[i] = into[j];
            continue;
        }
        into[i] = (int32_t)pairs;
        if (j >= 0)
            into[j] = (int32_t)pairs;
        pairs++;
    }
    return pairs;
}

/* ---- The matrix of the pairs ----------------------------------------------------------------- */

/* The rows of each pair, one after the other. */
static void list_rows(const int32_t *into, int64_t rows, int64_t pairs, int64_t *first,
                      int32_t *list)
{
    memset(first, 0, ((size_t)pairs + 2) * sizeof *first);
    for (int64_t i = 0; i < rows; i++)
        if (into[i] >= 0)
            first[into[i] + 2]++;
    for (int64_t p = 0; p < pairs; p++)
        first[p + 2] += first[p + 1];
    for (int64_t i = 0; i < rows; i++)
        if (into[i] >= 0)
            list[first[into[i] + 1]++] = (int32_t)i;
}

/* Sort the entries of a row by column: there are few. */
static void sort_row(tz_matrix *a, int64_t begin, int64_t end)
{
    for (int64_t k = begin + 1; k < end; k++) {
        const int32_t column = a->column[k];
        const double value = a->value[k];
        int64_t to = k;
        for (; to > begin && a->column[to - 1] > column; to--) {
            a->column[to] = a->column[to - 1];
            a->value[to] = a->value[to - 1];
        }
        a->column[to] = column;
        a->value[to] = value;
    }
}

/* coarse = Pt A P, where P has a 1 for each row in the column of its pair. */
static tz_status join(const tz_matrix *a, const int32_t *into, int64_t pairs, tz_matrix *coarse,
                      tz_error *error)
{
    int64_t *first = malloc(((size_t)pairs + 2) * sizeof *first);
    int32_t *list = malloc(((size_t)a->rows + 1) * sizeof *list);
    int64_t *at = malloc(((size_t)pairs + 1) * sizeof *at); /* the entry of each column */
    tz_status status = tz_matrix_create(coarse, pairs, a->start[a->rows], error);
    if (!status && !(first && list && at))
        status = tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    if (!status) {
        int64_t used = 0;
        list_rows(into, a->rows, pairs, first, list);
        for (int64_t p = 0; p < pairs; p++)
            at[p] = -1;
        for (int64_t p = 0; p < pairs; p++) {
            const int64_t begin = used;
            for (int64_t m = first[p]; m < first[p + 1]; m++)
                for (int64_t k = a->start[list[m]]; k < a->start[list[m] + 1]; k++) {
                    const int32_t column = into[a->column[k]];
                    if (column < 0)
                        continue;
                    if (at[column] < begin) {
                        at[column] = used;
                        coarse->column[used] = column;
                        coarse->value[used++] = 0.0;
                    }
                    coarse->value[at[column]] += a->value[k];
                }
            sort_row(coarse, begin, used);
            coarse->start[p + 1] = used;
        }
        tz_matrix_find_diagonal(coarse);
    }
    free(first);
    free(list);
    free(at);
    return status;
}

/* The next level: pairs of pairs. *made is false if it would be hardly smaller. */
static tz_status coarsen(level *fine, tz_matrix *coarse, bool *made, tz_error *error)
{
    const tz_matrix *a = fine->matrix;
    tz_matrix half = {.rows = 0};
    int32_t *again = NULL;
    *made = false;
    *coarse = (tz_matrix){.rows = 0};
    const int64_t pairs = pair_rows(a, true, fine->into);
    if (pairs == 0) {
        *made = true; /* relaxation is enough */
        return TZ_OK;
    }
    tz_status status = join(a, fine->into, pairs, &half, error);
    if (!status && !(again = malloc((size_t)pairs * sizeof *again)))
        status = tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    if (!status) {
        const int64_t rows = pair_rows(&half, false, again);
        *made = (double)rows < STALLED * (double)a->rows;
        if (*made)
            status = join(&half, again, rows, coarse, error);
        for (int64_t i = 0; i < a->rows; i++)
            fine->into[i] = fine->into[i] < 0 ? -1 : again[fine->into[i]];
    }
    tz_matrix_destroy(&half);
    free(again);
    return status;
}

/* ---- Relaxation ------------------------------------------------------------------------------ */

/* Gauss-Seidel from 0 within blocks of rows, which know nothing of each other: forward before the
 * coarser level, backward after it. */
typedef struct sweep {
    const level *of;
    const double *r;
    double *x;
    bool add; /* to x what the sweep gives, which `room` holds meanwhile */
    double *room;
} sweep;

static void forward(void *any, int64_t begin, int64_t end, int thread)
{
    const sweep *s = any;
    const tz_matrix *a = s->of->matrix;
    (void)thread;
    for (int64_t block = begin; block < end; block++) {
        const int64_t low = block * BLOCK_ROWS;
        const int64_t high = low + BLOCK_ROWS < a->rows ? low + BLOCK_ROWS : a->rows;
        for (int64_t i = low; i < high; i++) {
            double sum = s->r[i];
            for (int64_t k = a->start[i]; k < a->diagonal[i]; k++)
                if (a->column[k] >= low)
                    sum -= a->value[k] * s->x[a->column[k]];
            s->x[i] = sum * s->of->inverse[i];
        }
    }
}

static void backward(void *any, int64_t begin, int64_t end, int thread)
{
    const sweep *s = any;
    const tz_matrix *a = s->of->matrix;
    (void)thread;
    for (int64_t block = begin; block < end; block++) {
        const int64_t low = block * BLOCK_ROWS;
        const int64_t high = low + BLOCK_ROWS < a->rows ? low + BLOCK_ROWS : a->rows;
        for (int64_t i = high - 1; i >= low; i--) {
            double sum = s->r[i];
            for (int64_t k = a->diagonal[i] + 1; k < a->start[i + 1]; k++)
                if (a->column[k] < high)
                    sum -= a->value[k] * s->room[a->column[k]];
            s->room[i] = sum * s->of->inverse[i];
        }
        for (int64_t i = low; i < high; i++)
            s->x[i] += s->room[i];
    }
}

static int64_t blocks_of(const level *l)
{
    return (l->matrix->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

/* x = forward sweep of r. */
static void relax_first(const tz_multigrid *m, const level *l, const double *r, double *x)
{
    tz_threads_for(m->threads, blocks_of(l), forward, &(sweep){.of = l, .r = r, .x = x});
}

/* x += backward sweep of r - A x. */
static void relax_last(const tz_multigrid *m, const level *l, const double *r, double *x)
{
    tz_matrix_multiply(l->matrix, r, x, l->rest, m->threads);
    tz_threads_for(m->threads, blocks_of(l), backward,
                   &(sweep){.of = l, .r = l->rest, .x = x, .room = l->image_2});
}

/* ---- The coarsest level ---------------------------------------------------------------------- */

/* LU with rows exchanged. A pivot that is 0 but for rounding is left out: the matrix is singular,
 * and that unknown is any number. */
static tz_status factorize(tz_multigrid *m, tz_error *error)
{
    const tz_matrix *a = m->levels[m->count - 1].matrix;
    const int n = (int)a->rows;
    double *lu = m->dense = calloc((size_t)n * (size_t)n + 1, sizeof *lu), largest = 0.0;
    int *order = m->order = malloc(((size_t)n + 1) * sizeof *order);
    if (!lu || !order)
        return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    for (int i = 0; i < n; i++) {
        order[i] = i;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
            lu[i * n + a->column[k]] = a->value[k];
            largest = fmax(largest, fabs(a->value[k]));
        }
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = fabs(lu[i * n + k]) > fabs(lu[best * n + k]) ? i : best;
        for (int j = 0; j < n && best != k; j++) {
            const double kept = lu[k * n + j];
            lu[k * n + j] = lu[best * n + j];
            lu[best * n + j] = kept;
        }
        const int row = order[k];
        order[k] = order[best];
        order[best] = row;
        const double pivot = lu[k * n + k];
        lu[k * n + k] = fabs(pivot) <= 1e-14 * largest ? 0.0 : 1.0 / pivot;
        for (int i = k + 1; i < n; i++) {
            const double factor = lu[i * n + k] *= lu[k * n + k];
            for (int j = k + 1; j < n && factor != 0.0; j++)
                lu[i * n + j] -= factor * lu[k * n + j];
        }
    }
    return TZ_OK;
}

static void solve_coarsest(const tz_multigrid *m, const double *r, double *x)
{
    const level *l = &m->levels[m->count - 1];
    const int n = (int)l->matrix->rows;
    if (!m->dense) {
        relax_first(m, l, r, x);
        relax_last(m, l, r, x);
        for (int i = 1; i < COARSEST_SWEEPS; i++)
            relax_last(m, l, r, x);
        return;
    }
    for (int i = 0; i < n; i++) {
        double sum = r[m->order[i]];
        for (int j = 0; j < i; j++)
            sum -= m->dense[i * n + j] * x[j];
        x[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int j = i + 1; j < n; j++)
            sum -= m->dense[i * n + j] * x[j];
        x[i] = sum * m->dense[i * n + i];
    }
}

/* ---- The cycle ------------------------------------------------------------------------------- */

static void restrict_to(const level *fine, const double *rest, const level *coarse)
{
    memset(coarse->r, 0, (size_t)coarse->matrix->rows * sizeof *coarse->r);
    for (int64_t i = 0; i < fine->matrix->rows; i++)
        if (fine->into[i] >= 0)
            coarse->r[fine->into[i]] += rest[i];
}

static void apply_level(tz_multigrid *m, int number, const double *r, double *x);

/* x = about the inverse of that level times its r: two steps of conjugate gradients, or of
 * conjugate residuals without symmetry, with the level itself as the preconditioner. */
static void solve_level(tz_multigrid *m, int number)
{
    level *l = &m->levels[number];
    const int64_t n = l->matrix->rows;
    if (number == m->count - 1) {
        solve_coarsest(m, l->r, l->x);
        return;
    }
    apply_level(m, number, l->r, l->first);
    tz_matrix_multiply(l->matrix, NULL, l->first, l->image, m->threads);
    const double *by = m->symmetric ? l->first : l->image;
    const double before = tz_vector_dot(l->r, l->r, n, m->threads);
    const double rho = tz_vector_dot(by, l->image, n, m->threads);
    const double alpha = tz_vector_dot(by, l->r, n, m->threads);
    memcpy(l->x, l->first, (size_t)n * sizeof *l->x);
    if (!(fabs(rho) > 0.0))
        return;
    tz_vector_add(l->r, -alpha / rho, l->image, n, m->threads);
    double of_first = alpha / rho, of_second = 0.0;
    if (tz_vector_dot(l->r, l->r, n, m->threads) > ENOUGH * ENOUGH * before) {
        apply_level(m, number, l->r, l->second);
        tz_matrix_multiply(l->matrix, NULL, l->second, l->image_2, m->threads);
        const double *by_2 = m->symmetric ? l->second : l->image_2;
        const double gamma = tz_vector_dot(by_2, l->image, n, m->threads);
        const double beta = tz_vector_dot(by_2, l->image_2, n, m->threads);
        const double rho_2 = beta - gamma * gamma / rho;
        if (fabs(rho_2) > 1e-14 * fabs(beta)) {
            of_second = tz_vector_dot(by_2, l->r, n, m->threads) / rho_2;
            of_first -= gamma * of_second / rho;
        }
    }
    for (int64_t i = 0; i < n; i++)
        l->x[i] = of_first * l->first[i] + (of_second != 0.0 ? of_second * l->second[i] : 0.0);
}

static void apply_level(tz_multigrid *m, int number, const double *r, double *x)
{
    const level *l = &m->levels[number];
    relax_first(m, l, r, x);
    if (number + 1 < m->count) {
        const level *coarse = &m->levels[number + 1];
        tz_matrix_multiply(l->matrix, r, x, l->rest, m->threads);
        restrict_to(l, l->rest, coarse);
        solve_level(m, number + 1);
        for (int64_t i = 0; i < l->matrix->rows; i++)
            if (l->into[i] >= 0)
                x[i] += coarse->x[l->into[i]];
    }
    relax_last(m, l, r, x);
}

void tz_multigrid_apply(tz_multigrid *multigrid, const double *r, double *x)
{
    if (multigrid->count == 1 && multigrid->dense)
        solve_coarsest(multigrid, r, x);
    else
        apply_level(multigrid, 0, r, x);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static tz_status create_level(level *l, tz_error *error)
{
    const size_t n = (size_t)l->matrix->rows + 1;
    double **const vectors[] = {&l->inverse, &l->r,      &l->rest,  &l->x,
                                &l->first,   &l->second, &l->image, &l->image_2};
    bool there = (l->into = malloc(n * sizeof *l->into));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        there = (*vectors[i] = malloc(n * sizeof **vectors[i])) && there;
    if (!there)
        return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    for (int64_t i = 0; i < l->matrix->rows; i++) {
        const double diagonal = l->matrix->value[l->matrix->diagonal[i]];
        l->inverse[i] = diagonal != 0.0 ? 1.0 / diagonal : 0.0;
    }
    return TZ_OK;
}

static tz_status create_levels(tz_multigrid *m, tz_error *error)
{
    bool made = true;
    tz_status status = TZ_OK;
    while (!status && made) {
        level *l = &m->levels[m->count];
        status = create_level(l, error);
        m->count++;
        if (status || l->matrix->rows <= DENSE_ROWS || m->count == LEVELS_MAX)
            break;
        level *next = &m->levels[m->count];
        status = coarsen(l, &next->own, &made, error);
        next->matrix = &next->own;
        if (next->own.rows == 0)
            break;
    }
    if (!status && m->levels[m->count - 1].matrix->rows <= DENSE_ROWS)
        status = factorize(m, error);
    return status;
}

tz_status tz_multigrid_create(tz_multigrid **out, const tz_matrix *matrix, bool symmetric,
                              tz_threads *threads, tz_error *error)
{
    tz_multigrid *m = *out = calloc(1, sizeof *m);
    if (!m)
        return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    m->threads = threads;
    m->symmetric = symmetric;
    m->levels[0].matrix = matrix;
    const tz_status status = create_levels(m, error);
    if (status) {
        tz_multigrid_destroy(m);
        *out = NULL;
    }
    return status;
}

void tz_multigrid_destroy(tz_multigrid *multigrid)
{
    if (!multigrid)
        return;
    for (int i = 0; i < LEVELS_MAX; i++) {
        level *l = &multigrid->levels[i];
        tz_matrix_destroy(&l->own);
        free(l->into);
        free(l->inverse);
        free(l->r);
        free(l->rest);
        free(l->x);
        free(l->first);
        free(l->second);
        free(l->image);
        free(l->image_2);
    }
    free(multigrid->dense);
    free(multigrid->order);
    free(multigrid);
}
