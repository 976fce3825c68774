/* tz.predict: the table of predictions of a stencil on a grid, on any device. */
#ifndef TZ_CORE_LUA_PREDICT_H
#define TZ_CORE_LUA_PREDICT_H

#include <lua.h>

/* Adds its functions to the table on the top of the stack. */
void tz_predict_register(lua_State *L);

#endif
