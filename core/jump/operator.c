/* Finds the matrix of an update by trying it on the whole grid; fields of states as arrays of
 * doubles, and the check of an operator. Called by solver.c and jump.c. */
#include "jump/operator.h"

#include "base/random.h"
#include "jump/patch.h"
#include "stencil/parts.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const double EPSILON = 0x1p-52;
/* In units of rounding: what the operations of an update may come to. */
static const double ROUNDING = 64.0;
/* The sum of a row within this many units is 0. */
static const double ROW_ROUNDING = 16.0;
/* With larger coefficients a row's sum has fewer digits than the diagonal. */
static const double SMALL = 8.0;

/* ---- What the description tells -------------------------------------------------------------- */

tz_status tz_operator_describe(const tz_problem *problem, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_field *field = &stencil->fields[f];
        if (field->role == TZ_STATE && !tz_type_is_real(field->type))
            return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                                "it cannot be solved, because field '%s' holds no real numbers; "
                                "take explicit steps (sim:run)",
                                field->name);
    }
    if (!tz_problem_all_as_computed(problem))
        return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                            "it cannot be solved with fields that are stored in another way than "
                            "they are computed: leave storage out");
    if (!tz_problem_repeats(problem))
        return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                            "it cannot be solved, because iterations differ: random numbers, a "
                            "formula with 'step', scalars that vary, streamed fields or points; "
                            "take explicit steps (sim:run)");
    return TZ_OK;
}

/* ---- Impulses -------------------------------------------------------------------------------- */

/* The impulses of an axis. */
typedef struct colours {
    int count;
    int32_t *near; /* [colour][x]: the coordinate of the impulse that cell x may feel, or -1 */
} colours;

static int reach_of(const tz_problem *problem, int axis)
{
    const tz_reach reach = tz_stencil_reach_sides(problem->stencil);
    return reach.low[axis] > reach.high[axis] ? reach.low[axis] : reach.high[axis];
}

/* Cells of one colour are further apart than a cell reads to both sides. On a periodic axis the
 * last few have colours of their own. */
static int colour_of(int64_t n, bool wraps, int64_t span, int64_t x)
{
    if (n <= span)
        return (int)x;
    const int64_t whole = wraps ? n - n % span : n;
    return (int)(x < whole ? x % span : span + x - whole);
}

static tz_status find_colours(const tz_problem *problem, int axis, colours *out, tz_error *error)
{
    const int64_t n = problem->extent[axis], reach = reach_of(problem, axis), span = 2 * reach + 1;
    const bool wraps = tz_boundary_wraps(problem->boundary[axis][0]);
    out->count = (int)(n <= span ? n : span + (wraps ? n % span : 0));
    out->near = malloc((size_t)(out->count * n) * sizeof *out->near);
    if (!out->near)
        return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    for (int64_t i = 0; i < out->count * n; i++)
        out->near[i] = -1;
    for (int64_t x = 0; x < n; x++)
        for (int64_t o = -reach; o <= reach; o++) {
            int64_t from = x + o;
            if (wraps)
                from = (from % n + n) % n;
            if (from >= 0 && from < n)
                out->near[colour_of(n, wraps, span, from) * n + x] = (int32_t)from;
        }
    return TZ_OK;
}

/* ---- The engine ------------------------------------------------------------------------------ */

tz_status tz_operator_iterate(tz_operator *op, const double *u, double *out, tz_error *error)
{
    const tz_grid_state *grid = op->grid;
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < op->fields_count; i++)
        status = tz_grid_write(grid, op->field[i], u + i * op->cells, error);
    if (!status)
        status = grid->backend->stage(grid->state, op->plan, 1, 0, error);
    if (!status && grid->backend->wait)
        status = grid->backend->wait(grid->state, error);
    for (int i = 0; !status && i < op->fields_count; i++)
        status = tz_grid_read(grid, op->field[i], out + i * op->cells, error);
    op->tried++;
    return status;
}

static tz_status not_linear(const tz_operator *op, int64_t row, const char *why, tz_error *error)
{
    const tz_problem *problem = op->grid->problem;
    const int64_t *n = problem->extent, cell = row % op->cells;
    return tz_error_set(error, TZ_UNSUPPORTED, problem->stencil->id,
                        "it cannot be solved, because it is not linear: in cell (%" PRId64
                        ", %" PRId64 ", %" PRId64 ") of field '%s' %s; "
                        "take explicit steps (sim:run)",
                        cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1]),
                        problem->stencil->fields[op->field[row / op->cells]].name, why);
}

