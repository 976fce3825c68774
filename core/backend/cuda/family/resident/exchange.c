/* What an exchange of the resident family takes, for a block with neighbours on all sides. */
#include "backend/cuda/family/resident/design.h"

#include "model/constants.h"

#include <math.h>
#include <stdlib.h>

/* Which cells of a tile a block of the middle receives and sends along an axis. */
typedef struct middle {
    int begin, own_begin, own_end; /* the tile's first cell in the grid; own cells in the tile */
    int ghost;                     /* 0: one block on this axis */
} middle;

static middle middle_of(const tz_problem *problem, const tz_resident *d, int axis)
{
    const int n = (int)problem->elements[axis], blocks = d->blocks[axis];
    middle m = {.own_end = n};
    if (blocks == 1)
        return m;
    m.ghost = m.own_begin = d->ghost;
    m.own_end = d->ghost + (n + blocks - 1) / blocks;
    m.begin = n / blocks > d->ghost ? n / blocks - d->ghost : 0;
    return m;
}

static bool is_surplus(const middle *m, int cell)
{
    return m->ghost > 0 && cell >= m->own_end + m->ghost;
}

static bool is_ghost(const middle *m, int cell)
{
    return m->ghost > 0 && (cell < m->own_begin || cell >= m->own_end) && !is_surplus(m, cell);
}

/* ---- Ways to the second-level cache ---------------------------------------------------------- */

/* The cells along an axis of the bricks of a warp that are ghost cells in one of them: a bit each. */
static uint32_t ghosts_of_warp(const tz_resident *d, const middle *m, int axis, int warp)
{
    const int threads = d->threads[0] * d->threads[1] * d->threads[2];
    uint32_t ghosts = 0;
    for (int t = 32 * warp; t < 32 * warp + 32 && t < threads; t++) {
        const int thread = axis == 0   ? t % d->threads[0]
                           : axis == 1 ? t / d->threads[0] % d->threads[1]
                                       : t / (d->threads[0] * d->threads[1]);
        for (int c = 0; c < d->cells[axis]; c++)
            ghosts |= (uint32_t)is_ghost(m, thread * d->cells[axis] + c) << c;
    }
    return ghosts;
}

static int batches_of_warp(const tz_resident *d, const middle at[TZ_AXES], int warp)
{
    const int cells = d->cells[0] * d->cells[1] * d->cells[2];
    uint32_t ghosts[TZ_AXES];
    int batches = 0;
    for (int axis = 0; axis < TZ_AXES; axis++)
        ghosts[axis] = ghosts_of_warp(d, &at[axis], axis, warp);
    for (int first = 0; first < cells; first += d->batch) {
        uint32_t any = 0;
        for (int c = first; c < first + d->batch && c < cells; c++)
            any |= ghosts[0] >> c % d->cells[0] | ghosts[1] >> c / d->cells[0] % d->cells[1] |
                   ghosts[2] >> c / (d->cells[0] * d->cells[1]);
        batches += any & 1u;
    }
    return batches;
}

/* As tz_ring_of() of resident_exchange.cuh, in 2-D and 1-D. */
static double requests_of(const tz_resident *d, const middle at[TZ_AXES])
{
    double own[TZ_AXES], ghosts[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const double extent = d->cells[axis] * d->threads[axis];
        own[axis] = at[axis].ghost == 0 ? extent : at[axis].own_end - at[axis].own_begin;
        ghosts[axis] = fmax(0.0, fmin(2.0 * at[axis].ghost, extent - own[axis]));
    }
    const double rows = ghosts[1] * ceil(d->cells[0] * d->threads[0] / 32.0);
    if (ghosts[0] == 0.0)
        return rows;
    return rows + (ghosts[0] > 32.0 ? own[1] * ceil(ghosts[0] / 32.0)
                                    : ceil(own[1] / floor(32.0 / ghosts[0])));
}

