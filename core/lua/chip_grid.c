/* Lines of a chip's grid, and what couples its cells. Called by chip.c. */
#include "lua/chip_grid.h"

#include "base/minmax.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A cell outside the die is at most so many times as wide as the one before it. */
static const double GROWTH = 1.5;
/* Extents that differ by less, in cells of the die, are the same. */
static const double ROUNDING = 1e-6;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Distances of the lines outside of a side of the die, from that side, behind one another: up to
 * each of the `ends`, which are sorted. Returns how many; more than `most`: they have no room. */
static size_t grow(const double *ends, size_t count, double cell, double *out, size_t most)
{
    size_t n = 0;
    double from = 0.0, width = cell;
    for (size_t e = 0; e < count; e++) {
        const double length = ends[e] - from;
        double first = width * GROWTH, sum = 0.0;
        size_t cells = 0;
        if (length < ROUNDING * cell)
            continue;
        for (double w = first; sum < length; w *= GROWTH, cells++)
            sum += w;
        if (n + cells > most)
            return most + 1;
        width = first * length / sum;
        for (size_t i = 0; i < cells; i++, width *= GROWTH) {
            from += width;
            out[n++] = from;
        }
        out[n - 1] = from = ends[e];
        width /= GROWTH;
    }
    return n;
}

/* The lines of an axis: `low` and `high` are how far layers reach below 0 and above `length`. */
static tz_status make_axis(double *low, double *high, size_t count, double length, int64_t cells,
                           double **edges, int64_t *all, int64_t *first, tz_error *error)
{
    enum { MOST = 256 };
    double before[MOST], after[MOST];
    qsort(low, count, sizeof *low, compare);
    qsort(high, count, sizeof *high, compare);
    const double cell = length / (double)cells;
    const size_t left = grow(low, count, cell, before, MOST);
    const size_t right = grow(high, count, cell, after, MOST);
    if (left > MOST || right > MOST)
        return tz_error_set(error, TZ_RANGE, NULL, "a chip needs more than %d cells around the die",
                            MOST);
    *first = (int64_t)left;
    *all = (int64_t)(left + right) + cells;
    double *e = *edges = malloc((size_t)(*all + 1) * sizeof *e);
    if (!e)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the lines of a chip");
    for (size_t i = 0; i < left; i++)
        e[i] = -before[left - 1 - i];
    for (int64_t i = 0; i <= cells; i++)
        e[(int64_t)left + i] = length * (double)i / (double)cells;
    for (size_t i = 0; i < right; i++)
        e[*first + cells + 1 + (int64_t)i] = length + after[i];
    return TZ_OK;
}

tz_status tz_chip_grid_make(const tz_chip *chip, tz_chip_grid *out, tz_error *error)
{
    const size_t n = (size_t)chip->layers_count;
    double *ends = malloc(4 * n * sizeof *ends);
    memset(out, 0, sizeof *out);
    if (!ends)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the lines of a chip");
    for (size_t i = 0; i < n; i++) {
        const tz_chip_part *p = &chip->layers[i].parts[0];
        ends[i] = -p->left_m;
        ends[n + i] = p->right_m - chip->width_m;
        ends[2 * n + i] = p->top_m - chip->height_m; /* rows count down */
        ends[3 * n + i] = -p->bottom_m;
    }
    out->extent[2] = chip->layers_count;
    tz_status status = make_axis(ends, ends + n, n, chip->width_m, chip->cells[0], &out->edges_x,
                                 &out->extent[0], &out->low[0], error);
    if (status == TZ_OK)
        status = make_axis(ends + 2 * n, ends + 3 * n, n, chip->height_m, chip->cells[1],
                           &out->edges_y, &out->extent[1], &out->low[1], error);
    free(ends);
    if (status != TZ_OK)
        tz_chip_grid_clear(out);
    return status;
}