/* b, and its largest value. */
static tz_status find_constant(tz_operator *op, double *room, double *largest, tz_error *error)
{
    memset(room, 0, (size_t)op->rows * sizeof *room);
    const tz_status status = tz_operator_iterate(op, room, op->constant, error);
    *largest = 0.0;
    for (int64_t i = 0; !status && i < op->rows; i++) {
        if (!isfinite(op->constant[i]) || fabs(op->constant[i]) > 1e150)
            return not_linear(op, i, "0 becomes infinite", error);
        *largest = fmax(*largest, fabs(op->constant[i]));
    }
    return status;
}

/* ---- Coefficients as they are found ---------------------------------------------------------- */

typedef struct found {
    int32_t row, column;
    double value;
} found;

typedef struct search {
    tz_operator *op;
    colours axes[TZ_AXES];
    double scale; /* of impulses: a power of two so large that b is below their rounding */
    double *in, *out;
    found *list;
    int64_t count, room;
} search;

static tz_status keep(search *s, int64_t row, int64_t column, double value, tz_error *error)
{
    if (s->count == s->room) {
        s->room = s->room + s->room / 2 + 1024;
        found *more = realloc(s->list, (size_t)s->room * sizeof *more);
        if (!more)
            return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
        s->list = more;
    }
    s->list[s->count++] = (found){(int32_t)row, (int32_t)column, value};
    return TZ_OK;
}

/* What the impulses of one colour in a field do. */
static tz_status collect(search *s, int from, const int colour[TZ_AXES], tz_error *error)
{
    const tz_operator *op = s->op;
    const int64_t *n = op->grid->problem->extent;
    const int32_t *const near[TZ_AXES] = {s->axes[0].near + colour[0] * n[0],
                                          s->axes[1].near + colour[1] * n[1],
                                          s->axes[2].near + colour[2] * n[2]};
    tz_status status = TZ_OK;
    for (int to = 0; to < op->fields_count; to++)
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; !status && x < n[0]; x++) {
                    const int64_t row = to * op->cells + (z * n[1] + y) * n[0] + x;
                    if (s->out[row] == op->constant[row])
                        continue;
                    const int64_t at[TZ_AXES] = {near[0][x], near[1][y], near[2][z]};
                    const double value = s->out[row] / s->scale;
                    if (!isfinite(value) || at[0] < 0 || at[1] < 0 || at[2] < 0)
                        return not_linear(op, row, "an impulse becomes infinite", error);
                    status = keep(s, row, from * op->cells + (at[2] * n[1] + at[1]) * n[0] + at[0],
                                  value, error);
                }
    return status;
}

static tz_status try_colour(search *s, int from, const int colour[TZ_AXES], tz_error *error)
{
    const tz_operator *op = s->op;
    const int64_t *n = op->grid->problem->extent;
    double *field = s->in + from * op->cells;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++)
                field[(z * n[1] + y) * n[0] + x] =
                    s->axes[0].near[colour[0] * n[0] + x] == x &&
                            s->axes[1].near[colour[1] * n[1] + y] == y &&
                            s->axes[2].near[colour[2] * n[2] + z] == z
                        ? s->scale
                        : 0.0;
    const tz_status status = tz_operator_iterate(s->op, s->in, s->out, error);
    return status ? status : collect(s, from, colour, error);
}

static tz_status try_all(search *s, tz_error *error)
{
    tz_status status = TZ_OK;
    memset(s->in, 0, (size_t)s->op->rows * sizeof *s->in);
    for (int from = 0; !status && from < s->op->fields_count; from++) {
        int c[TZ_AXES];
        for (c[2] = 0; !status && c[2] < s->axes[2].count; c[2]++)
            for (c[1] = 0; !status && c[1] < s->axes[1].count; c[1]++)
                for (c[0] = 0; !status && c[0] < s->axes[0].count; c[0]++)
                    status = try_colour(s, from, c, error);
        memset(s->in + from * s->op->cells, 0, (size_t)s->op->cells * sizeof *s->in);
    }
    return status;
}

