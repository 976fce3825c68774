#include "sim/window.h"

#include "sim/simulation_impl.h"
#include <stdlib.h>
#include <string.h>

/* Adjacent coordinates of an axis that are read from adjacent ones in the grid, or that all have the
 * boundary's value. Bits, along x: words whose columns all lie in the grid, or one word with others. */
typedef struct run {
    int64_t at, count;
    int64_t from; /* where they are in the grid; -1: past a fixed side */
    int side;     /* that side, 0 to 5; -1: none */
    bool columns; /* a word whose columns are looked up one by one */
} run;

typedef struct axis_runs {
    run *list;
    int64_t count;
} axis_runs;

typedef struct window {
    const tz_simulation *simulation;
    const tz_problem *problem;
    int field;
    size_t size; /* of an element */
    tz_box box;
    axis_runs axis[TZ_AXES];
    char *elements;
    char *piece; /* room for a box of runs */
} window;

/* Where coordinate c of an axis with n cells is read; negative: the value of *side. */
static int64_t source_of(const tz_problem *problem, int axis, int64_t c, int64_t n, int *side)
{
    const int64_t from = tz_boundary_map(problem->boundary[axis], c, n);
    *side = 2 * axis + (from == -2);
    return from < 0 ? -1 : from;
}

/* The words of a row whose columns all lie in the grid are the first ones. */
static int64_t full_words(const tz_problem *problem)
{
    const int64_t full = problem->extent[0] - 31 * problem->elements[0];
    return full < 0 ? 0 : full;
}

static tz_status find_runs(window *w, int axis, tz_error *error)
{
    const tz_problem *problem = w->problem;
    const int64_t low = w->box.low[axis], high = w->box.high[axis], n = problem->elements[axis];
    const bool words = problem->bits && axis == 0;
    axis_runs *runs = &w->axis[axis];
    run last = {.count = 0};
    /* Inside the grid there is one run; a word of bits past the row's full words is one more. */
    const int64_t outside = words ? 64 : 0;
    runs->list = malloc((size_t)(2 * TZ_RADIUS_MAX + 1 + outside) * sizeof *runs->list);
    if (!runs->list)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row of cells");
    for (int64_t c = low, next; c < high; c = next) {
        run r = {.at = c, .count = 1, .side = -1};
        if (words)
            r.columns = c < 0 || c >= full_words(problem);
        r.from = r.columns ? 0 : words ? c : source_of(problem, axis, c, n, &r.side);
        if (r.from >= 0)
            r.side = -1;
        const int64_t end = words ? full_words(problem) : n;
        if (c >= 0 && c < end) /* all that follow in the grid */
            r.count = (end < high ? end : high) - c;
        next = c + r.count;
        const bool joins = last.count > 0 && !r.columns && !last.columns && r.side == last.side &&
                           (r.from < 0 || r.from == last.from + last.count);
        if (joins)
            runs->list[runs->count - 1].count = last.count += r.count;
        else
            runs->list[runs->count++] = last = r;
    }
    return TZ_OK;
}

static char *element_at(const window *w, int64_t x, int64_t y, int64_t z)
{
    const int64_t nx = w->box.high[0] - w->box.low[0], ny = w->box.high[1] - w->box.low[1];
    return w->elements +
           (size_t)(x - w->box.low[0] + nx * (y - w->box.low[1] + ny * (z - w->box.low[2]))) *
               w->size;
}

static void fill(const window *w, const run *x, const run *y, const run *z, int side)
{
    uint64_t element = 0;
    tz_problem_element(w->problem, w->field, w->problem->boundary_value[w->field][side], &element);
    for (int64_t k = z->at; k < z->at + z->count; k++)
        for (int64_t j = y->at; j < y->at + y->count; j++)
            for (int64_t i = x->at; i < x->at + x->count; i++)
                memcpy(element_at(w, i, j, k), &element, w->size);
}

static tz_status load(const window *w, int64_t x, int64_t count, const run *y, const run *z,
                      void *elements, tz_error *error)
{
    const tz_box box = {{x, y->from, z->from}, {x + count, y->from + y->count, z->from + z->count}};
    return w->simulation->backend->load(w->simulation->state, w->field, &box, elements, error);
}

