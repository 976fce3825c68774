/* tz.simulation and the userdata that it returns: options, members, closing. Registered by
 * module.c. Adds the methods of running.c, methods.c, binding.c and others. */
#include "lua/module.h"

#include "backend/backend.h"
#include "lua/api.h"
#include "lua/fields.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/policy.h"
#include "lua/problem.h"
#include "lua/push.h"
#include "lua/recall.h"
#include "lua/scalars.h"
#include "stencil/problem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "tz.simulation";

/* ---- The userdata ---------------------------------------------------------------------------- */

static int simulation_close(lua_State *L)
{
    tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    tz_error error;
    if (!handle->simulation)
        return 0;
    tz_handle_check_idle(L, 1, "sim:close");
    const tz_status status = tz_handle_close(handle, &error);
    if (status != TZ_OK)
        tz_raise_error(L, "sim:close", &error);
    /* Lua may now collect the outputs. */
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
    return 0;
}

/* The collector calls this outside of the script, so an error becomes a warning. */
static int simulation_gc(lua_State *L)
{
    tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    tz_error error;
    if (tz_handle_close(handle, &error) != TZ_OK) {
        char text[2100];
        tz_error_format(&error, text, sizeof text);
        tz_context_note(handle->context, TZ_NOTE_WARNING, "%s", text);
    }
    return 0;
}

static int simulation_tostring(lua_State *L)
{
    const tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    if (!handle->simulation) {
        lua_pushfstring(L, "simulation %s (closed)", handle->name);
        return 1;
    }
    const tz_stencil *stencil = tz_handle_stencil(handle);
    char grid[TZ_SHAPE_TEXT_SIZE];
    tz_shape_text(grid, stencil->dims, tz_simulation_extent(handle->simulation));
    lua_pushfstring(L, "simulation %s (%s, %s, step %I)", handle->name, stencil->id, grid,
                    (LUAI_UACINT)tz_simulation_step(handle->simulation));
    return 1;
}

static int simulation_index(lua_State *L)
{
    const char *key = tz_text_check(L, 2, "sim", "key");
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    const tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    if (strcmp(key, "name") == 0) {
        lua_pushstring(L, handle->name);
        return 1;
    }
    static const char *const facts[] = {"step", "cells",   "seconds",   "height", "backend",
                                        "grid", "threads", "precision", "plugin"};
    handle = tz_handle_check(L, 1, "sim");
    const tz_simulation *simulation = handle->simulation;
    if (strcmp(key, "step") == 0) {
        lua_pushinteger(L, tz_simulation_step(simulation));
    } else if (strcmp(key, "cells") == 0) {
        lua_pushinteger(L, tz_simulation_cells(simulation));
    } else if (strcmp(key, "seconds") == 0) {
        lua_pushnumber(L, tz_simulation_seconds(simulation));
        tz_api_exchange(L, "sim.seconds");
    } else if (strcmp(key, "height") == 0) {
        lua_pushinteger(L, tz_simulation_plan(simulation)->height);
        tz_api_exchange(L, "sim.height");
    } else if (strcmp(key, "backend") == 0) {
        lua_pushstring(L, tz_simulation_backend(simulation));
        tz_api_exchange(L, "sim.backend");
    } else if (strcmp(key, "threads") == 0) {
        lua_pushinteger(L, tz_simulation_threads(simulation));
        tz_api_exchange(L, "sim.threads");
    } else if (strcmp(key, "precision") == 0) {
        lua_pushstring(L, tz_simulation_precision(simulation));
    } else if (strcmp(key, "plugin") == 0) {
        lua_pushstring(L, tz_handle_stencil(handle)->id);
    } else if (strcmp(key, "grid") == 0) {
        tz_push_integers(L, tz_handle_stencil(handle)->dims, tz_simulation_extent(simulation));
    } else {
        tz_raise_missing(L, "a simulation", key, lua_upvalueindex(1), facts,
                         sizeof facts / sizeof *facts);
    }
    return 1;
}

static int simulation_newindex(lua_State *L)
{
    tz_raise(L, "sim: '%.60s' cannot be set; use sim:set for fields and sim:params for parameters",
             luaL_tolstring(L, 2, NULL));
}

/* ---- tz.simulation --------------------------------------------------------------------------- */

