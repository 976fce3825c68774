/* How large cells are, for stencils that have parameters with the roles TZ_PARAM_ROLE_EXTENT_*_M or
 * TZ_PARAM_ROLE_SPACING*. */
#ifndef TZ_CORE_SIM_GEOMETRY_H
#define TZ_CORE_SIM_GEOMETRY_H

#include "sim/simulation.h"

/* The widths of a cell along the axes: the grid's extent over its cells, or a parameter, in that
 * parameter's unit. False: not known for each of the grid's axes; all are then 1. */
bool tz_simulation_spacing(const tz_simulation *simulation, double spacing[TZ_AXES]);
/* Row 0 of the grid is the upper edge of a chip, whose y points up: a floorplan has filled a field. */
void tz_simulation_set_y_up(tz_simulation *simulation);
bool tz_simulation_y_up(const tz_simulation *simulation);
/* The unit of the widths, "" if the parameter has none; NULL: the widths are not known. Static or borrowed. */
const char *tz_simulation_spacing_unit(const tz_simulation *simulation);

#endif
