/* Samples of a field: values along a line, and how often values occur. */
#ifndef TZ_CORE_SIM_SAMPLE_H
#define TZ_CORE_SIM_SAMPLE_H

#include "sim/simulation.h"

/* Values at `count` points (1 or more) at equal distances on a line, with both ends. Points are in
 * cells: whole numbers are the middles of cells, in between values are interpolated linearly. Both ends
 * are in the grid. */
tz_status tz_simulation_profile(const tz_simulation *simulation, int field,
                                const double from[TZ_AXES], const double to[TZ_AXES], int count,
                                double *values, tz_error *error);

typedef struct tz_histogram {
    double low, high; /* low < high */
    int bins;
    int64_t *counts;             /* borrowed; of values from low, of the last bin with high */
    int64_t below, above, other; /* values outside, and those that are not finite */
} tz_histogram;

/* Count all cells of a field; `histogram` has low, high, bins and counts. */
tz_status tz_simulation_histogram(const tz_simulation *simulation, int field,
                                  tz_histogram *histogram, tz_error *error);

#endif
