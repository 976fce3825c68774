/* Lines of a chip's grid, and what couples its cells. Called by chip.c. */
#include "lua/chip_grid.h"

#include "base/minmax.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A cell outside the die is at most so many times as wide as the one before it; nodes are one cell
 * each. */
static const double GROWTH = 1.5, NODES_GROWTH = 1e9;
/* Extents that differ by less, in cells of the die, are the same. */
static const double ROUNDING = 1e-6;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Distances of the lines outside of a side of the die, from that side, behind one another: up to
 * each of the `ends`, which are sorted. Returns how many; more than `most`: they have no room. */
static size_t grow(const double *ends, size_t count, double cell, double growth, double *out,
                   size_t most)
{
    size_t n = 0;
    double from = 0.0, width = cell;
    for (size_t e = 0; e < count; e++) {
        const double length = ends[e] - from;
        double first = width * growth, sum = 0.0;
        size_t cells = 0;
        if (length < ROUNDING * cell)
            continue;
        for (double w = first; sum < length; w *= growth, cells++)
            sum += w;
        if (n + cells > most)
            return most + 1;
        width = first * length / sum;
        for (size_t i = 0; i < cells; i++, width *= growth) {
            from += width;
            out[n++] = from;
        }
        out[n - 1] = from = ends[e];
        width /= growth;
    }
    return n;
}

