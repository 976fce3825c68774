/* Searches the Lua stacks of running C functions for a userdata, and measures the C stack. Called
 * by handle.c, floorplan.c and array_methods.c before they change or free a value; by api.c and
 * sandbox.c when a call begins. */
#include "lua/guard.h"

#include "lua/context.h"
#include "lua/keys.h"
#include <sys/resource.h>

/* lua_getstack counts from the top: looking at n levels takes n * n / 2 steps. */
enum { LEVELS_MAX = 10000 };

/* Does the stack of the C function at that level hold the userdata? */
static bool level_holds(lua_State *thread, const lua_Debug *level, const void *userdata)
{
    bool found = false;
    for (int i = 1; !found && lua_getlocal(thread, level, i); i++) {
        found = lua_touserdata(thread, -1) == userdata;
        lua_pop(thread, 1);
    }
    return found;
}

static bool thread_holds(lua_State *L, lua_State *thread, int from, const void *userdata)
{
    lua_Debug level;
    if (!lua_checkstack(thread, 1))
        tz_raise(L, "not enough memory for Lua's stack");
    for (int n = from; lua_getstack(thread, n, &level); n++) {
        if (n == LEVELS_MAX)
            tz_raise(L, "more than %d calls are nested", LEVELS_MAX);
        lua_getinfo(thread, "S", &level);
        if (level.what[0] == 'C' && level_holds(thread, &level, userdata))
            return true;
    }
    return false;
}

bool tz_guard_in_use(lua_State *L, const void *userdata)
{
    if (thread_holds(L, L, 1, userdata))
        return true;
    for (const tz_waiting *w = tz_context_get(L)->waiting; w; w = w->next)
        if (thread_holds(L, w->thread, 0, userdata))
            return true;
    return false;
}

size_t tz_guard_stack_bytes(void)
{
    enum { USUAL = 8 << 20, MOST = 64 << 20 };
    struct rlimit limit;
    size_t bytes = USUAL;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = limit.rlim_cur < MOST ? (size_t)limit.rlim_cur : MOST;
    return bytes / 2;
}

void tz_guard_stack(lua_State *L)
{
    const tz_context *context = tz_context_get(L);
    const char *here = __builtin_frame_address(0);
    const size_t used =
        here < context->stack ? (size_t)(context->stack - here) : (size_t)(here - context->stack);
    if (context->stack && used > context->stack_bytes)
        tz_raise(L, "calls are nested too deeply: they need more than %zu KiB of C's stack",
                 context->stack_bytes >> 10);
}
