/* Computes derived fields block by block with the row functions of their outputs. Called by
 * fields.c and pieces.c for every load and reduction of a field. */
#include "sim/state.h"

#include "sim/fields.h"

#include "backend/host/reduce.h"
#include "base/minmax.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIELDS_BYTES = 64 << 20, /* of what is read for a block, about */
    BLOCK_LEAST = 1 << 14,   /* elements */
    BLOCK_MOST = 1 << 20,
    SLACK = 128,              /* elements beside a row that vectors may read */
    PARALLEL_ELEMENTS = 65536 /* for fewer, one thread is faster */
};

bool tz__is_derived(const tz_simulation *simulation, int field)
{
    return field >= simulation->problem.stencil->fields_count;
}

/* ---- A window: elements of a kept field, past the grid too, as a pass reads them ------------- */

/* Adjacent coordinates of an axis that are read from adjacent ones in the grid, or that all have
 * the boundary's value. Bits, along x: words whose columns all lie in the grid, or one word with
 * others. */
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
    const tz_field_reader *from;
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
    return w->from->load(w->from->context, w->field, &box, elements, error);
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

/* Read a box of elements (words of bits), x fastest, at most TZ_RADIUS_MAX elements past each side
 * of the grid. Elements outside get what the boundaries say, also the columns of a word of bits
 * that lie outside. Errors: TZ_MEMORY, errors of the backend. */
static tz_status window_read(const tz_problem *problem, const tz_field_reader *from, int field,
                             const tz_box *box, void *elements, tz_error *error)
{
    window w = {.from = from,
                .problem = problem,
                .field = field,
                .size = tz_problem_element_size(problem, field),
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

/* ---- A block --------------------------------------------------------------------------------- */

/* A field around a block. */
typedef struct source {
    char *memory; /* NULL: the output does not read the field */
    tz_box box;
    const char *elements; /* of the box */
} source;

typedef struct block {
    const tz_simulation *simulation;
    const tz_field_reader *from;
    const tz_stencil *stencil;
    const tz_pass *output;
    tz_row_fn *rows;
    int field;
    tz_box box;       /* elements of the block */
    const tz_box *to; /* elements that `elements` has room for */
    char *elements;
    source sources[TZ_FIELDS_MAX];
    char *others; /* a row for each other field that the output writes, for each thread */
    size_t others_bytes;
} block;

static int64_t length(const tz_box *box, int axis)
{
    return box->high[axis] - box->low[axis];
}

static tz_status read_source(block *b, int field, tz_error *error)
{
    const tz_problem *problem = &b->simulation->problem;
    const tz_reads reads = tz_stencil_reads(b->stencil, b->output, field);
    const size_t size = tz_problem_computed_type(problem, field)->size;
    source *s = &b->sources[field];
    size_t count = 1;
    s->box = b->box;
    for (int axis = 0; axis < problem->dims; axis++) {
        s->box.low[axis] += reads.low[axis];
        s->box.high[axis] += reads.high[axis];
        count *= (size_t)length(&s->box, axis);
    }
    s->memory = calloc(count + 2 * SLACK, size);
    if (!s->memory)
        return tz_error_set(error, TZ_MEMORY, b->stencil->fields[b->field].name,
                            "not enough memory to compute a part of the field");
    s->elements = s->memory + SLACK * size;
    if (tz_problem_as_computed(problem, field))
        return window_read(problem, b->from, field, &s->box, s->memory + SLACK * size, error);
    char *stored = malloc(count * tz_problem_element_size(problem, field));
    if (!stored)
        return tz_error_set(error, TZ_MEMORY, b->stencil->fields[b->field].name,
                            "not enough memory to compute a part of the field");
    const tz_status status = window_read(problem, b->from, field, &s->box, stored, error);
    if (!status)
        tz_stored_load(&problem->storage[field], b->simulation->isa, stored, (int64_t)count,
                       (float *)(void *)(s->memory + SLACK * size));
    free(stored);
    return status;
}

/* Element (x, y, z) of a source; a row or plane that its output does not read is another one. */
static tz_view view_of(const block *b, int field, int64_t y, int64_t z)
{
    const source *s = &b->sources[field];
    const tz_box *box = &s->box;
    y = y < box->low[1] ? box->low[1] : y >= box->high[1] ? box->high[1] - 1 : y;
    z = z < box->low[2] ? box->low[2] : z >= box->high[2] ? box->high[2] - 1 : z;
    const int64_t row = y - box->low[1] + length(box, 1) * (z - box->low[2]);
    const int64_t at = b->box.low[0] - box->low[0] + length(box, 0) * row;
    return (tz_view){
        s->elements + at * (int64_t)tz_problem_computed_type(&b->simulation->problem, field)->size,
        (ptrdiff_t)length(box, 0)};
}

static void compute_row(const block *b, int64_t y, int64_t z, char *others)
{
    const tz_problem *problem = &b->simulation->problem;
    const int radius = problem->dims == 1 ? 0 : b->output->radius, planes_read = 2 * radius + 1;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + 1)];
    tz_target out[TZ_FIELDS_MAX] = {{0}};
    for (int f = 0; f < tz_stencil_fields_all(b->stencil); f++)
        for (int d = -radius; d <= radius; d++) {
            tz_view *view = &in[f * planes_read + radius + d];
            if (f >= b->stencil->fields_count || !b->sources[f].memory)
                *view = (tz_view){others, 0};
            else
                *view =
                    view_of(b, f, problem->dims == 2 ? y + d : y, problem->dims == 3 ? z + d : z);
        }
    for (int f = b->stencil->fields_count; f < tz_stencil_fields_all(b->stencil); f++) {
        const size_t size = tz_problem_element_size(problem, f);
        const int64_t at =
            b->box.low[0] - b->to->low[0] +
            length(b->to, 0) * (y - b->to->low[1] + length(b->to, 1) * (z - b->to->low[2]));
        if (!(b->output->writes >> f & 1))
            continue;
        out[f].at = f == b->field ? b->elements + at * (int64_t)size : others;
        others += f == b->field ? 0 : length(&b->box, 0) * (int64_t)sizeof(double);
    }
    const tz_span span = {
        .in = in,
        .out = out,
        .constants = b->from->constants,
        .count = length(&b->box, 0),
        .rows = 1,
        .x = b->box.low[0],
        .y = y,
        .z = z,
        .step = b->from->step,
        .engine = b->output->engine,
    };
    b->rows(&span);
}

