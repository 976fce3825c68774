/* Giving fields their values: a number, a function, random numbers, an array, a floorplan. */
#ifndef TZ_CORE_LUA_FIELDS_H
#define TZ_CORE_LUA_FIELDS_H

#include "lua/handle.h"

/* All of a simulation's grid. */
tz_box tz_box_grid(const tz_simulation_handle *handle);

/* {x = {low, high}, y = …} at `index`, half open. A missing axis stands for the grid's extent, and
 * so does nil for all axes. Raises when the box is empty or outside the grid. */
void tz_box_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                  tz_box *box);

/* Give a field, or a box of it (NULL: all), the Lua value at `index`. The simulation is on the
 * stack, too. Raises. */
void tz_field_assign(lua_State *L, tz_simulation_handle *handle, int field, const tz_box *box,
                     int index, const char *what);

#endif
