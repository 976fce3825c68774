/* Sessions of the library, and calls of scenarios' functions. <trapeze/trapeze.h> says what each
 * function does. */
#include "library/session.h"

#include "base/json.h"
#include "base/machine.h"
#include "lua/define.h"
#include "lua/module.h"
#include "stencil/listing.h"
#include <stdlib.h>
#include <string.h>

const char *tz_version(void)
{
    return TZ_VERSION;
}

tz_status tz__check_given(const void *pointer, const char *what, tz_error *error)
{
    return pointer ? TZ_OK : tz_error_set(error, TZ_USAGE, NULL, "%s is NULL", what);
}

/* ---- What a program is told ------------------------------------------------------------------ */

static void on_note(void *context, tz_note note, const char *line)
{
    const tz_session *session = context;
    if (session->callbacks.message)
        session->callbacks.message(session->callbacks.user,
                                   note == TZ_NOTE_WARNING ? TZ_WARNING : TZ_LOG, line);
}

static void on_progress(void *context, const tz_script_progress *progress)
{
    static const double between_s = 0.05;
    tz_session *session = context;
    if (!session->callbacks.turn)
        return;
    const double now = tz_machine_clock_s();
    if (now - session->turned_s < between_s)
        return;
    session->turned_s = now;
    const tz_turn turn = {.name = progress->name,
                          .done = progress->done,
                          .total = progress->total,
                          .step = progress->step,
                          .seconds = progress->seconds};
    if (session->callbacks.turn(session->callbacks.user, &turn))
        atomic_store(&session->cancelled, true);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Protected: the libraries, the module and the tables of values that have names. */
static int set_up(lua_State *L)
{
    static const char *const keys[] = {&tz__memory_key, &tz__objects_key, &tz__stencils_key};
    tz_sandbox_open(L, false);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        lua_newtable(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, keys[i]);
    }
    return 0;
}

static tz_status open_plugins(tz_session *session, const tz_session_options *options,
                              tz_error *error)
{
    tz_status status = TZ_OK;
    if (options->plugins_count > 0)
        status = tz__check_given(options->plugins, "an argument", error);
    for (uint64_t i = 0; !status && i < options->plugins_count; i++)
        if (!(status = tz__check_given(options->plugins[i], "a plugin's path", error)))
            status = tz_paths_add(&session->folders, options->plugins[i], error);
    if (!status)
        status = tz_paths_add_plugins(&session->folders, error);
    if (!status)
        status = tz_registry_create_apart(&session->registry,
                                          (const char *const *)session->folders.items,
                                          session->folders.count, error);
    return status;
}

static void set_options(tz_session *session)
{
    session->options =
        (tz_script_options){.path = "library",
                            .registry = session->registry,
                            .cancelled = &session->cancelled,
                            .library = true,
                            .sink = {.context = session, .note = on_note, .progress = on_progress}};
    session->context = (tz_context){.options = &session->options,
                                    .result = &session->result,
                                    .name = "library",
                                    .folder_of_script = "."};
    tz_machine_read(&session->context.machine);
}

tz_status tz_session_create(tz_session **out, const tz_session_options *options, tz_error *error)
{
    static const tz_session_options none = {.struct_size = sizeof none};
    options = options ? options : &none;
    if (options->struct_size < sizeof *options)
        return tz_error_set(error, TZ_USAGE, NULL,
                            "tz_session_create: struct_size must be sizeof(tz_session_options)");
    tz_status status = tz__check_given(out, "an argument", error);
    if (status)
        return status;
    tz_session *session = calloc(1, sizeof *session);
    if (!session)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a session");
    session->callbacks = *options;
    status = open_plugins(session, options, error);
    if (!status) {
        set_options(session);
        session->L = luaL_newstate();
        if (!session->L)
            status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a Lua state");
    }
    if (!status) {
        *(tz_context **)lua_getextraspace(session->L) = &session->context;
        status = tz__session_protect(session, set_up, NULL, error);
    }
    if (status) {
        tz_session_destroy(session);
        return status;
    }
    *out = session;
    return TZ_OK;
}

void tz_session_destroy(tz_session *session)
{
    if (!session)
        return;
    while (session->sims)
        tz_sim_destroy(session->sims);
    if (session->L)
        lua_close(session->L);
    tz_defined_clear(&session->context);
    tz_paths_clear(&session->context.read_names);
    free(session->context.early);
    tz_registry_destroy(session->registry);
    tz_paths_clear(&session->folders);
    json_decref(session->given);
    json_decref(session->made);
    free(session->text);
    free(session);
}