/* The sum of each row of 1 - A: what an iteration takes away of ones. */
static tz_status find_sums(search *s, tz_error *error)
{
    tz_operator *op = s->op;
    for (int64_t i = 0; i < op->rows; i++)
        s->in[i] = s->scale;
    const tz_status status = tz_operator_iterate(op, s->in, op->sum, error);
    for (int64_t i = 0; !status && i < op->rows; i++)
        op->sum[i] = (s->scale - op->sum[i]) / s->scale;
    return status;
}

/* ---- The matrix ------------------------------------------------------------------------------ */

static void sort_rows(tz_operator *op)
{
    tz_matrix *m = &op->matrix;
    for (int64_t i = 0; i < op->rows; i++)
        for (int64_t k = m->start[i] + 1; k < m->start[i + 1]; k++) {
            const int32_t column = m->column[k];
            const double value = m->value[k];
            int64_t to = k;
            for (; to > m->start[i] && m->column[to - 1] > column; to--) {
                m->column[to] = m->column[to - 1];
                m->value[to] = m->value[to - 1];
            }
            m->column[to] = column;
            m->value[to] = value;
        }
    tz_matrix_find_diagonal(m);
}

/* The diagonal of 1 - A: from the row's sum, where that has more digits than the difference. */
static void set_diagonal(tz_operator *op)
{
    tz_matrix *m = &op->matrix;
    for (int64_t i = 0; i < op->rows; i++) {
        double others = 0.0, weight = 0.0;
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            others += m->column[k] == i ? 0.0 : m->value[k];
            weight += fabs(m->value[k]);
        }
        op->weight = fmax(op->weight, weight + 1.0);
        if (fabs(op->sum[i]) <= ROW_ROUNDING * EPSILON * (weight + 1.0))
            op->sum[i] = 0.0;
        if (weight <= SMALL)
            m->value[m->diagonal[i]] = op->sum[i] - others;
    }
}

static tz_status make_matrix(search *s, tz_error *error)
{
    tz_operator *op = s->op;
    /* One more for each row: a diagonal of A that is 0. */
    tz_status status = tz_matrix_create(&op->matrix, op->rows, s->count + op->rows, error);
    if (status)
        return status;
    tz_matrix *m = &op->matrix;
    int64_t *next = m->diagonal; /* of each row, until it is the diagonal */
    for (int64_t i = 0; i < op->rows; i++)
        next[i] = 1;
    for (int64_t k = 0; k < s->count; k++)
        next[s->list[k].row] += s->list[k].row != s->list[k].column;
    for (int64_t i = 0; i < op->rows; i++) {
        m->start[i + 1] = m->start[i] + next[i];
        m->column[m->start[i]] = (int32_t)i;
        m->value[m->start[i]] = 1.0;
        next[i] = m->start[i] + 1;
    }
    for (int64_t k = 0; k < s->count; k++) {
        const found *f = &s->list[k];
        const int64_t at = f->row == f->column ? m->start[f->row] : next[f->row]++;
        m->column[at] = f->column;
        m->value[at] = f->row == f->column ? 1.0 - f->value : -f->value;
    }
    sort_rows(op);
    set_diagonal(op);
    return TZ_OK;
}

/* ---- Is it linear? --------------------------------------------------------------------------- */

/* Compare an iteration of random values of a size with A u + b. */
static tz_status compare(tz_operator *op, double size, double *in, double *out, int64_t *differs,
                         tz_error *error)
{
    uint64_t counter = 4711;
    double constant = 0.0;
    *differs = -1;
    for (int64_t i = 0; i < op->rows; i++) {
        in[i] = size * tz_random_real(&counter);
        constant = fmax(constant, fabs(op->constant[i]));
    }
    const tz_status status = tz_operator_iterate(op, in, out, error);
    const tz_matrix *m = &op->matrix;
    for (int64_t i = 0; !status && *differs < 0 && i < op->rows; i++) {
        double wanted = in[i] + op->constant[i];
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            wanted -= m->value[k] * in[m->column[k]];
        if (!(fabs(out[i] - wanted) <= ROUNDING * EPSILON * (op->weight * size + constant)))
            *differs = i;
    }
    return status;
}

