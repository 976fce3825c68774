/* Transfers boxes of cells in parts, converts them to and from the elements of a field, and unpacks
 * bits. Called by fields.c. */
#include "sim/state.h"

#include "sim/fields.h"

#include "base/minmax.h"
#include "sim/points.h"
#include <stdlib.h>
#include <string.h>

/* Cells are transferred in parts of a box. A 1-D field is a single row: it is not copied as a
 * whole. */
enum {
    PIECE_CELLS = 1 << 16,
    READ_WORDS = 1 << 18,
    ROW_WORDS = 1 << 14,
    PARALLEL_CELLS = 1 << 18 /* fewer are filled by one thread */
};

/* Rows of bits are transferred in full, since a column is a bit of some word of the row; but not
 * very long ones. Then a part is one bit of adjacent words. */
static bool whole_rows(const tz_problem *problem)
{
    return problem->bits && problem->elements[0] <= ROW_WORDS;
}

/* The parts of a box from x on: to its end, or to that of a bit of the words. A part has at most so
 * many elements, or one row that is transferred in full. */
static tz_box_parts parts_from(const tz_problem *problem, const tz_box *box, int64_t x,
                               int64_t elements)
{
    const int64_t words = problem->elements[0], width = box->high[0] - box->low[0];
    tz_box_parts parts = {.whole = *box, .most = elements};
    parts.whole.low[0] = x;
    if (whole_rows(problem))
        parts.most = width * (elements > words ? elements / words : 1);
    else if (problem->bits)
        parts.whole.high[0] = tz_min(box->high[0], (x / words + 1) * words);
    return parts;
}

/* The elements that hold the cells of a part. */
static tz_box elements_of(const tz_problem *problem, const tz_box *part)
{
    const int64_t words = problem->elements[0], width = part->high[0] - part->low[0];
    tz_box box = *part;
    if (problem->bits) {
        box.low[0] = whole_rows(problem) ? 0 : part->low[0] % words;
        box.high[0] = whole_rows(problem) ? words : box.low[0] + width;
    }
    return box;
}

static int64_t rows_of(const tz_box *part)
{
    return (part->high[1] - part->low[1]) * (part->high[2] - part->low[2]);
}

/* Of a box, at most `most`, or a row that is transferred in full. */
static int64_t elements_at_once(const tz_problem *problem, const tz_box *box, int64_t most)
{
    const int64_t row = whole_rows(problem) ? problem->elements[0] : box->high[0] - box->low[0];
    const int64_t elements = tz_min(row * rows_of(box), most);
    return whole_rows(problem) && elements < row ? row : elements;
}

/* The y and z of row k of a part, and the number of its first cell in the box. */
static int64_t row_at(const tz_box *box, const tz_box *part, int64_t k, int64_t *y, int64_t *z)
{
    const int64_t rows = part->high[1] - part->low[1];
    *y = part->low[1] + k % rows;
    *z = part->low[2] + k / rows;
    const int64_t before = (*z - box->low[2]) * (box->high[1] - box->low[1]) + *y - box->low[1];
    return before * (box->high[0] - box->low[0]) + part->low[0] - box->low[0];
}

/* Set or clear the bits of the cells from x on in a row of words, the first of which is word
 * `first`. */
static void put_bits(uint32_t *words, int64_t first, int64_t count, int64_t x, int64_t cells,
                     const double *values)
{
    int64_t word = x % count, column = x / count;
    for (int64_t i = 0; i < cells; i++) {
        const uint32_t bit = UINT32_C(1) << column, old = words[word - first];
        words[word - first] = values[i] != 0.0 ? old | bit : old & ~bit;
        if (++word == count) {
            word = 0;
            column++;
        }
    }
}

/* What fills a box, and a part of it that is being filled. */
typedef struct filling {
    const tz_problem *problem;
    int field;
    const tz_box *box;
    tz__values_fn *give;
    const void *context;
    int64_t values_count;
    double *values; /* so many of each thread */
    void *elements; /* of the part */
    tz_box part, from;
} filling;

