/* tz.simulation: options in, a handle out; closing and collecting it. */
#include "lua/handle.h"
#include "lua/policy.h"

#include "base/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what_it_is[] = "tz.simulation";

/* ---- The handle ------------------------------------------------------------------------------ */

tz_simulation_handle *tz_handle_check(lua_State *L, int index, const char *what)
{
    tz_simulation_handle *handle = luaL_testudata(L, index, TZ_TYPE_SIMULATION);
    if (handle == NULL)
        tz_raise(L, "%s: wants a simulation, not a %s (call methods with a colon: sim:run)", what,
                 luaL_typename(L, index));
    if (handle->simulation == NULL)
        tz_raise(L, "%s: the simulation is closed", what);
    return handle;
}

tz_simulation_handle *tz_handle_check_idle(lua_State *L, int index, const char *what)
{
    tz_simulation_handle *handle = tz_handle_check(L, index, what);
    if (handle->L != NULL)
        tz_raise(L, "%s: not from within an output of the same simulation", what);
    return handle;
}

bool tz_handle_is_dry(const tz_simulation_handle *handle)
{
    return handle->context->options->check;
}

const tz_stencil *tz_handle_stencil(const tz_simulation_handle *handle)
{
    return tz_simulation_stencil(handle->simulation);
}

int64_t tz_handle_step(const tz_simulation_handle *handle)
{
    return tz_handle_is_dry(handle) ? handle->dry_step : tz_simulation_step(handle->simulation);
}

int tz_handle_field_named(lua_State *L, const tz_simulation_handle *handle, const char *what,
                          const char *name)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const int field = tz_stencil_field_index(stencil, name);
    if (field >= 0)
        return field;
    const char *names[TZ_FIELDS_MAX];
    for (int i = 0; i < stencil->fields_count; i++)
        names[i] = stencil->fields[i].name;
    char hint[256];
    tz_raise(L, "%s: %s has no field '%.60s'%s", what, stencil->id, name,
             tz_names_hint(hint, sizeof hint, name, names, (size_t)stencil->fields_count));
}

int tz_handle_field(lua_State *L, int index, const tz_simulation_handle *handle, const char *what)
{
    if (lua_isnoneornil(L, index)) {
        const tz_stencil *stencil = tz_handle_stencil(handle);
        for (int i = 0; i < stencil->fields_count; i++)
            if (stencil->fields[i].role == TZ_STATE)
                return i;
        return 0;
    }
    if (lua_type(L, index) != LUA_TSTRING)
        tz_raise(L, "%s: wants a field's name, not a %s", what, luaL_typename(L, index));
    return tz_handle_field_named(L, handle, what, lua_tostring(L, index));
}

void tz_handle_record(tz_simulation_handle *handle)
{
    tz_record *record = handle->context->record;
    tz_record_simulation(record, handle->index, handle->name, handle->plugin_path,
                         handle->simulation);
    for (const tz_binding *b = handle->bindings; b != NULL; b = b->next) {
        char pattern[200];
        tz_binding_pattern(b, pattern, sizeof pattern);
        tz_record_output(record, handle->index, pattern,
                         b->output != NULL ? tz_output_kind_name(b->output->kind) : "function",
                         b->every, b->count);
    }
}

