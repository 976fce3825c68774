/* Functions that scripts call: each is registered with its arguments, and refuses more of them. */
#ifndef TZ_CORE_LUA_API_H
#define TZ_CORE_LUA_API_H

#include <lauxlib.h>
#include <lua.h>

/* `signature` is what the manual and messages say: "sim:set(field, value[, box])" is the method
 * `set` of a simulation with at most three arguments besides itself, "tz.log(...)" takes any
 * number. Fewer arguments than the signature has are the function's to refuse. */
typedef struct tz_api_function {
    const char *signature;
    lua_CFunction call;
} tz_api_function;

/* Add the functions, up to one without a signature, to the table on the top of the stack. Rows are
 * borrowed for the life of the state. */
void tz_api_add(lua_State *L, const tz_api_function *functions);

/* Make the metatable `type`, hidden from scripts. `close` becomes __gc and __close. `index` NULL:
 * the table of methods itself is __index; else that function, with the table as upvalue 1. `close`
 * and `tostring` may be NULL. Leaves the stack as it was. */
void tz_metatable_create(lua_State *L, const char *type, const tz_api_function *methods,
                         lua_CFunction close, lua_CFunction index, lua_CFunction tostring);

#endif