static void fill_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const filling *f = any;
    const tz_problem *problem = f->problem;
    const size_t size = tz_problem_element_size(problem, f->field);
    double *values = f->values + thread * f->values_count;
    for (int64_t k = begin; k < end; k++) {
        char *row = (char *)f->elements + (size_t)(k * (f->from.high[0] - f->from.low[0])) * size;
        int64_t y, z;
        const int64_t first = row_at(f->box, &f->part, k, &y, &z);
        const int64_t before = problem->extent[0] * (y + problem->extent[1] * z);
        for (int64_t x = f->part.low[0], n; x < f->part.high[0]; x += n) {
            n = tz_min(f->part.high[0] - x, f->values_count);
            f->give(f->context, first + x - f->part.low[0], before + x, n, values);
            if (problem->bits)
                put_bits((uint32_t *)(void *)row, f->from.low[0], problem->elements[0], x, n,
                         values);
            else
                tz_problem_to_elements(problem, f->field, values, n,
                                       row + (size_t)(x - f->part.low[0]) * size);
        }
    }
}

static tz_status write_part(tz_simulation *simulation, filling *f, tz_threads *threads,
                            tz_error *error)
{
    const tz_problem *problem = f->problem;
    const bool all = f->part.high[0] - f->part.low[0] == problem->extent[0];
    tz_status status = TZ_OK;
    f->from = elements_of(problem, &f->part);
    if (whole_rows(problem) && all)
        memset(f->elements, 0,
               (size_t)(rows_of(&f->part) * problem->elements[0]) * sizeof(uint32_t));
    else if (problem->bits)
        status =
            simulation->backend->load(simulation->state, f->field, &f->from, f->elements, error);
    if (status)
        return status;
    tz_threads_for(threads, rows_of(&f->part), fill_rows, f);
    return simulation->backend->store(simulation->state, f->field, &f->from, f->elements, error);
}

tz_status tz__cells_write(tz_simulation *simulation, int field, const tz_box *box,
                          tz__values_fn *values, const void *context, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const int64_t width = box->high[0] - box->low[0];
    tz_threads *threads = width * rows_of(box) < PARALLEL_CELLS ? NULL : simulation->pool;
    const size_t count = (size_t)tz_threads_count(threads);
    /* A device has a latency, and each thread fills rows. */
    const int64_t elements = elements_at_once(problem, box, PIECE_CELLS * (int64_t)count);
    filling f = {.problem = problem,
                 .field = field,
                 .box = box,
                 .give = values,
                 .context = context,
                 .values_count = tz_min(width, PIECE_CELLS)};
    f.values = malloc(count * (size_t)f.values_count * sizeof *f.values);
    f.elements = malloc((size_t)elements * tz_problem_element_size(problem, field));
    tz_status status =
        f.values && f.elements
            ? TZ_OK
            : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row of cells");
    if (!status)
        status = tz__points_before_write(simulation, field, error);
    tz__simulation_field_changes(simulation, field);
    tz_box_parts p;
    for (int64_t x = box->low[0]; !status && x < box->high[0]; x = p.whole.high[0])
        for (p = parts_from(problem, box, x, elements); !status && tz_box_next(&p);) {
            f.part = p.part;
            status = write_part(simulation, &f, threads, error);
        }
    free(f.values);
    free(f.elements);
    return status;
}

tz_status tz__cells_read_bits(const tz_simulation *simulation, int field, const tz_box *box,
                              uint8_t *cells, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const int64_t count = problem->elements[0];
    const int64_t elements = elements_at_once(problem, box, READ_WORDS);
    uint32_t *words = malloc((size_t)elements * sizeof *words);
    if (!words)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of bits");
    tz_status status = TZ_OK;
    tz_box_parts p;
    for (int64_t x = box->low[0]; !status && x < box->high[0]; x = p.whole.high[0])
        for (p = parts_from(problem, box, x, elements); !status && tz_box_next(&p);) {
            const tz_box from = elements_of(problem, &p.part);
            const int64_t width = p.part.high[0] - p.part.low[0];
            status = tz__field_load(simulation, field, &from, words, error);
            for (int64_t k = 0, y, z; !status && k < rows_of(&p.part); k++) {
                const uint32_t *row = words + k * (from.high[0] - from.low[0]);
                uint8_t *to = cells + row_at(box, &p.part, k, &y, &z);
                if (whole_rows(problem))
                    tz_bits_spread(row, count, p.part.low[0], width, to);
                for (int64_t i = 0; !whole_rows(problem) && i < width; i++)
                    to[i] = row[i] >> (p.part.low[0] / count) & 1;
            }
        }
    free(words);
    return status;
}
