/* PathFinder: the cheapest way down a grid of weights by dynamic programming (Rodinia's benchmark).
 *
 * Step k adds row k of the weights. A path has one column in each row, and moves at most one column
 * from row to row. After n steps, cost[x] is the least sum of weights of all paths that end at
 * column x. The analysis "path" finds the cheapest path. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TZ_CELL_TEXT "pathfinder.cell.h"
#define TZ_CELL_ID pathfinder
#define TZ_CELL_DIMS 1
#define TZ_CELL_REAL 0
#include <trapeze/rows.h>

enum { COST = TZ_FIELD(pathfinder, cost), WEIGHTS = TZ_FIELD(pathfinder, weights) };

/* ---- The path ----------------------------------------------------------------------------------
 *
 * A path that ends at column e after L rows lies in the window e-L..e+L: only these columns are
 * computed again. The choices take one byte for each cell. If that is more than CHOICES_MAX bytes,
 * the rows are divided into two halves: the costs in the middle row are kept, the later half gives
 * the column at which the path crosses the middle, and the earlier half starts again from the first
 * costs. Each halving also halves the window. So the work is at most twice the window's cells (if
 * the window is a full row, each halving adds the work of all rows), and the memory is at most
 * CHOICES_MAX and 5 windows. */
enum { CHOICES_MAX = 32 << 20, CHUNK = 4096 };

typedef struct path_job {
    const tz_access *access;
    int64_t nx, rows;
    int periodic;
    int64_t *columns;
    int32_t end_cost; /* recomputed, at the last row */
} path_job;

/* Columns low..low+count-1, which may lie outside a periodic grid. A ring is a full periodic row,
 * with adjacent ends. */
typedef struct path_window {
    int64_t low, count;
    int ring;
} path_window;

static int64_t column_wrap(int64_t column, int64_t nx)
{
    const int64_t rest = column % nx;
    return rest < 0 ? rest + nx : rest;
}

static path_window window_make(const path_job *job, int64_t end, int64_t rows)
{
    if (job->periodic && (rows >= job->nx || 2 * rows + 1 >= job->nx))
        return (path_window){0, job->nx, 1};
    int64_t low = end - rows, high = end + rows;
    if (!job->periodic) {
        low = low < 0 ? 0 : low;
        high = high >= job->nx ? job->nx - 1 : high;
    }
    return (path_window){low, high - low + 1, 0};
}

static int fail(const path_job *job, const char *message)
{
    snprintf(job->access->message, job->access->message_size, "%s", message);
    return -1;
}

/* Weights of row `row` at columns low..low+count-1. */
static int weights_read(const path_job *job, int64_t row, int64_t low, int64_t count, int32_t *to)
{
    double values[CHUNK];
    for (int64_t done = 0; done < count;) {
        const int64_t x = column_wrap(low + done, job->nx);
        int64_t part = count - done < CHUNK ? count - done : CHUNK;
        part = part < job->nx - x ? part : job->nx - x;
        if (job->access->read(job->access->context, WEIGHTS, row, x, 0, 0, part, values) != 0) {
            snprintf(job->access->message, job->access->message_size,
                     "weight row %" PRId64
                     " is no longer available: the path needs every row since "
                     "step 0",
                     row);
            return -1;
        }
        for (int64_t i = 0; i < part; i++)
            to[done + i] = (int32_t)values[i];
        done += part;
    }
    return 0;
}

/* Advance the window's cells first..last by a row: `old` has the costs before it, `cost` the
 * weights of the row, which become the costs after it. `choices`, which may be NULL, gets the
 * direction of the best neighbour: -1, 0 or 1. Of equal neighbours, straight is best, then left.
 * Unless the window is a ring, cells beyond it are never the best. */
