/* The keys that describe a problem: what is computed, not how. */
#ifndef TZ_CORE_LUA_PROBLEM_H
#define TZ_CORE_LUA_PROBLEM_H

#include "define/scalar.h"
#include "lua/keys.h"
#include "sim/simulation.h"
#include "stencil/registry.h"
#include <lua.h>

/* The keys, in the order that the manual lists them. */
extern const tz_key tz_problem_options[];
/* Those of tz.predict and tz.tune: a problem, a device, and which of its plans (predict.c). */
extern const tz_key tz_workload_options[];
enum { TZ_PROBLEM_PARAMS_MAX = 2 * TZ_PARAMS_MAX };

/* Raise if a key of the table at index 1, which is none of `keys`, is a parameter or a field of the
 * stencil that it names: the message says where it goes. Leaves that table alone on the stack. */
void tz_problem_explain(lua_State *L, const char *what, const tz_key *keys,
                        const tz_registry *registry);

/* Read these options from the table at `index` (a copy by tz_keys_check) into `config`, whose
 * registry must be set. config->params points to `params`; texts are borrowed from the table.
 * *plugin, unless NULL, is the stencil's plugin. Returns the stencil. Raises errors that begin with
 * `what`. */
const tz_stencil *tz_problem_read(lua_State *L, int index, const char *what,
                                  tz_simulation_config *config,
                                  tz_assignment params[TZ_PROBLEM_PARAMS_MAX],
                                  const tz_plugin **plugin);

/* Read `boundary_values` from the same table into `values`: { u = 1, v = { x = { 0, 1 }, y = 2 } }.
 * Names are borrowed from the stencil. Returns how many there are. */
enum { TZ_BOUNDARY_VALUES_MAX = TZ_FIELDS_MAX * TZ_SIDES };
size_t tz_boundary_values_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                               tz_side_value values[TZ_BOUNDARY_VALUES_MAX]);

/* The names and values of the table at `index`, at most `most`, in alphabetical order. Replaces it
 * on the stack by a copy, from which texts are borrowed. Raises on values that are neither numbers,
 * texts nor flags. */
size_t tz_assignments_get(lua_State *L, int index, const char *what, tz_assignment *out,
                          size_t most);

/* Push what owns the formula that is the text on the top of the stack. */
const tz_scalar *tz_formula_push(lua_State *L, const char *what, const tz_stencil *stencil,
                                 const char *name, bool timed);
/* Keep what `scalars` of the table at `index` became with the simulation at `handle`. */
void tz_scalars_keep(lua_State *L, int index, int handle);

#endif
