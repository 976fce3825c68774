/* Policies as scenarios give them: keys of tz.simulation, sim:policy, and functions. */
#ifndef TZ_CORE_LUA_POLICY_H
#define TZ_CORE_LUA_POLICY_H

#include "lua/handle.h"
#include "lua/plan.h"
#include "lua/values.h"
#include "policy/policy.h"

/* The keys of a policy, in addition to those of a plan. */
#define TZ_POLICY_OPTIONS                                                                          \
    {"policy", "text or function(s)", "the first of these",                                        \
     "%s, or a function that returns a plan", tz_policy_name},                                     \
    {                                                                                              \
        "start", "integer or text", "`height`, else \"predicted\"",                                \
            "the first height of policies that search it: %s", tz_policy_searcher_name,            \
            .least = 1, .most = TZ_PLAN_HEIGHT_MAX                                                 \
    }

/* Read what the table at `index` wants of plans; options of the command line (NULL: none) replace it.
 * Raises errors that begin with `who`. */
void tz_policy_read(lua_State *L, int index, const char *who, int dims,
                    const tz_plan_wish *command_line, tz_plan_wish *wish);

/* For a policy that is a function: keep the function of the table at `index` alive in the handle's
 * user value. */
void tz_policy_keep(lua_State *L, int index, int handle_index, const tz_plan_wish *wish);

/* Ask the function what the simulation's policy wants to know (TZ_STOP_ASKS). */
tz_status tz_policy_ask(tz_simulation_handle *handle, tz_error *error);

/* In a replay: call the function with what it saw before. */
tz_status tz_policy_ask_again(tz_simulation_handle *handle, tz_reading *reading, tz_error *error);

#endif
