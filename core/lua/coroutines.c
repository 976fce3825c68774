/* While a coroutine runs, it is the thread that a signal hooks (interrupt.h). */
#include "lua/coroutines.h"

#include "lua/interrupt.h"
#include <lauxlib.h>

static int resume_tracked(lua_State *L, lua_State *thread, int arguments)
{
    if (!lua_checkstack(thread, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, thread, arguments);
    int results = 0;
    lua_State *before = tz_interrupt_enter(thread);
    const int status = lua_resume(thread, L, arguments, &results);
    tz_interrupt_enter(before);
    tz_interrupt_check(L);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(thread, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, results + 1)) {
        lua_pop(thread, results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(thread, L, results);
    return results;
}

/* Why a coroutine cannot be resumed; NULL if it can. */
static const char *refusal(lua_State *L, lua_State *thread)
{
    lua_Debug record;
    if (L == thread)
        return "cannot resume non-suspended coroutine";
    if (lua_status(thread) == LUA_YIELD)
        return NULL;
    if (lua_status(thread) != LUA_OK)
        return "cannot resume dead coroutine";
    if (lua_getstack(thread, 0, &record))
        return "cannot resume non-suspended coroutine";
    return lua_gettop(thread) == 0 ? "cannot resume dead coroutine" : NULL;
}

static int co_resume(lua_State *L)
{
    lua_State *thread = lua_tothread(L, 1);
    luaL_argexpected(L, thread, 1, "coroutine");
    const char *why = refusal(L, thread);
    int results = -1;
    if (why)
        lua_pushstring(L, why);
    else
        results = resume_tracked(L, thread, lua_gettop(L) - 1);
    if (results < 0) {
        lua_pushboolean(L, 0);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushboolean(L, 1);
    lua_insert(L, -(results + 1));
    return results + 1;
}

static int co_wrapped(lua_State *L)
{
    lua_State *thread = lua_tothread(L, lua_upvalueindex(1));
    const char *why = refusal(L, thread);
    if (why)
        return luaL_error(L, "%s", why);
    const int results = resume_tracked(L, thread, lua_gettop(L));
    if (results >= 0)
        return results;
    if (lua_status(thread) != LUA_OK && lua_status(thread) != LUA_YIELD)
        lua_resetthread(thread);
    return lua_error(L);
}

static int co_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *thread = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, thread, 1);
    lua_pushcclosure(L, co_wrapped, 1);
    return 1;
}

void tz_coroutines_patch(lua_State *L)
{
    lua_pushcfunction(L, co_resume);
    lua_setfield(L, -2, "resume");
    lua_pushcfunction(L, co_wrap);
    lua_setfield(L, -2, "wrap");
}
