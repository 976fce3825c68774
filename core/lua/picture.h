/* tz.picture: a picture of an array. */
#ifndef TZ_CORE_LUA_PICTURE_H
#define TZ_CORE_LUA_PICTURE_H

#include <lua.h>

/* Adds its functions to the table on the top of the stack. */
void tz_picture_register(lua_State *L);

#endif