void tz_session_set_turn(tz_session *session, int (*turn)(void *user, const tz_turn *turn))
{
    if (session)
        session->callbacks.turn = turn;
}

void tz_session_cancel(tz_session *session)
{
    if (session)
        atomic_store(&session->cancelled, true);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

tz_status tz__session_protect(tz_session *session, lua_CFunction function, void *argument,
                              tz_error *error)
{
    tz_status code = tz__check_given(session, "the session", error);
    if (code)
        return code;
    lua_State *L = session->L;
    atomic_store(&session->cancelled, false);
    session->context.raised = TZ_OK;
    lua_settop(L, 0);
    lua_pushcfunction(L, function);
    lua_pushlightuserdata(L, argument);
    const int status = lua_pcall(L, 1, 0, 0);
    if (status != LUA_OK) {
        const char *message = lua_tostring(L, -1);
        code = status == LUA_ERRMEM               ? TZ_MEMORY
               : atomic_load(&session->cancelled) ? TZ_INTERRUPTED
               : session->context.raised == TZ_OK ? TZ_USAGE
                                                  : session->context.raised;
        tz_error_set(error, code, NULL, "%s", message ? message : "an error without a text");
    }
    lua_settop(L, 0);
    return code;
}

/* A defined stencil stands for its name, so that it brings its storage. */
static void replace_plugin(lua_State *L, int index)
{
    const int top = lua_gettop(L);
    if (!lua_istable(L, index))
        return;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__stencils_key);
    if (tz_table_get(L, index, "plugin") == LUA_TSTRING) {
        lua_rawget(L, -2);
        if (!lua_isnil(L, -1))
            lua_setfield(L, index, "plugin");
    }
    lua_settop(L, top);
}

/* What scenarios have and programs do otherwise; docs/library.md lists them, too. */
static const struct {
    const char *function, *instead;
} left_out[] = {
    {"sim:every", "call tz_sim_advance() up to where something is due"},
    {"sim:write", "get the cells with tz_sim_get() and write them"},
    {"sim:stop", "the callback `turn` or tz_session_cancel() ends a run"},
    {"sim:close", "call tz_sim_destroy()"},
    {"array:save", "tz_object_array() gives the elements"},
    {"receivers:save", "the method \"array\" gives what was recorded"},
    {"tz.simulation", "call tz_sim_create()"},
    {"tz.checkpoint", "call tz_sim_checkpoint()"},
    {"tz.report", "it tells of the folder of a run: tz_session_scenario() has one"},
    {"tz.sweep", "a loop of the program sets parameters"},
};

/* "tz.predict", "sim:run", "array:get": the name of what is called, as scenarios have it. */
static void name_of(lua_State *L, const tz__call *call, char *name, size_t size)
{
    const char *function = call->function ? call->function : "", *type = "sim";
    if (!call->sim && !call->object) {
        snprintf(name, size, "%s%s", strncmp(function, "tz.", 3) == 0 ? "" : "tz.", function);
        return;
    }
    if (call->object) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__objects_key);
        lua_rawgeti(L, -1, call->object);
        type = luaL_getmetafield(L, -1, "__name") == LUA_TSTRING ? lua_tostring(L, -1) : "";
        type = strchr(type, '.') ? strchr(type, '.') + 1 : type;
    }
    snprintf(name, size, "%.40s:%s", type, function);
    lua_settop(L, 0);
}

/* Raise if the library has no such function. */
static void check_has(lua_State *L, const tz__call *call)
{
    char name[120];
    name_of(L, call, name, sizeof name);
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out && !call->take; i++) {
        if (strcmp(name, left_out[i].function) != 0)
            continue;
        tz_error_set(tz_fault(L), TZ_UNSUPPORTED, NULL, "it is not in the library: %s",
                     left_out[i].instead);
        tz_raise_error(L, name, tz_fault(L));
    }
}

/* "picture" of a simulation is tz.picture with it as the data. */
static bool is_picture(const tz__call *call)
{
    return call->sim && call->function && strcmp(call->function, "picture") == 0;
}

static void set_data(lua_State *L, const tz__call *call, int count)
{
    if (count != 1 || !lua_istable(L, -1))
        tz_raise(L, "sim:picture: the argument must be a table of options");
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->sim->reference);
    lua_setfield(L, -2, "data");
}

