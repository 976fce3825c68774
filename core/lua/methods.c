/* In check mode nothing is computed, and methods that read a field return 0. */
#include "lua/module.h"

#include "backend/backend.h"
#include "base/names.h"
#include "lua/api.h"
#include "lua/array.h"
#include "lua/fields.h"
#include "lua/keys.h"
#include "lua/policy.h"
#include "lua/problem.h"
#include "lua/push.h"
#include "lua/region.h"
#include "sim/fields.h"
#include "sim/numbers.h"
#include "sim/residual.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void push_cell(lua_State *L, const tz_simulation_handle *handle, int field, double value)
{
    if (tz_type_is_real(tz_handle_stencil(handle)->fields[field].type))
        lua_pushnumber(L, value);
    else
        lua_pushinteger(L, (lua_Integer)value);
}

static int method_get(lua_State *L)
{
    static const char *const axes[] = {"x", "y", "z"};
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:get");
    const int dims = tz_handle_stencil(handle)->dims;
    tz_text_check(L, 2, "sim:get", "field");
    const int field = tz_handle_kept_field(L, 2, handle, "sim:get");
    const int64_t *extent = tz_simulation_extent(handle->simulation);
    if (lua_gettop(L) - 2 != dims)
        tz_raise(L, "sim:get: needs a field and %d coordinate%s, not %d", dims, dims > 1 ? "s" : "",
                 lua_gettop(L) - 2);
    tz_box box = {{0, 0, 0}, {1, 1, 1}};
    for (int axis = 0; axis < dims; axis++) {
        box.low[axis] = tz_integer_check(L, 3 + axis, "sim:get", axes[axis], 0, extent[axis] - 1);
        box.high[axis] = box.low[axis] + 1;
    }
    double value = 0;
    tz_error error;
    if (!tz_handle_is_dry(handle) &&
        tz_simulation_read(handle->simulation, field, &box, &value, &error) != TZ_OK)
        tz_raise_error(L, "sim:get", &error);
    push_cell(L, handle, field, value);
    return 1;
}

/* sim:set(field, value[, box]) */
static int method_set(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:set");
    tz_box box;
    char what[128];
    lua_settop(L, 4);
    tz_text_check(L, 2, "sim:set", "field");
    const int field = tz_handle_field(L, 2, handle, "sim:set");
    tz_box_check(L, 4, handle, "sim:set", &box);
    snprintf(what, sizeof what, "sim:set: field '%.60s'",
             tz_handle_stencil(handle)->fields[field].name);
    tz_field_assign(L, handle, field, lua_isnil(L, 4) ? NULL : &box, 3, what);
    lua_settop(L, 1);
    return 1;
}

/* The whole of the field named at stack index 2 of the simulation at index 1; zeros in check
 * mode. */
static tz_reduction reduce_field(lua_State *L, const char *what)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const int field = tz_handle_kept_field(L, 2, handle, what);
    tz_reduction facts = {.min = 0};
    tz_error error;
    if (!tz_handle_is_dry(handle) &&
        tz_simulation_reduce(handle->simulation, field, &facts, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    return facts;
}

/* The same in the region at stack index 3, or everywhere. */
static tz_region_facts reduce(lua_State *L, const char *what)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const int field = tz_handle_kept_field(L, 2, handle, what);
    tz_region region;
    tz_region_facts facts;
    tz_region_check(L, 3, handle, what, &region);
    tz_region_reduce(L, handle, field, &region, what, &facts);
    return facts;
}

/* Push a cell's value of the field named at stack index 2. */
static int push_extreme(lua_State *L, const char *what, double value)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    push_cell(L, handle, tz_handle_kept_field(L, 2, handle, what), value);
    return 1;
}

static int method_min(lua_State *L)
{
    return push_extreme(L, "sim:min", reduce(L, "sim:min").min);
}

static int method_max(lua_State *L)
{
    return push_extreme(L, "sim:max", reduce(L, "sim:max").max);
}

static int method_sum(lua_State *L)
{
    lua_pushnumber(L, reduce(L, "sim:sum").sum);
    return 1;
}

