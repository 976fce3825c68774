/* Numbers about fields, for scenarios and checks: regions, profiles, histograms, analysis
 * methods. */
#include "sim/numbers.h"

#include "base/names.h"
#include "sim/fields.h"
#include "sim/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Regions --------------------------------------------------------------------------------- */

/* What a reduction works on. */
typedef struct work {
    const tz_region *region;
    double *values, *mask, *domain; /* the last two NULL: no such field */
    tz_precise_sum sum;
    tz_region_facts *out;
} work;

/* Does the mask select cell i of a piece? `at` is its index in the region's box. */
static bool is_selected(const work *w, int64_t i, int64_t at)
{
    if (w->domain && w->domain[i] == 0)
        return false;
    if (w->region->mask)
        return tz_array_get(w->region->mask, at) != 0;
    return !w->mask || w->mask[i] != 0;
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
        tz_precise_add(&w->sum, value);
        if (isfinite(value)) {
            out->min = value < out->min ? value : out->min;
            out->max = value > out->max ? value : out->max;
        }
    }
}

static tz_status read_pieces(const tz_simulation *simulation, int field, work *w, int64_t most,
                             tz_error *error)
{
    const int mask = w->region->mask_field, domain = tz_simulation_domain_of(simulation, field);
    tz_box_parts p = {.whole = w->region->box, .most = most};
    tz_status status = TZ_OK;
    while (status == TZ_OK && tz_box_next(&p)) {
        status = tz_simulation_read(simulation, field, &p.part, w->values, error);
        if (status == TZ_OK && mask >= 0)
            status = tz_simulation_read(simulation, mask, &p.part, w->mask, error);
        if (status == TZ_OK && domain >= 0)
            status = tz_simulation_read(simulation, domain, &p.part, w->domain, error);
        if (status == TZ_OK)
            take_piece(w, p.count, p.first);
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
            *out = (tz_region_facts){whole.cells, whole.min, whole.max, whole.sum};
        return status;
    }
    /* A row of bits is read whole for each piece of it: at most 32 pieces. */
    const int64_t nx = tz_simulation_extent(simulation)[0];
    const int64_t most = nx / 32 < 1 << 16 ? 1 << 16 : nx / 32 + 1;
    work w = {.region = region, .out = out};
    double *memory = malloc(3 * (size_t)most * sizeof *memory);
    w.values = memory;
    w.mask = memory && region->mask_field >= 0 ? memory + most : NULL;
    w.domain = memory && tz_simulation_domain_of(simulation, field) >= 0 ? memory + 2 * most : NULL;
    tz_status status = memory ? read_pieces(simulation, field, &w, most, error)
                              : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for cells");
    out->sum = tz_precise_result(&w.sum);
    if (status == TZ_OK && out->cells == 0)
        status = tz_error_set(error, TZ_RANGE, NULL, "%s",
                              w.domain ? "the region has no cell of the domain"
                                       : "the mask selects no cell: all of it is 0");
    free(memory);
    return status;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* The value between the 2, 4 or 8 cells around a point. A cell that has no weight is not read. */
static tz_status read_point(const tz_simulation *simulation, int field, const double at[TZ_AXES],
                            double *value, tz_error *error)
{
    const int64_t *extent = tz_simulation_extent(simulation);
    double cells[8], weight[TZ_AXES];
    tz_box box;
    for (int a = 0; a < TZ_AXES; a++) {
        const double low = floor(at[a]);
        weight[a] = at[a] - low;
        box.low[a] = (int64_t)low;
        box.high[a] = box.low[a] + (weight[a] > 0 && box.low[a] + 1 < extent[a] ? 2 : 1);
    }
    const tz_status status = tz_simulation_read(simulation, field, &box, cells, error);
    int count = 1;
    for (int a = 0; a < TZ_AXES; a++)
        count *= (int)(box.high[a] - box.low[a]);
    for (int a = 0; status == TZ_OK && a < TZ_AXES; a++) {
        if (box.high[a] - box.low[a] < 2)
            continue;
        count /= 2;
        for (int i = 0; i < count; i++)
            cells[i] = (1 - weight[a]) * cells[2 * i] + weight[a] * cells[2 * i + 1];
    }
    *value = cells[0];
    return status;
}

tz_status tz_simulation_profile(const tz_simulation *simulation, int field,
                                const double from[TZ_AXES], const double to[TZ_AXES], int count,
                                double *values, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int i = 0; status == TZ_OK && i < count; i++) {
        double at[TZ_AXES];
        for (int a = 0; a < TZ_AXES; a++)
            at[a] = count < 2        ? from[a]
                    : i == count - 1 ? to[a]
                                     : from[a] + (to[a] - from[a]) * i / (count - 1);
        status = read_point(simulation, field, at, &values[i], error);
    }
    return status;
}

