/* Numbers about fields, for scenarios and checks: profiles, histograms, analysis methods. */
#include "sim/numbers.h"

#include "base/names.h"
#include "sim/fields.h"
#include "sim/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void count_values(void *histogram, const double *values, int64_t count)
{
    tz_histogram *h = histogram;
    const double width = h->high - h->low;
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i];
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
    tz_region all = {.mask_field = -1};
    memcpy(all.box.high, tz_simulation_extent(simulation), sizeof all.box.high);
    memset(h->counts, 0, (size_t)h->bins * sizeof *h->counts);
    h->below = h->above = h->other = 0;
    return tz_simulation_each_cell(simulation, field, &all, count_values, h, error);
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
