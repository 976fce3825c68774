/* The option `scalars` of tz.simulation and tz.predict: constants that change with the
 * iteration. */
#ifndef TZ_CORE_LUA_SCALARS_H
#define TZ_CORE_LUA_SCALARS_H

#include "sim/simulation.h"
#include <lua.h>

/* Read `scalars` from the table at `index`, which tz_keys_check has put there, into `config`: each
 * a formula of `step` and the stencil's numeric parameters, a list of numbers, or a number.
 * Replaces it in the table by what must live as long as the formulas are used. Raises errors that
 * begin with `what`. */
void tz_scalars_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                     tz_simulation_config *config);

/* Keep what tz_scalars_read() has put into the table at `index` with the simulation at `handle`. */
void tz_scalars_keep(lua_State *L, int index, int handle);

/* Adds sim:scalar to the methods table on the top of the stack, and the metatable of formulas. */
void tz_scalars_add(lua_State *L);

#endif