void tz_chip_grid_clear(tz_chip_grid *grid)
{
    free(grid->edges_x);
    free(grid->edges_y);
    memset(grid, 0, sizeof *grid);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* What each cell is made of: conductivity and heat capacity, 0 in air. */
typedef struct makeup {
    double *k, *p, *covered;
} makeup;

/* Shares of the cells of an axis that lie from `from` to `to`: those of first to last - 1. */
static void shares(const double *edges, int64_t n, double from, double to, double *share,
                   int64_t *first, int64_t *last)
{
    *first = n;
    *last = 0;
    for (int64_t i = 0; i < n; i++) {
        const double width = edges[i + 1] - edges[i];
        const double both = tz_min_double(to, edges[i + 1]) - tz_max_double(from, edges[i]);
        share[i] = both / width;
        if (share[i] <= ROUNDING)
            continue;
        share[i] = share[i] > 1.0 - ROUNDING ? 1.0 : share[i];
        *first = *first < i ? *first : i;
        *last = i + 1;
    }
}

/* Add a part to the cells of its layer. The first part fills what the others leave, so it comes
 * last. */
static void add_part(const tz_chip *chip, const tz_chip_grid *grid, const tz_chip_part *part,
                     bool rest, double *share_x, double *share_y, makeup *m)
{
    int64_t x0, x1, y0, y1;
    const int64_t nx = grid->extent[0];
    shares(grid->edges_x, nx, part->left_m, part->right_m, share_x, &x0, &x1);
    shares(grid->edges_y, grid->extent[1], chip->height_m - part->top_m,
           chip->height_m - part->bottom_m, share_y, &y0, &y1);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = x0; x < x1; x++) {
            const int64_t at = y * nx + x;
            double share = share_x[x] * share_y[y];
            if (rest)
                share = tz_max_double(0.0, share - m->covered[at]);
            m->k[at] += share * part->k_w_mk;
            m->p[at] += share * part->p_j_m3k;
            m->covered[at] += share;
        }
}

/* Conductivity and heat capacity of the cells of all layers, each nx * ny * nz. */
static tz_status make_up(const tz_chip *chip, const tz_chip_grid *grid, double **k, double **p,
                         tz_error *error)
{
    const size_t nx = (size_t)grid->extent[0], ny = (size_t)grid->extent[1];
    const size_t plane = nx * ny, all = plane * (size_t)grid->extent[2];
    double *share = malloc((nx + ny) * sizeof *share);
    makeup m = {.covered = malloc(plane * sizeof(double))};
    *k = calloc(all, sizeof **k);
    *p = calloc(all, sizeof **p);
    tz_status status = TZ_OK;
    if (!share || !m.covered || !*k || !*p)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a chip");
    for (int l = 0; status == TZ_OK && l < chip->layers_count; l++) {
        const tz_chip_layer *layer = &chip->layers[l];
        m.k = *k + (size_t)l * plane;
        m.p = *p + (size_t)l * plane;
        memset(m.covered, 0, plane * sizeof *m.covered);
        for (size_t i = layer->parts_count; i-- > 0;)
            add_part(chip, grid, &layer->parts[i], i == 0, share, share + nx, &m);
    }
    free(share);
    free(m.covered);
    return status;
}

/* Air is left alone: it only takes the ambient's temperature, within seconds. */
static const double AIR_J_M3K = 1200.0, AIR_PER_S = 1.0;

/* Conductance through two lengths of two materials; none where one of them is air. */
static double through(double area, double a, double ka, double b, double kb)
{
    return ka > 0.0 && kb > 0.0 ? area / (a / ka + b / kb) : 0.0;
}

