#include "lua/problem.h"

#include "lua/define.h"
#include "lua/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        tz_raise(L, "%s: needs a table of NAME = value, not %s", what, tz_kind_text(L, index));
    tz_table_copy(L, index, what);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = value, not a list", what);
        if (count == most)
            tz_raise(L, "%s: more than %zu names", what, most);
        tz_assignment *assignment = &out[count++];
        *assignment = (tz_assignment){.name = tz_text_check(L, -2, what, "name")};
        switch (lua_type(L, -1)) {
        case LUA_TNUMBER:
            assignment->number = lua_tonumber(L, -1);
            break;
        case LUA_TBOOLEAN:
            assignment->number = lua_toboolean(L, -1);
            break;
        case LUA_TSTRING:
            assignment->text = tz_text_check(L, -1, what, assignment->name);
            break;
        default:
            tz_raise(L, "%s: '%.60s' must be a number, a string, true or false, not %s", what,
                     assignment->name, tz_kind_text(L, -1));
        }
        lua_pop(L, 1);
    }
    qsort(out, count, sizeof *out, compare_names);
    return count;
}

/* boundary = "clamp" or {x = "clamp", y = "periodic"}. */
static void get_boundary(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                         tz_simulation_config *config)
{
    static const char *const axes[] = {"x", "y", "z"};
    char where[64];
    snprintf(where, sizeof where, "%s: 'boundary'", what);
    const int type = tz_table_get(L, index, "boundary");
    if (type == LUA_TSTRING) {
        for (int axis = 0; axis < TZ_AXES; axis++)
            config->boundary[axis] = tz_text_check(L, -1, what, "boundary");
    } else if (type == LUA_TTABLE) {
        tz_keys_check(L, -1, where, axes, (size_t)stencil->dims, false);
        for (int axis = 0; axis < stencil->dims; axis++)
            tz_key_text(L, -1, where, axes[axis], &config->boundary[axis]);
    } else if (type != LUA_TNIL) {
        tz_raise(L, "%s must be a name or {x = name, y = name}, not %s", where,
                 tz_kind_text(L, -1));
    }
    lua_setfield(L, index, "boundary");
}

const tz_stencil *tz_problem_read(lua_State *L, int index, const char *what,
                                  tz_simulation_config *config,
                                  tz_assignment params[TZ_PROBLEM_PARAMS_MAX],
                                  const tz_plugin **plugin)
{
    static const char *const precisions[] = {"single", "double", "mixed"};
    const tz_stencil *stencil = NULL;
    char where[64];
    tz_error error;
    tz_table_get(L, index, "plugin");
    config->stencil = tz_stencil_id(L, -1);
    lua_pop(L, 1);
    if (!config->stencil && !tz_key_text(L, index, what, "plugin", &config->stencil))
        tz_raise(L, "%s: 'plugin' is missing; `trapeze plugins` lists them", what);
    if (tz_registry_find(config->registry, config->stencil, &stencil, plugin, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    for (int axis = 0; axis < TZ_AXES; axis++)
        config->extent[axis] = 1;
    config->dims = tz_key_integers(L, index, what, "grid", TZ_AXES, 1, config->extent);
    if (config->dims == 0)
        tz_raise(L, "%s: 'grid' is missing: {nx%s%s}", what, stencil->dims > 1 ? ", ny" : "",
                 stencil->dims > 2 ? ", nz" : "");
    config->precision = tz_key_choice(L, index, what, "precision", precisions, 3, -1);
    config->mixed = config->precision == 2;
    if (config->mixed)
        config->precision = TZ_DOUBLE;
    get_boundary(L, index, what, stencil, config);
    if (tz_table_get(L, index, "params") != LUA_TNIL) {
        snprintf(where, sizeof where, "%s: 'params'", what);
        config->params_count = tz_assignments_get(L, -1, where, params, TZ_PROBLEM_PARAMS_MAX);
    }
    lua_setfield(L, index, "params");
    config->params = params;
    return stencil;
}
