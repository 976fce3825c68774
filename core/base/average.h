/* Averages of a plane of cells on a coarser raster: what a pixel of a large field shows, defined so
 * that every backend can give the same bits.
 *
 * Along an axis of N cells and n values, value i covers the cells from i N / n to (i + 1) N / n:
 * the edges, in double. Its first cell is floor(edge (i)), its last one ceil(edge (i + 1)) - 1;
 * both count with the part that is covered, those between them whole. (One cell alone is that
 * cell.)
 *
 * A value is the sum of its cells times their weights, divided by the area covered, in double.
 * First each column is added up from the top row down, a cell times its row's weight at a time;
 * then column k of a value, times its weight, goes to sum k mod 32; then these are added in order.
 * A NaN makes the values that it touches NaN; a zero is +0. */
#ifndef TZ_CORE_BASE_AVERAGE_H
#define TZ_CORE_BASE_AVERAGE_H

#include <stdint.h>

enum { TZ_AVERAGE_LANES = 32 };

/* The part of an axis that a value covers. */
typedef struct tz_average_span {
    int64_t first, last;              /* cells, both within */
    double first_weight, last_weight; /* of the cells between: 1 */
    double width;                     /* of all together */
} tz_average_span;

/* Edge i of 0 to `values`; at most as many values as cells. */
double tz_average_edge(int64_t cells, int values, int i);
tz_average_span tz_average_span_of(int64_t cells, int values, int i);

/* Values of a row of column sums, a span each; `height` is the width of the rows' span. */
void tz_average_across(const double *columns, const tz_average_span *spans, double height,
                       double *to, int values);

#endif
