/* The cells that this rank holds, so that it writes them itself. */
#ifndef TZ_CORE_SIM_OWN_H
#define TZ_CORE_SIM_OWN_H

#include "sim/simulation.h"

/* The cells from *low to *high along the last axis. False: ranks read this field together, since
 * there is one process only, or it is derived. The same answer for all ranks. */
bool tz_simulation_own(const tz_simulation *simulation, int field, int64_t *low, int64_t *high);
/* tz_simulation_read_cells() of a box of own cells. Not collective. */
tz_status tz_simulation_read_own(const tz_simulation *simulation, int field, const tz_box *box,
                                 void *cells, tz_error *error);

#endif