tz_status tz_handle_close(tz_simulation_handle *handle, tz_error *error)
{
    if (handle->simulation == NULL)
        return TZ_OK;
    tz_error ignored;
    tz_status status = tz_later_settle(handle->context, error);
    tz_handle_record(handle);
    for (tz_binding *b = handle->bindings, *next; b != NULL; b = next) {
        next = b->next;
        const tz_status closed = tz_table_close(b->table, status == TZ_OK ? error : &ignored);
        if (status == TZ_OK)
            status = closed;
        free(b);
    }
    handle->bindings = NULL;
    tz_script_result *result = handle->context->result;
    const tz_plan_use *uses = NULL;
    const size_t count = tz_simulation_plan_uses(handle->simulation, &uses);
    for (size_t i = 0; i < count; i++) {
        result->steps += uses[i].steps;
        result->updates += (double)uses[i].steps * (double)tz_simulation_cells(handle->simulation);
    }
    result->seconds += tz_simulation_seconds(handle->simulation);
    if (count > 0) {
        tz_policy_describe(tz_simulation_policy(handle->simulation), result->policy,
                           sizeof result->policy);
        result->ran++;
    }
    tz_simulation_destroy(handle->simulation);
    handle->simulation = NULL;
    *handle->link = handle->next;
    if (handle->next != NULL)
        handle->next->link = handle->link;
    return status;
}

static int simulation_close(lua_State *L)
{
    tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    tz_error error;
    if (handle->L != NULL)
        tz_raise(L, "sim:close: not from within an output of the same simulation");
    if (tz_handle_close(handle, &error) != TZ_OK)
        tz_raise_error(L, "sim:close", &error);
    /* Outputs and streamed arrays may go now. */
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
    return 0;
}

/* Collected or left by an error: the script's end reports what a table could not write. */
static int simulation_gc(lua_State *L)
{
    tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    tz_error error;
    if (handle->L == NULL && tz_handle_close(handle, &error) != TZ_OK) {
        char text[2100];
        tz_error_format(&error, text, sizeof text);
        tz_context_note(handle->context, TZ_NOTE_WARNING, "%s", text);
    }
    return 0;
}

static int simulation_tostring(lua_State *L)
{
    const tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    if (handle->simulation == NULL) {
        lua_pushfstring(L, "simulation %s (closed)", handle->name);
        return 1;
    }
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    const tz_stencil *stencil = tz_handle_stencil(handle);
    char grid[80];
    int used = snprintf(grid, sizeof grid, "%lld", (long long)extent[0]);
    for (int axis = 1; axis < stencil->dims; axis++)
        used +=
            snprintf(grid + used, sizeof grid - (size_t)used, " x %lld", (long long)extent[axis]);
    lua_pushfstring(L, "simulation %s (%s, %s, step %I)", handle->name, stencil->id, grid,
                    (LUAI_UACINT)tz_handle_step(handle));
    return 1;
}

static int simulation_index(lua_State *L)
{
    const char *key = luaL_checkstring(L, 2);
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
        lua_pushinteger(L, tz_handle_step(handle));
    } else if (strcmp(key, "cells") == 0) {
        lua_pushinteger(L, tz_simulation_cells(simulation));
    } else if (strcmp(key, "seconds") == 0) {
        lua_pushnumber(L, tz_simulation_seconds(simulation));
    } else if (strcmp(key, "height") == 0) {
        lua_pushinteger(L, tz_simulation_plan(simulation)->height);
    } else if (strcmp(key, "backend") == 0) {
        lua_pushstring(L, tz_simulation_backend(simulation));
    } else if (strcmp(key, "threads") == 0) {
        lua_pushinteger(L, tz_simulation_threads(simulation));
    } else if (strcmp(key, "precision") == 0) {
        lua_pushstring(L, tz_simulation_precision(simulation));
    } else if (strcmp(key, "plugin") == 0) {
        lua_pushstring(L, tz_handle_stencil(handle)->id);
    } else if (strcmp(key, "grid") == 0) {
        const int dims = tz_handle_stencil(handle)->dims;
        lua_createtable(L, dims, 0);
        for (int axis = 0; axis < dims; axis++) {
            lua_pushinteger(L, tz_simulation_extent(simulation)[axis]);
            lua_rawseti(L, -2, axis + 1);
        }
    } else {
        const char *known[64];
        size_t n = 0;
        for (; n < sizeof facts / sizeof facts[0]; n++)
            known[n] = facts[n];
        lua_pushnil(L);
        while (n < 64 && lua_next(L, lua_upvalueindex(1)) != 0) {
            lua_pop(L, 1);
            known[n++] = lua_tostring(L, -1);
        }
        const char *nearest = tz_names_nearest(key, known, n);
        tz_raise(L, "sim: has no '%.60s'%s%s%s", key, nearest != NULL ? "; did you mean '" : "",
                 nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    }
    return 1;
}

