/* Reads stencil, grid, precision, storage, boundary, parameters and scalars from a table of
 * options. Called by simulation.c for tz.simulation, and by predict.c for tz.predict and
 * tz.tune. */
#include "lua/problem.h"

#include "base/names.h"
#include "define/definition.h"
#include "lua/api.h"
#include "lua/define.h"
#include "lua/handle.h"
#include "lua/keys.h"
#include "lua/module.h"
#include "stencil/boundary.h"
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
            tz_raise_kind(L, -1, what, assignment->name, "a number, a string, true or false");
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
    if (lua_istable(L, -1))
        tz_table_copy(L, -1, what);
    const size_t count = tz_list_check(L, what, key, "a name or { low, high }");
    if (count != 2)
        tz_raise(L, "%s: '%s' needs two names, { low, high }, not %zu", what, key, count);
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
        char place[128];
        snprintf(place, sizeof place, "%s is a name or { x = name, y = { low, high } }", where);
        tz_keys_check(L, -1, place, axes, (size_t)stencil->dims, false);
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
    for (int axis = 0; axis < stencil->dims; axis++) {
        const char *text = config->boundary[axis];
        const bool wraps =
            text ? strstr(text, "periodic") != NULL : tz_boundary_wraps(stencil->boundary);
        if (wraps && tz_stencil_has_sides(L, config->stencil, axis))
            tz_raise(L,
                     "%s: %s is periodic, but 'outside' of %s says what is past its sides: the "
                     "boundary there is \"clamp\"",
                     what, axes[axis], config->stencil);
    }
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
            const size_t given = tz_list_check(L, where, axes[axis], "a list");
            if (given != 2)
                tz_raise(L, "%s needs two values, { low, high }, not %zu", at, given);
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
        const int type = tz_table_get(L, -1, names[tz_stage_owner(stencil, f)]);
        if (type == LUA_TTABLE)
            count = get_axes(L, where, stencil, names[f], values, count);
        else if (type != LUA_TNIL)
            count = add_value(L, where, names[f], 0, values, count);
        lua_pop(L, 1);
    }
    lua_setfield(L, index, "boundary_values");
    return count;
}

/* ---- Constants that change with the iteration ------------------------------------------------ */

/* Its address is the key of what the formulas and lists live in, in a simulation's user value. */
static const char scalars_key;

static int formula_gc(lua_State *L)
{
    tz_scalar_destroy(*(tz_scalar **)lua_touserdata(L, 1));
    return 0;
}

const tz_scalar *tz_formula_push(lua_State *L, const char *what, const tz_stencil *stencil,
                                 const char *name, bool timed)
{
    size_t length = 0;
    const char *text = lua_tolstring(L, -1, &length);
    tz_scalar **formula = tz_push_owned(L, sizeof *formula, formula_gc);
    tz_try(L, what, tz_scalar_create(formula, stencil, name, text, length, timed, tz_fault(L)));
    return *formula;
}

