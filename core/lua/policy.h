/* Policies as scenarios give them: keys of tz.simulation, sim:policy, and functions. */
#ifndef TZ_CORE_LUA_POLICY_H
#define TZ_CORE_LUA_POLICY_H

#include "lua/handle.h"
#include "lua/plan.h"
#include "lua/values.h"
#include "policy/choice.h"

/* The keys of a policy, in addition to those of a plan. */
#define TZ_POLICY_OPTIONS                                                                          \
    {"policy", "text or function(s)", "the first of these",                                        \
     "%s, or a function that returns a plan", tz_policy_choice_name},                              \
    {                                                                                              \
        "start", "integer or text", "`height`, else \"predicted\"",                                \
            "the first height of policies that search it: %s", tz_policy_searcher_name,            \
            .least = 1, .most = TZ_PLAN_HEIGHT_MAX                                                 \
    }

/* Read plan and policy from the table at `index`; options of the command line (NULL: none) replace
 * them. Raises errors that begin with `who`. A policy that is a function also needs
 * tz_policy_bind. */
void tz_policy_read(lua_State *L, int index, const char *who, int dims,
                    const tz_policy_choice *command_line, tz_policy_config *config);

/* For a policy that is a function: give it the simulation's handle, before the simulation takes the
 * policy; then keep the function of the table at `index` alive in the handle's user value. */
void tz_policy_bind(tz_policy_config *config, tz_simulation_handle *handle);
void tz_policy_keep(lua_State *L, int index, int handle_index, const tz_policy_config *config);

/* In a replay: call the function with what it saw before. */
tz_status tz_policy_ask_again(tz_simulation_handle *handle, tz_reading *reading, tz_error *error);

#endif