static void compute_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const block *b = any;
    const int64_t ny = length(&b->box, 1);
    for (int64_t i = begin; i < end; i++)
        compute_row(b, b->box.low[1] + i % ny, b->box.low[2] + i / ny,
                    b->others + (size_t)thread * b->others_bytes);
}

static tz_status compute_block(block *b, tz_error *error)
{
    const int64_t rows = length(&b->box, 1) * length(&b->box, 2);
    const bool few = rows * length(&b->box, 0) < PARALLEL_ELEMENTS;
    tz_threads *threads = few ? NULL : b->simulation->pool;
    const int written = __builtin_popcount(b->output->writes);
    tz_status status = TZ_OK;
    for (int f = 0; !status && f < b->stencil->fields_count; f++)
        if (tz_stencil_may_read(b->stencil, b->output, f))
            status = read_source(b, f, error);
    b->others_bytes = (size_t)written * (size_t)length(&b->box, 0) * sizeof(double);
    b->others = status ? NULL : malloc((size_t)tz_threads_count(threads) * b->others_bytes);
    if (!status && !b->others)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    if (!status)
        tz_threads_for(threads, rows, compute_rows, b);
    for (int f = 0; f < b->stencil->fields_count; f++)
        free(b->sources[f].memory);
    memset(b->sources, 0, sizeof b->sources);
    free(b->others);
    return status;
}

/* ---- A box ----------------------------------------------------------------------------------- */

