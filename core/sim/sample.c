#include "sim/sample.h"

#include "sim/fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void count_values(tz_histogram *h, const double *values, int64_t count)
{
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
    enum { PIECE_CELLS = 1 << 17 };
    const int64_t *n = tz_simulation_extent(simulation);
    int64_t length[TZ_AXES], room = PIECE_CELLS;
    for (int a = 0; a < TZ_AXES; a++) {
        length[a] = n[a] < room ? n[a] : room;
        room = n[a] <= room ? room / n[a] : 1;
    }
    double *values = malloc((size_t)(length[0] * length[1] * length[2]) * sizeof *values);
    if (!values)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a histogram");
    memset(h->counts, 0, (size_t)h->bins * sizeof *h->counts);
    h->below = h->above = h->other = 0;
    tz_status status = TZ_OK;
    for (int64_t z = 0; z < n[2]; z += length[2])
        for (int64_t y = 0; y < n[1]; y += length[1])
            for (int64_t x = 0; status == TZ_OK && x < n[0]; x += length[0]) {
                tz_box box = {{x, y, z}, {x + length[0], y + length[1], z + length[2]}};
                int64_t count = 1;
                for (int a = 0; a < TZ_AXES; a++) {
                    box.high[a] = box.high[a] < n[a] ? box.high[a] : n[a];
                    count *= box.high[a] - box.low[a];
                }
                status = tz_simulation_read(simulation, field, &box, values, error);
                if (status == TZ_OK)
                    count_values(h, values, count);
            }
    free(values);
    return status;
}