static void row_advance(const path_window *window, int64_t first, int64_t last, const int32_t *old,
                        int32_t *cost, signed char *choices)
{
    const int64_t count = window->count;
    for (int64_t i = first; i <= last; i++) {
        int32_t least = old[i];
        signed char choice = 0;
        const int64_t west = i > 0 ? i - 1 : window->ring ? count - 1 : i;
        const int64_t east = i + 1 < count ? i + 1 : window->ring ? 0 : i;
        if (old[west] < least) {
            least = old[west];
            choice = -1;
        }
        if (old[east] < least) {
            least = old[east];
            choice = 1;
        }
        cost[i] = (int32_t)((uint32_t)cost[i] + (uint32_t)least);
        if (choices)
            choices[i] = choice;
    }
}

/* Advance `old` by rows k0..k1-1. Only cells from which a path can be at column `end` in row
 * `target`-1 are computed. Returns the one of the two buffers, each a window long, that holds the
 * result; NULL after an error. */
static int32_t *rows_advance(const path_job *job, const path_window *window, int64_t k0, int64_t k1,
                             int64_t end, int64_t target, int32_t *old, int32_t *next,
                             signed char *choices)
{
    for (int64_t k = k0; k < k1; k++) {
        int64_t first = 0, last = window->count - 1;
        const int64_t reach = target - 1 - k, at = end - window->low;
        if (!window->ring) {
            first = at - reach > first ? at - reach : first;
            last = at + reach < last ? at + reach : last;
        }
        if (weights_read(job, k, window->low + first, last - first + 1, next + first) != 0)
            return NULL;
        row_advance(window, first, last, old, next,
                    choices ? choices + (k - k0) * window->count : NULL);
        int32_t *swap = old;
        old = next;
        next = swap;
    }
    return old;
}

/* Index in `window` of column `column` of the grid. */
static int64_t window_index(const path_job *job, const path_window *window, int64_t column)
{
    return job->periodic ? column_wrap(column - window->low, job->nx) : column - window->low;
}

static int32_t *costs_copy(const path_job *job, const path_window *from, const int32_t *costs,
                           const path_window *to)
{
    int32_t *copy = malloc((size_t)to->count * sizeof *copy);
    for (int64_t i = 0; copy && i < to->count; i++)
        copy[i] = costs[window_index(job, from, to->low + i)];
    return copy;
}

/* Find rows k0..k1-1 of the path that is at column `end` in row k1-1. `costs` are the costs before
 * row k0, in `window`. *before becomes the path's column in row k0-1. */
static int path_recover(path_job *job, int64_t k0, int64_t k1, path_window window,
                        const int32_t *costs, int64_t end, int64_t *before)
{
    const int64_t rows = k1 - k0;
    const path_window own = window_make(job, end, rows);
    const int fits = rows == 1 || rows <= CHOICES_MAX / own.count;
    const int64_t middle = fits ? k1 : k0 + rows / 2;
    int32_t *old = costs_copy(job, &window, costs, &own);
    int32_t *next = malloc((size_t)own.count * sizeof *next);
    signed char *choices = fits ? malloc((size_t)(rows * own.count)) : NULL;
    int status = -1;
    if (!old || !next || (fits && !choices)) {
        fail(job, "not enough memory for the path: free some, or use a narrower grid");
        goto cleanup;
    }
    int32_t *reached = rows_advance(job, &own, k0, middle, end, k1, old, next, choices);
    if (!reached)
        goto cleanup;
    if (fits) {
        if (k1 == job->rows)
            job->end_cost = reached[window_index(job, &own, end)];
        int64_t column = end;
        for (int64_t k = k1 - 1; k >= k0; k--) {
            job->columns[k] = column;
            column += choices[(k - k0) * own.count + window_index(job, &own, column)];
            column = column_wrap(column, job->nx);
        }
        *before = column;
        status = 0;
        goto cleanup;
    }
    const path_window upper = window_make(job, end, k1 - middle);
    int32_t *kept = costs_copy(job, &own, reached, &upper);
    free(old);
    free(next);
    old = next = NULL;
    int64_t crossing = 0;
    if (!kept)
        fail(job, "not enough memory for the path: free some, or use a narrower grid");
    else
        status = path_recover(job, middle, k1, upper, kept, end, &crossing);
    free(kept);
    if (status == 0)
        status = path_recover(job, k0, middle, window, costs, crossing, before);
cleanup:
    free(old);
    free(next);
    free(choices);
    return status;
}