/* The arguments of tz.simulation. */
typedef struct request {
    tz_simulation_config config;
    tz_plan_wish wish;
    tz_assignment params[TZ_PROBLEM_PARAMS_MAX];
    tz_side_value values[TZ_BOUNDARY_VALUES_MAX];
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    char name[48]; /* "": none */
    char devices[512];
} request;

/* `devices`: a text, or a list of numbers and texts, which becomes one. */
static void get_devices(lua_State *L, int index, char *text, size_t size)
{
    size_t used = 0;
    const int type = tz_table_get(L, index, "devices");
    const lua_Integer count = type == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 1;
    text[0] = '\0';
    if (type != LUA_TNIL && type != LUA_TTABLE && type != LUA_TSTRING && type != LUA_TNUMBER)
        tz_raise(L, "%s: 'devices' must be a text or a list of GPU numbers, not %s", what,
                 tz_kind_text(L, -1));
    if (type == LUA_TTABLE && count == 0)
        tz_raise(L, "%s: the list 'devices' is empty", what);
    for (lua_Integer i = 1; type != LUA_TNIL && i <= count; i++) {
        if (type == LUA_TTABLE)
            lua_rawgeti(L, -1, i);
        const bool integer = lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 0;
        if (!integer && lua_type(L, -1) != LUA_TSTRING)
            tz_raise(L, "%s: 'devices' must hold GPU numbers from 0 and texts, not %s", what,
                     tz_kind_text(L, -1));
        const int more = integer ? snprintf(text + used, size - used, "%s%lld", used ? "," : "",
                                            (long long)lua_tointeger(L, -1))
                                 : snprintf(text + used, size - used, "%s%s", used ? "," : "",
                                            lua_tostring(L, -1));
        if (more < 0 || (size_t)more >= size - used)
            tz_raise(L, "%s: 'devices' is too long", what);
        used += (size_t)more;
        if (type == LUA_TTABLE)
            lua_pop(L, 1);
    }
    if (type != LUA_TNIL && used == 0)
        tz_raise(L, "%s: 'devices' is empty", what);
    lua_pop(L, 1);
}

static void get_plan(lua_State *L, int index, int dims, const tz_script_options *options,
                     tz_plan_wish *wish, tz_simulation_config *config)
{
    int64_t threads = 0;
    tz_policy_read(L, index, what, dims, &options->policy, wish);
    config->policy = wish;
    tz_key_integer(L, index, what, "threads", &threads);
    tz_key_text(L, index, what, "backend", &config->backend);
    config->threads = options->threads > 0 ? options->threads : (int)threads;
    config->device = options->device;
    config->devices = options->devices;
    config->sync = options->sync;
    config->stopped = tz_interrupt_signal;
    config->overdue = tz_interrupt_overdue;
    if (options->backend)
        config->backend = options->backend;
}

/* Leaves `fields`, a table or nil, on the stack. */
static void get_fields(lua_State *L, const tz_stencil *stencil)
{
    const char *names[TZ_FIELDS_MAX];
    if (tz_table_get(L, 1, "fields") == LUA_TNIL)
        return;
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: 'fields' must be a table, not %s", what, tz_kind_text(L, -1));
    for (int i = 0; i < tz_stencil_fields_all(stencil); i++)
        names[i] = stencil->fields[i].name;
    tz_keys_check(L, -1, "tz.simulation: 'fields'", names, (size_t)tz_stencil_fields_all(stencil),
                  false);
}

static const char *backend_names(int i)
{
    return i == 0 ? "auto" : tz_backends[i - 1] ? tz_backends[i - 1]->name : NULL;
}

static const tz_key simulation_options[] = {
    TZ_PROBLEM_OPTIONS,
    {"fields", "table", "the stencil's initial values", "`FIELD = value`, as for `sim:set`"},
    {"boundary_values", "table", "the stencil's",
     "`FIELD = number`: what cells past fixed sides hold; `FIELD = { x = { 0, 1 }, y = 2 }` "
     "gives one for each side"},
    {"threads", "integer", "one for each core", "of the cpu backend", .least = 1, .most = 4096},
    {"backend", "text", "\"auto\"", "%s; `\"auto\"` is cuda where there is a GPU, else cpu",
     backend_names},
    {"devices", "text or table", "one device",
     "those that hold slabs of the grid: `\"all\"` GPUs, a list of GPU numbers `{ 0, 2 }`, or "
     "slabs of the CPU `\"cpu:2\"`; `\"0*2,1\"` gives GPU 0 twice the cells of GPU 1"},
    {"name", "text", "the stencil's, with a number", "in the names of files and messages"},
    TZ_POLICY_OPTIONS,
    TZ_PLAN_OPTIONS,
    {NULL, NULL, NULL, NULL}};