static int method_mean(lua_State *L)
{
    const tz_region_facts facts = reduce(L, "sim:mean");
    lua_pushnumber(L, facts.sum / (double)facts.cells);
    return 1;
}

static int method_population(lua_State *L)
{
    lua_pushinteger(L, reduce_field(L, "sim:population").population);
    return 1;
}

static int method_hash(lua_State *L)
{
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)reduce_field(L, "sim:hash").hash);
    lua_pushstring(L, text);
    return 1;
}

static int method_residual(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:residual");
    tz_update update = {0};
    tz_error error;
    tz_status status = tz_stencil_has_residual(tz_handle_stencil(handle), &error);
    if (status == TZ_OK && !tz_handle_is_dry(handle))
        status = tz_simulation_measure(handle->simulation, &update, &error);
    if (status != TZ_OK)
        tz_raise_error(L, "sim:residual", &error);
    lua_pushnumber(L, tz_simulation_residual_of(handle->simulation, &update));
    return 1;
}

static int method_array(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:array");
    const int field = tz_handle_kept_field(L, 2, handle, "sim:array");
    const tz_stencil *stencil = tz_handle_stencil(handle);
    tz_array_handle *result = tz_array_push(L, stencil->fields[field].name);
    tz_array *array = NULL;
    tz_error error;
    const tz_status status =
        tz_handle_is_dry(handle)
            ? tz_array_create(&array,
                              tz_type_is_real(stencil->fields[field].type) ? TZ_DTYPE_F64
                                                                           : TZ_DTYPE_I32,
                              stencil->dims, tz_simulation_extent(handle->simulation), &error)
            : tz_simulation_read_array(handle->simulation, field, &array, &error);
    if (status != TZ_OK)
        tz_raise_error(L, "sim:array", &error);
    tz_array_own(result, array);
    tz_output_rule(handle->simulation, field, result->rule);
    return 1;
}

/* sim:slabs(field, first, count[, x0, nx]): slabs first … first+count-1 of a streamed field. */
static int method_slabs(lua_State *L)
{
    const char *what = "sim:slabs";
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const tz_stencil *stencil = tz_handle_stencil(handle);
    tz_text_check(L, 2, what, "field");
    const int field = tz_handle_field(L, 2, handle, what);
    if (stencil->fields[field].role != TZ_STREAMED)
        tz_raise(L, "%s: '%s' is not streamed; read it with sim:array", what,
                 stencil->fields[field].name);
    const int64_t cells = tz_simulation_cells(handle->simulation);
    const int64_t first = tz_integer_check(L, 3, what, "first", 0, INT64_MAX / 4);
    const int64_t count = tz_integer_check(L, 4, what, "count", 1, INT64_MAX / 4);
    const int64_t x0 = lua_isnoneornil(L, 5) ? 0 : tz_integer_check(L, 5, what, "x0", 0, cells - 1);
    const int64_t nx =
        lua_isnoneornil(L, 6) ? cells - x0 : tz_integer_check(L, 6, what, "nx", 1, cells - x0);
    if (!tz_handle_is_dry(handle)) {
        const int64_t slabs = tz_simulation_streamed_slabs(handle->simulation, field);
        if (slabs >= 0 && first + count > slabs)
            tz_raise(L, "%s: '%s' has %lld slabs, not %lld", what, stencil->fields[field].name,
                     (long long)slabs, (long long)(first + count));
    }
    const bool real = tz_type_is_real(stencil->fields[field].type);
    const int64_t shape[TZ_AXES] = {nx, count, 1};
    tz_array_handle *result = tz_array_push(L, stencil->fields[field].name);
    tz_array *array = NULL;
    tz_error error;
    if (tz_array_create(&array, real ? TZ_DTYPE_F64 : TZ_DTYPE_I32, 2, shape, &error) != TZ_OK)
        tz_raise_error(L, what, &error);
    tz_array_own(result, array);
    if (tz_handle_is_dry(handle))
        return 1;
    double *row = lua_newuserdatauv(L, (size_t)nx * sizeof *row, 0);
    for (int64_t k = 0; k < count; k++) {
        if (tz_simulation_streamed_read(handle->simulation, field, first + k, x0, nx, row,
                                        &error) != TZ_OK)
            tz_raise_error(L, what, &error);
        for (int64_t x = 0; x < nx; x++)
            tz_array_set(array, k * nx + x, row[x]);
    }
    lua_pop(L, 1);
    return 1;
}