static int simulation_newindex(lua_State *L)
{
    tz_raise(L, "sim: '%.60s' cannot be set; use sim:set for fields and sim:params for parameters",
             luaL_tolstring(L, 2, NULL));
}

/* ---- Options --------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const tz_assignment *)a)->name, ((const tz_assignment *)b)->name);
}

size_t tz_assignments_get(lua_State *L, int index, const char *what, tz_assignment *out,
                          size_t most)
{
    size_t count = 0;
    index = lua_absindex(L, index);
    if (!lua_istable(L, index))
        tz_raise(L, "%s: wants a table of NAME = value, not a %s", what, luaL_typename(L, index));
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING)
            tz_raise(L, "%s: wants NAME = value, not a list", what);
        if (count == most)
            tz_raise(L, "%s: more than %zu names", what, most);
        tz_assignment *assignment = &out[count++];
        *assignment = (tz_assignment){.name = lua_tostring(L, -2)};
        switch (lua_type(L, -1)) {
        case LUA_TNUMBER:
            assignment->number = lua_tonumber(L, -1);
            break;
        case LUA_TBOOLEAN:
            assignment->number = lua_toboolean(L, -1);
            break;
        case LUA_TSTRING:
            assignment->text = lua_tostring(L, -1);
            break;
        default:
            tz_raise(L, "%s: '%.60s' must be a number, a text, true or false, not a %s", what,
                     assignment->name, luaL_typename(L, -1));
        }
        lua_pop(L, 1);
    }
    qsort(out, count, sizeof *out, compare_names);
    return count;
}

/* boundary = "clamp" or {x = "clamp", y = "periodic"}. */
static void get_boundary(lua_State *L, int index, const tz_stencil *stencil,
                         tz_simulation_config *config)
{
    static const char *const axes[] = {"x", "y", "z"};
    const int type = lua_getfield(L, index, "boundary");
    if (type == LUA_TSTRING) {
        for (int axis = 0; axis < TZ_AXES; axis++)
            config->boundary[axis] = lua_tostring(L, -1);
    } else if (type == LUA_TTABLE) {
        tz_keys_check(L, -1, "tz.simulation: 'boundary'", axes, (size_t)stencil->dims, false);
        for (int axis = 0; axis < stencil->dims; axis++)
            tz_key_text(L, lua_gettop(L), "tz.simulation: 'boundary'", axes[axis],
                        &config->boundary[axis]);
    } else if (type != LUA_TNIL) {
        tz_raise(L, "tz.simulation: 'boundary' must be a name or {x = name, y = name}, not a %s",
                 luaL_typename(L, -1));
    }
    lua_pop(L, 1);
}

static void get_plan(lua_State *L, int index, const tz_script_options *options,
                     tz_policy_config *policy, tz_simulation_config *config)
{
    int64_t threads = 0;
    tz_policy_read(L, index, what_it_is, TZ_AXES, options, policy);
    config->policy = policy;
    tz_key_integer(L, index, what_it_is, "threads", 1, 4096, &threads);
    config->backend = "auto";
    tz_key_text(L, index, what_it_is, "backend", &config->backend);
    config->threads = options->threads > 0 ? options->threads : (int)threads;
    config->device = options->device;
    config->sync = options->sync;
    if (options->backend != NULL)
        config->backend = options->backend;
}

