#include "lua/sandbox.h"

#include "base/file.h"
#include "lua/context.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "lua/push.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODULE_BYTES_MAX = 16 << 20 };

static int base_print(lua_State *L)
{
    tz_push_line(L, '\t');
    lua_pushliteral(L, "\n");
    lua_concat(L, 2);
    const tz_script_sink *sink = &tz_context_get(L)->options->sink;
    if (sink->print)
        sink->print(sink->context, lua_tostring(L, -1), lua_rawlen(L, -1));
    return 0;
}

/* load() without compiled code. Upvalue 1 is Lua's own load. */
static int base_load(lua_State *L)
{
    const int has_environment = lua_gettop(L) >= 4;
    lua_settop(L, 4);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushliteral(L, "t");
    if (has_environment)
        lua_pushvalue(L, 4);
    lua_call(L, has_environment ? 4 : 3, LUA_MULTRET);
    return lua_gettop(L) - 4;
}

static bool is_module_name(const char *name)
{
    if (name[0] == '\0' || name[0] == '.' || strlen(name) > 200)
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            return false;
    return !strstr(name, "..");
}

/* Load FOLDER/NAME.lua as text and push the chunk. False when there is no such file. */
static bool load_module(lua_State *L, const char *folder, const char *name)
{
    char path[PATH_MAX], tail[256];
    snprintf(tail, sizeof tail, "%s", name);
    for (char *c = tail; *c != '\0'; c++)
        if (*c == '.')
            *c = '/';
    if ((size_t)snprintf(path, sizeof path, "%s/%s.lua", folder, tail) >= sizeof path ||
        access(path, F_OK) != 0)
        return false;
    char *text = NULL;
    size_t bytes = 0;
    tz_error error;
    if (tz_file_read(path, MODULE_BYTES_MAX, &text, &bytes, &error) != TZ_OK)
        tz_raise_error(L, "require", &error);
    lua_pushfstring(L, "@%s", path);
    const int status = luaL_loadbufferx(L, text, bytes, lua_tostring(L, -1), "t");
    free(text);
    if (status != LUA_OK)
        lua_error(L);
    lua_remove(L, -2);
    return true;
}

/* require(name): the module if it is loaded, else NAME.lua from the script's folder. */
static int base_require(lua_State *L)
{
    const char *name = tz_text_check(L, 1, "require", "name");
    const tz_context *context = tz_context_get(L);
    lua_settop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, 2, name) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    if (!is_module_name(name))
        tz_raise(L, "require: '%.60s' is not a module name; give it without folder and '.lua'",
                 name);
    if (!load_module(L, context->folder_of_script, name))
        tz_raise(L, "require: there is no %.60s.lua in the script's folder (%.300s)", name,
                 context->folder_of_script);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

/* ---- Coroutines ------------------------------------------------------------------------------ */

/* While a coroutine runs, it is the thread that a signal hooks (interrupt.h). */
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

/* Replace resume and wrap of the coroutine library. */
static void patch_coroutines(lua_State *L)
{
    lua_getglobal(L, LUA_COLIBNAME);
    lua_pushcfunction(L, co_resume);
    lua_setfield(L, -2, "resume");
    lua_pushcfunction(L, co_wrap);
    lua_setfield(L, -2, "wrap");
    lua_pop(L, 1);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

static void open_safe(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},        {LUA_TABLIBNAME, luaopen_table},
        {LUA_STRLIBNAME, luaopen_string}, {LUA_MATHLIBNAME, luaopen_math},
        {LUA_UTF8LIBNAME, luaopen_utf8},  {LUA_COLIBNAME, luaopen_coroutine},
        {LUA_OSLIBNAME, luaopen_os},
    };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    lua_newtable(L);
    lua_getglobal(L, LUA_OSLIBNAME);
    static const char *const clocks[] = {"clock", "date", "difftime", "time"};
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        lua_getfield(L, -1, clocks[i]);
        lua_setfield(L, -3, clocks[i]);
    }
    lua_pop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, LUA_OSLIBNAME);
    lua_pop(L, 1);
    lua_setglobal(L, LUA_OSLIBNAME);
    static const char *const removed[] = {"dofile", "loadfile"};
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++) {
        lua_pushnil(L);
        lua_setglobal(L, removed[i]);
    }
    lua_getglobal(L, "load");
    lua_pushcclosure(L, base_load, 1);
    lua_setglobal(L, "load");
    lua_pushcfunction(L, base_require);
    lua_setglobal(L, "require");
}

/* All libraries; package.path begins with the script's folder. */
static void open_unsafe(lua_State *L)
{
    const tz_context *context = tz_context_get(L);
    luaL_openlibs(L);
    lua_getglobal(L, LUA_LOADLIBNAME);
    luaL_Buffer path;
    luaL_buffinit(L, &path);
    luaL_addstring(&path, context->folder_of_script);
    luaL_addstring(&path, "/?.lua;");
    luaL_pushresult(&path);
    lua_getfield(L, -2, "path");
    lua_concat(L, 2);
    lua_setfield(L, -2, "path");
    lua_pop(L, 1);
}

void tz_sandbox_open(lua_State *L, bool unsafe)
{
    if (unsafe)
        open_unsafe(L);
    else
        open_safe(L);
    lua_pushcfunction(L, base_print);
    lua_setglobal(L, "print");
    patch_coroutines(L);
    luaL_requiref(L, "trapeze", tz_module_open, 0);
    lua_pop(L, 1);
}