/* ---- Parameters and plan --------------------------------------------------------------------- */

static void push_param(lua_State *L, const tz_param *param, const tz_value *value)
{
    switch (param->type) {
    case TZ_PARAM_REAL:
        lua_pushnumber(L, value->number);
        break;
    case TZ_PARAM_INTEGER:
        lua_pushinteger(L, (lua_Integer)value->number);
        break;
    case TZ_PARAM_FLAG:
        lua_pushboolean(L, value->number != 0);
        break;
    case TZ_PARAM_TEXT:
    case TZ_PARAM_CHOICE:
        lua_pushstring(L, value->text);
        break;
    }
}

/* sim:params { NAME = value, … } changes parameters; sim:params() returns all of them. */
static int method_params(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:params");
    const tz_stencil *stencil = tz_handle_stencil(handle);
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        const tz_value *values = tz_simulation_params(handle->simulation);
        lua_createtable(L, 0, stencil->params_count);
        for (int i = 0; i < stencil->params_count; i++) {
            push_param(L, &stencil->params[i], &values[i]);
            lua_setfield(L, -2, stencil->params[i].name);
        }
        return 1;
    }
    tz_assignment params[TZ_PROBLEM_PARAMS_MAX];
    tz_error error;
    const size_t count = tz_assignments_get(L, 2, "sim:params", params, TZ_PROBLEM_PARAMS_MAX);
    if (tz_simulation_set_params(handle->simulation, count, params, &error) != TZ_OK)
        tz_raise_error(L, "sim:params", &error);
    lua_settop(L, 1);
    return 1;
}

static int method_param(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:param");
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const char *name = tz_text_check(L, 2, "sim:param", "name");
    const int i = tz_stencil_param_index(stencil, name);
    if (i < 0) {
        const char *names[TZ_PARAMS_MAX];
        char hint[512];
        for (int k = 0; k < stencil->params_count; k++)
            names[k] = stencil->params[k].name;
        tz_raise(L, "sim:param: %s has no parameter '%.60s'%s", stencil->id, name,
                 tz_names_hint(hint, sizeof hint, name, names, (size_t)stencil->params_count));
    }
    push_param(L, &stencil->params[i], &tz_simulation_params(handle->simulation)[i]);
    return 1;
}

static const tz_key plan_options[] = {TZ_PLAN_OPTIONS, {NULL, NULL, NULL, NULL}};

static const tz_key kernel_result[] = {
    {"device", "text", "", "the GPU"},
    {"registers", "integer", "", "of a thread"},
    {"local_bytes", "integer", "", "of a thread: spilt registers"},
    {"warps", "integer", "", "that run on a multiprocessor at once"},
    {"warps_max", "integer", "", "that could"},
    {"copy_gb_per_s", "number", "", "the device's copy bandwidth, measured by the call"},
    {NULL, NULL, NULL, NULL}};

/* sim:plan { height =, tile =, family =, … } changes the plan and ends the policy; sim:plan()
 * returns it. */
static int method_plan(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:plan");
    const int dims = tz_handle_stencil(handle)->dims;
    tz_error error;
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        tz_plan_wish wish;
        tz_options_check(L, 2, "sim:plan");
        tz_keys_take(L, 2, "sim:plan", plan_options, false);
        const tz_plan_wish forget = {.forget = handle->context->options->policy.forget};
        tz_policy_read(L, 2, "sim:plan", dims, &forget, &wish);
        if (tz_simulation_set_policy(handle->simulation, &wish, &error) != TZ_OK)
            tz_raise_error(L, "sim:plan", &error);
    }
    tz_plan_push(L, tz_simulation_plan(handle->simulation), dims);
    return 1;
}