static bool is_of_module(const tz__call *call)
{
    return (!call->sim && !call->object) || is_picture(call);
}

/* Push the function, or what else has that name, and for a method the object. */
static void push_callee(lua_State *L, const tz__call *call)
{
    const bool module = is_of_module(call);
    const char *name = call->function ? call->function : "";
    if (module) {
        lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
        lua_getfield(L, -1, "trapeze");
        lua_remove(L, -2);
        if (strncmp(name, "tz.", 3) == 0)
            name += 3;
    } else if (call->sim) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, call->sim->reference);
    } else {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__objects_key);
        if (lua_rawgeti(L, -1, call->object) == LUA_TNIL)
            tz_raise(L, "there is no object %lld, or it has been released",
                     (long long)call->object);
        lua_remove(L, -2);
    }
    lua_getfield(L, -1, name); /* raises with the nearest name */
    if (module)
        lua_remove(L, -2);
    else
        lua_insert(L, -2);
}

/* Do methods of this row write cells or parameters? */
static bool changes(lua_State *L, int index)
{
    if (!lua_getupvalue(L, index, 1))
        return true;
    const tz_api_function *row = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return !row || row->changes ||
           !(row->keeps || row->recall == TZ_RECALL_PURE || row->recall == TZ_RECALL_GIVE);
}

/* Protected: argument 1 is the call. */
static int perform(lua_State *L)
{
    tz__call *call = lua_touserdata(L, 1);
    tz_session *session = call->session;
    const bool module = is_of_module(call);
    lua_settop(L, 0);
    check_has(L, call);
    push_callee(L, call);
    if (lua_isfunction(L, 1)) {
        if (!module && changes(L, 1))
            for (tz_sim *s = session->sims; s; s = s->next)
                s->generation += !call->sim || s == call->sim;
        const int count = tz__values_push(L, session, session->given);
        if (is_picture(call))
            set_data(L, call, count);
        else if (count > 0 && module)
            replace_plugin(L, lua_gettop(L) - count + 1);
        lua_call(L, count + !module, LUA_MULTRET);
    } else if (session->given) {
        tz_raise(L, "'%.60s' is a value, which takes no arguments", call->function);
    } else {
        lua_settop(L, 1);
    }
    if (call->take)
        call->take(L, call->into);
    else if (call->wants)
        tz__values_take(L, session, 1);
    return 0;
}

tz_status tz__session_write(tz_session *session, const char **result, tz_error *error)
{
    free(session->text);
    session->text =
        session->made
            ? json_dumps(session->made, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17))
            : NULL;
    json_decref(session->made);
    session->made = NULL;
    *result = session->text;
    return session->text ? TZ_OK
                         : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a result");
}

tz_status tz__session_make(tz__call *call, const char **result, tz_error *error)
{
    tz_session *session = call->session;
    tz_status status = tz__check_given(session, "the session", error);
    if (status)
        return status;
    call->wants = result != NULL;
    json_decref(session->given);
    session->given = NULL;
    if (call->text)
        status = tz_json_read("arguments", call->text, strlen(call->text), &session->given, error);
    if (!status)
        status = tz__session_protect(session, perform, call, error);
    json_decref(session->given);
    session->given = NULL;
    return status || !result ? status : tz__session_write(session, result, error);
}

tz_status tz_session_call(tz_session *session, const char *function, const char *arguments,
                          const char **result, tz_error *error)
{
    tz__call call = {.session = session, .function = function, .text = arguments};
    return tz__session_make(&call, result, error);
}

tz_status tz_session_predict(tz_session *session, const char *options, const char **result,
                             tz_error *error)
{
    return tz_session_call(session, "tz.predict", options, result, error);
}

tz_status tz_session_tune(tz_session *session, const char *options, const char **result,
                          tz_error *error)
{
    return tz_session_call(session, "tz.tune", options, result, error);
}

/* ---- Stencils -------------------------------------------------------------------------------- */

/* Keep the stencil at index 1 under its name. */
static void take_stencil(lua_State *L, void *into)
{
    const char **id = into;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__stencils_key);
    lua_pushstring(L, tz_stencil_id(L, 1));
    *id = lua_tostring(L, -1); /* the table's key */
    lua_pushvalue(L, 1);
    lua_rawset(L, -3);
}

