/* Reads the options of tz.predict and tz.tune into a request, and creates the workload
 * (predict/workload.h) from it. Called by predict.c and tune.c. */
#include "lua/workload.h"

#include "backend/family_names.h"
#include "lua/context.h"
#include "lua/interrupt.h"
#include <stdio.h>

void tz_key_extents(lua_State *L, const char *who, const char *key, int dims, double *out)
{
    const int type = tz_table_get(L, 1, key);
    for (int axis = 0; type == LUA_TNUMBER && axis < dims; axis++)
        out[axis] = lua_tonumber(L, -1);
    if (type == LUA_TTABLE)
        tz_list_check(L, who, key);
    for (int axis = 0; type == LUA_TTABLE && axis < dims; axis++) {
        if (lua_rawgeti(L, -1, axis + 1) == LUA_TNUMBER && lua_rawlen(L, -2) == (size_t)dims)
            out[axis] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    for (int axis = 0; type != LUA_TNIL && axis < dims; axis++)
        if (!(out[axis] > 0 && out[axis] < 1e9))
            tz_raise(L, "%s: '%s' must be a positive number or a list of %d", who, key, dims);
    lua_pop(L, 1);
}

/* `devices`: a number of them, or a text. */
static void get_devices(lua_State *L, const char *who, tz_workload_request *out)
{
    const int type = tz_table_get(L, 1, "devices");
    int is_integer = 0;
    const lua_Integer n = lua_tointegerx(L, -1, &is_integer);
    if (type == LUA_TNUMBER && is_integer) {
        snprintf(out->devices, sizeof out->devices, "%lld", (long long)n);
        out->config.devices = out->devices;
    } else if (type == LUA_TSTRING) {
        out->config.devices = lua_tostring(L, -1); /* the table keeps it */
    } else if (type != LUA_TNIL) {
        tz_raise(L, "%s: 'devices' must be a number of devices or a text, not %s", who,
                 luaL_typename(L, -1));
    }
    lua_pop(L, 1);
}

void tz_workload_read(lua_State *L, const char *who, tz_workload_request *out)
{
    const tz_script_options *options = tz_context_get(L)->options;
    tz_simulation_config *config = &out->config;
    int64_t threads = 0, gpu = options->device, height = 0;
    const char *family = NULL, *backend = NULL;
    tz_error error;
    *out = (tz_workload_request){.config = {.registry = options->registry}};
    out->dims = tz_problem_read(L, 1, who, config, out->params, NULL)->dims;
    if (config->mixed) /* stages iterate the correction */
        config->precision = TZ_PRECISION_CORRECTION;
    config->backend = options->backend;
    config->stopped = tz_interrupt_signal;
    tz_key_text(L, 1, who, "device", &out->device);
    if (out->device)
        config->backend = NULL;
    if (tz_key_text(L, 1, who, "backend", &backend) || (!out->device && !config->backend))
        config->backend = backend;
    tz_key_integer(L, 1, who, "threads", &threads);
    tz_key_integer(L, 1, who, "gpu", &gpu);
    config->threads = threads > 0 ? (int)threads : options->threads;
    config->device = (int)gpu;
    tz_key_integer(L, 1, who, "height", &height);
    out->given.height = (int)height;
    get_devices(L, who, out);
    tz_key_text(L, 1, who, "link", &out->link);
    tz_knobs_read(L, 1, who, &out->given);
    if (tz_key_text(L, 1, who, "family", &family) && tz_family_check(family, &error) != TZ_OK)
        tz_raise_error(L, who, &error);
    if (family)
        snprintf(out->given.family, sizeof out->given.family, "%s", family);
    tz_key_extents(L, who, "block", out->dims, out->block);
}

tz_status tz_workload_of(const tz_workload_request *request, bool let_unstable, tz_workload **out,
                         tz_error *error)
{
    const tz_workload_config config = {.simulation = &request->config,
                                       .device = request->device,
                                       .link = request->link,
                                       .changes = request->changes,
                                       .changes_count = request->changes_count,
                                       .let_unstable = let_unstable};
    return tz_workload_create(out, &config, error);
}
