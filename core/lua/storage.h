/* The key `storage` of options: how fields lie in memory. */
#ifndef TZ_CORE_LUA_STORAGE_H
#define TZ_CORE_LUA_STORAGE_H

#include "lua/keys.h"
#include "sim/simulation.h"
#include <lua.h>

/* The user value of a stencil's userdata with what tz_storage_push() gave for it. */
enum { TZ_STENCIL_STORAGE = 1 };

/* The names; NULL past the last. */
const char *tz_storage_names(int i);
/* The keys of a table that gives the storage of a field. */
extern const tz_key tz_storage_options[];

/* Push what `storage` of the table at `index` says, as a userdata; nil if there is no such key.
 * Names are borrowed from the stencil. Raises errors that begin with `what`. */
void tz_storage_push(lua_State *L, int index, const char *what, const tz_stencil *stencil);

/* Read the storage of the options at `index`, or else that of the stencil that is their `plugin`,
 * into `config`. It lives as long as the options. Raises as tz_storage_push(). */
void tz_storage_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                     tz_simulation_config *config);

#endif