static int get_precision(lua_State *L, int index)
{
    static const char *const names[] = {"single", "double"};
    const char *name = NULL;
    if (!tz_key_text(L, index, what_it_is, "precision", &name))
        return -1;
    for (int i = 0; i < 2; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    char hint[128];
    tz_raise(L, "tz.simulation: unknown precision '%.40s'%s", name,
             tz_names_hint(hint, sizeof hint, name, names, 2));
}

static const char *find_plugin_path(const tz_registry *registry, const tz_plugin *plugin)
{
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_registry_entry *entry = tz_registry_get(registry, i);
        if (entry->plugin == plugin)
            return entry->path;
    }
    return NULL;
}

/* The fields that the script gives, in the stencil's order; `fields` is a table or nil. */
static void assign_fields(lua_State *L, int handle_index, tz_simulation_handle *handle, int fields)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    for (int field = 0; field < stencil->fields_count; field++) {
        const tz_field *about = &stencil->fields[field];
        char what[128];
        snprintf(what, sizeof what, "tz.simulation: field '%.60s'", about->name);
        const int type = lua_istable(L, fields) ? lua_getfield(L, fields, about->name)
                                                : (lua_pushnil(L), LUA_TNIL);
        if (type != LUA_TNIL)
            tz_field_assign(L, handle_index, handle, field, NULL, lua_gettop(L), what);
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
    const int64_t *extent = tz_simulation_extent(simulation);
    char grid[80] = "", tile[80] = "", sides[96] = "";
    size_t a = 0, b = 0, c = 0;
    for (int axis = 0; axis < stencil->dims; axis++) {
        const char *between = axis > 0 ? " x " : "";
        a +=
            (size_t)snprintf(grid + a, sizeof grid - a, "%s%lld", between, (long long)extent[axis]);
        b += (size_t)snprintf(tile + b, sizeof tile - b, "%s%lld", between,
                              (long long)plan->tile[axis]);
        c += (size_t)snprintf(sides + c, sizeof sides - c, "%s%s", axis > 0 ? ", " : "",
                              tz_boundary_name(tz_simulation_boundary(simulation, axis)));
    }
    const double bytes = (double)tz_simulation_bytes(simulation);
    tz_context_print(context,
                     "%s: %s\n  grid %s, %lld cells\n  precision %s\n  boundary %s\n"
                     "  memory %.1f MiB\n  backend %s, %d thread%s\n"
                     "  plan %s, height %d, tile %s: %s\n",
                     handle->name, stencil->id, grid, (long long)tz_simulation_cells(simulation),
                     tz_simulation_precision(simulation), sides, bytes / (1 << 20),
                     tz_simulation_backend(simulation), tz_simulation_threads(simulation),
                     tz_simulation_threads(simulation) == 1 ? "" : "s", plan->family, plan->height,
                     tile, plan->why);
    char text[256];
    tz_context_print(context, "  policy %s\n",
                     tz_policy_describe(tz_simulation_policy(simulation), text, sizeof text));
}

