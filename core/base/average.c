/* Weights and sums of cells for one value of a raster. Called by core/output/frame;
 * backend/cuda/reduce.c takes the edges. */
#include "base/average.h"

double tz_average_edge(int64_t cells, int values, int i)
{
    /* The product is exact, so an edge that lies between two cells is an integer. */
    return (double)i * (double)cells / (double)values;
}

tz_average_span tz_average_span_of(int64_t cells, int values, int i)
{
    const double a = tz_average_edge(cells, values, i), b = tz_average_edge(cells, values, i + 1);
    const int64_t first = (int64_t)a, under = (int64_t)b;
    const int64_t last = (double)under < b ? under : under - 1;
    if (first >= last)
        return (tz_average_span){first, first, 1.0, 1.0, 1.0};
    return (tz_average_span){first, last, (double)(first + 1) - a, b - (double)last, b - a};
}

/* The sum over a span with more columns than lanes. */
static double add_lanes(const double *columns, const tz_average_span *span)
{
    double lanes[TZ_AVERAGE_LANES] = {0}, total = 0.0;
    int64_t k = span->first;
    lanes[0] = span->first_weight * columns[k++];
    for (int lane = 1; lane < TZ_AVERAGE_LANES; lane++)
        lanes[lane] = columns[k++];
    for (; k + TZ_AVERAGE_LANES <= span->last; k += TZ_AVERAGE_LANES)
        for (int lane = 0; lane < TZ_AVERAGE_LANES; lane++)
            lanes[lane] += columns[k + lane];
    int lane = 0;
    for (; k < span->last; k++)
        lanes[lane++] += columns[k];
    lanes[lane] += span->last_weight * columns[k];
    for (lane = 0; lane < TZ_AVERAGE_LANES; lane++)
        total += lanes[lane];
    return total;
}

void tz_average_across(const double *columns, const tz_average_span *spans, double height,
                       double *to, int values)
{
    for (int i = 0; i < values; i++) {
        const tz_average_span *span = &spans[i];
        double total = 0.0;
        if (span->last - span->first >= TZ_AVERAGE_LANES) {
            total = add_lanes(columns, span);
        } else {
            total += span->first_weight * columns[span->first];
            for (int64_t k = span->first + 1; k < span->last; k++)
                total += columns[k];
            if (span->last > span->first)
                total += span->last_weight * columns[span->last];
        }
        to[i] = total / (span->width * height);
    }
}