/* sim:kernel(): facts of the kernel that runs the plan, and the device's copy bandwidth, measured
 * by the call; nil on backends without kernels. */
static int method_kernel(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:kernel");
    tz_kernel_facts facts;
    tz_error error;
    const tz_status status = tz_simulation_kernel_facts(handle->simulation, &facts, &error);
    if (status == TZ_UNSUPPORTED) {
        lua_pushnil(L);
        return 1;
    }
    if (status != TZ_OK)
        tz_raise_error(L, "sim:kernel", &error);
    lua_createtable(L, 0, 6);
    tz_set_text(L, "device", facts.device);
    tz_set_integer(L, "registers", facts.registers);
    tz_set_integer(L, "local_bytes", facts.local_bytes);
    tz_set_integer(L, "warps", facts.warps);
    tz_set_integer(L, "warps_max", facts.warps_max);
    tz_set_number(L, "copy_gb_per_s", facts.copy_bytes_per_s * 1e-9);
    return 1;
}

/* ---- Analysis methods ------------------------------------------------------------------------ */

/* A method's results are kept here until it returns: a Lua error inside it would jump over it. */
typedef struct result {
    struct result *next;
    char name[64];
    int64_t count; /* -1: a number */
    double number;
    int64_t values[];
} result;

typedef struct results {
    result *first, **end;
    bool out_of_memory;
} results;

static result *add_result(results *list, const char *name, int64_t count)
{
    const size_t room = count > 0 ? (size_t)count * sizeof(int64_t) : 0;
    result *r = calloc(1, sizeof *r + room);
    if (!r) {
        list->out_of_memory = true;
        return NULL;
    }
    snprintf(r->name, sizeof r->name, "%s", name);
    r->count = count;
    *list->end = r;
    list->end = &r->next;
    return r;
}

static void on_number(void *context, const char *name, double value)
{
    result *r = add_result(context, name, -1);
    if (r)
        r->number = value;
}

static void on_list(void *context, const char *name, int64_t count, const int64_t *values)
{
    result *r = add_result(context, name, count < 0 ? 0 : count);
    if (r && count > 0)
        memcpy(r->values, values, (size_t)count * sizeof *values);
}

/* Protected, so that the caller can free the list after an error. Argument 1 is the list. */
static int push_results(lua_State *L)
{
    const results *list = lua_touserdata(L, 1);
    lua_newtable(L);
    for (const result *r = list->first; r; r = r->next) {
        if (r->count < 0) {
            lua_pushnumber(L, r->number);
        } else {
            lua_createtable(L, r->count < INT32_MAX ? (int)r->count : INT32_MAX, 0);
            for (int64_t i = 0; i < r->count; i++) {
                lua_pushinteger(L, r->values[i]);
                lua_rawseti(L, -2, i + 1);
            }
        }
        lua_setfield(L, -2, r->name);
    }
    return 1;
}

/* In check mode analyse() returns a table in which every result is 0. So that a script may also
 * treat a result as a list, numbers get an index (nil) and a length (0). */
static int zero_index(lua_State *L)
{
    if (lua_istable(L, 1) && lua_type(L, 2) == LUA_TSTRING)
        lua_pushinteger(L, 0);
    else
        lua_pushnil(L);
    return 1;
}

static int zero_length(lua_State *L)
{
    lua_pushinteger(L, 0);
    return 1;
}

static void push_zeros(lua_State *L)
{
    static const luaL_Reg events[] = {{"__index", zero_index}, {"__len", zero_length}, {NULL}};
    lua_newtable(L);
    luaL_newlib(L, events);
    lua_pushinteger(L, 0);
    lua_pushvalue(L, -2);
    lua_setmetatable(L, -2); /* for all numbers */
    lua_pop(L, 1);
    lua_setmetatable(L, -2);
}