/* Elements of a block. */
static int64_t block_elements(const tz_stencil *stencil)
{
    const int64_t fit = FIELDS_BYTES / 8 / stencil->fields_count;
    return fit < BLOCK_LEAST ? BLOCK_LEAST : fit < BLOCK_MOST ? fit : BLOCK_MOST;
}

static tz_row_fn *rows_of(const tz_simulation *simulation, const tz_pass *output)
{
    tz_row_fn *rows = NULL;
    for (int isa = (int)simulation->isa; !rows; isa--)
        rows = tz_kernels_rows(output->kernels, (tz_isa)isa, simulation->problem.precision);
    return rows;
}

tz_status tz__derived_from(const tz_simulation *simulation, const tz_field_reader *from, int field,
                           const tz_box *box, void *elements, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    tz_box_parts p = {.whole = *box, .most = block_elements(stencil)};
    block *b = calloc(1, sizeof *b);
    tz_status status = TZ_OK;
    if (!b)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    b->simulation = simulation;
    b->from = from;
    b->stencil = stencil;
    b->output = tz_stencil_output(stencil, field);
    b->rows = rows_of(simulation, b->output);
    b->field = field;
    b->to = box;
    b->elements = elements;
    while (!status && tz_box_next(&p)) {
        b->box = p.part;
        status = compute_block(b, error);
    }
    free(b);
    return status;
}

static tz_status load_state(void *context, int field, const tz_box *box, void *elements,
                            tz_error *error)
{
    const tz_simulation *simulation = context;
    return simulation->backend->load(simulation->state, field, box, elements, error);
}

/* From the fields as they are. */
static tz_status compute(const tz_simulation *simulation, int field, const tz_box *box,
                         void *elements, tz_error *error)
{
    tz_slot constants[TZ_CONSTANTS_MAX];
    const tz_field_reader from = {load_state, (void *)simulation, simulation->step, constants};
    const tz_status status =
        tz_problem_constants_at(&simulation->problem, simulation->step, constants, error);
    return status ? status : tz__derived_from(simulation, &from, field, box, elements, error);
}

tz_status tz__field_load(const tz_simulation *simulation, int field, const tz_box *box,
                         void *elements, tz_error *error)
{
    return tz__is_derived(simulation, field)
               ? compute(simulation, field, box, elements, error)
               : simulation->backend->load(simulation->state, field, box, elements, error);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

tz_status tz__field_reduce(const tz_simulation *simulation, int field, tz_reduction *out,
                           tz_error *error)
{
    if (!tz__is_derived(simulation, field))
        return tz_backend_reduce(simulation->backend, simulation->state, &simulation->problem,
                                 field, out, error);
    const tz_problem *problem = &simulation->problem;
    const int64_t *n = problem->elements, ny = n[1];
    const int64_t size = (int64_t)tz_problem_element_size(problem, field);
    const int64_t most = block_elements(problem->stencil) / TZ_REDUCE_SEGMENT * TZ_REDUCE_SEGMENT;
    tz_box_parts p = {.whole = {{0}, {n[0], n[1], n[2]}}, .most = most};
    char *elements = malloc((size_t)(tz_min(n[0] * n[1] * n[2], most) * size));
    tz_reduce_sums sums;
    tz_status status = tz_reduce_begin(&sums, problem, field, error);
    if (!status && !elements)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    while (!status && tz_box_next(&p)) {
        const tz_box *box = &p.part;
        const int64_t width = length(box, 0), row = box->low[1] + ny * box->low[2];
        const tz_host_field piece = {.origin = elements - (box->low[0] + width * row) * size,
                                     .row_stride = (ptrdiff_t)width,
                                     .plane_stride = (ptrdiff_t)(width * ny)};
        status = compute(simulation, field, box, elements, error);
        if (!status)
            status = tz_reduce_add(&sums, &piece, row, row + length(box, 1) * length(box, 2),
                                   box->low[0], box->high[0], simulation->pool, error);
    }
    tz_reduce_end(&sums, out);
    free(elements);
    return status;
}
