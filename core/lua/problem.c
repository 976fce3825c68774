/* Reads stencil, grid, precision, boundary and parameters from a table of options. Called by
 * simulation.c for tz.simulation, and by workload.c for tz.predict and tz.tune; methods.c reads
 * assignments here. */
#include "lua/problem.h"

#include "lua/define.h"
#include "lua/keys.h"
#include "lua/scalars.h"
#include "stencil/registry.h"
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

static const char *const axes[] = {"x", "y", "z"};

/* The value at the top of the stack is for an axis: a text, or a list of two, low side first.
 * Leaves a text in its place. */
static const char *get_sides(lua_State *L, const char *what, const char *key)
{
    if (lua_type(L, -1) == LUA_TSTRING)
        return tz_text_check(L, -1, what, key);
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: '%s' must be a name or { low, high }, not %s", what, key,
                 tz_kind_text(L, -1));
    tz_table_copy(L, -1, what);
    tz_list_check(L, what, key);
    if (lua_rawlen(L, -1) != 2)
        tz_raise(L, "%s: '%s' needs two names, { low, high }, not %d", what, key,
                 (int)lua_rawlen(L, -1));
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    lua_pushfstring(L, "%s:%s", tz_text_check(L, -2, what, key), tz_text_check(L, -1, what, key));
    lua_replace(L, -4);
    lua_pop(L, 2);
    return lua_tostring(L, -1);
}

/* boundary = "clamp" or { x = "clamp", y = { "fixed", "mirror" } }. */
static void get_boundary(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                         tz_simulation_config *config)
{
    char where[64];
    snprintf(where, sizeof where, "%s: 'boundary'", what);
    const int type = tz_table_get(L, index, "boundary");
    if (type == LUA_TSTRING) {
        for (int axis = 0; axis < TZ_AXES; axis++)
            config->boundary[axis] = tz_text_check(L, -1, what, "boundary");
    } else if (type == LUA_TTABLE) {
        tz_keys_check(L, -1, where, axes, (size_t)stencil->dims, false);
        for (int axis = 0; axis < stencil->dims; axis++) {
            snprintf(where, sizeof where, "boundary.%s", axes[axis]);
            if (tz_table_get(L, -1, axes[axis]) != LUA_TNIL)
                config->boundary[axis] = get_sides(L, what, where);
            lua_setfield(L, -2, axes[axis]);
        }
    } else if (type != LUA_TNIL) {
        tz_raise(L, "%s must be a name or { x = name, y = { low, high } }, not %s", where,
                 tz_kind_text(L, -1));
    }
    lua_setfield(L, index, "boundary");
}

/* ---- Boundary values ------------------------------------------------------------------------- */

static double get_value(lua_State *L, const char *where)
{
    if (lua_type(L, -1) != LUA_TNUMBER && lua_type(L, -1) != LUA_TBOOLEAN)
        tz_raise(L, "%s must be a number, not %s", where, tz_kind_text(L, -1));
    return lua_isboolean(L, -1) ? lua_toboolean(L, -1) : lua_tonumber(L, -1);
}

/* The value at the top of the stack is for a side or, if `axis` < 0, for all of them. */
static size_t add_value(lua_State *L, const char *where, const char *field, uint32_t sides,
                        tz_side_value *values, size_t count)
{
    values[count] = (tz_side_value){field, sides, get_value(L, where)};
    return count + 1;
}

/* The value at the top of the stack is a table of axes. */
static size_t get_axes(lua_State *L, const char *where, const tz_stencil *stencil,
                       const char *field, tz_side_value *values, size_t count)
{
    char at[160];
    tz_keys_check(L, -1, where, axes, (size_t)stencil->dims, false);
    for (int axis = 0; axis < stencil->dims; axis++) {
        snprintf(at, sizeof at, "%.120s: '%s'", where, axes[axis]);
        const int type = tz_table_get(L, -1, axes[axis]);
        if (type == LUA_TTABLE) {
            tz_list_check(L, where, axes[axis]);
            if (lua_rawlen(L, -1) != 2)
                tz_raise(L, "%s needs two values, { low, high }, not %d", at,
                         (int)lua_rawlen(L, -1));
            for (int side = 0; side < 2; side++) {
                lua_rawgeti(L, -1, side + 1);
                count = add_value(L, at, field, 1u << (2 * axis + side), values, count);
                lua_pop(L, 1);
            }
        } else if (type != LUA_TNIL) {
            count = add_value(L, at, field, 3u << (2 * axis), values, count);
        }
        lua_pop(L, 1);
    }
    return count;
}

size_t tz_boundary_values_read(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                               tz_side_value values[TZ_BOUNDARY_VALUES_MAX])
{
    const char *names[TZ_FIELDS_MAX];
    char where[160];
    size_t count = 0;
    for (int f = 0; f < stencil->fields_count; f++)
        names[f] = stencil->fields[f].name;
    snprintf(where, sizeof where, "%s: 'boundary_values'", what);
    if (tz_table_get(L, index, "boundary_values") == LUA_TNIL) {
        lua_pop(L, 1);
        return 0;
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: needs a table of FIELD = value, not %s", where, tz_kind_text(L, -1));
    tz_keys_check(L, -1, where, names, (size_t)stencil->fields_count, false);
    for (int f = 0; f < stencil->fields_count; f++) {
        snprintf(where, sizeof where, "%s: 'boundary_values.%.60s'", what, names[f]);
        const int type = tz_table_get(L, -1, names[f]);
        if (type == LUA_TTABLE)
            count = get_axes(L, where, stencil, names[f], values, count);
        else if (type != LUA_TNIL)
            count = add_value(L, where, names[f], 0, values, count);
        lua_pop(L, 1);
    }
    lua_setfield(L, index, "boundary_values");
    return count;
}

#define PRECISION(precision, name, c_type, member) name,
TZ_KEY_NAMES(tz_precision_names, TZ_PRECISION_TABLE(PRECISION) "mixed")
TZ_KEY_NAMES_OF(tz_boundary_names, tz_boundary_name, TZ_BOUNDARIES)

const tz_stencil *tz_problem_read(lua_State *L, int index, const char *what,
                                  tz_simulation_config *config,
                                  tz_assignment params[TZ_PROBLEM_PARAMS_MAX],
                                  const tz_plugin **plugin)
{
    const tz_stencil *stencil = NULL;
    char where[64];
    tz_error error;
    tz_table_get(L, index, "plugin");
    config->stencil = tz_stencil_id(L, -1);
    if (lua_istable(L, -1))
        tz_raise(L, "%s: 'plugin' must be a stencil's name or what tz.stencil returns, not a table",
                 what);
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
    if (!tz_key_choice(L, index, what, "precision", &config->precision))
        config->precision = -1; /* that default, or none for integers */
    config->mixed = config->precision == TZ_PRECISIONS;
    if (config->mixed)
        config->precision = TZ_PRECISION_RESIDUAL;
    get_boundary(L, index, what, stencil, config);
    if (tz_table_get(L, index, "params") != LUA_TNIL) {
        snprintf(where, sizeof where, "%s: 'params'", what);
        config->params_count = tz_assignments_get(L, -1, where, params, TZ_PROBLEM_PARAMS_MAX);
    }
    lua_setfield(L, index, "params");
    config->params = params;
    tz_scalars_read(L, index, what, stencil, config);
    return stencil;
}
