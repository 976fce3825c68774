/* Plans as scenarios give them: keys of tz.simulation and of sim:plan. */
#ifndef TZ_CORE_LUA_PLAN_H
#define TZ_CORE_LUA_PLAN_H

#include "lua/context.h"
#include "lua/keys.h"
#include "sim/simulation.h"

/* The keys of a plan, in the order that the manual lists them. */
#define TZ__PLAN_OPTION(NAME, LEAST, MOST, DOC)                                                    \
    ,                                                                                              \
    {                                                                                              \
#NAME, "integer", "chosen", DOC, .least = LEAST, .most = MOST                              \
    }
#define TZ_PLAN_OPTIONS                                                                            \
    {"height",   "integer or text",                                                                \
     "chosen",   "iterations between two halo exchanges; or a text: the policy of that name",      \
     .least = 1, .most = TZ_PLAN_HEIGHT_MAX},                                                      \
        {"tile", "{nx[, ny[, nz]]}", "chosen", "useful cells of a tile; 0: chosen"},               \
        {"family", "text", "chosen",                                                               \
         "the way to execute a stage, such as `stream` or `skew`; `trapeze tune --help` lists "    \
         "them"} TZ_PLAN_KNOBS(TZ__PLAN_OPTION),                                                   \
    {                                                                                              \
        "why", "text", "", "how a plan was chosen, as `sim:plan()` says; not read"                 \
    }

/* Read the plan's keys of the table at `index`. Raises errors that begin with `who`. A height that is
 * a text goes to *height_text, borrowed from the table; if that is NULL, the height must be a number.
 */
void tz_plan_read(lua_State *L, int index, const char *who, int dims, tz_plan *plan,
                  const char **height_text);
/* The knobs alone; others of *plan stay. */
void tz_knobs_read(lua_State *L, int index, const char *who, tz_plan *plan);

/* Push a table with all of the plan. */
void tz_plan_push(lua_State *L, const tz_plan *plan, int dims);
/* Set the plan's keys, except `why`, of the table on the top of the stack. */
void tz_plan_set_keys(lua_State *L, const tz_plan *plan, int dims);

#endif
