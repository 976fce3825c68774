/* tz.png, tz.npy, tz.rle, tz.vti and tz.table: outputs as scripts describe them. */
#ifndef TZ_CORE_LUA_OUTPUT_H
#define TZ_CORE_LUA_OUTPUT_H

#include "output/output.h"
#include <lua.h>

/* A userdata of this type is a tz_output. Its user value holds the functions of a table under the
 * numbers of their columns, from 1. */
#define TZ_TYPE_OUTPUT "trapeze.output"

/* The keys of a look, for tz_keys_check. */
extern const char *const tz_look_keys[];
enum { TZ_LOOK_KEYS = 8 };
/* Read a look from the option table at `index`. Raises. */
void tz_look_get(lua_State *L, int index, const char *what, tz_look *look);

#endif
