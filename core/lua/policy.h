/* Policies as scenarios give them: keys of tz.simulation, sim:policy, and functions. */
#ifndef TZ_CORE_LUA_POLICY_H
#define TZ_CORE_LUA_POLICY_H

#include "lua/handle.h"
#include "lua/plan.h"
#include "policy/choice.h"

/* The keys besides a plan's. */
#define TZ_POLICY_KEYS "policy", "start"
enum { TZ_POLICY_KEYS_COUNT = 2 };

/* Read plan and policy of the table at `index`, as the command line overrides them; raises a Lua
 * error that starts with `who`. Of a function the context is missing: tz_policy_bind. */
void tz_policy_read(lua_State *L, int index, const char *who, int dims,
                    const tz_policy_choice *command_line, tz_policy_config *config);

/* A function needs the handle that it is asked for, and the handle keeps it: the one of the table
 * at `index`, once the simulation has taken the policy. */
void tz_policy_bind(tz_policy_config *config, tz_simulation_handle *handle);
void tz_policy_keep(lua_State *L, int index, int handle_index, const tz_policy_config *config);

void tz_policy_method_add(lua_State *L);

#endif