void tz_resident_ways(const tz_problem *problem, const tz_resident *d, tz_resident_exchange *out)
{
    middle at[TZ_AXES];
    *out = (tz_resident_exchange){.sectors = 0.0};
    for (int axis = 0; axis < TZ_AXES; axis++)
        at[axis] = middle_of(problem, d, axis);
    out->requests = requests_of(d, at);
    for (int w = 0; w < d->warps; w++) {
        const double batches = batches_of_warp(d, at, w);
        out->batches_mean += batches / d->warps;
        out->batches_most = fmax(out->batches_most, batches);
    }
}

int tz_resident_rounds(const tz_resident *d, const tz_resident_exchange *e)
{
    return (int)ceil(e->requests / ((double)d->warps * d->gather));
}

double tz_resident_request_time(const tz_resident *d, const tz_resident_exchange *e)
{
    return TZ_FIT_RESIDENT_REQUEST * d->groups * e->requests / d->warps;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* A list of the sectors that one access of a warp touches. */
typedef struct sector_list {
    int64_t sectors[32];
    int count;
} sector_list;

static void touch(sector_list *list, int64_t sector)
{
    for (int k = 0; k < list->count; k++)
        if (list->sectors[k] == sector)
            return;
    list->sectors[list->count++] = sector;
}

/* As in resident_exchange.cuh. `apart`: tz_resident_slots_apart(). */
static int64_t slot_of_column(const tz_resident *d, int64_t apart, int64_t x)
{
    return x % d->cells[0] * apart + x / d->cells[0];
}

/* The access of warp w to cell (i, j, k) of its bricks. */
static double count_access(const tz_problem *problem, const tz_resident *d, const middle *at, int w,
                           const int cell[TZ_AXES])
{
    const int threads = d->threads[0] * d->threads[1] * d->threads[2];
    const int64_t apart = tz_resident_slots_apart(problem, d);
    sector_list sent = {.count = 0}, received = {.count = 0};
    for (int t = 32 * w; t < 32 * w + 32 && t < threads; t++) {
        const int thread[] = {t % d->threads[0], t / d->threads[0] % d->threads[1],
                              t / (d->threads[0] * d->threads[1])};
        bool foreign = false, wanted = false, surplus = false;
        int64_t x[TZ_AXES];
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const middle *m = &at[axis];
            const int c = thread[axis] * d->cells[axis] + cell[axis];
            x[axis] = m->begin + c;
            foreign = foreign || is_ghost(m, c);
            surplus = surplus || is_surplus(m, c);
            wanted = wanted ||
                     (m->ghost > 0 && (c < m->own_begin + m->ghost || c >= m->own_end - m->ghost));
        }
        const int64_t slot = (x[2] * problem->elements[1] + x[1]) * d->cells[0] * apart +
                             slot_of_column(d, apart, x[0]);
        if (surplus)
            continue;
        if (foreign)
            touch(&received, slot / TZ_RESIDENT_SECTOR_SLOTS);
        else if (wanted)
            touch(&sent, slot / TZ_RESIDENT_SECTOR_SLOTS);
    }
    return sent.count + received.count;
}

void tz_resident_count(const tz_problem *problem, const tz_resident *d, tz_resident_exchange *out)
{
    const int cells = d->cells[0] * d->cells[1] * d->cells[2];
    middle at[TZ_AXES];
    tz_resident_ways(problem, d, out);
    for (int axis = 0; axis < TZ_AXES; axis++)
        at[axis] = middle_of(problem, d, axis);
    for (int w = 0; w < d->warps; w++)
        for (int c = 0; c < cells; c++) {
            const int cell[] = {c % d->cells[0], c / d->cells[0] % d->cells[1],
                                c / (d->cells[0] * d->cells[1])};
            out->sectors += count_access(problem, d, at, w, cell);
        }
}

/* ---- Lines of the second-level cache --------------------------------------------------------- */

/* A cut of the grid along an axis. */
typedef struct cuts {
    int64_t n, blocks, extent, ghost;
    bool wraps;
} cuts;

