/* Numbers about fields: along a line, how often values occur, and those of the stencil's own
 * analysis methods. */
#ifndef TZ_CORE_SIM_NUMBERS_H
#define TZ_CORE_SIM_NUMBERS_H

#include "sim/fields.h"

/* ---- Samples --------------------------------------------------------------------------------- */

/* Values at `count` points (1 or more) at equal distances on a line, with both ends. Points are in
 * cells: whole numbers are the middles of cells, in between values are interpolated linearly. Both
 * ends are in the grid. */
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

/* ---- The stencil's methods ------------------------------------------------------------------- */

/* Receives the named results of a method. `values` are borrowed during the call. */
typedef struct tz_method_sink {
    void *context;
    void (*number)(void *context, const char *name, double value);
    void (*list)(void *context, const char *name, int64_t count, const int64_t *values);
} tz_method_sink;

/* TZ_UNKNOWN with the nearest name; TZ_RANGE with the method's own message. */
tz_status tz_simulation_analyse(const tz_simulation *simulation, const char *method,
                                const tz_method_sink *sink, tz_error *error);

#endif