static tz_status check_linear(tz_operator *op, double size, double *in, double *out,
                              tz_error *error)
{
    static const double sizes[] = {1.0, 1e-6, 1e6};
    tz_status status = TZ_OK;
    for (size_t k = 0; !status && k < sizeof sizes / sizeof *sizes; k++) {
        int64_t differs;
        status = compare(op, sizes[k] * size, in, out, &differs, error);
        if (!status && differs >= 0)
            status = not_linear(op, differs,
                                "an iteration of values is not the sum of what each of them adds",
                                error);
    }
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

int64_t tz_operator_bytes(const tz_problem *problem)
{
    int64_t cells = 1, entries = 1, fields = 0;
    for (int axis = 0; axis < problem->dims; axis++) {
        cells *= problem->extent[axis];
        entries += 2 * reach_of(problem, axis);
    }
    for (int f = 0; f < problem->stencil->fields_count; f++)
        fields += problem->stencil->fields[f].role == TZ_STATE;
    /* As for stars: where they are found, as a matrix, and on coarser levels; vectors. */
    return cells * fields * (entries * fields * 50 + 250);
}

static tz_status find(search *s, double size, tz_error *error)
{
    tz_operator *op = s->op;
    double constant = 0.0;
    tz_status status = find_constant(op, s->in, &constant, error);
    s->scale = constant > 0.0 ? ldexp(1.0, ilogb(constant) + 130) : 1.0;
    for (int axis = 0; !status && axis < TZ_AXES; axis++)
        status = find_colours(op->grid->problem, axis, &s->axes[axis], error);
    if (!status)
        status = try_all(s, error);
    if (!status)
        status = find_sums(s, error);
    if (!status)
        status = make_matrix(s, error);
    return status ? status : check_linear(op, size, s->in, s->out, error);
}

tz_status tz_operator_find(tz_operator *out, const tz_grid_state *grid, const tz_plan *plan,
                           double size, tz_error *error)
{
    const tz_problem *problem = grid->problem;
    *out = (tz_operator){.grid = grid, .plan = plan};
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            out->field[out->fields_count++] = f;
    out->cells = problem->extent[0] * problem->extent[1] * problem->extent[2];
    out->rows = out->cells * out->fields_count;
    if (out->rows > INT32_MAX)
        return tz_error_set(error, TZ_UNSUPPORTED, problem->stencil->id,
                            "it cannot be solved: at most %d unknowns can be", INT32_MAX);
    const size_t bytes = (size_t)out->rows * sizeof(double);
    search s = {.op = out, .in = malloc(bytes), .out = malloc(bytes)};
    out->constant = malloc(bytes);
    out->sum = malloc(bytes);
    const tz_status status = s.in && s.out && out->constant && out->sum
                                 ? find(&s, size, error)
                                 : tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    for (int axis = 0; axis < TZ_AXES; axis++)
        free(s.axes[axis].near);
    free(s.in);
    free(s.out);
    free(s.list);
    return status;
}

void tz_operator_clear(tz_operator *op)
{
    tz_matrix_destroy(&op->matrix);
    free(op->constant);
    free(op->sum);
    *op = (tz_operator){.rows = 0};
}

tz_status tz_operator_renew(tz_operator *op, double size, bool *same, tz_error *error)
{
    const size_t bytes = (size_t)op->rows * sizeof(double);
    double *in = malloc(bytes), *out = malloc(bytes), constant;
    int64_t differs = -1;
    /* Values as large as b: else it hides what changes. */
    tz_status status = in && out ? find_constant(op, in, &constant, error)
                                 : tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    if (!status)
        status = compare(op, fmax(size, constant), in, out, &differs, error);
    free(in);
    free(out);
    *same = differs < 0;
    return status;
}

/* ---- Fields as arrays of doubles ------------------------------------------------------------- */

enum { PIECE = 1 << 20 }; /* elements */

static tz_box_parts parts_of(const tz_problem *problem)
{
    const int64_t *n = problem->elements;
    return (tz_box_parts){.whole = {.high = {n[0], n[1], n[2]}}, .most = PIECE};
}

static tz_status no_memory(tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
}

static bool is_narrow(const tz_problem *problem, int field)
{
    return tz_problem_element_size(problem, field) == sizeof(float);
}

/* Elements in single and in double precision. */
typedef struct numbers {
    float *narrow;
    double *wide;
} numbers;

static void widen(void *any, int64_t begin, int64_t end, int thread)
{
    const numbers *n = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        n->wide[i] = n->narrow[i];
}

static void narrow_down(void *any, int64_t begin, int64_t end, int thread)
{
    const numbers *n = any;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        n->narrow[i] = (float)n->wide[i];
}

static tz_status move(const tz_grid_state *grid, int field, double *values, bool writes,
                      tz_error *error)
{
    const bool narrow = is_narrow(grid->problem, field);
    float *room = narrow ? malloc(PIECE * sizeof *room) : NULL;
    tz_box_parts p = parts_of(grid->problem);
    tz_status status = narrow && !room ? no_memory(error) : TZ_OK;
    while (!status && tz_box_next(&p)) {
        numbers n = {room, values + p.first};
        void *elements = narrow ? (void *)room : (void *)n.wide;
        if (narrow && writes)
            tz_threads_for(grid->threads, p.count, narrow_down, &n);
        status = writes ? grid->backend->store(grid->state, field, &p.part, elements, error)
                        : grid->backend->load(grid->state, field, &p.part, elements, error);
        if (narrow && !writes)
            tz_threads_for(grid->threads, p.count, widen, &n);
    }
    free(room);
    return status;
}

tz_status tz_grid_read(const tz_grid_state *from, int field, double *values, tz_error *error)
{
    return move(from, field, values, false, error);
}

tz_status tz_grid_write(const tz_grid_state *to, int field, const double *values, tz_error *error)
{
    return move(to, field, (double *)values, true, error);
}

tz_status tz_grid_copy_static(const tz_grid_state *from, const tz_grid_state *to, tz_error *error)
{
    const tz_stencil *stencil = from->problem->stencil;
    double *room = malloc(PIECE * sizeof *room), *wide = malloc(PIECE * sizeof *wide);
    tz_status status = room && wide ? TZ_OK : no_memory(error);
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool widens = tz_type_is_real(stencil->fields[f].type) &&
                            is_narrow(from->problem, f) && !is_narrow(to->problem, f);
        if (stencil->fields[f].role != TZ_STATIC)
            continue;
        for (tz_box_parts p = parts_of(from->problem); !status && tz_box_next(&p);) {
            status = from->backend->load(from->state, f, &p.part, room, error);
            for (int64_t i = 0; widens && i < p.count; i++)
                wide[i] = ((const float *)room)[i];
            if (!status)
                status = to->backend->store(to->state, f, &p.part, widens ? wide : room, error);
        }
    }
    free(room);
    free(wide);
    return status;
}

