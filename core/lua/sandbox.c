/* Opens Lua's libraries for a scenario and replaces some functions: print, load, require, warn,
 * coroutines, setmetatable, math.randomseed. Called by scenario.c. */
#include "lua/module.h"

#include "base/file.h"
#include "lua/api.h"
#include "lua/context.h"
#include "lua/guard.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MODULE_BYTES_MAX = 16 << 20 };

/* Lua's own ends a text at its first zero byte. */
static int base_warn(lua_State *L)
{
    const int count = lua_gettop(L);
    luaL_checkstring(L, 1);
    for (int i = 2; i <= count; i++)
        luaL_checkstring(L, i);
    for (int i = 1; i <= count; i++) {
        size_t length;
        const char *text = lua_tolstring(L, i, &length);
        luaL_Buffer copy;
        char *to = luaL_buffinitsize(L, &copy, length);
        for (size_t k = 0; k < length; k++)
            to[k] = text[k] ? text[k] : '?';
        luaL_pushresultsize(&copy, length);
        lua_warning(L, lua_tostring(L, -1), i < count);
        lua_settop(L, count);
    }
    return 0;
}

static int base_print(lua_State *L)
{
    tz_push_line(L, '\t');
    lua_pushliteral(L, "\n");
    lua_concat(L, 2);
    const tz_script_sink *sink = &tz_context_get(L)->options->sink;
    tz_context_get(L)->printed = true;
    /* A replay prints nothing again. */
    if (sink->print && !tz_recall_replays(tz_context_get(L)))
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
    if ((size_t)snprintf(path, sizeof path, "%s/%s.lua", folder, tail) >= sizeof path)
        return false;
    if (access(path, F_OK) != 0)
        return false;
    char *text = NULL;
    size_t bytes = 0;
    tz_try(L, "require", tz_file_read(path, MODULE_BYTES_MAX, &text, &bytes, tz_fault(L)));
    lua_pushfstring(L, "@%s", path);
    const int status = luaL_loadbufferx(L, text, bytes, lua_tostring(L, -1), "t");
    free(text);
    tz_api_input(L, path);
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

typedef enum co_state { CO_SUSPENDED, CO_DEAD, CO_BUSY } co_state;

static co_state find_state(lua_State *L, lua_State *thread)
{
    lua_Debug record;
    if (L == thread)
        return CO_BUSY;
    if (lua_status(thread) != LUA_OK)
        return lua_status(thread) == LUA_YIELD ? CO_SUSPENDED : CO_DEAD;
    if (lua_getstack(thread, 0, &record))
        return CO_BUSY;
    return lua_gettop(thread) == 0 ? CO_DEAD : CO_SUSPENDED;
}

/* While a coroutine runs or closes, it is the thread that a signal hooks (interrupt.h), and L waits
 * for it (guard.h). */
static lua_State *enter(lua_State *L, lua_State *thread, tz_waiting *waiting)
{
    tz_context *context = tz_context_get(L);
    *waiting = (tz_waiting){.thread = L, .next = context->waiting};
    context->waiting = waiting;
    return tz_interrupt_enter(thread);
}

static void leave(lua_State *L, const tz_waiting *waiting, lua_State *before)
{
    tz_context_get(L)->waiting = waiting->next;
    tz_interrupt_enter(before);
    tz_interrupt_check(L);
}

/* Close the variables of a coroutine that does not run. Unless it returns LUA_OK, the thread's
 * stack ends with an error. Lua does not count the calls around this one. */
static int close_thread(lua_State *L, lua_State *thread)
{
    tz_waiting waiting;
    tz_guard_stack(L);
    lua_State *before = enter(L, thread, &waiting);
    const int status = lua_resetthread(thread);
    leave(L, &waiting, before);
    return status;
}

/* Returns how many results are on L's stack, or -1: an error is. `closes`: after an error in the
 * coroutine its variables are closed. */
static int resume(lua_State *L, lua_State *thread, int arguments, bool closes)
{
    const co_state state = find_state(L, thread);
    if (state != CO_SUSPENDED || !lua_checkstack(thread, arguments)) {
        lua_pushstring(L, state == CO_DEAD   ? "cannot resume dead coroutine"
                          : state == CO_BUSY ? "cannot resume non-suspended coroutine"
                                             : "too many arguments to resume");
        return -1;
    }
    tz_waiting waiting;
    int results = 0;
    tz_guard_stack(L);
    lua_xmove(L, thread, arguments);
    lua_State *before = enter(L, thread, &waiting);
    const int status = lua_resume(thread, L, arguments, &results);
    leave(L, &waiting, before);
    if (status != LUA_OK && status != LUA_YIELD) {
        if (closes)
            close_thread(L, thread);
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

static lua_State *get_thread(lua_State *L)
{
    lua_State *thread = lua_tothread(L, 1);
    luaL_argexpected(L, thread, 1, "coroutine");
    return thread;
}

static int co_resume(lua_State *L)
{
    const int results = resume(L, get_thread(L), lua_gettop(L) - 1, false);
    lua_pushboolean(L, results >= 0);
    lua_insert(L, -(results < 0 ? 2 : results + 1));
    return results < 0 ? 2 : results + 1;
}

static int co_wrapped(lua_State *L)
{
    const int results = resume(L, lua_tothread(L, lua_upvalueindex(1)), lua_gettop(L), true);
    return results >= 0 ? results : lua_error(L);
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

static int co_close(lua_State *L)
{
    lua_State *thread = get_thread(L);
    if (find_state(L, thread) == CO_BUSY)
        return luaL_error(L, "cannot close a %s coroutine", L == thread ? "running" : "normal");
    const bool ok = close_thread(L, thread) == LUA_OK;
    lua_pushboolean(L, ok);
    if (!ok)
        lua_xmove(thread, L, 1);
    return ok ? 1 : 2;
}

static void patch_coroutines(lua_State *L)
{
    static const luaL_Reg own[] = {
        {"resume", co_resume}, {"wrap", co_wrap}, {"close", co_close}, {NULL, NULL}};
    lua_getglobal(L, LUA_COLIBNAME);
    luaL_setfuncs(L, own, 0);
    lua_pop(L, 1);
}

/* ---- Finalizers ------------------------------------------------------------------------------ */

/* The address is the registry's key of a table whose weak keys are the metatables with __gc. */
static const char finalizers;

/* setmetatable(table, metatable) */
static int base_setmetatable(lua_State *L)
{
    const int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    if (type == LUA_TTABLE && tz_table_get(L, 2, "__gc") != LUA_TNIL) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &finalizers);
        lua_pushvalue(L, 2);
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
    }
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

static void patch_setmetatable(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &finalizers);
    lua_pushcfunction(L, base_setmetatable);
    lua_setglobal(L, "setmetatable");
}

/* Protected: take __gc out of every metatable. */
static int drop_finalizers(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &finalizers) != LUA_TTABLE)
        return 0; /* not set up */
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        lua_pop(L, 1);
        lua_pushliteral(L, "__gc");
        lua_pushnil(L);
        lua_rawset(L, -3);
    }
    return 0;
}

