/* tz.stencil { augment = "auto" }: the number of steps of an iteration that is predicted to be fastest. */
#ifndef TZ_CORE_LUA_AUGMENT_H
#define TZ_CORE_LUA_AUGMENT_H

#include <lua.h>
#include <stdbool.h>

/* The keys that go with it, in the options of tz.stencil. */
#define TZ_AUGMENT_OPTIONS                                                                         \
    {"grid", "{nx[, ny[, nz]]}", "", "with `augment = \"auto\"`: the grid that it is chosen for"}, \
        {"precision", "text", "that of `tz.predict`", "likewise"},                                 \
    {                                                                                              \
        "device", "text", "this machine's", "likewise, as in `tz.predict`"                         \
    }

/* Does the table at index 1 ask for it? Raises if `augment` is another text. */
bool tz_augment_is_auto(lua_State *L);
/* Raise if the options at index 1 have keys that go with "auto" alone. */
void tz_augment_check_given(lua_State *L, int index);

/* Push the stencil of the table at index 1. `define` is tz.stencil, which is called with other values of
 * `augment`. Predictions are made as tz.predict makes them: a run that goes on gets those of before.
 * Raises errors that begin with "tz.stencil". */
int tz_augment_choose(lua_State *L, lua_CFunction define);

/* Remember tz.predict of the module on the top of the stack. */
void tz_augment_register(lua_State *L);

#endif