static void fill_cell(const tz_chip *chip, const tz_chip_grid *grid, const double *k,
                      const double *p, int64_t x, int64_t y, int64_t z,
                      double *fields[TZ_CHIP_FIELDS], char *air)
{
    const int64_t nx = grid->extent[0], ny = grid->extent[1], nz = grid->extent[2];
    const int64_t at = (z * ny + y) * nx + x, right = at + 1, down = at + nx, up = at + nx * ny;
    const double *ex = grid->edges_x, *ey = grid->edges_y;
    const tz_chip_layer *layer = &chip->layers[z];
    const double w = ex[x + 1] - ex[x], h = ey[y + 1] - ey[y], t = layer->t_m;
    const double area = w * h, lateral = layer->lateral ? 0.5 : 0.0;
    double *const *f = fields;
    f[TZ_CHIP_CONDUCTANCE_X][at] =
        x + 1 < nx && lateral > 0.0
            ? through(h * t, lateral * w, k[at], lateral * (ex[x + 2] - ex[x + 1]), k[right])
            : 0.0;
    f[TZ_CHIP_CONDUCTANCE_Y][at] =
        y + 1 < ny && lateral > 0.0
            ? through(w * t, lateral * h, k[at], lateral * (ey[y + 2] - ey[y + 1]), k[down])
            : 0.0;
    const double lower = !chip->detailed || z == 0 ? t : 0.5 * t;
    f[TZ_CHIP_CONDUCTANCE_Z][at] =
        z + 1 < nz ? through(area, lower, k[at],
                             chip->detailed ? 0.5 * chip->layers[z + 1].t_m : 0.0, k[up])
                   : 0.0;
    const tz_chip_part *top = &chip->layers[nz - 1].parts[0];
    const double share = area / ((top->right_m - top->left_m) * (top->top_m - top->bottom_m));
    double capacity = chip->c_factor * p[at] * area * t, convection = 0.0;
    air[at] = k[at] == 0.0;
    if (air[at]) {
        capacity = AIR_J_M3K * area * t;
        convection = AIR_PER_S * capacity;
    } else if (z == nz - 1) {
        capacity += chip->c_factor * chip->c_convec * share;
        convection = 1.0 / (t / (k[at] * area) + chip->r_convec / share);
    }
    f[TZ_CHIP_CONVECTION][at] = convection;
    f[TZ_CHIP_WARMING][at] = 1.0 / capacity;
}

/* The largest rate at which a cell alone would reach its surroundings. The stencil's clamp sides
 * repeat the conductance of an edge, whichever the first row is. */
static double largest_decay(const tz_chip_grid *grid, double *const fields[TZ_CHIP_FIELDS])
{
    const int64_t nx = grid->extent[0], ny = grid->extent[1], nz = grid->extent[2];
    const double *gx = fields[TZ_CHIP_CONDUCTANCE_X], *gy = fields[TZ_CHIP_CONDUCTANCE_Y];
    const double *gz = fields[TZ_CHIP_CONDUCTANCE_Z];
    double most = 0.0;
    for (int64_t z = 0, at = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < nx; x++, at++) {
                const double sum = fields[TZ_CHIP_CONVECTION][at] + gx[at - (x > 0)] +
                                   gx[at - (x > 0 && x + 1 == nx)] + gy[at - (y > 0) * nx] +
                                   gy[at - (y > 0 && y + 1 == ny) * nx] +
                                   gz[at - (z > 0) * nx * ny] + gz[at];
                most = tz_max_double(most, sum * fields[TZ_CHIP_WARMING][at]);
            }
    return most;
}

tz_status tz_chip_fill(const tz_chip *chip, const tz_chip_grid *grid,
                       double *fields[TZ_CHIP_FIELDS], char *air, double *dt_s, tz_error *error)
{
    double *k = NULL, *p = NULL;
    const tz_status status = make_up(chip, grid, &k, &p, error);
    for (int64_t z = 0; status == TZ_OK && z < grid->extent[2]; z++)
        for (int64_t y = 0; y < grid->extent[1]; y++)
            for (int64_t x = 0; x < grid->extent[0]; x++)
                fill_cell(chip, grid, k, p, x, y, z, fields, air);
    if (status == TZ_OK)
        *dt_s = 1.0 / largest_decay(grid, fields);
    free(k);
    free(p);
    return status;
}
