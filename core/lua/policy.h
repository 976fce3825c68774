/* Policies as scenarios give them: keys of tz.simulation, sim:policy, and functions. */
#ifndef TZ_CORE_LUA_POLICY_H
#define TZ_CORE_LUA_POLICY_H

#include "lua/context.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include "policy/policy.h"
#include "sim/simulation.h"

/* ---- Plans as scenarios give them: keys of tz.simulation and of sim:plan --------------------- */

/* The knobs of a plan, and all keys of one, in the order that the manual lists them. */
extern const tz_key tz_knob_options[], tz_plan_options[];

/* Read the knobs of the table at `index`; other members of *plan stay. */
void tz_knobs_read(lua_State *L, int index, const char *who, tz_plan *plan);

/* Push a table with all of the plan. */
void tz_plan_push(lua_State *L, const tz_plan *plan, int dims);

/* ---- Policies -------------------------------------------------------------------------------- */

/* Pass on the warning that the policy has, if any. */
void tz_policy_warn(const tz_simulation_handle *handle);

/* The keys of a policy, in addition to those of a plan. */
extern const tz_key tz_wish_options[];

/* Read what the table at `index` wants of plans; options of the command line (NULL: none) replace
 * it. Raises errors that begin with `who`. */
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