/* The lines of an axis: `low` and `high` are how far layers reach below 0 and above `length`. */
static tz_status make_axis(double *low, double *high, size_t count, double length, int64_t cells,
                           double growth, double **edges, int64_t *all, int64_t *first,
                           tz_error *error)
{
    enum { MOST = 256 };
    double before[MOST], after[MOST];
    qsort(low, count, sizeof *low, compare);
    qsort(high, count, sizeof *high, compare);
    const double cell = length / (double)cells;
    const size_t left = grow(low, count, cell, growth, before, MOST);
    const size_t right = grow(high, count, cell, growth, after, MOST);
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
    const double growth = chip->nodes ? NODES_GROWTH : GROWTH;
    tz_status status = make_axis(ends, ends + n, n, chip->width_m, chip->cells[0], growth,
                                 &out->edges_x, &out->extent[0], &out->low[0], error);
    if (status == TZ_OK)
        status = make_axis(ends + 2 * n, ends + 3 * n, n, chip->height_m, chip->cells[1], growth,
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

static bool in_die(const tz_chip *chip, const tz_chip_grid *grid, int64_t x, int64_t y)
{
    x -= grid->low[0];
    y -= grid->low[1];
    return x >= 0 && y >= 0 && x < chip->cells[0] && y < chip->cells[1];
}

/* The kind of a cell of a layer's channels. */
static int channel_at(const tz_chip *chip, const tz_chip_grid *grid, int64_t x, int64_t y,
                      int64_t z)
{
    const char *channels = chip->layers[z].channels;
    return channels && in_die(chip, grid, x, y)
               ? channels[(y - grid->low[1]) * chip->cells[0] + x - grid->low[0]]
               : TZ_CHANNEL_WALL;
}

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
        for (size_t at = 0; at < plane && chip->nodes; at++)
            if (!in_die(chip, grid, (int64_t)(at % nx), (int64_t)(at / nx)))
                m.k[at] = m.p[at] = 0.0;
        for (size_t at = 0; at < plane && layer->channels; at++)
            if (channel_at(chip, grid, (int64_t)(at % nx), (int64_t)(at / nx), l) !=
                TZ_CHANNEL_WALL) {
                m.k[at] = 1.0 / chip->package->coolant_res;
                m.p[at] = chip->package->coolant_capac;
            }
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

/* The same from the middle of one cell to that of the next; between coolant and a wall heat is
 * transferred at the wall. `a` and `b` are lengths. */
static double between(const tz_chip *chip, const int64_t at[3], int axis, double area, double a,
                      double ka, double b, double kb, const tz_chip_grid *grid)
{
    const bool fluid = channel_at(chip, grid, at[0], at[1], at[2]) != TZ_CHANNEL_WALL;
    const bool next = channel_at(chip, grid, at[0] + (axis == 0), at[1] + (axis == 1),
                                 at[2] + (axis == 2)) != TZ_CHANNEL_WALL;
    const double transfer = 1.0 / chip->package->htc;
    return fluid == next ? through(area, a, ka, b, kb)
           : fluid       ? through(area, transfer, 1.0, b, kb)
                         : through(area, a, ka, transfer, 1.0);
}

static void fill_cell(const tz_chip *chip, const tz_chip_grid *grid, const double *k,
                      const double *p, int64_t x, int64_t y, int64_t z,
                      double *fields[TZ_CHIP_FIELDS], char *air)
{
    const int64_t nx = grid->extent[0], ny = grid->extent[1], nz = grid->extent[2];
    const int64_t at = (z * ny + y) * nx + x, right = at + 1, down = at + nx, up = at + nx * ny;
    const double *ex = grid->edges_x, *ey = grid->edges_y;
    const tz_chip_layer *layer = &chip->layers[z];
    const double w = ex[x + 1] - ex[x], h = ey[y + 1] - ey[y], t = layer->t_m, area = w * h;
    const int64_t place[] = {x, y, z};
    double *const *f = fields;
    if (x + 1 < nx && layer->lateral)
        f[TZ_CHIP_CONDUCTANCE_X][at] = between(chip, place, 0, h * t, 0.5 * w, k[at],
                                               0.5 * (ex[x + 2] - ex[x + 1]), k[right], grid);
    if (y + 1 < ny && layer->lateral)
        f[TZ_CHIP_CONDUCTANCE_Y][at] = between(chip, place, 1, w * t, 0.5 * h, k[at],
                                               0.5 * (ey[y + 2] - ey[y + 1]), k[down], grid);
    if (z + 1 < nz) {
        const bool halves = chip->detailed || layer->channels || layer[1].channels;
        f[TZ_CHIP_CONDUCTANCE_Z][at] =
            between(chip, place, 2, area, halves && z > 0 ? 0.5 * t : t, k[at],
                    halves ? 0.5 * layer[1].t_m : 0.0, k[up], grid);
    }
    const tz_chip_part *top = &chip->layers[nz - 1].parts[0];
    const double share = area / ((top->right_m - top->left_m) * (top->top_m - top->bottom_m));
    double capacity = chip->package->c_factor * p[at] * area * t, convection = 0.0;
    air[at] = k[at] == 0.0;
    if (air[at]) {
        capacity = AIR_J_M3K * area * t;
        convection = AIR_PER_S * capacity;
    } else if (z == nz - 1) {
        capacity += chip->package->c_factor * chip->package->c_convec * share;
        convection = 1.0 / (t / (k[at] * area) + chip->package->r_convec / share);
    }
    f[TZ_CHIP_CONVECTION][at] = convection;
    f[TZ_CHIP_WARMING][at] = 1.0 / capacity;
}

/* ---- Nodes of the package -------------------------------------------------------------------- */

/* What a node is: HotSpot's resistances, K/W. */
typedef struct node {
    double up;      /* to the sink, or to the ambient */
    double out;     /* to the node that lies farther out; 0: none */
    double j_per_k; /* its heat capacity */
} node;

/* Fill the cells of a node: `first`, and others that are `step` farther each. They are tied by all
 * that leaves the node, times their number, so that they differ little. */
static void fill_node(const node *n, int64_t cells, int64_t first, int64_t step, double inward,
                      double *up, double *tie, double *warming, char *air)
{
    const double count = (double)cells;
    const double leaves = 1.0 / n->up + (n->out > 0.0 ? 1.0 / n->out : 0.0) + inward * count;
    for (int64_t i = 0, at = first; i < cells; i++, at += step) {
        up[at] = 1.0 / (n->up * count);
        warming[at] = count / n->j_per_k;
        if (i + 1 < cells)
            tie[at] = count * leaves;
        air[at] = 0;
    }
}

/* Fill the nodes of a side of the die: of the spreader, of the sink below it, and farther out. */
static void fill_side(const tz_chip *chip, const tz_chip_grid *grid, int axis, bool high,
                      double *fields[TZ_CHIP_FIELDS], char *air)
{
    const tz_package *p = chip->package;
    const double size[] = {chip->width_m, chip->height_m};
    const double w = size[axis], l = size[1 - axis], s = p->s_spreader, all = p->s_sink;
    const double inner = (s + l) * (s - w) / 4, outer = (all * all - s * s) / 4;
    const int64_t count = chip->cells[1 - axis];
    const int64_t strides[] = {1, grid->extent[0]}, plane = grid->extent[0] * grid->extent[1];
    const int64_t out = high ? strides[axis] : -strides[axis], along = strides[1 - axis];
    const int64_t edge = (grid->extent[2] - 2) * plane + grid->low[1 - axis] * along +
                         (grid->low[axis] + (high ? chip->cells[axis] - 1 : 0)) * strides[axis];
    const int64_t spreader = edge + out, below = spreader + plane, far = below + out;
    double *const across = fields[axis == 0 ? TZ_CHIP_CONDUCTANCE_X : TZ_CHIP_CONDUCTANCE_Y];
    double *const tie = fields[axis == 0 ? TZ_CHIP_CONDUCTANCE_Y : TZ_CHIP_CONDUCTANCE_X];
    double *const convection = fields[TZ_CHIP_CONVECTION], *const warming = fields[TZ_CHIP_WARMING];
    /* From the die's edge, of each cell. */
    const double n = (double)count, cell = 0.5 * w / (double)chip->cells[axis] * n / l;
    const double shape = cell + n * (s - w) / (s + 3 * l);
    const double to_spreader = p->k_spreader * p->t_spreader / shape;
    const double to_sink = p->k_sink * p->t_sink / shape;
    const double air_k_w = p->r_convec * all * all, sink = p->t_sink / p->k_sink;
    const double c = p->c_factor, c_air = p->c_convec / (all * all);
    const double between =
        ((s - w) / (3 * s + l) + (all - s) / (all + 3 * s)) / (p->k_sink * p->t_sink);
    const node nodes[] = {
        {p->t_spreader / (p->k_spreader * inner), 0, c * p->p_spreader * p->t_spreader * inner},
        {(sink + air_k_w) / inner, between, c * (p->p_sink * p->t_sink + c_air) * inner},
        {(sink + air_k_w) / outer, between, c * (p->p_sink * p->t_sink + c_air) * outer}};
    fill_node(&nodes[0], count, spreader, along, to_spreader, fields[TZ_CHIP_CONDUCTANCE_Z], tie,
              warming, air);
    fill_node(&nodes[1], count, below, along, to_sink, convection, tie, warming, air);
    fill_node(&nodes[2], count, far, along, 0, convection, tie, warming, air);
    for (int64_t i = 0, at = 0; i < count; i++, at += along) {
        convection[spreader + at] = 0.0; /* it was air */
        across[at + (high ? edge : spreader)] = to_spreader;
        across[at + plane + (high ? edge : spreader)] = to_sink;
        across[at + (high ? below : far)] = 1.0 / (between * n);
    }
}

/* ---- Coolant --------------------------------------------------------------------------------- */

/* The channels of a layer: a conductance, m³/(Pa s), between cells of coolant. */
typedef struct network {
    const char *cells;
    int64_t nx, ny;
    double across, down; /* along x and y */
    double pump;         /* of the pump to each inlet; 0: it takes no pressure */
} network;

/* Of a straight duct with laminar flow: the series for a rectangle. */
static double duct(double a, double b, double length, double viscosity)
{
    const double pi = 3.14159265358979323846;
    const double small = tz_min_double(a, b), large = tz_max_double(a, b);
    double sum = 0.0;
    for (int n = 1; n < 12; n += 2)
        sum += tanh(0.5 * n * pi * large / small) / pow(n, 5);
    return small * small * small * large / (12.0 * viscosity * length) *
           (1.0 - 192.0 / pow(pi, 5) * small / large * sum);
}

/* Whether the pressure of a cell is to be found. */
static bool is_free(const network *n, int64_t at)
{
    return n->cells[at] == TZ_CHANNEL_FLUID || (n->cells[at] == TZ_CHANNEL_INLET && n->pump > 0.0);
}

/* What flows into a cell of coolant from its neighbours and the pump at these pressures. */
static double inflow(const network *n, const double *p, double pump_pa, int64_t at)
{
    const int64_t x = at % n->nx, y = at / n->nx, next[] = {at - 1, at + 1, at - n->nx, at + n->nx};
    const bool there[] = {x > 0, x + 1 < n->nx, y > 0, y + 1 < n->ny};
    double flow = 0.0;
    for (int i = 0; i < 4; i++)
        if (there[i] && n->cells[next[i]] != TZ_CHANNEL_WALL)
            flow += (i < 2 ? n->across : n->down) * (p[next[i]] - p[at]);
    if (n->cells[at] == TZ_CHANNEL_INLET)
        flow += n->pump * (pump_pa - p[at]);
    return flow;
}

/* Find the pressures by conjugate gradients. Those of inlets and outlets are set where they are not
 * free. `r`, `d` and `q` have a number a cell. */
static tz_status find_pressures(const network *n, double pump_pa, double *p, double *r, double *d,
                                double *q, tz_error *error)
{
    const int64_t count = n->nx * n->ny;
    double rr = 0.0, first = 0.0;
    for (int64_t i = 0; i < count; i++) {
        d[i] = r[i] = is_free(n, i) ? inflow(n, p, pump_pa, i) : 0.0;
        first = rr += r[i] * r[i];
    }
    for (int64_t turn = 0; rr > 1e-24 * first; turn++) {
        double dq = 0.0, next = 0.0;
        if (turn > 10 * count)
            return tz_error_set(error, TZ_RANGE, NULL, "found no pressures of the channels");
        for (int64_t i = 0; i < count; i++) {
            q[i] = is_free(n, i) ? -inflow(n, d, 0.0, i) : 0.0;
            dq += d[i] * q[i];
        }
        for (int64_t i = 0; i < count; i++) {
            p[i] += rr / dq * d[i];
            r[i] -= rr / dq * q[i];
            next += r[i] * r[i];
        }
        for (int64_t i = 0; i < count; i++)
            d[i] = r[i] + next / rr * d[i];
        rr = next;
    }
    return TZ_OK;
}

/* Fill a layer's fields of coolant. */
static tz_status fill_flow(const tz_chip *chip, const tz_chip_grid *grid, int64_t z,
                           double *fields[TZ_CHIP_FIELDS], tz_error *error)
{
    const tz_package *c = chip->package;
    const double w = chip->width_m / (double)chip->cells[0];
    const double h = chip->height_m / (double)chip->cells[1], t = chip->layers[z].t_m;
    const network n = {.cells = chip->layers[z].channels,
                       .nx = chip->cells[0],
                       .ny = chip->cells[1],
                       .across = duct(h, t, w, c->coolant_visc),
                       .down = duct(w, t, h, c->coolant_visc),
                       .pump = c->pump_internal_res > 0.0 ? 1.0 / c->pump_internal_res : 0.0};
    const int64_t count = n.nx * n.ny;
    double *p = malloc(4 * (size_t)count * sizeof *p);
    if (!p)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a chip");
    for (int64_t i = 0; i < count; i++)
        p[i] = n.cells[i] == TZ_CHANNEL_INLET ? c->pumping_pressure : 0.0;
    const tz_status status =
        find_pressures(&n, c->pumping_pressure, p, p + count, p + 2 * count, p + 3 * count, error);
    for (int64_t i = 0; status == TZ_OK && i < count; i++) {
        const int64_t x = i % n.nx, y = i / n.nx;
        const int64_t at =
            (z * grid->extent[1] + grid->low[1] + y) * grid->extent[0] + grid->low[0] + x;
        if (n.cells[i] == TZ_CHANNEL_WALL)
            continue;
        if (x + 1 < n.nx && n.cells[i + 1] != TZ_CHANNEL_WALL)
            fields[TZ_CHIP_FLOW_X][at] = c->coolant_capac * n.across * (p[i] - p[i + 1]);
        if (y + 1 < n.ny && n.cells[i + n.nx] != TZ_CHANNEL_WALL)
            fields[TZ_CHIP_FLOW_Y][at] = c->coolant_capac * n.down * (p[i] - p[i + n.nx]);
        /* What leaves it comes from outside; from the pump, where it has a resistance. */
        if (n.cells[i] == TZ_CHANNEL_INLET)
            fields[TZ_CHIP_INLET][at] =
                c->coolant_capac * tz_max_double(0.0, n.pump * (c->pumping_pressure - p[i]) -
                                                          inflow(&n, p, c->pumping_pressure, i));
    }
    free(p);
    return status;
}

/* The largest rate at which a cell alone would reach its surroundings. The stencil's clamp sides
 * repeat the conductance of an edge, whichever the first row is. */
static double largest_decay(const tz_chip_grid *grid, double *const fields[TZ_CHIP_FIELDS])
{
    const int64_t nx = grid->extent[0], ny = grid->extent[1], nz = grid->extent[2];
    const double *gx = fields[TZ_CHIP_CONDUCTANCE_X], *gy = fields[TZ_CHIP_CONDUCTANCE_Y];
    const double *gz = fields[TZ_CHIP_CONDUCTANCE_Z];
    const double *fx = fields[TZ_CHIP_FLOW_X], *fy = fields[TZ_CHIP_FLOW_Y];
    double most = 0.0;
    for (int64_t z = 0, at = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < nx; x++, at++) {
                const int64_t left = at - (x > 0), above = at - (y > 0) * nx;
                const double sum = fields[TZ_CHIP_CONVECTION][at] + gx[left] +
                                   gx[at - (x > 0 && x + 1 == nx)] + gy[above] +
                                   gy[at - (y > 0 && y + 1 == ny) * nx] +
                                   gz[at - (z > 0) * nx * ny] + gz[at] + fields[TZ_CHIP_INLET][at] +
                                   tz_max_double(0.0, fx[left]) + tz_max_double(0.0, -fx[at]) +
                                   tz_max_double(0.0, fy[above]) + tz_max_double(0.0, -fy[at]);
                most = tz_max_double(most, sum * fields[TZ_CHIP_WARMING][at]);
            }
    return most;
}

tz_status tz_chip_fill(const tz_chip *chip, const tz_chip_grid *grid,
                       double *fields[TZ_CHIP_FIELDS], char *air, double *dt_s, tz_error *error)
{
    double *k = NULL, *p = NULL;
    tz_status status = make_up(chip, grid, &k, &p, error);
    for (int64_t z = 0; status == TZ_OK && z < grid->extent[2]; z++)
        for (int64_t y = 0; y < grid->extent[1]; y++)
            for (int64_t x = 0; x < grid->extent[0]; x++)
                fill_cell(chip, grid, k, p, x, y, z, fields, air);
    for (int side = 0; side < 4 && status == TZ_OK && chip->nodes; side++)
        fill_side(chip, grid, side / 2, side % 2 != 0, fields, air);
    for (int64_t z = 0; status == TZ_OK && z < grid->extent[2]; z++)
        if (chip->layers[z].channels)
            status = fill_flow(chip, grid, z, fields, error);
    if (status == TZ_OK)
        *dt_s = 1.0 / largest_decay(grid, fields);
    free(k);
    free(p);
    return status;
}