/* ---- Verifying ------------------------------------------------------------------------------- */

/* One iteration of a pattern on the whole grid, compared with the operator cell by cell.
 *
 * The pattern repeats a small tile of random numbers, so that what the operator makes of it inside
 * the grid is a tile, too. Near the sides it is summed cell by cell, with the grid continued as the
 * transform of each axis continues it. */

/* By dimensions: no multiple of what tiles, vectors and blocks of threads measure. */
static const int64_t tile_extents[][TZ_AXES] = {{1, 1, 1}, {1021, 1, 1}, {67, 61, 1}, {31, 29, 23}};

typedef struct check {
    const tz_linear *linear;
    const tz_problem *problem;
    const double *const *source; /* or NULL */
    double size, weight;
    int64_t n[TZ_AXES]; /* of the tile */
    int64_t cells;
    double *tile, *result; /* of all fields */
    tz_linear_term *terms; /* with both signs of each offset */
    int terms_count;
    pthread_mutex_t lock; /* of the members below */
    int64_t at;           /* the first cell that differs; -1: none */
    int field;
    double got, wanted;
} check;

/* Split terms of even axes into those of both signs. */
static void unfold(check *c)
{
    for (int t = 0; t < c->linear->terms_count; t++) {
        const tz_linear_term *term = &c->linear->terms[t];
        int signs = 0, axes[TZ_AXES];
        for (int axis = 0; axis < TZ_AXES; axis++)
            if (c->linear->even[axis] && term->offset[axis] != 0)
                axes[signs++] = axis;
        for (int pattern = 0; pattern < 1 << signs; pattern++) {
            tz_linear_term *one = &c->terms[c->terms_count++];
            *one = *term;
            one->coefficient = ldexp(term->coefficient, -signs);
            for (int k = 0; k < signs; k++)
                if (pattern >> k & 1)
                    one->offset[axes[k]] = -one->offset[axes[k]];
        }
    }
}

