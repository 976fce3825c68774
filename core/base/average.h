/* Averages of a plane of cells on a coarser raster, for frames of large fields. The order of
 * additions is fixed, so that every backend gives the same bits.
 *
 * Along an axis of N cells and n values, value i covers the cells from edge(i) to edge(i + 1),
 * where edge(i) = i N / n in double. Its first cell is floor(edge(i)), its last is
 * ceil(edge(i + 1)) - 1. Each of these two has the part that is covered as its weight. The cells
 * between them have weight 1. A single cell has weight 1.
 *
 * A value is the weighted sum of its cells, divided by the area covered, in double:
 *
 *   1. In each column add, from the top row down, each cell times the weight of its row.
 *   2. Multiply the k-th column of a value by its weight and add it to sum k mod 32.
 *   3. Add the sums in order.
 *
 * NaN in a cell gives NaN in the values that cover it. A zero is +0. */
#ifndef TZ_CORE_BASE_AVERAGE_H
#define TZ_CORE_BASE_AVERAGE_H

#include <stdint.h>

enum { TZ_AVERAGE_LANES = 32 };

/* The cells of an axis that a value covers. */
typedef struct tz_average_span {
    int64_t first, last; /* both are covered */
    double first_weight, last_weight;
    double width; /* the sum of all weights */
} tz_average_span;

/* Edge i, 0 to `values`. There are at most as many values as cells. */
double tz_average_edge(int64_t cells, int values, int i);
tz_average_span tz_average_span_of(int64_t cells, int values, int i);

/* Steps 2 and 3, and the division, for a row of `values` values. `columns` has the sum of each
 * column, `spans` the columns of each value. `height` is the width of the span of rows. */
void tz_average_across(const double *columns, const tz_average_span *spans, double height,
                       double *to, int values);

#endif
