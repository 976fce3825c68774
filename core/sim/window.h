/* The elements of a kept field in a box that may reach past the grid, as a pass reads them. */
#ifndef TZ_CORE_SIM_WINDOW_H
#define TZ_CORE_SIM_WINDOW_H

#include "sim/simulation.h"

/* Read a box of elements (words of bits), x fastest, at most TZ_RADIUS_MAX elements past each side of
 * the grid. Elements outside get what the boundaries say, also the columns of a word of bits that
 * lie outside. Errors: TZ_MEMORY, errors of the backend. */
tz_status tz__window_read(const tz_simulation *simulation, int field, const tz_box *box,
                          void *elements, tz_error *error);

#endif