static int simulation_new(lua_State *L)
{
    static const char *const keys[] = {"plugin",  "grid",     "precision",       "params",
                                       "fields",  "boundary", "boundary_values", "threads",
                                       "backend", "name",     TZ_POLICY_KEYS,    TZ_PLAN_KEYS};
    tz_context *context = tz_context_get(L);
    tz_simulation_config config = {.registry = context->options->registry,
                                   .dry = context->options->check};
    tz_assignment params[2 * TZ_PARAMS_MAX], values[2 * TZ_FIELDS_MAX];
    const tz_stencil *stencil = NULL;
    const tz_plugin *plugin = NULL;
    tz_policy_config policy;
    tz_error error;
    char name[48] = "";

    if (!lua_istable(L, 1))
        tz_raise(L, "tz.simulation: wants a table: tz.simulation { plugin = …, grid = … }");
    lua_settop(L, 1);
    tz_keys_check(L, 1, what_it_is, keys, sizeof keys / sizeof keys[0], false);
    if (!tz_key_text(L, 1, what_it_is, "plugin", &config.stencil))
        tz_raise(L, "tz.simulation: 'plugin' is missing; `trapeze plugins` lists them");
    if (tz_registry_find(config.registry, config.stencil, &stencil, &plugin, &error) != TZ_OK)
        tz_raise_error(L, what_it_is, &error);
    for (int axis = 0; axis < TZ_AXES; axis++)
        config.extent[axis] = 1;
    config.dims = tz_key_integers(L, 1, what_it_is, "grid", TZ_AXES, 1, config.extent);
    if (config.dims == 0)
        tz_raise(L, "tz.simulation: 'grid' is missing: {nx%s%s}", stencil->dims > 1 ? ", ny" : "",
                 stencil->dims > 2 ? ", nz" : "");
    config.precision = get_precision(L, 1);
    get_boundary(L, 1, stencil, &config);
    get_plan(L, 1, context->options, &policy, &config);
    if (tz_key_copy(L, 1, what_it_is, "name", name, sizeof name) &&
        tz_folder_check_name(name, &error) != TZ_OK)
        tz_raise_error(L, what_it_is, &error);
    if (lua_getfield(L, 1, "params") != LUA_TNIL)
        config.params_count =
            tz_assignments_get(L, -1, "tz.simulation: 'params'", params, 2 * TZ_PARAMS_MAX);
    config.params = params;
    if (lua_getfield(L, 1, "boundary_values") != LUA_TNIL)
        config.boundary_values_count = tz_assignments_get(L, -1, "tz.simulation: 'boundary_values'",
                                                          values, 2 * TZ_FIELDS_MAX);
    config.boundary_values = values;
    lua_getfield(L, 1, "fields"); /* index 4 */
    if (!lua_isnil(L, 4)) {
        const char *names[TZ_FIELDS_MAX];
        if (!lua_istable(L, 4))
            tz_raise(L, "tz.simulation: 'fields' must be a table, not a %s", luaL_typename(L, 4));
        for (int i = 0; i < stencil->fields_count; i++)
            names[i] = stencil->fields[i].name;
        tz_keys_check(L, 4, "tz.simulation: 'fields'", names, (size_t)stencil->fields_count, false);
    }

    tz_simulation_handle *handle = lua_newuserdatauv(L, sizeof *handle, 1); /* index 5 */
    memset(handle, 0, sizeof *handle);
    handle->context = context;
    luaL_setmetatable(L, TZ_TYPE_SIMULATION);
    lua_newtable(L);
    lua_setiuservalue(L, 5, 1);
    tz_policy_bind(&policy, handle);
    if (tz_simulation_create(&handle->simulation, &config, &error) != TZ_OK) {
        handle->simulation = NULL;
        tz_raise_error(L, what_it_is, &error);
    }
    tz_policy_keep(L, 1, 5, &policy);
    handle->next = context->open;
    handle->link = &context->open;
    if (handle->next != NULL)
        handle->next->link = &handle->next;
    context->open = handle;
    handle->index = context->simulations++;
    handle->plugin_path = find_plugin_path(config.registry, plugin);
    if (name[0] != '\0')
        snprintf(handle->name, sizeof handle->name, "%s", name);
    else
        snprintf(handle->name, sizeof handle->name, "sim%zu", handle->index + 1);
    /* A script with one nameless simulation gets short file names. */
    if (name[0] != '\0' || handle->index > 0)
        snprintf(handle->prefix, sizeof handle->prefix, "%s-", handle->name);
    tz_handle_record(handle);
    assign_fields(L, 5, handle, 4);
    if (config.dry)
        print_plan(handle);
    lua_settop(L, 5);
    return 1;
}

void tz_simulation_register(lua_State *L)
{
    static const luaL_Reg methods[] = {{"close", simulation_close}, {NULL, NULL}};
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
    tz_running_add(L);
    tz_policy_method_add(L);
    lua_pop(L, 3);
    lua_pushcfunction(L, simulation_new);
    lua_setfield(L, -2, "simulation");
}