void tz_sandbox_end(lua_State *L)
{
    lua_gc(L, LUA_GCSTOP);
    lua_pushcfunction(L, drop_finalizers);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK)
        lua_pop(L, 1);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

/* Upvalue 1 is the function's name. */
static int closed(lua_State *L)
{
    static const struct {
        const char *name, *instead;
    } known[] = {
        {"io.write", ": print writes a line, tz.log one of the log"},
        {"io.read", ": tz.args.NAME is the value of --set NAME=VALUE"},
        {"io.lines", ": tz.read reads arrays, require modules of Lua"},
        {"os.getenv",
         ", which must not depend on the environment: tz.args.NAME is the value of --set "
         "NAME=VALUE"},
        {"os.exit", ": error(text) ends a script"},
    };
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    const char *instead = ", since it can change files or start programs";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            instead = known[i].instead;
    return luaL_error(
        L, "%s is closed to scenarios%s; 'trapeze run --unsafe' opens all libraries of Lua", name,
        instead);
}

/* Functions that raise an error, into the table at the top; it is a library, or the globals if
 * NULL. */
static void close_functions(lua_State *L, const char *library, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        lua_pushfstring(L, library ? "%s.%s" : "%s%s", library ? library : "", names[i]);
        lua_pushcclosure(L, closed, 1);
        lua_setfield(L, -2, names[i]);
    }
}

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
    static const char *const of_os[] = {"execute", "exit",    "getenv",    "remove",
                                        "rename",  "tmpname", "setlocale", NULL};
    static const char *const of_io[] = {"open", "close",   "input", "lines", "output", "popen",
                                        "read", "tmpfile", "type",  "write", NULL};
    static const char *const of_base[] = {"dofile", "loadfile", NULL};
    close_functions(L, LUA_OSLIBNAME, of_os);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, LUA_OSLIBNAME);
    lua_pop(L, 1);
    lua_setglobal(L, LUA_OSLIBNAME);
    lua_newtable(L);
    close_functions(L, LUA_IOLIBNAME, of_io);
    lua_setglobal(L, LUA_IOLIBNAME);
    lua_pushglobaltable(L);
    close_functions(L, NULL, of_base);
    lua_pop(L, 1);
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

