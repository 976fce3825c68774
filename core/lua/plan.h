/* Plans as scenarios give them: keys of tz.simulation and of sim:plan. */
#ifndef TZ_CORE_LUA_PLAN_H
#define TZ_CORE_LUA_PLAN_H

#include "lua/context.h"
#include "sim/simulation.h"

/* The keys of a plan, in the order that the manual lists them. */
#define TZ__PLAN_KEY(name, least, most, doc) , #name
#define TZ_PLAN_KEYS "height", "tile", "family" TZ_PLAN_KNOBS(TZ__PLAN_KEY)
enum { TZ_PLAN_KEYS_COUNT = 3 + TZ_PLAN_KNOBS_COUNT };

/* Read the plan's keys of the table at `index`. Raises errors that begin with `who`. A height that is
 * a text goes to *height_text, borrowed from the table; if that is NULL, the height must be a number.
 */
void tz_plan_read(lua_State *L, int index, const char *who, int dims, tz_plan *plan,
                  const char **height_text);

/* Push a table with the plan's knobs. */
void tz_plan_push(lua_State *L, const tz_plan *plan, int dims);

#endif
