/* Options of pictures: what they show of a grid, and how. */
#ifndef TZ_CORE_LUA_LOOK_H
#define TZ_CORE_LUA_LOOK_H

#include "lua/keys.h"
#include "output/frame/frame.h"

/* For option tables of functions that have a look: .all = tz_look_options. */
extern const tz_key tz_look_options[];
/* The names of a montage's axis, and from where y is counted. */
const char *tz_look_montage_names(int i);
const char *tz_look_y_names(int i);

/* Read the options at a stack index, and raise where one is wrong. A path borrows the userdata that
 * it pushes. */
void tz_look_get(lua_State *L, int index, const char *what, tz_look *look);
void tz_look_path(lua_State *L, int index, const char *what, tz_look *look);
tz_y_from tz_look_y(lua_State *L, int index, const char *what);
/* slice = 3, or { y = 3 }. False, and *out as it is, when absent. */
bool tz_look_slice(lua_State *L, int index, const char *what, tz_slice *out);
/* montage = true, or the axis that it goes along: "y". False: there is none. */
bool tz_look_montage(lua_State *L, int index, const char *what, int *axis);

#endif