static int method_analyse(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:analyse");
    const char *name = tz_text_check(L, 2, "sim:analyse", "method");
    const tz_stencil *stencil = tz_handle_stencil(handle);
    lua_settop(L, 2);
    bool known = false;
    for (int i = 0; i < stencil->methods_count; i++)
        known = known || strcmp(stencil->methods[i].name, name) == 0;
    if (tz_handle_is_dry(handle) && known) {
        push_zeros(L);
        return 1;
    }
    results list = {.first = NULL};
    list.end = &list.first;
    const tz_method_sink sink = {.context = &list, .number = on_number, .list = on_list};
    tz_error error;
    tz_status status = tz_simulation_analyse(handle->simulation, name, &sink, &error);
    if (status == TZ_OK && list.out_of_memory)
        status = tz_error_set(&error, TZ_MEMORY, NULL, "not enough memory for the results");
    int called = LUA_OK;
    if (status == TZ_OK) {
        lua_pushcfunction(L, push_results);
        lua_pushlightuserdata(L, &list);
        called = lua_pcall(L, 1, 1, 0);
    }
    for (result *r = list.first, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    if (status != TZ_OK)
        tz_raise_error(L, "sim:analyse", &error);
    return called == LUA_OK ? 1 : lua_error(L);
}

void tz_methods_add(lua_State *L)
{
    static const tz_api_function methods[] = {
        TZ_API("sim:get(field, x[, y[, z]])", method_get,
               "The value of one cell. Coordinates count from 0.", .recall = TZ_RECALL_GIVE),
        TZ_API("sim:set(field, value[, box])", method_set,
               "Sets the cells of a box, or all. A value is a number, `function(x, y, z)`, "
               "`tz.random`, "
               "`tz.read`, `tz.array`, an array or a floorplan. A box is `{ x = {low, high}, … }`: "
               "low <= x < high.",
               .recall = TZ_RECALL_CALL),
        TZ_API("sim:min([field[, region]])", method_min,
               "The least finite value. Without a field: of the first state field.",
               .recall = TZ_RECALL_GIVE),
        TZ_API("sim:max([field[, region]])", method_max, "The largest finite value.",
               .recall = TZ_RECALL_GIVE),
        TZ_API("sim:sum([field[, region]])", method_sum,
               "The sum in double precision, in a fixed order. A region is a box, a mask (a "
               "field's name or an array; cells that are not 0 count) or a unit of a floorplan.",
               .recall = TZ_RECALL_GIVE),
        TZ_API("sim:mean([field[, region]])", method_mean, "The mean in double precision.",
               .recall = TZ_RECALL_GIVE),
        TZ_API("sim:population([field])", method_population, "The number of cells that are not 0.",
               .recall = TZ_RECALL_GIVE),
        TZ_API("sim:hash([field])", method_hash,
               "64 bits of the cells' bits, as text: the same on every backend and plan.",
               .recall = TZ_RECALL_GIVE),
        TZ_API(
            "sim:residual()", method_residual,
            "The largest change that the next iteration would make, in double precision, times the "
            "stencil's factor.",
            .recall = TZ_RECALL_GIVE),
        TZ_API("sim:array([field])", method_array, "A copy of the field as an array.",
               .recall = TZ_RECALL_GIVE),
        TZ_API("sim:slabs(field, first, count[, x0[, nx]])", method_slabs,
               "Rows of a streamed field as an array, from slab `first` on."),
        TZ_API("sim:params([values])", method_params,
               "Changes parameters, `{ NAME = value }`, and returns all of them.",
               .recall = TZ_RECALL_CALL),
        TZ_API("sim:param(name)", method_param, "One parameter."),
        TZ_API("sim:plan([plan])", method_plan,
               "Sets the plan, which ends the policy, and returns the plan.",
               .options = plan_options, .recall = TZ_RECALL_BOTH),
        TZ_API("sim:kernel()", method_kernel,
               "Facts of the kernel that runs the plan; nil on backends without kernels.",
               .result = kernel_result, .recall = TZ_RECALL_GIVE),
        TZ_API("sim:analyse(method)", method_analyse,
               "Calls an analysis of the stencil; returns a table of its results.",
               .recall = TZ_RECALL_GIVE),
        {NULL}};
    tz_api_add(L, methods);
}