/* Read the table at index 1. Leaves its `fields` at index 2. */
static void get_request(lua_State *L, const tz_script_options *options, request *r)
{
    tz_simulation_config *config = &r->config;
    tz_error error;
    if (!lua_istable(L, 1))
        tz_raise(L, "%s: needs a table: tz.simulation { plugin = …, grid = … }", what);
    lua_settop(L, 1);
    tz_keys_take(L, 1, what, simulation_options, false);
    *config = (tz_simulation_config){
        .registry = options->registry, .dry = options->check, .ranks = options->ranks};
    r->stencil = tz_problem_read(L, 1, what, config, r->params, &r->plugin);
    get_plan(L, 1, r->stencil->dims, options, &r->wish, config);
    if (options->define) { /* a policy may compile kernels to predict plans */
        config->plan = r->wish.given;
        config->policy = NULL;
    }
    r->name[0] = '\0';
    if (tz_key_copy(L, 1, what, "name", r->name, sizeof r->name) &&
        tz_folder_check_name(r->name, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    get_devices(L, 1, r->devices, sizeof r->devices);
    if (!config->devices && r->devices[0])
        config->devices = r->devices;
    config->boundary_values = r->values;
    config->boundary_values_count = tz_boundary_values_read(L, 1, what, r->stencil, r->values);
    get_fields(L, r->stencil);
}

static void find_source(tz_simulation_handle *handle, const tz_registry *registry,
                        const tz_plugin *plugin)
{
    const tz_registry_entry *entry = tz_registry_of(registry, plugin);
    handle->plugin_path = entry ? entry->path : NULL;
    handle->definition = entry && entry->defined ? plugin->stencils[0]->passes[0].text : NULL;
}

/* The fields that the script gives, in the stencil's order; `fields` is a table or nil. */
static void assign_fields(lua_State *L, tz_simulation_handle *handle, int fields)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    for (int field = 0; field < tz_stencil_fields_all(stencil); field++) {
        const tz_field *about = &stencil->fields[field];
        char where[128];
        snprintf(where, sizeof where, "tz.simulation: field '%.60s'", about->name);
        const int type = lua_istable(L, fields) ? tz_table_get(L, fields, about->name)
                                                : (lua_pushnil(L), LUA_TNIL);
        if (type != LUA_TNIL)
            tz_field_assign(L, handle, field, NULL, lua_gettop(L), where);
        else if (about->required)
            tz_raise(L, "tz.simulation: %s needs fields.%s: %s", stencil->id, about->name,
                     about->doc);
        lua_pop(L, 1);
    }
}

static void print_plan(tz_simulation_handle *handle)
{
    tz_context *context = handle->context;
    const tz_simulation *simulation = handle->simulation;
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const tz_plan *plan = tz_simulation_plan(simulation);
    char grid[TZ_SHAPE_TEXT_SIZE], tile[TZ_SHAPE_TEXT_SIZE], sides[96] = "";
    char boundary[TZ_BOUNDARY_TEXT_SIZE];
    size_t used = 0;
    for (int axis = 0; axis < stencil->dims; axis++)
        used +=
            (size_t)snprintf(sides + used, sizeof sides - used, "%s%s", axis > 0 ? ", " : "",
                             tz_boundary_text(tz_simulation_boundary(simulation, axis), boundary));
    const double bytes = (double)tz_simulation_bytes(simulation);
    tz_context_print(context,
                     "%s: %s\n  grid %s, %lld cells\n  precision %s\n  boundary %s\n"
                     "  memory %.1f MiB\n  backend %s, %d thread%s\n"
                     "  plan %s, height %d, tile %s: %s\n",
                     handle->name, stencil->id,
                     tz_shape_text(grid, stencil->dims, tz_simulation_extent(simulation)),
                     (long long)tz_simulation_cells(simulation),
                     tz_simulation_precision(simulation), sides, bytes / (1 << 20),
                     tz_simulation_backend(simulation), tz_simulation_threads(simulation),
                     tz_simulation_threads(simulation) == 1 ? "" : "s", plan->family, plan->height,
                     tz_shape_text(tile, stencil->dims, plan->tile), plan->why);
    char text[256];
    tz_context_print(context, "  policy %s\n",
                     tz_policy_describe(tz_simulation_policy(simulation), text, sizeof text));
}

/* In a replay: a simulation that could not be made before the checkpoint (there was not enough
 * memory) is not made now. */
static void refuse_again(lua_State *L)
{
    tz_reading reading;
    tz_error error = {0};
    if (!tz_recall_replays(tz_context_get(L)))
        return;
    tz_recall_take(L, TZ_ENTRY_CREATED, what, &reading);
    error.code = (tz_status)tz_reading_u32(&reading);
    tz_reading_text(&reading, error.place, sizeof error.place);
    tz_reading_text(&reading, error.message, sizeof error.message);
    if (error.code != TZ_OK)
        tz_raise_error(L, what, &error);
}

static void record_created(tz_context *context, tz_status status, const tz_error *error)
{
    tz_bytes bytes = {.data = NULL};
    tz_bytes_put_u32(&bytes, (uint32_t)status);
    tz_bytes_put_text(&bytes, status ? error->place : "");
    tz_bytes_put_text(&bytes, status ? error->message : "");
    tz_recall_add(context, TZ_ENTRY_CREATED, &bytes);
    free(bytes.data);
}

static int simulation_new(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    request r;
    tz_error error;
    get_request(L, context->options, &r);
    tz_simulation_handle *handle = lua_newuserdatauv(L, sizeof *handle, 1); /* index 3 */
    memset(handle, 0, sizeof *handle);
    handle->context = context;
    luaL_setmetatable(L, TZ_TYPE_SIMULATION);
    lua_newtable(L);
    lua_setiuservalue(L, 3, 1);
    refuse_again(L);
    const tz_status created = tz_simulation_create(&handle->simulation, &r.config, &error);
    record_created(context, created, &error);
    if (created != TZ_OK) {
        handle->simulation = NULL;
        tz_raise_error(L, what, &error);
    }
    find_source(handle, r.config.registry, r.plugin);
    tz_handle_open(handle, r.name);
    tz_policy_keep(L, 1, 3, &r.wish);
    tz_scalars_keep(L, 1, 3);
    assign_fields(L, handle, 2);
    if (r.config.dry)
        print_plan(handle);
    lua_settop(L, 3);
    return 1;
}

void tz_simulation_register(lua_State *L)
{
    static const tz_api_function methods[] = {TZ_API("sim:close()", simulation_close,
                                                     "Frees its memory now. Otherwise that happens "
                                                     "when it is collected or the script ends.",
                                                     .recall = TZ_RECALL_CALL),
                                              TZ_API_END};
    static const tz_api_function functions[] = {
        TZ_API("tz.simulation(options)", simulation_new,
               "A simulation: a stencil on a grid. It has the members `step`, `cells`, `seconds`, "
               "`height`, `backend`, `grid`, `threads`, `precision`, `plugin` and `name` to read.",
               .options = simulation_options, .recall = TZ_RECALL_OWN),
        TZ_API_END};
    tz_metatable_create(L, TZ_TYPE_SIMULATION, methods, simulation_close, simulation_index,
                        simulation_tostring);
    luaL_getmetatable(L, TZ_TYPE_SIMULATION);
    lua_pushcfunction(L, simulation_gc);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, simulation_newindex);
    lua_setfield(L, -2, "__newindex");
    /* The methods table is the upvalue of __index. */
    lua_getfield(L, -1, "__index");
    lua_getupvalue(L, -1, 1);
    tz_methods_add(L);
    tz_binding_add(L);
    tz_running_add(L);
    tz_scalars_add(L);
    tz_policy_method_add(L);
    tz_region_methods_add(L);
    tz_sample_add(L);
    lua_pop(L, 3);
    tz_api_add(L, functions);
}
