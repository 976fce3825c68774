/* Transfers boxes of cells in blocks of rows, converts them to and from the elements of a field,
 * and unpacks bits. Called by fields.c. */
#include "sim/state.h"

#include "sim/fields.h"

#include "base/minmax.h"
#include <stdlib.h>
#include <string.h>

bool tz_box_next(tz_box_parts *p)
{
    int64_t room = p->most;
    const bool begins = p->count == 0;
    p->first += p->count;
    p->count = 1;
    for (int a = 0; a < TZ_AXES; a++) {
        const int64_t n = p->whole.high[a] - p->whole.low[a];
        p->length[a] = tz_min(n, room);
        room = n <= room ? room / n : 1;
    }
    for (int a = 0, carry = !begins; a < TZ_AXES; a++) {
        int64_t *low = &p->part.low[a];
        *low = begins ? p->whole.low[a] : *low + (carry ? p->length[a] : 0);
        carry = carry && *low >= p->whole.high[a];
        if (carry && a == TZ_AXES - 1)
            return false;
        if (carry)
            *low = p->whole.low[a];
        p->part.high[a] = tz_min(*low + p->length[a], p->whole.high[a]);
        p->count *= p->part.high[a] - *low;
    }
    return true;
}

/* Cells are transferred in pieces of rows. A 1-D field is a single row: it is not copied as a
 * whole. */
enum {
    PIECE_CELLS = 1 << 16,
    ROW_WORDS = 1 << 14,
    PARALLEL_CELLS = 1 << 18 /* fewer are filled by one thread */
};

/* Rows of bits are transferred in full, since a column is a bit of some word of the row; but not
 * very long ones. Then a piece is one bit of adjacent words. */
static bool whole_rows(const tz_problem *problem)
{
    return problem->bits && problem->elements[0] <= ROW_WORDS;
}

/* Where the piece ends that begins at x in a row that ends at `high`. */
static int64_t piece_end(const tz_problem *problem, int64_t x, int64_t high)
{
    const int64_t words = problem->elements[0];
    if (whole_rows(problem))
        return high;
    int64_t end = x + PIECE_CELLS;
    if (problem->bits && end > (x / words + 1) * words)
        end = (x / words + 1) * words;
    return end < high ? end : high;
}

static tz_box piece_box(const tz_problem *problem, int64_t x_low, int64_t x_high, int64_t y,
                        int64_t z)
{
    const int64_t low = whole_rows(problem) ? 0
                        : problem->bits     ? x_low % problem->elements[0]
                                            : x_low;
    const int64_t count = whole_rows(problem) ? problem->elements[0] : x_high - x_low;
    const tz_box box = {{low, y, z}, {low + count, y + 1, z + 1}};
    return box;
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

/* What fills a box, and room for a block of it. */
typedef struct filler {
    tz__values_fn *values;
    const void *context;
    const tz_box *box;
    tz_threads *threads;
    int64_t width;  /* the most cells of a row of the block */
    double *rows;   /* for each thread, the values of a row of the block */
    void *elements; /* of the block */
} filler;

/* Rows of a block: elements `box` of a field, which are the cells from x_low on. */
typedef struct filling {
    const tz_problem *problem;
    const filler *filler;
    int field;
    tz_box box;
    int64_t x_low, cells;
    size_t row_bytes;
} filling;

static void fill_rows(void *any, int64_t begin, int64_t end, int thread)
{
    const filling *w = any;
    const filler *f = w->filler;
    const tz_problem *problem = w->problem;
    const tz_box *all = f->box, *box = &w->box;
    double *values = f->rows + thread * f->width;
    for (int64_t k = begin; k < end; k++) {
        char *row = (char *)f->elements + w->row_bytes * (size_t)k;
        const int64_t y = box->low[1] + k, z = box->low[2];
        const int64_t before = (z - all->low[2]) * (all->high[1] - all->low[1]) + y - all->low[1];
        f->values(f->context, before * (all->high[0] - all->low[0]) + w->x_low - all->low[0],
                  w->x_low + problem->extent[0] * (y + problem->extent[1] * z), w->cells, values);
        if (problem->bits)
            put_bits((uint32_t *)row, box->low[0], problem->elements[0], w->x_low, w->cells,
                     values);
        else
            tz_problem_to_elements(problem, w->field, values, w->cells, row);
    }
}

/* Write the cells from x_low to x_high of `rows` rows of a plane. */
static tz_status write_block(tz_simulation *simulation, int field, const filler *f, int64_t x_low,
                             int64_t x_high, int64_t y, int64_t rows, int64_t z, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    filling w = {.problem = problem,
                 .filler = f,
                 .field = field,
                 .box = piece_box(problem, x_low, x_high, y, z),
                 .x_low = x_low,
                 .cells = x_high - x_low};
    w.box.high[1] = y + rows;
    w.row_bytes = (size_t)(w.box.high[0] - w.box.low[0]) * tz_problem_element_size(problem, field);
    tz_status status = TZ_OK;
    if (problem->bits && whole_rows(problem) && w.cells == problem->extent[0])
        memset(f->elements, 0, w.row_bytes * (size_t)rows);
    else if (problem->bits)
        status = simulation->backend->load(simulation->state, field, &w.box, f->elements, error);
    if (!status)
        tz_threads_for(f->threads, rows, fill_rows, &w);
    tz__simulation_field_changes(simulation, field);
    return status
               ? status
               : simulation->backend->store(simulation->state, field, &w.box, f->elements, error);
}

/* How many rows of a box are written at once: a device has a latency, and each thread fills
 * rows. */
static int64_t block_rows(const tz_problem *problem, const tz_box *box, int threads)
{
    const int64_t width = box->high[0] - box->low[0], rows = box->high[1] - box->low[1];
    if (problem->bits && !whole_rows(problem))
        return 1;
    const int64_t most = threads * PIECE_CELLS / (problem->bits ? problem->elements[0] : width);
    return most < 1 ? 1 : most < rows ? most : rows;
}

/* Room for the values of a row of up to `cells` cells, or of a piece of it, for each thread, and
 * for the elements of so many rows. */
typedef struct piece {
    int64_t width; /* values of a thread */
    double *values;
    void *elements;
} piece;

static tz_status piece_create(const tz_simulation *simulation, int64_t cells, int64_t rows,
                              int threads, piece *out, tz_error *error)
{
    const int64_t words = simulation->problem.elements[0];
    const int64_t count = whole_rows(&simulation->problem) && cells < words          ? words
                          : !whole_rows(&simulation->problem) && cells > PIECE_CELLS ? PIECE_CELLS
                                                                                     : cells;
    out->width = count;
    out->values = malloc((size_t)(threads * count) * sizeof *out->values);
    const int64_t length = whole_rows(&simulation->problem) ? words : count;
    out->elements = malloc((size_t)(length * rows) * sizeof(double));
    if (out->values && out->elements)
        return TZ_OK;
    free(out->values);
    free(out->elements);
    return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row of cells");
}

static void piece_clear(piece *p)
{
    free(p->values);
    free(p->elements);
}

tz_status tz__cells_write(tz_simulation *simulation, int field, const tz_box *box,
                          tz__values_fn *values, const void *context, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const int64_t width = box->high[0] - box->low[0];
    const int64_t cells = width * (box->high[1] - box->low[1]) * (box->high[2] - box->low[2]);
    tz_threads *threads = cells < PARALLEL_CELLS ? NULL : simulation->pool;
    const int64_t rows = block_rows(problem, box, tz_threads_count(threads));
    piece p;
    tz_status status = piece_create(simulation, width, rows, tz_threads_count(threads), &p, error);
    if (status)
        return status;
    const filler f = {values, context, box, threads, p.width, p.values, p.elements};
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y += rows)
            for (int64_t x = box->low[0], end; !status && x < box->high[0]; x = end) {
                const int64_t n = box->high[1] - y < rows ? box->high[1] - y : rows;
                end = piece_end(problem, x, box->high[0]);
                status = write_block(simulation, field, &f, x, end, y, n, z, error);
            }
    piece_clear(&p);
    return status;
}

