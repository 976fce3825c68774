/* Fields as scripts change them (a number, a function, random numbers, an array, a floorplan) and
 * regions of them as scripts give them (boxes, masks, units of a floorplan). */
#ifndef TZ_CORE_LUA_FIELDS_H
#define TZ_CORE_LUA_FIELDS_H

#include "lua/handle.h"
#include "output/format/chip_files.h"
#include "sim/numbers.h"

/* {x = {low, high}, y = …} at `index`, half open. A missing axis stands for the grid's extent, and
 * so does nil for all axes. Raises when the box is empty or outside the grid. */
void tz_box_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                  tz_box *box);

/* Give a field, or a box of it (NULL: all), the Lua value at `index`. The simulation is on the
 * stack, too. Raises. */
void tz_field_assign(lua_State *L, tz_simulation_handle *handle, int field, const tz_box *box,
                     int index, const char *what);

/* The numbers of a field in the region at a stack index, or everywhere: {x = {low, high}, …}, the
 * name of a field or an array that selects cells that are not zero, or a unit (plan:unit). Zeros in
 * check mode. Raises. */
tz_region_facts tz_region_reduce(lua_State *L, int index, const tz_simulation_handle *handle,
                                 int field, const char *what);

/* Push the function of a table's column, column(sim): what `map` says of the first state field in
 * the unit at a stack index. */
void tz_region_push_column(lua_State *L, int index, tz_map_mode map);
/* The same of the title "FIELD(MASK)": the sum of a field where another one is not 0. false, and
 * nil is pushed: the title is no such thing, or FIELD is like the word of another column. */
bool tz_region_push_sum(lua_State *L, const char *title);

#endif
