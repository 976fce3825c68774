/* The module `trapeze`, what the files of this folder add to it, and the libraries of Lua. */
#ifndef TZ_CORE_LUA_MODULE_H
#define TZ_CORE_LUA_MODULE_H

#include "lua/api.h"

/* For luaL_requiref: pushes the module. */
int tz_module_open(lua_State *L);

/* Open the libraries, `require` and the module trapeze. `unsafe`: all of Lua's libraries; else
 * those that compute, without access to files and processes. May raise. */
void tz_sandbox_open(lua_State *L, bool unsafe);

/* The script is over: from now on no finalizer of it is called, and nothing is collected before
 * lua_close. */
void tz_sandbox_end(lua_State *L);

/* Raise if a scenario's text calls tz.plot, never asks tz.can_plot, and there is no gnuplot: then
 * it would fail after all its work. */
void tz_plot_check(lua_State *L, const char *text, size_t bytes);
/* The line, from 1, on which a text first names `function` of the module: NAME.function, where the
 * text has NAME = require "trapeze". 0: nowhere. Comments and strings do not count. */
int tz_plot_find(const char *text, size_t bytes, const char *function);

/* ---- Functions of the module ----------------------------------------------------------------- */
extern const tz_api_function tz_array_functions[], tz_floorplan_functions[], tz_chip_functions[],
    tz_binding_functions[], tz_simulation_functions[], tz_picture_functions[],
    tz_predict_functions[], tz_plot_functions[], tz_stencil_functions[];
void tz_output_register(lua_State *L); /* tz.NAME of each format, into the table on the top */

/* ---- Kinds of userdata ----------------------------------------------------------------------- */
extern const tz_api_class tz_array_class, tz_random_class, tz_floorplan_class, tz_unit_class,
    tz_output_class, tz_checkpoint_class, tz_simulation_class, tz_stencil_class, tz_receivers_class;

/* ---- Methods of simulations ------------------------------------------------------------------ */
extern const tz_api_function tz_binding_methods[], tz_running_methods[], tz_scalar_methods[],
    tz_policy_methods[], tz_region_methods[], tz_points_methods[];

#endif