/* ---- What differs from run to run ------------------------------------------------------------ */

/* math.randomseed(...): without numbers, seeds that the journal keeps. Upvalue 1 is Lua's own. */
static int seed(lua_State *L)
{
    if (lua_gettop(L) == 0) {
        uint64_t bits[2] = {(uint64_t)time(NULL), (uint64_t)getpid()};
        (void)!getentropy(bits, sizeof bits);
        for (int i = 0; i < 2; i++) {
            lua_pushinteger(L, (lua_Integer)bits[i]);
            tz_api_exchange(L, "math.randomseed");
        }
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static void wrap(lua_State *L, const char *library, const char *name, bool replays)
{
    char what[64];
    const int top = lua_gettop(L);
    snprintf(what, sizeof what, "%s.%s", library, name);
    lua_getglobal(L, library);
    if (lua_istable(L, -1) && lua_getfield(L, -1, name) == LUA_TFUNCTION) {
        if (replays)
            tz_api_wrap(L, what);
        else
            tz_api_taint_wrap(L, what);
        lua_setfield(L, -2, name);
    }
    lua_settop(L, top);
}

/* Methods of files: Lua finds them in the metatable's __index. */
static void taint_files(lua_State *L)
{
    static const char *const methods[] = {"close", "flush",   "lines", "read",
                                          "seek",  "setvbuf", "write"};
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE &&
        lua_getfield(L, -1, "__index") == LUA_TTABLE)
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            char what[32];
            snprintf(what, sizeof what, "file:%s", methods[i]);
            lua_getfield(L, -1, methods[i]);
            tz_api_taint_wrap(L, what);
            lua_setfield(L, -2, methods[i]);
        }
    lua_settop(L, 0);
}

/* Functions whose results the journal keeps, and those that it cannot keep. */
static void patch_recall(lua_State *L, bool unsafe)
{
    static const char *const of_os[] = {"execute", "remove", "rename", "tmpname", "setlocale"};
    static const char *const of_io[] = {"open",  "close", "input",   "lines", "output",
                                        "popen", "read",  "tmpfile", "write"};
    static const char *const kept[] = {"clock", "date", "time"};
    if (tz_context_get(L)->recall.mode == TZ_RECALL_OFF)
        return;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        wrap(L, LUA_OSLIBNAME, kept[i], true);
    wrap(L, LUA_GNAME, "collectgarbage", true);
    lua_getglobal(L, LUA_MATHLIBNAME);
    lua_getfield(L, -1, "randomseed");
    lua_pushcclosure(L, seed, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "randomseed");
    lua_call(L, 0, 0);
    lua_pop(L, 1);
    if (!unsafe)
        return;
    wrap(L, LUA_OSLIBNAME, "getenv", true);
    for (size_t i = 0; i < sizeof of_os / sizeof *of_os; i++)
        wrap(L, LUA_OSLIBNAME, of_os[i], false);
    for (size_t i = 0; i < sizeof of_io / sizeof *of_io; i++)
        wrap(L, LUA_IOLIBNAME, of_io[i], false);
    taint_files(L);
}

static int patch(lua_State *L)
{
    const bool unsafe = lua_toboolean(L, 1);
    lua_settop(L, 0);
    patch_recall(L, unsafe);
    return 0;
}

void tz_sandbox_open(lua_State *L, bool unsafe)
{
    if (unsafe)
        open_unsafe(L);
    else
        open_safe(L);
    const int top = lua_gettop(L);
    lua_pushcfunction(L, patch);
    lua_pushboolean(L, unsafe);
    lua_call(L, 1, 0);
    lua_settop(L, top);
    lua_pushcfunction(L, base_print);
    lua_setglobal(L, "print");
    lua_pushcfunction(L, base_warn);
    lua_setglobal(L, "warn");
    patch_coroutines(L);
    patch_setmetatable(L);
    luaL_requiref(L, "trapeze", tz_module_open, 0);
    lua_pop(L, 1);
}