tz_status tz_session_define(tz_session *session, const char *definition, const char **id,
                            tz_error *error)
{
    const char *name = NULL;
    tz__call call = {.session = session,
                     .function = "tz.stencil",
                     .text = definition,
                     .take = take_stencil,
                     .into = &name};
    const tz_status status = tz__session_make(&call, NULL, error);
    if (!status && id)
        *id = name;
    return status;
}

/* All stencils of the session's plugins and its own. */
static json_t *list_all(const tz_session *session)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tz_registry_count(session->registry); i++) {
        const tz_plugin *plugin = tz_registry_get(session->registry, i)->plugin;
        for (int k = 0; plugin && k < plugin->stencils_count; k++)
            json_array_append_new(list, tz_listed_stencil_json(plugin->stencils[k]));
    }
    return list;
}

tz_status tz_session_describe(tz_session *session, const char *id, const char **result,
                              tz_error *error)
{
    const tz_stencil *stencil = NULL;
    tz_status status = tz__check_given(session, "the session", error);
    if (!status)
        status = tz__check_given(result, "an argument", error);
    if (!status && id)
        status = tz_registry_find(session->registry, id, &stencil, NULL, error);
    if (status)
        return status;
    session->made = stencil ? tz_listed_stencil_json(stencil) : list_all(session);
    return tz__session_write(session, result, error);
}

/* ---- Memory and objects ---------------------------------------------------------------------- */

typedef struct gift {
    const char *name;
    tz_array *array; /* owned until it is Lua's; NULL: forget the name */
} gift;

/* Protected: argument 1 is the gift. */
static int keep_gift(lua_State *L)
{
    gift *g = lua_touserdata(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__memory_key);
    if (lua_getfield(L, 2, g->name) != LUA_TNIL) { /* free the earlier one at once */
        lua_getfield(L, 3, "close");
        lua_insert(L, 3);
        lua_call(L, 1, 0);
    }
    lua_settop(L, 2);
    if (g->array) {
        tz_array_handle *handle = tz_array_push(L, g->name);
        tz_array_own(handle, g->array);
        g->array = NULL;
    } else {
        lua_pushnil(L);
    }
    lua_setfield(L, 2, g->name);
    return 0;
}

tz_status tz_session_give(tz_session *session, const char *name, const tz_memory *memory,
                          tz_error *error)
{
    gift g = {.name = name ? name : ""};
    tz_array alias;
    if (memory) {
        tz_status status = tz__memory_read(memory, &alias, &g.array, error);
        if (!status && !g.array) {
            status = tz_array_create(&g.array, alias.dtype, alias.dims, alias.shape, error);
            if (!status)
                memcpy(g.array->data, alias.data,
                       tz_dtype_size(alias.dtype) *
                           (size_t)tz_shape_count(alias.dims, alias.shape));
        }
        if (status)
            return status;
    }
    const tz_status status = tz__session_protect(session, keep_gift, &g, error);
    tz_array_destroy(g.array);
    return status;
}

tz_status tz_object_call(tz_session *session, int64_t object, const char *method,
                         const char *arguments, const char **result, tz_error *error)
{
    tz__call call = {.session = session, .object = object, .function = method, .text = arguments};
    if (object <= 0)
        return tz_error_set(error, TZ_UNKNOWN, NULL, "there is no object %lld", (long long)object);
    return tz__session_make(&call, result, error);
}

typedef struct look {
    int64_t object;
    tz_memory *out;
} look;

/* Protected: argument 1 is the look. */
static int look_at(lua_State *L)
{
    const look *l = lua_touserdata(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__objects_key);
    lua_rawgeti(L, -1, l->object);
    const tz_array_handle *handle = tz_array_check(L, lua_gettop(L), "tz_object_array");
    *l->out = tz__memory_of(&handle->view);
    return 0;
}

tz_status tz_object_array(tz_session *session, int64_t object, tz_memory *out, tz_error *error)
{
    look l = {.object = object, .out = out};
    const tz_status status = tz__check_given(out, "an argument", error);
    return status ? status : tz__session_protect(session, look_at, &l, error);
}

/* Protected: argument 1 is the number. */
static int forget(lua_State *L)
{
    const int64_t *object = lua_touserdata(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &tz__objects_key);
    lua_pushnil(L);
    lua_rawseti(L, -2, *object);
    return 0;
}

void tz_object_release(tz_session *session, int64_t object)
{
    tz_error ignored;
    tz__session_protect(session, forget, &object, &ignored);
}
