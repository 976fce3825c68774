#include "lua/api.h"

#include "lua/guard.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* The most arguments of a signature, without the object of a method. */
static int count_arguments(const char *signature)
{
    const char *list = strchr(signature, '(') + 1;
    if (strstr(list, "..."))
        return INT_MAX - 1;
    int count = *list != ')';
    for (const char *c = list; *c != '\0'; c++)
        count += *c == ',';
    return count;
}

static bool is_method(const char *signature)
{
    return memchr(signature, ':', strcspn(signature, "(")) != NULL;
}

/* What scripts call: upvalue 1 is the row, 2 the most arguments that it takes. */
static int checked(lua_State *L)
{
    const tz_api_function *function = lua_touserdata(L, lua_upvalueindex(1));
    const int most = (int)lua_tointeger(L, lua_upvalueindex(2));
    tz_guard_stack(L);
    if (lua_gettop(L) > most) {
        const char *signature = function->signature;
        tz_raise(L, "%.*s: unexpected argument %d (%s); it is %s", (int)strcspn(signature, "("),
                 signature, most + 1 - is_method(signature), tz_kind_text(L, most + 1), signature);
    }
    const bool asks = function->recall == TZ_RECALL_BOTH && lua_gettop(L) == 1;
    if (asks || function->recall == TZ_RECALL_GIVE)
        tz_context_get(L)->asked = true;
    return function->recall == TZ_RECALL_PURE || tz_context_get(L)->recall.mode == TZ_RECALL_OFF
               ? function->call(L)
               : tz_recall_call(L, function);
}

const void *tz_api_data(lua_State *L)
{
    return ((const tz_api_function *)lua_touserdata(L, lua_upvalueindex(1)))->data;
}

/* Where the registry keeps the rows: a userdata of pointers. */
static const char rows_key;

const tz_api_function *const *tz_api_rows(lua_State *L)
{
    static const tz_api_function *const none = NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &rows_key);
    const tz_api_function *const *rows = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return rows ? rows : &none;
}

static void remember(lua_State *L, const tz_api_function *functions)
{
    const tz_api_function *const *old = tz_api_rows(L);
    size_t before = 0, more = 0;
    while (old[before])
        before++;
    while (functions[more].signature)
        more++;
    const tz_api_function **rows =
        lua_newuserdatauv(L, (before + more + 1) * sizeof(const tz_api_function *), 0);
    for (size_t i = 0; i < before; i++)
        rows[i] = old[i];
    for (size_t i = 0; i < more; i++)
        rows[before + i] = &functions[i];
    rows[before + more] = NULL;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &rows_key);
}

void tz_api_add(lua_State *L, const tz_api_function *functions)
{
    remember(L, functions);
    for (const tz_api_function *f = functions; f->signature; f++) {
        const char *name = f->signature + strcspn(f->signature, ".:") + 1;
        lua_pushlstring(L, name, strcspn(name, "("));
        lua_pushlightuserdata(L, (void *)f);
        lua_pushinteger(L, count_arguments(f->signature) + is_method(f->signature));
        lua_pushcclosure(L, checked, 2);
        lua_rawset(L, -3);
    }
}

void tz_metatable_create(lua_State *L, const char *type, const tz_api_function *methods,
                         lua_CFunction close, lua_CFunction index, lua_CFunction tostring)
{
    luaL_newmetatable(L, type);
    lua_newtable(L);
    tz_api_add(L, methods);
    if (index)
        lua_pushcclosure(L, index, 1);
    lua_setfield(L, -2, "__index");
    if (close) {
        lua_pushcfunction(L, close);
        lua_setfield(L, -2, "__gc");
        lua_pushcfunction(L, close);
        lua_setfield(L, -2, "__close");
    }
    if (tostring) {
        lua_pushcfunction(L, tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_pushstring(L, type);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