/* ---- Bits as bytes --------------------------------------------------------------------------- */

/* Reads bits of a box of very long rows as bytes. */
static tz_status read_long_bits(const tz_simulation *simulation, int field, const tz_box *box,
                                uint8_t *cells, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    uint32_t *words = malloc(PIECE_CELLS * sizeof *words);
    if (!words)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of bits");
    tz_status status = TZ_OK;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0], end; !status && x < box->high[0]; x = end) {
                end = piece_end(problem, x, box->high[0]);
                const tz_box part = piece_box(problem, x, end, y, z);
                status = tz__field_load(simulation, field, &part, words, error);
                for (int64_t k = 0; !status && k < end - x; k++)
                    *cells++ = words[k] >> (x / problem->elements[0]) & 1;
            }
    free(words);
    return status;
}

/* Reads bits of a box as bytes, several rows a load, since each load from a device has a
 * latency. */
static tz_status read_bit_rows(const tz_simulation *simulation, int field, const tz_box *box,
                               uint8_t *cells, tz_error *error)
{
    enum { WORDS = 1 << 18 };
    const tz_problem *problem = &simulation->problem;
    const int64_t words = problem->elements[0], nx = box->high[0] - box->low[0];
    const int64_t ny = box->high[1] - box->low[1];
    const int64_t most = words < WORDS ? WORDS / words : 1, rows = most < ny ? most : ny;
    uint32_t *lines = malloc((size_t)(words * rows) * sizeof *lines);
    if (!lines)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of bits");
    tz_status status = TZ_OK;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; !status && y < box->high[1]; y += rows) {
            const int64_t end = y + rows < box->high[1] ? y + rows : box->high[1];
            const tz_box part = {{0, y, z}, {words, end, z + 1}};
            status = tz__field_load(simulation, field, &part, lines, error);
            for (int64_t k = 0; !status && k < end - y; k++, cells += nx)
                tz_bits_spread(lines + k * words, words, box->low[0], nx, cells);
        }
    free(lines);
    return status;
}

tz_status tz__cells_read_bits(const tz_simulation *simulation, int field, const tz_box *box,
                              uint8_t *cells, tz_error *error)
{
    return whole_rows(&simulation->problem) ? read_bit_rows(simulation, field, box, cells, error)
                                            : read_long_bits(simulation, field, box, cells, error);
}
