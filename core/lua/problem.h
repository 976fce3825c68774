/* The keys that describe a problem: what is computed, not how. */
#ifndef TZ_CORE_LUA_PROBLEM_H
#define TZ_CORE_LUA_PROBLEM_H

#include "lua/keys.h"
#include "sim/simulation.h"
#include <lua.h>

/* The keys, in the order that the manual lists them. */
#define TZ_PROBLEM_OPTIONS                                                                         \
    {"plugin", "text", NULL,                                                                       \
     "the stencil's name, or what `tz.stencil` returns; `trapeze plugins` lists names"},           \
        {"grid", "{nx[, ny[, nz]]}", NULL, "cells along each axis, x first; an integer in 1-D"},   \
        {"precision", "text", "\"single\"", "%s; the last one is of stencils that have it",        \
         tz_precision_names},                                                                      \
        {"boundary", "text or table", "the stencil's",                                             \
         "%s; `{ x = …, y = … }` gives one for each axis, "                                    \
         "`{ x = { \"clamp\", \"fixed\" } }` one "                                                 \
         "for each side. [Where the walls lie and what is conserved](boundaries.md)",              \
         tz_boundary_names},                                                                       \
        {"params", "table", "",                                                                    \
         "`NAME = value`: parameters of the stencil; `trapeze plugins NAME` lists them"},          \
    {                                                                                              \
        "scalars", "table", "the stencil's",                                                       \
            "constants that change with the iteration: `NAME = \"a formula of step and "           \
            "parameters\"`, or a list of numbers, iteration 0 first, whose last one stays"         \
    }
/* The names of tz_precision, then "mixed"; those of tz_boundary. */
const char *tz_precision_names(int i);
const char *tz_boundary_names(int i);
enum { TZ_PROBLEM_PARAMS_MAX = 2 * TZ_PARAMS_MAX };

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

#endif
