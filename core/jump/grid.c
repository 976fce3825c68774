/* Fields of states as arrays of doubles, and the check of an operator on the whole grid. Called by
 * jump.c. */
#include "jump/grid.h"

#include "base/random.h"
#include "jump/patch.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* elements */

/* The boxes that cover a grid in the order of its elements: true while there is one. `at`: the
 * number of its first element, 0 at first; the caller adds the elements of the box. */
static bool box_at(const tz_problem *problem, int64_t at, tz_box *box, int64_t *count)
{
    const int64_t *n = problem->elements;
    const int64_t row = n[0], plane = n[0] * n[1];
    const int64_t x = at % row, y = at / row % n[1], z = at / plane;
    if (z >= n[2])
        return false;
    *box = (tz_box){{x, y, z}, {n[0], y + 1, z + 1}};
    const int axis = plane <= PIECE ? 2 : row <= PIECE ? 1 : 0;
    const int64_t unit = axis == 2 ? plane : axis == 1 ? row : 1, most = PIECE / unit;
    if (axis == 2)
        box->high[1] = n[1];
    box->high[axis] = box->low[axis] + most < n[axis] ? box->low[axis] + most : n[axis];
    *count = unit * (box->high[axis] - box->low[axis]);
    return true;
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
    const double *from;
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
        n->narrow[i] = (float)n->from[i];
}

tz_status tz_grid_read(const tz_grid_state *from, int field, double *values, tz_error *error)
{
    const bool narrow = is_narrow(from->problem, field);
    float *room = narrow ? malloc(PIECE * sizeof *room) : NULL;
    int64_t at = 0, count;
    tz_box box;
    tz_status status = narrow && !room ? no_memory(error) : TZ_OK;
    for (; !status && box_at(from->problem, at, &box, &count); at += count) {
        void *to = narrow ? (void *)room : (void *)(values + at);
        status = from->backend->load(from->state, field, &box, to, error);
        if (narrow)
            tz_threads_for(from->threads, count, widen,
                           &(numbers){.narrow = room, .wide = values + at});
    }
    free(room);
    return status;
}

tz_status tz_grid_write(const tz_grid_state *to, int field, const double *values, tz_error *error)
{
    const bool narrow = is_narrow(to->problem, field);
    float *room = narrow ? malloc(PIECE * sizeof *room) : NULL;
    int64_t at = 0, count;
    tz_box box;
    tz_status status = narrow && !room ? no_memory(error) : TZ_OK;
    for (; !status && box_at(to->problem, at, &box, &count); at += count) {
        if (narrow)
            tz_threads_for(to->threads, count, narrow_down,
                           &(numbers){.narrow = room, .from = values + at});
        const void *from = narrow ? (const void *)room : (const void *)(values + at);
        status = to->backend->store(to->state, field, &box, from, error);
    }
    free(room);
    return status;
}

tz_status tz_grid_copy_static(const tz_grid_state *from, const tz_grid_state *to, tz_error *error)
{
    const tz_stencil *stencil = from->problem->stencil;
    double *room = malloc(PIECE * sizeof *room), *wide = malloc(PIECE * sizeof *wide);
    tz_status status = room && wide ? TZ_OK : no_memory(error);
    for (int f = 0; f < stencil->fields_count; f++) {
        const bool widens = tz_type_is_real(stencil->fields[f].type) &&
                            is_narrow(from->problem, f) && !is_narrow(to->problem, f);
        int64_t at = 0, count;
        tz_box box;
        if (stencil->fields[f].role != TZ_STATIC)
            continue;
        for (; !status && box_at(from->problem, at, &box, &count); at += count) {
            status = from->backend->load(from->state, f, &box, room, error);
            for (int64_t i = 0; widens && i < count; i++)
                wide[i] = ((const float *)room)[i];
            if (!status)
                status = to->backend->store(to->state, f, &box, widens ? wide : room, error);
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
static const double ROUNDING = 64.0 * 0x1p-52;

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
        const double room = ROUNDING * ((1.0 + c->weight) * c->size + fabs(s));
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
