/* The module `trapeze`, and what the files of this folder add to it. */
#ifndef TZ_CORE_LUA_MODULE_H
#define TZ_CORE_LUA_MODULE_H

#include <lua.h>

/* Raise if a scenario's text calls tz.plot, never asks tz.can_plot, and there is no gnuplot: then
 * it would fail after all its work. */
void tz_plot_check(lua_State *L, const char *text, size_t bytes);

/* For luaL_requiref: pushes the module. */
int tz_module_open(lua_State *L);

/* Push tz.args.NAME, which counts as reading it. */
void tz_args_push(lua_State *L, const char *name);

/* ---- Add functions to the module, a table on the top of the stack. ---- */
void tz_array_register(lua_State *L);      /* tz.array */
void tz_checkpoint_register(lua_State *L); /* tz.checkpoint */
void tz_floorplan_register(lua_State *L);  /* tz.floorplan */
void tz_output_register(lua_State *L);     /* tz.NAME of each format */
void tz_picture_register(lua_State *L);    /* tz.picture: arrays as pictures */
void tz_plot_register(lua_State *L);       /* tz.plot, tz.can_plot: lines and points by gnuplot */
void tz_predict_register(lua_State *L);    /* tz.predict */
void tz_random_register(lua_State *L);     /* tz.random */
void tz_read_register(lua_State *L);       /* tz.read: files as arrays */
void tz_simulation_register(lua_State *L); /* tz.simulation */
void tz_stencil_register(lua_State *L);    /* tz.stencil */
void tz_sweep_register(lua_State *L);      /* tz.sweep */
void tz_tune_register(lua_State *L);       /* tz.tune */

/* ---- Add methods of a simulation to the table on the top of the stack. ---- */
void tz_binding_add(lua_State *L);        /* sim:every, sim:write */
void tz_methods_add(lua_State *L);        /* sim:get, sim:set, sim:params and so on */
void tz_policy_method_add(lua_State *L);  /* sim:policy */
void tz_region_methods_add(lua_State *L); /* sim:units */
void tz_sample_add(lua_State *L);         /* sim:profile, sim:histogram */
void tz_running_add(lua_State *L);        /* sim:run, sim:rewind, sim:time */

#endif