static tz_status copy(const window *w, const run *x, const run *y, const run *z, tz_error *error)
{
    const bool whole = x->count == w->box.high[0] - w->box.low[0] &&
                       (z->count == 1 || y->count == w->box.high[1] - w->box.low[1]);
    if (whole)
        return load(w, x->from, x->count, y, z, element_at(w, x->at, y->at, z->at), error);
    const tz_status status = load(w, x->from, x->count, y, z, w->piece, error);
    const char *from = w->piece;
    const size_t bytes = (size_t)x->count * w->size;
    for (int64_t k = 0; !status && k < z->count; k++)
        for (int64_t j = 0; j < y->count; j++, from += bytes)
            memcpy(element_at(w, x->at, y->at + j, z->at + k), from, bytes);
    return status;
}

static uint32_t *word_at(const window *w, int64_t x, int64_t y, int64_t z)
{
    return (uint32_t *)(void *)element_at(w, x, y, z);
}

/* Sets a bit of the words at x in all rows of the runs, from a bit of words or to a value. */
static void set_bit(const window *w, int64_t x, const run *y, const run *z, int bit,
                    const uint32_t *from, int from_bit, uint32_t value)
{
    for (int64_t k = 0; k < z->count; k++)
        for (int64_t j = 0; j < y->count; j++) {
            uint32_t *word = word_at(w, x, y->at + j, z->at + k);
            const uint32_t now = from ? from[j + y->count * k] >> from_bit & 1 : value;
            *word = (*word & ~(UINT32_C(1) << bit)) | now << bit;
        }
}

/* A word column by column: bit b of word x is column b*words + x. `side`: of the rows, -1: they are
 * in the grid. */
static tz_status look_up(const window *w, int64_t x, const run *y, const run *z, int side,
                         tz_error *error)
{
    const tz_problem *problem = w->problem;
    const int64_t words = problem->elements[0];
    const double *values = problem->boundary_value[w->field];
    int64_t column[32];
    uint32_t loaded = 0;
    tz_status status = TZ_OK;
    for (int b = 0; b < 32; b++) {
        int own;
        column[b] = source_of(problem, 0, b * words + x, problem->extent[0], &own);
        if (column[b] < 0 || side >= 0) {
            set_bit(w, x, y, z, b, NULL, 0, values[column[b] < 0 ? own : side] != 0.0);
            loaded |= UINT32_C(1) << b;
        }
    }
    for (int b = 0; b < 32 && !status; b++) {
        if (loaded >> b & 1)
            continue;
        uint32_t *piece = (uint32_t *)(void *)w->piece;
        status = load(w, column[b] % words, 1, y, z, piece, error);
        for (int c = b; !status && c < 32; c++)
            if (!(loaded >> c & 1) && column[c] % words == column[b] % words) {
                set_bit(w, x, y, z, c, piece, (int)(column[c] / words), 0);
                loaded |= UINT32_C(1) << c;
            }
    }
    return status;
}

static tz_status read_runs(const window *w, const run *x, const run *y, const run *z,
                           tz_error *error)
{
    /* The first axis past a fixed side gives the value. */
    const int side = y->side >= 0 ? y->side : z->side;
    if (x->columns)
        return look_up(w, x->at, y, z, side, error);
    if (x->side >= 0 || side >= 0) {
        fill(w, x, y, z, x->side >= 0 ? x->side : side);
        return TZ_OK;
    }
    return copy(w, x, y, z, error);
}

tz_status tz__window_read(const tz_simulation *simulation, int field, const tz_box *box,
                          void *elements, tz_error *error)
{
    window w = {.simulation = simulation,
                .problem = &simulation->problem,
                .field = field,
                .size = tz_problem_element_size(&simulation->problem, field),
                .box = *box,
                .elements = elements};
    size_t cells = 1;
    tz_status status = TZ_OK;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        cells *= (size_t)(box->high[axis] - box->low[axis]);
        if (!status)
            status = find_runs(&w, axis, error);
    }
    if (!status && !(w.piece = malloc(cells * w.size)))
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    for (int64_t k = 0; !status && k < w.axis[2].count; k++)
        for (int64_t j = 0; !status && j < w.axis[1].count; j++)
            for (int64_t i = 0; !status && i < w.axis[0].count; i++)
                status = read_runs(&w, &w.axis[0].list[i], &w.axis[1].list[j], &w.axis[2].list[k],
                                   error);
    for (int axis = 0; axis < TZ_AXES; axis++)
        free(w.axis[axis].list);
    free(w.piece);
    return status;
}
