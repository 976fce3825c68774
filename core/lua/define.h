/* The userdata behind tz.stencil: a stencil that the script defines. */
#ifndef TZ_CORE_LUA_DEFINE_H
#define TZ_CORE_LUA_DEFINE_H

#include <lua.h>

struct tz_context;

#define TZ_TYPE_STENCIL "trapeze.stencil"

/* The id of the stencil at a stack index, borrowed from the userdata; NULL if it is none. */
const char *tz_stencil_id(lua_State *L, int index);

/* Free the list of the stencils that the script has defined. */
void tz_defined_clear(struct tz_context *context);

#endif
