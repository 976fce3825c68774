/* Regions as scripts give them: boxes, masks and units of a floorplan. */
#ifndef TZ_CORE_LUA_REGION_H
#define TZ_CORE_LUA_REGION_H

#include "lua/handle.h"
#include "sim/numbers.h"

/* The region at a stack index: {x = {low, high}, …}, the name of a field or an array that selects
 * cells that are not zero, or a unit (plan:unit). Borrows the array. False for nil: no region.
 * Raises. */
bool tz_region_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                     tz_region *region);

/* The numbers of a field in a region; zeros in check mode. Raises. */
void tz_region_reduce(lua_State *L, const tz_simulation_handle *handle, int field,
                      const tz_region *region, const char *what, tz_region_facts *facts);

/* Push the function of a table's column, column(sim): the maximum, or the mean, of the first state
 * field in the unit at a stack index. */
void tz_region_push_column(lua_State *L, int index, bool mean);

#endif
