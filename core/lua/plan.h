/* Plans as scenarios give them: keys of tz.simulation and of sim:plan. */
#ifndef TZ_CORE_LUA_PLAN_H
#define TZ_CORE_LUA_PLAN_H

#include "lua/context.h"
#include "sim/simulation.h"

/* The keys of a plan, in the order that the manual lists them. */
#define TZ_PLAN_KEYS "height", "tile", "family", "vector", "ahead", "slack", "warps", "blocks"
enum { TZ_PLAN_KEYS_COUNT = 8 };

/* Read the plan's keys of the table at `index`; raises a Lua error that starts with `who`. */
void tz_plan_read(lua_State *L, int index, const char *who, int dims, tz_plan *plan);

/* Push a table with the plan's knobs. */
void tz_plan_push(lua_State *L, const tz_plan *plan, int dims);

#endif