/* The list or number on the top of the stack. */
static tz_series take_list(lua_State *L, int kept, const char *where, const char *name)
{
    const bool list = lua_istable(L, -1);
    const size_t count = list ? tz_list_check(L, where, name, "a list") : 1;
    if (count == 0)
        tz_raise(L, "%s: the list '%.60s' is empty", where, name);
    double *values = lua_newuserdatauv(L, count * sizeof *values, 0);
    for (size_t i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(L, -2, (lua_Integer)i + 1);
        else
            lua_pushvalue(L, -2);
        if (lua_type(L, -1) != LUA_TNUMBER)
            tz_raise(L, "%s: number %lld of the list '%.60s' is %s", where, (long long)i + 1, name,
                     tz_kind_text(L, -1));
        values[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    luaL_ref(L, kept);
    return (tz_series){.name = name, .count = count, .values = values};
}

static int compare_series(const void *a, const void *b)
{
    return strcmp(((const tz_series *)a)->name, ((const tz_series *)b)->name);
}

static void read_scalars(lua_State *L, int index, const char *what, const tz_stencil *stencil,
                         tz_simulation_config *config)
{
    char where[64];
    index = lua_absindex(L, index);
    snprintf(where, sizeof where, "%s: 'scalars'", what);
    if (tz_table_get(L, index, "scalars") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        tz_raise(L, "%s: needs a table of NAME = \"a formula of step\" or a list, not %s", where,
                 tz_kind_text(L, -1));
    const int given = lua_gettop(L);
    tz_table_copy(L, given, where);
    lua_newtable(L);
    const int kept = lua_gettop(L);
    tz_series *series = lua_newuserdatauv(L, TZ_CONSTANTS_MAX * sizeof *series, 0);
    luaL_ref(L, kept);
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, given) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            tz_raise(L, "%s: needs NAME = value, not a list", where);
        const char *name = tz_text_check(L, -2, where, "name");
        if (count == TZ_CONSTANTS_MAX)
            tz_raise(L, "%s: more than %d names", where, TZ_CONSTANTS_MAX);
        const int type = lua_type(L, -1);
        if (type == LUA_TSTRING) {
            series[count++] = tz_scalar_series(tz_formula_push(L, what, stencil, name, false));
            luaL_ref(L, kept);
        } else if (type == LUA_TTABLE || type == LUA_TNUMBER) {
            series[count++] = take_list(L, kept, where, name);
        } else {
            tz_raise_kind(L, -1, where, name, "a formula of step (a text), a list or a number");
        }
    }
    qsort(series, count, sizeof *series, compare_series);
    lua_pushvalue(L, given); /* the names */
    luaL_ref(L, kept);
    lua_setfield(L, index, "scalars");
    lua_pop(L, 1);
    config->scalars = series;
    config->scalars_count = count;
}

void tz_scalars_keep(lua_State *L, int index, int handle)
{
    lua_getiuservalue(L, handle, 1);
    tz_table_get(L, index, "scalars");
    lua_rawsetp(L, -2, &scalars_key);
    lua_pop(L, 1);
}

/* sim:scalar(name[, step]): the value of a constant in an iteration, by default the next one. */
static int method_scalar(lua_State *L)
{
    const char *what = "sim:scalar";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const char *name = tz_text_check(L, 2, what, "name");
    const int64_t step = lua_isnoneornil(L, 3)
                             ? tz_simulation_step(handle->simulation)
                             : tz_integer_check(L, 3, what, "step", 0, INT64_MAX / 4);
    double value;
    tz_try(L, what, tz_simulation_scalar(handle->simulation, name, step, &value, tz_fault(L)));
    lua_pushnumber(L, value);
    return 1;
}

const tz_api_function tz_scalar_methods[] = {
    TZ_API("sim:scalar(name[, step])", method_scalar,
           "The value of a constant that changes with the iteration: in iteration `step`, 0 "
           "being the first, or in the next one."),
    TZ_API_END};

/* ---- All of it ------------------------------------------------------------------------------- */

#define PRECISION(precision, name, c_type, member) name,
/* clang-format off */
static TZ_KEY_NAMES(precision_names, TZ_PRECISION_TABLE(PRECISION) "mixed")
static TZ_KEY_NAMES_OF(boundary_names, tz_boundary_name, TZ_BOUNDARIES)
    /* clang-format on */

    const tz_key tz_problem_options[] = {
        {"plugin", "text", NULL,
         "the stencil's name, or what `tz.stencil` returns; `trapeze plugins` lists names"},
        {"grid", "{nx[, ny[, nz]]}", NULL, "cells along each axis, x first; an integer in 1-D"},
        {"precision", "text", "\"single\"", "%s; the last one is of stencils that have it",
         precision_names},
        {"storage", "text or table", "\"single\"",
         "how fields of real numbers lie in memory: %s, or that of `tz.stencil`. `{ u = …, v = { "
         "\"half\", origin = 80, scale = 1 } }` gives it for each field. Updates compute in single "
         "precision; every new value is rounded ([when it is enough](precision.md))",
         tz_storage_names, .inner = tz_storage_options},
        {"copies", "integer", "2",
         "1: the cuda backend keeps one array of each state field, where the stencil allows it "
         "([one copy](precision.md#one-copy))",
         .least = 1, .most = 2},
        {"boundary", "text or table", "the stencil's",
         "%s; `{ x = …, y = … }` gives one for each axis, `{ x = { \"clamp\", \"fixed\" } }` one "
         "for each side. " TZ_BOUNDARY_TABLE(TZ_WALL_LISTED) "more in [boundaries](boundaries.md)",
         boundary_names},
        {"params", "table", "",
         "`NAME = value`: parameters of the stencil; `trapeze plugins NAME` lists them"},
        {"scalars", "table", "the stencil's",
         "constants that change with the iteration: `NAME = \"a formula of step and parameters\"`, "
         "or a list of numbers, whose last one stays"},
        {NULL}};

void tz_problem_explain(lua_State *L, const char *what, const tz_key *keys,
                        const tz_registry *registry)
{
    const tz_stencil *stencil;
    const tz_plugin *plugin;
    tz_error ignored;
    if (!lua_istable(L, 1))
        return;
    lua_pushliteral(L, "plugin");
    const int type = lua_rawget(L, 1);
    const char *id = type == LUA_TSTRING ? lua_tostring(L, -1) : tz_stencil_id(L, -1);
    if (id && tz_registry_find(registry, id, &stencil, &plugin, &ignored))
        id = NULL;
    lua_pushnil(L);
    while (id && lua_next(L, 1) != 0) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        const tz_key *row;
        for (size_t n = 0; (row = tz_key_at(keys, n)) && strcmp(row->key, key);)
            n++;
        const bool param = !row && tz_stencil_param_index(stencil, key) >= 0;
        if (param || (!row && tz_stencil_field_index(stencil, key) >= 0))
            tz_raise(L, "%s: '%.60s' is a %s of %s: write %s = { %.60s = … }", what, key,
                     param ? "parameter" : "field", stencil->id, param ? "params" : "fields", key);
        lua_pop(L, 1);
    }
    lua_settop(L, 1);
}