/* The cell that stands for a coordinate of the continued axis, and its sign; sign 0: there is 0. */
static int64_t continued(tz_transform transform, int64_t n, int64_t x, int *sign)
{
    const int64_t period = transform == TZ_DFT      ? n
                           : transform == TZ_DCT_II ? 2 * n
                           : transform == TZ_DCT_I  ? (n > 1 ? 2 * (n - 1) : 1)
                                                    : 2 * (n + 1);
    const int64_t shift = transform == TZ_DST_I;
    int64_t at = (x + shift) % period;
    at += at < 0 ? period : 0;
    if (transform == TZ_DCT_II && at >= n)
        at = period - 1 - at;
    if (transform == TZ_DCT_I && at >= n)
        at = period - at;
    if (transform != TZ_DST_I)
        return at;
    if (at == 0 || at == n + 1) {
        *sign = 0;
        return 0;
    }
    *sign = at > n + 1 ? -*sign : *sign;
    return (at > n + 1 ? period - at : at) - 1;
}

static int64_t tile_at(const check *c, const int64_t x[TZ_AXES])
{
    return x[0] % c->n[0] + c->n[0] * (x[1] % c->n[1] + c->n[1] * (x[2] % c->n[2]));
}

/* The operator at a cell, summed with the grid continued. */
static double sum_at(const check *c, int to, const int64_t x[TZ_AXES])
{
    double sum = 0.0;
    for (int t = 0; t < c->terms_count; t++) {
        const tz_linear_term *term = &c->terms[t];
        int64_t from[TZ_AXES] = {0};
        int sign = 1;
        if (term->to != to)
            continue;
        for (int axis = 0; axis < c->linear->dims; axis++)
            from[axis] = continued(c->linear->transform[axis], c->linear->extent[axis],
                                   x[axis] + term->offset[axis], &sign);
        sum += sign * term->coefficient * c->tile[term->from * c->cells + tile_at(c, from)];
    }
    return sum;
}

static void fill_tiles(check *c)
{
    uint64_t counter = 31;
    const int64_t *n = c->n;
    for (int64_t i = 0; i < c->linear->fields_count * c->cells; i++)
        c->tile[i] = c->size * tz_random_real(&counter);
    for (int64_t cell = 0; cell < c->cells; cell++)
        for (int t = 0; t < c->terms_count; t++) {
            const tz_linear_term *term = &c->terms[t];
            const int64_t x[TZ_AXES] = {(cell % n[0] + term->offset[0]) % n[0] + n[0],
                                        (cell / n[0] % n[1] + term->offset[1]) % n[1] + n[1],
                                        (cell / (n[0] * n[1]) + term->offset[2]) % n[2] + n[2]};
            c->result[term->to * c->cells + cell] +=
                term->coefficient * c->tile[term->from * c->cells + tile_at(c, x)];
        }
}

/* A row of the pattern. */
static void fill_row(const check *c, int field, int64_t y, int64_t z, double *row)
{
    const int64_t x[TZ_AXES] = {0, y, z};
    const double *from = c->tile + field * c->cells + tile_at(c, x);
    for (int64_t i = 0, k = 0; i < c->linear->extent[0]; i++) {
        row[i] = from[k];
        k = k + 1 == c->n[0] ? 0 : k + 1;
    }
}

/* Several threads may compare rows. */
static void compare_row(check *c, int field, int64_t y, int64_t z, const double *row)
{
    const tz_linear *linear = c->linear;
    const int64_t *n = linear->extent, r = linear->radius, first = (z * n[1] + y) * n[0];
    bool inside = linear->dims < 2 || (y >= r && y < n[1] - r);
    inside = inside && (linear->dims < 3 || (z >= r && z < n[2] - r));
    const int64_t start[TZ_AXES] = {0, y, z};
    const double *tile = c->result + field * c->cells + tile_at(c, start);
    for (int64_t i = 0, k = 0; i < n[0]; i++) {
        const int64_t x[TZ_AXES] = {i, y, z};
        const double s = c->source ? c->source[field][first + i] : 0.0;
        const double wanted =
            s + (inside && i >= r && i < n[0] - r ? tile[k] : sum_at(c, field, x));
        const double room = ROUNDING * EPSILON * ((1.0 + c->weight) * c->size + fabs(s));
        k = k + 1 == c->n[0] ? 0 : k + 1;
        if (fabs(row[i] - wanted) <= room)
            continue;
        pthread_mutex_lock(&c->lock);
        if (c->at < 0 || first + i < c->at) {
            c->at = first + i;
            c->field = field;
            c->got = row[i];
            c->wanted = wanted;
        }
        pthread_mutex_unlock(&c->lock);
        return;
    }
}

/* All rows of a field. */
typedef struct rows {
    check *check;
    int field;
    double *array;
} rows;

