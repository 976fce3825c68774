/* Numbers about a part of a field: a box of cells, or those of its cells that a mask selects. */
#ifndef TZ_CORE_SIM_REGION_H
#define TZ_CORE_SIM_REGION_H

#include "base/array.h"
#include "sim/simulation.h"

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

/* The same on every backend. Reads the box in pieces. TZ_RANGE: the box is outside the grid, or the
 * mask selects no cell; TZ_UNSUPPORTED: a field is streamed, or the simulation is dry; TZ_MEMORY. */
tz_status tz_simulation_reduce_region(const tz_simulation *simulation, int field,
                                      const tz_region *region, tz_region_facts *out,
                                      tz_error *error);

#endif