const tz_stencil *tz_problem_read(lua_State *L, int index, const char *what,
                                  tz_simulation_config *config,
                                  tz_assignment params[TZ_PROBLEM_PARAMS_MAX],
                                  const tz_plugin **plugin)
{
    const tz_stencil *stencil = NULL;
    char where[64];
    tz_table_get(L, index, "plugin");
    config->stencil = tz_stencil_id(L, -1);
    if (lua_istable(L, -1))
        tz_raise(L, "%s: 'plugin' must be a stencil's name or what tz.stencil returns, not a table",
                 what);
    lua_pop(L, 1);
    if (!config->stencil && !tz_key_text(L, index, what, "plugin", &config->stencil))
        tz_raise(L, "%s: 'plugin' is missing; `trapeze plugins` lists them", what);
    tz_try(L, what,
           tz_registry_find(config->registry, config->stencil, &stencil, plugin, tz_fault(L)));
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
    int64_t copies;
    config->one_copy = tz_key_integer(L, index, what, "copies", &copies) && copies == 1;
    tz_storage_read(L, index, what, stencil, config);
    get_boundary(L, index, what, stencil, config);
    if (tz_table_get(L, index, "params") != LUA_TNIL) {
        snprintf(where, sizeof where, "%s: 'params'", what);
        config->params_count = tz_assignments_get(L, -1, where, params, TZ_PROBLEM_PARAMS_MAX);
    }
    lua_setfield(L, index, "params");
    config->params = params;
    read_scalars(L, index, what, stencil, config);
    return stencil;
}