static void fill_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const rows *r = any;
    const int64_t *n = r->check->linear->extent;
    (void)thread;
    for (int64_t row = begin; row < end; row++)
        fill_row(r->check, r->field, row % n[1], row / n[1], r->array + row * n[0]);
}

static void compare_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const rows *r = any;
    const int64_t *n = r->check->linear->extent;
    (void)thread;
    for (int64_t row = begin; row < end; row++)
        compare_row(r->check, r->field, row % n[1], row / n[1], r->array + row * n[0]);
}

static tz_status differs(const check *c, tz_error *error)
{
    static const char names[] = "xyz";
    const tz_linear *linear = c->linear;
    const tz_stencil *stencil = c->problem->stencil;
    const int64_t *n = linear->extent;
    const int64_t x[TZ_AXES] = {c->at % n[0], c->at / n[0] % n[1], c->at / (n[0] * n[1])};
    for (int axis = 0; axis < linear->dims; axis++) {
        const tz_boundary boundary = c->problem->boundary[axis][0];
        int reach = 0;
        for (int t = 0; t < linear->terms_count; t++)
            reach = abs(linear->terms[t].offset[axis]) > reach ? abs(linear->terms[t].offset[axis])
                                                               : reach;
        if ((tz_boundary_repeats(boundary) || tz_boundary_has_value(boundary)) && reach > 1 &&
            (x[axis] < reach || x[axis] >= n[axis] - reach))
            return tz_error_set(
                error, TZ_UNSUPPORTED, stencil->id,
                "it cannot be jumped, because it reads %d cells past the %s sides of axis %c: only "
                "with radius 1 does a transform fit these; use mirror or periodic sides, or "
                "sim:run",
                reach, tz_boundary_name(boundary), names[axis]);
    }
    return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                        "it cannot be jumped, because its coefficients vary from cell to cell: in "
                        "cell (%" PRId64 ", %" PRId64 ", %" PRId64 ") an iteration gives field "
                        "'%s' %.9g, and elsewhere it would be %.9g; use sim:run",
                        x[0], x[1], x[2], stencil->fields[linear->field[c->field]].name, c->got,
                        c->wanted);
}

/* One iteration of the pattern. */
static tz_status iterate(check *c, const tz_grid_state *in, const tz_plan *plan, double *array,
                         tz_error *error)
{
    const int64_t *n = c->linear->extent;
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < c->linear->fields_count; i++) {
        tz_threads_for(in->threads, n[1] * n[2], fill_rows, &(rows){c, i, array});
        status = tz_grid_write(in, c->linear->field[i], array, error);
    }
    if (!status)
        status = in->backend->stage(in->state, plan, 1, 0, error);
    if (!status && in->backend->wait)
        status = in->backend->wait(in->state, error);
    for (int i = 0; !status && i < c->linear->fields_count && c->at < 0; i++) {
        status = tz_grid_read(in, c->linear->field[i], array, error);
        if (!status)
            tz_threads_for(in->threads, n[1] * n[2], compare_rows, &(rows){c, i, array});
    }
    return !status && c->at >= 0 ? differs(c, error) : status;
}

tz_status tz_grid_verify(const tz_grid_state *in, const tz_plan *plan, const tz_linear *linear,
                         const double *const *source, double size, tz_error *error)
{
    check c = {.linear = linear,
               .problem = in->problem,
               .source = source,
               .size = size,
               .cells = 1,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .at = -1};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        c.n[axis] = tile_extents[linear->dims][axis];
        c.cells *= c.n[axis];
    }
    const size_t tiles = (size_t)(linear->fields_count * c.cells);
    const int64_t cells = linear->extent[0] * linear->extent[1] * linear->extent[2];
    c.tile = malloc(tiles * sizeof *c.tile);
    c.result = calloc(tiles, sizeof *c.result);
    c.terms = malloc(8 * ((size_t)linear->terms_count + 1) * sizeof *c.terms);
    double *array = malloc((size_t)cells * sizeof *array);
    tz_status status = c.tile && c.result && c.terms && array
                           ? TZ_OK
                           : tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    if (!status) {
        unfold(&c);
        for (int t = 0; t < c.terms_count; t++)
            c.weight += fabs(c.terms[t].coefficient);
        fill_tiles(&c);
        status = iterate(&c, in, plan, array, error);
    }
    free(c.tile);
    free(c.result);
    free(c.terms);
    free(array);
    return status;
}
