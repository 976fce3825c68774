/* tz.plot and tz.can_plot: series of numbers as a PNG file, through gnuplot. */
#ifndef TZ_CORE_LUA_PLOT_H
#define TZ_CORE_LUA_PLOT_H

#include <lua.h>

/* Adds its functions to the table on the top of the stack. */
void tz_plot_register(lua_State *L);

#endif
