/* Numbers about fields: of a region, along a line, how often values occur, and those of the
 * stencil's own analysis methods. */
#ifndef TZ_CORE_SIM_NUMBERS_H
#define TZ_CORE_SIM_NUMBERS_H

#include "base/array.h"
#include "sim/simulation.h"

/* ---- A part of a field: a box of cells, or those of its cells that a mask selects ------------ */

/* At most one mask; a cell counts where it is not zero. */
typedef struct tz_region {
    tz_box box;
    int mask_field;       /* a field that is not streamed; -1: none */
    const tz_array *mask; /* an element for each cell of the box, x fastest; NULL: none */
} tz_region;

typedef struct tz_region_facts {
    int64_t cells;   /* of the region */
    double min, max; /* of the finite cells; +inf and -inf without such cells */
    double sum;      /* in double, rounded once; NaN if a cell is */
} tz_region_facts;

/* The same on every backend. Reads the box in pieces. TZ_RANGE: the box is outside the grid, or
 * the mask selects no cell; TZ_UNSUPPORTED: a field is streamed, or the simulation is dry;
 * TZ_MEMORY. */
tz_status tz_simulation_reduce_region(const tz_simulation *simulation, int field,
                                      const tz_region *region, tz_region_facts *out,
                                      tz_error *error);

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