static cuts cuts_of(const tz_problem *problem, const tz_resident *d, int axis)
{
    return (cuts){.n = problem->elements[axis],
                  .blocks = d->blocks[axis],
                  .extent = (int64_t)d->cells[axis] * d->threads[axis],
                  .ghost = d->ghost,
                  .wraps = tz_boundary_wraps(problem->boundary[axis][0]) ||
                           (axis == 0 && problem->bits)};
}

/* As tz_own_begin() of resident_tile.cuh, of more than one block. */
static int64_t own_begin(const cuts *c, int64_t block)
{
    if (c->wraps)
        return block * c->n / c->blocks;
    return block == 0           ? 0
           : block == c->blocks ? c->n
                                : block * (c->n - c->extent) / (c->blocks - 1) + c->ghost;
}

/* How many cells a block sends along an axis, at its low and its high side. */
typedef struct sent_cells {
    int64_t low, high;
} sent_cells;

static sent_cells sent_of(const cuts *c, int64_t block)
{
    const int64_t count = own_begin(c, block + 1) - own_begin(c, block);
    sent_cells sent = {.low = c->wraps || block > 0 ? c->ghost : 0,
                       .high = c->wraps || block < c->blocks - 1 ? c->ghost : 0};
    sent.low = sent.low < count ? sent.low : count;
    sent.high = sent.high < count - sent.low ? sent.high : count - sent.low;
    return sent;
}

/* Cells along an axis that some block sends. */
static double sent_along(const cuts *c)
{
    double cells = 0.0;
    for (int64_t b = 0; c->blocks > 1 && b < c->blocks; b++)
        cells += (double)(sent_of(c, b).low + sent_of(c, b).high);
    return cells;
}

/* Marks the lines that have slots of columns from `first` on, and returns how many were not marked. */
static double mark_columns(const tz_resident *d, int64_t apart, int64_t first, int64_t count,
                           bool *marks)
{
    double fresh = 0.0;
    for (int64_t x = first; x < first + count; x++) {
        bool *mark = &marks[slot_of_column(d, apart, x) / TZ_RESIDENT_LINE_SLOTS];
        fresh += !*mark;
        *mark = true;
    }
    return fresh;
}

/* Lines of a row of which blocks send columns at their sides alone. 0 also if memory is exhausted. */
static double lines_of_sides(const tz_problem *problem, const tz_resident *d)
{
    const cuts c = cuts_of(problem, d, 0);
    const int64_t apart = tz_resident_slots_apart(problem, d);
    const int64_t lines_all = apart * d->cells[0] / TZ_RESIDENT_LINE_SLOTS + 1;
    bool *marks = c.blocks > 1 ? calloc((size_t)lines_all, sizeof *marks) : NULL;
    double lines = 0.0;
    for (int64_t b = 0; marks && b < c.blocks; b++) {
        const sent_cells sent = sent_of(&c, b);
        lines += mark_columns(d, apart, own_begin(&c, b), sent.low, marks);
        lines += mark_columns(d, apart, own_begin(&c, b + 1) - sent.high, sent.high, marks);
    }
    free(marks);
    return lines;
}

double tz_resident_slots_bytes(const tz_problem *problem, const tz_resident *d)
{
    const cuts y = cuts_of(problem, d, 1), z = cuts_of(problem, d, 2);
    const double rows = (double)y.n * (double)z.n;
    const double sides = ((double)y.n - sent_along(&y)) * ((double)z.n - sent_along(&z));
    const double whole =
        (double)tz_resident_slots_apart(problem, d) * d->cells[0] / TZ_RESIDENT_LINE_SLOTS;
    const double side = fmin(whole, lines_of_sides(problem, d));
    return ((rows - sides) * whole + sides * side) * d->sent_words * TZ_CUDA_LINE_BYTES *
           TZ_RESIDENT_SETS;
}
