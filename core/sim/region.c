#include "sim/region.h"

#include "sim/fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum and what its additions have lost (Neumaier). */
typedef struct precise_sum {
    double sum, lost;
} precise_sum;

static void add(precise_sum *s, double value)
{
    const double next = s->sum + value;
    s->lost += fabs(s->sum) >= fabs(value) ? (s->sum - next) + value : (value - next) + s->sum;
    s->sum = next;
}

static double result_of(const precise_sum *s)
{
    /* Infinities and NaN make `lost` NaN. */
    return isfinite(s->sum) ? s->sum + s->lost : s->sum;
}

/* What a reduction works on. */
typedef struct work {
    const tz_region *region;
    void *cells;
    double *values, *mask;
    precise_sum sum;
    tz_region_facts *out;
} work;

/* Does the mask select cell i of a piece? `at` is its index in the region's box. */
static bool is_selected(const work *w, int64_t i, int64_t at)
{
    if (w->region->mask)
        return tz_array_get(w->region->mask, at) != 0;
    return w->region->mask_field < 0 || w->mask[i] != 0;
}

/* `at`: the index of the piece's first cell in the region's box. Pieces are whole rows or parts of
 * one row, so that their cells follow each other in the box. */
static void take_piece(work *w, int64_t count, int64_t at)
{
    tz_region_facts *out = w->out;
    for (int64_t i = 0; i < count; i++) {
        const double value = w->values[i];
        if (!is_selected(w, i, at + i))
            continue;
        out->cells++;
        add(&w->sum, value);
        if (isfinite(value)) {
            out->min = value < out->min ? value : out->min;
            out->max = value > out->max ? value : out->max;
        }
    }
}

/* The cells of a piece as numbers. */
static tz_status read_numbers(const tz_simulation *simulation, int field, const tz_box *piece,
                              int64_t count, void *cells, double *numbers, tz_error *error)
{
    const tz_array view = {
        .dtype = tz_simulation_dtype(simulation, field), .dims = 1, .data = cells};
    const tz_status status = tz_simulation_read_cells(simulation, field, piece, cells, error);
    for (int64_t i = 0; status == TZ_OK && i < count; i++)
        numbers[i] = tz_array_get(&view, i);
    return status;
}

static tz_status read_pieces(const tz_simulation *simulation, int field, work *w, int64_t most,
                             tz_error *error)
{
    const tz_region *region = w->region;
    const tz_box *box = &region->box;
    const int64_t nx = box->high[0] - box->low[0];
    const int64_t width = nx < most ? nx : most, rows = most / nx > 1 ? most / nx : 1;
    int64_t at = 0;
    tz_status status = TZ_OK;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y += rows)
            for (int64_t x = box->low[0]; status == TZ_OK && x < box->high[0]; x += width) {
                const tz_box piece = {{x, y, z},
                                      {x + width < box->high[0] ? x + width : box->high[0],
                                       y + rows < box->high[1] ? y + rows : box->high[1], z + 1}};
                const int64_t count = (piece.high[0] - x) * (piece.high[1] - y);
                status = read_numbers(simulation, field, &piece, count, w->cells, w->values, error);
                if (status == TZ_OK && region->mask_field >= 0)
                    status = read_numbers(simulation, region->mask_field, &piece, count, w->cells,
                                          w->mask, error);
                if (status == TZ_OK)
                    take_piece(w, count, at);
                at += count;
            }
    return status;
}

static bool is_whole_grid(const tz_simulation *simulation, const tz_region *region)
{
    const int64_t *extent = tz_simulation_extent(simulation);
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (region->box.low[axis] != 0 || region->box.high[axis] != extent[axis])
            return false;
    return !region->mask && region->mask_field < 0;
}

tz_status tz_simulation_reduce_region(const tz_simulation *simulation, int field,
                                      const tz_region *region, tz_region_facts *out,
                                      tz_error *error)
{
    *out = (tz_region_facts){.min = INFINITY, .max = -INFINITY};
    if (is_whole_grid(simulation, region)) {
        tz_reduction whole;
        const tz_status status = tz_simulation_reduce(simulation, field, &whole, error);
        if (status == TZ_OK)
            *out =
                (tz_region_facts){tz_simulation_cells(simulation), whole.min, whole.max, whole.sum};
        return status;
    }
    /* A row of bits is read whole for each piece of it: at most 32 pieces. */
    const int64_t nx = tz_simulation_extent(simulation)[0];
    const int64_t most = nx / 32 < 1 << 16 ? 1 << 16 : nx / 32 + 1;
    work w = {.region = region, .out = out};
    w.cells = malloc((size_t)most * sizeof(double));
    w.values = malloc((size_t)most * sizeof *w.values);
    w.mask = malloc((size_t)most * sizeof *w.mask);
    tz_status status = w.cells && w.values && w.mask
                           ? read_pieces(simulation, field, &w, most, error)
                           : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for cells");
    out->sum = result_of(&w.sum);
    if (status == TZ_OK && out->cells == 0)
        status = tz_error_set(error, TZ_RANGE, NULL, "the mask selects no cell: all of it is 0");
    free(w.cells);
    free(w.values);
    free(w.mask);
    return status;
}