/* The end of the cheapest path: the smallest column of least cost. */
static int end_find(const path_job *job, int64_t *end, double *cost)
{
    double values[CHUNK];
    *end = -1;
    for (int64_t x = 0; x < job->nx; x += CHUNK) {
        const int64_t part = job->nx - x < CHUNK ? job->nx - x : CHUNK;
        if (job->access->read(job->access->context, COST, 0, x, 0, 0, part, values) != 0)
            return fail(job, "the field cost could not be read");
        for (int64_t i = 0; i < part; i++) {
            if (*end < 0 || values[i] < *cost) {
                *end = x + i;
                *cost = values[i];
            }
        }
    }
    return 0;
}

static int path_call(const tz_access *access)
{
    path_job job = {.access = access, .nx = access->extent[0], .rows = access->step};
    int64_t end = 0, before = 0;
    double cost = 0.0;
    if (end_find(&job, &end, &cost) != 0)
        return -1;
    job.columns = malloc((size_t)(job.rows > 0 ? job.rows : 1) * sizeof *job.columns);
    if (!job.columns)
        return fail(&job,
                    "not enough memory for the path: free some, or take it after fewer steps");
    /* The costs before step 0 are not known. Zeros are assumed; the cost of the path shows whether
     * that is right. */
    int status = 0, found = job.rows == 0;
    if (!found) {
        job.periodic = access->boundary[0][0] == TZ_PERIODIC;
        const path_window window = window_make(&job, end, job.rows);
        int32_t *zeros = calloc((size_t)window.count, sizeof *zeros);
        status = zeros ? path_recover(&job, 0, job.rows, window, zeros, end, &before)
                       : fail(&job, "not enough memory for the path: free some, or use a narrower "
                                    "grid");
        free(zeros);
        found = (double)job.end_cost == cost;
    }
    if (status == 0 && !found)
        status =
            fail(&job, "the field cost does not follow from zero costs at step 0 and the weight "
                       "rows: leave cost at its default and do not change it during the run");
    if (status == 0) {
        access->give_list(access->context, "columns", job.rows, job.columns);
        access->give_number(access->context, "cost", cost);
        access->give_number(access->context, "end", (double)end);
    }
    free(job.columns);
    return status;
}

/* ---- The description ------------------------------------------------------------------------- */

static const tz_field fields[] = {
    TZ_STATE_FIELD("cost", TZ_INT, "",
                   "cheapest sum of weights down to this column; wraps at 32 bits, so keep rows "
                   "times the largest weight below 2^31"),
    TZ_STREAMED_FIELD("weights", TZ_INT, "", "cost of the cells of one row", .required = 1),
};

static const tz_pass passes[] = {
    {.name = "row", .writes = TZ_WRITES(pathfinder, cost), TZ_PASS(pathfinder)},
};

static const tz_method methods[] = {
    {"path",
     "A cheapest path, if cost was 0 at step 0: columns (one for each weight row, first row "
     "first), cost, and end (its last column). Of equal paths, the one with the smallest end, then "
     "straight, then left.",
     path_call},
};

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
    .id = "pathfinder",
    .doc = "Cheapest paths down a grid of weights, a row an iteration (Rodinia's PathFinder).",
    .dims = 1,
    .fields_count = 2,
    .fields = fields,
    .passes_count = 1,
    .passes = passes,
    /* With mirror sides the cell beyond the edge is an inner neighbour: the same minimum as
     * clamp. */
    .boundaries = TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_PERIODIC) | TZ_ALLOW(TZ_MIRROR),
    .boundary = TZ_CLAMP,
    .picture = {"cost", "viridis", 0.0, 100.0},
    .methods_count = 1,
    .methods = methods,
};

TZ_PLUGIN_DEFINE("pathfinder", "1.0.0", "dynamic programming over rows of weights", &stencil)
