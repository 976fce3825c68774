#include "sim/derived.h"

#include "backend/host/reduce.h"
#include "sim/simulation_impl.h"
#include "sim/window.h"
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

/* ---- A block --------------------------------------------------------------------------------- */

/* A field around a block. */
typedef struct source {
    char *memory; /* NULL: the output does not read the field */
    tz_box box;
    const char *elements; /* of the box */
} source;

typedef struct block {
    const tz_simulation *simulation;
    const tz_stencil *stencil;
    const tz_pass *output;
    tz_row_fn *rows;
    int field;
    tz_box box;       /* elements of the block */
    const tz_box *to; /* elements that `elements` has room for */
    char *elements;
    source sources[TZ_FIELDS_MAX];
    tz_slot constants[TZ_CONSTANTS_MAX];
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
    const size_t size = tz_problem_element_size(problem, field);
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
    return tz__window_read(b->simulation, field, &s->box, s->memory + SLACK * size, error);
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
    return (tz_view){s->elements +
                         at * (int64_t)tz_problem_element_size(&b->simulation->problem, field),
                     (ptrdiff_t)length(box, 0)};
}

static void compute_row(const block *b, int64_t y, int64_t z, char *others)
{
    const tz_problem *problem = &b->simulation->problem;
    const int radius = problem->dims == 1 ? 0 : b->output->radius, window = 2 * radius + 1;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + 1)];
    tz_target out[TZ_FIELDS_MAX] = {{0}};
    for (int f = 0; f < tz_stencil_fields_all(b->stencil); f++)
        for (int d = -radius; d <= radius; d++) {
            tz_view *view = &in[f * window + radius + d];
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
        .constants = b->constants,
        .count = length(&b->box, 0),
        .rows = 1,
        .x = b->box.low[0],
        .y = y,
        .z = z,
        .step = b->simulation->step,
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

static tz_status compute(const tz_simulation *simulation, int field, const tz_box *box,
                         void *elements, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    const int64_t most = block_elements(stencil);
    const int64_t nx = length(box, 0), ny = length(box, 1), nz = length(box, 2);
    const int64_t wx = nx < most ? nx : most, wy = ny < most / wx ? ny : most / wx;
    const int64_t wz = nz < most / wx / wy ? nz : most / wx / wy;
    block *b = calloc(1, sizeof *b);
    if (!b)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    b->simulation = simulation;
    b->stencil = stencil;
    b->output = tz_stencil_output(stencil, field);
    b->rows = rows_of(simulation, b->output);
    b->field = field;
    b->to = box;
    b->elements = elements;
    tz_status status =
        tz_problem_constants_at(&simulation->problem, simulation->step, b->constants, error);
    for (int64_t z = box->low[2]; z < box->high[2]; z += wz)
        for (int64_t y = box->low[1]; y < box->high[1]; y += wy)
            for (int64_t x = box->low[0]; !status && x < box->high[0]; x += wx) {
                b->box = (tz_box){{x, y, z},
                                  {x + wx < box->high[0] ? x + wx : box->high[0],
                                   y + wy < box->high[1] ? y + wy : box->high[1],
                                   z + wz < box->high[2] ? z + wz : box->high[2]}};
                status = compute_block(b, error);
            }
    free(b);
    return status;
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
        return simulation->backend->reduce(simulation->state, field, out, error);
    const tz_problem *problem = &simulation->problem;
    const int64_t nx = problem->elements[0], ny = problem->elements[1], nz = problem->elements[2];
    const int64_t most = block_elements(problem->stencil); /* a multiple of a segment */
    const int64_t wx = nx < most ? nx : most / TZ_REDUCE_SEGMENT * TZ_REDUCE_SEGMENT;
    const int64_t wy = ny < most / wx ? ny : most / wx;
    const int64_t size = (int64_t)tz_problem_element_size(problem, field);
    char *elements = malloc((size_t)(wx * wy * size));
    tz_reduce_sums sums;
    tz_status status = tz_reduce_begin(&sums, problem, field, error);
    if (!status && !elements)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y += wy)
            for (int64_t x = 0; !status && x < nx; x += wx) {
                const tz_box box = {{x, y, z},
                                    {x + wx < nx ? x + wx : nx, y + wy < ny ? y + wy : ny, z + 1}};
                const int64_t width = length(&box, 0);
                const tz_host_field piece = {.origin = elements - (x + width * (y + ny * z)) * size,
                                             .row_stride = (ptrdiff_t)width,
                                             .plane_stride = (ptrdiff_t)(width * ny)};
                status = compute(simulation, field, &box, elements, error);
                if (!status)
                    status = tz_reduce_add(&sums, &piece, y + ny * z, box.high[1] + ny * z, x,
                                           box.high[0], simulation->pool, error);
            }
    tz_reduce_end(&sums, out);
    free(elements);
    return status;
}