/* `mask`: cells that count are not 0 there; NULL: all do. */
static void count_values(tz_histogram *h, const double *values, const double *mask, int64_t count)
{
    const double width = h->high - h->low;
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i];
        if (mask && mask[i] == 0)
            continue;
        if (!isfinite(value)) {
            h->other++;
        } else if (value < h->low) {
            h->below++;
        } else if (value > h->high) {
            h->above++;
        } else {
            const int bin = (int)((value - h->low) / width * h->bins);
            h->counts[bin < h->bins ? bin : h->bins - 1]++;
        }
    }
}

tz_status tz_simulation_histogram(const tz_simulation *simulation, int field, tz_histogram *h,
                                  tz_error *error)
{
    enum { PIECE_CELLS = 1 << 17 };
    tz_box_parts p = {.most = PIECE_CELLS};
    memcpy(p.whole.high, tz_simulation_extent(simulation), sizeof p.whole.high);
    const int domain = tz_simulation_domain_of(simulation, field);
    double *values = malloc(2 * PIECE_CELLS * sizeof *values);
    if (!values)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a histogram");
    double *mask = domain < 0 ? NULL : values + PIECE_CELLS;
    memset(h->counts, 0, (size_t)h->bins * sizeof *h->counts);
    h->below = h->above = h->other = 0;
    tz_status status = TZ_OK;
    while (status == TZ_OK && tz_box_next(&p)) {
        status = tz_simulation_read(simulation, field, &p.part, values, error);
        if (status == TZ_OK && mask)
            status = tz_simulation_read(simulation, domain, &p.part, mask, error);
        if (status == TZ_OK)
            count_values(h, values, mask, p.count);
    }
    free(values);
    return status;
}

/* ---- The stencil's methods ------------------------------------------------------------------- */

typedef struct analysis {
    const tz_simulation *simulation;
    const tz_method_sink *sink;
} analysis;

static int analysis_read(void *context, int field, int64_t step, int64_t x, int64_t y, int64_t z,
                         int64_t count, double *values)
{
    const tz_simulation *simulation = ((analysis *)context)->simulation;
    const tz_stencil *stencil = simulation->problem.stencil;
    if (field < 0 || field >= tz_stencil_fields_all(stencil) || count < 1)
        return -1;
    if (stencil->fields[field].role == TZ_STREAMED)
        return tz_simulation_streamed_read(simulation, field, step, x, count, values, NULL) ? -1
                                                                                            : 0;
    const tz_box box = {{x, y, z}, {x + count, y + 1, z + 1}};
    return tz_simulation_read(simulation, field, &box, values, NULL) ? -1 : 0;
}

static void analysis_number(void *context, const char *name, double value)
{
    const tz_method_sink *sink = ((analysis *)context)->sink;
    sink->number(sink->context, name, value);
}

static void analysis_list(void *context, const char *name, int64_t count, const int64_t *values)
{
    const tz_method_sink *sink = ((analysis *)context)->sink;
    sink->list(sink->context, name, count, values);
}

tz_status tz_simulation_analyse(const tz_simulation *simulation, const char *method,
                                const tz_method_sink *sink, tz_error *error)
{
    const tz_stencil *stencil = simulation->problem.stencil;
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    for (int m = 0; m < stencil->methods_count; m++) {
        if (strcmp(stencil->methods[m].name, method) != 0)
            continue;
        analysis context = {simulation, sink};
        char message[512] = "";
        tz_access access = {
            .struct_size = sizeof access,
            .context = &context,
            .step = simulation->step,
            .read = analysis_read,
            .give_number = analysis_number,
            .give_list = analysis_list,
            .message = message,
            .message_size = sizeof message,
        };
        memcpy(access.extent, simulation->problem.extent, sizeof access.extent);
        memcpy(access.boundary, simulation->problem.boundary, sizeof access.boundary);
        if (stencil->methods[m].call(&access) == 0)
            return TZ_OK;
        return tz_error_set(error, TZ_RANGE, method, "%s", message[0] ? message : "it failed");
    }
    char hint[256];
    return tz_error_set(error, TZ_UNKNOWN, NULL, "'%s' has no analysis '%s'%s", stencil->id, method,
                        TZ_NAMES_HINT(hint, method, stencil->methods, stencil->methods_count));
}
