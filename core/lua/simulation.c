/* tz.simulation and the userdata that it returns: members, methods that read and change fields,
 * parameters and the plan, closing. Registered by module.c, with the methods of running.c,
 * binding.c and others. */
#include "lua/module.h"

#include "backend/backend.h"
#include "lua/array.h"
#include "lua/checkpoint.h"
#include "lua/fields.h"
#include "lua/floorplan.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include "lua/policy.h"
#include "lua/problem.h"
#include "lua/recall.h"
#include "sim/fields.h"
#include "sim/numbers.h"
#include "sim/residual.h"
#include "sim/solve.h"
#include <stdio.h>
#include <string.h>

static const char creating[] = "tz.simulation";

enum { THREADS_MANY = 32 /* more than so many may be a mistake */ };

/* ---- The userdata ---------------------------------------------------------------------------- */

static int simulation_close(lua_State *L)
{
    tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    if (!handle->simulation)
        return 0;
    tz_handle_check_idle(L, 1, "sim:close");
    tz_status status = TZ_OK;
    if (handle->context->simulations == 1)
        status = tz_checkpoint_last(handle->context, tz_fault(L));
    if (status == TZ_OK)
        status = tz_handle_close(handle, tz_fault(L));
    tz_try(L, "sim:close", status);
    /* Lua may now collect the outputs. */
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
    return 0;
}

/* The collector calls this outside of the script, so an error becomes a warning. */
static int simulation_gc(lua_State *L)
{
    tz_simulation_handle *handle = luaL_checkudata(L, 1, TZ_TYPE_SIMULATION);
    if (tz_handle_close(handle, tz_fault(L)) != TZ_OK) {
        char text[2100];
        tz_error_format(tz_fault(L), text, sizeof text);
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

#define OF_SIM(name, expression) TZ_GETTER(sim_##name, void, tz_simulation_handle, expression)
OF_SIM(step, tz_cell_integer(tz_simulation_step(r->simulation)));
OF_SIM(cells, tz_cell_integer(tz_simulation_cells(r->simulation)));
OF_SIM(seconds, tz_cell_real(tz_simulation_seconds(r->simulation)));
OF_SIM(height, tz_cell_integer(tz_simulation_plan(r->simulation)->height));
OF_SIM(backend, tz_cell_text(tz_simulation_backend(r->simulation)));
OF_SIM(grid, tz_cell_integers(tz_handle_stencil(r)->dims, tz_simulation_extent(r->simulation)));
OF_SIM(threads, tz_cell_integer(tz_simulation_threads(r->simulation)));
OF_SIM(precision, tz_cell_text(tz_simulation_precision(r->simulation)));
OF_SIM(plugin, tz_cell_text(tz_handle_stencil(r)->id));

static const tz_sheet_column simulation_members[] = {{.key = "step", .get = sim_step},
                                                     {.key = "cells", .get = sim_cells},
                                                     {.key = "seconds", .get = sim_seconds},
                                                     {.key = "height", .get = sim_height},
                                                     {.key = "backend", .get = sim_backend},
                                                     {.key = "grid", .get = sim_grid},
                                                     {.key = "threads", .get = sim_threads},
                                                     {.key = "precision", .get = sim_precision},
                                                     {.key = "plugin", .get = sim_plugin},
                                                     TZ_MEMBER("name", tz_simulation_handle, name),
                                                     {.key = NULL}};

static void check_member(lua_State *L, const char *key)
{
    if (strcmp(key, "name") != 0) /* which a closed one has, too */
        tz_handle_check(L, 1, "sim");
}

static int simulation_newindex(lua_State *L)
{
    tz_raise(L, "sim: '%.60s' cannot be set; use sim:set for fields and sim:params for parameters",
             luaL_tolstring(L, 2, NULL));
}

/* ---- Values of fields ------------------------------------------------------------------------ */

/* A cell's value. In check mode nothing is computed, and methods that read a field return 0. */
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
    if (!tz_handle_is_dry(handle))
        tz_try(L, "sim:get",
               tz_simulation_read(handle->simulation, field, &box, &value, tz_fault(L)));
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
    const tz_unit_value *unit = luaL_testudata(L, 4, TZ_TYPE_UNIT);
    if (unit)
        tz_floorplan_box(L, handle, unit, "sim:set", &box);
    else
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
    if (!tz_handle_is_dry(handle))
        tz_try(L, what, tz_simulation_reduce(handle->simulation, field, &facts, tz_fault(L)));
    return facts;
}

/* sim:min, sim:max, sim:sum and sim:mean: the data of a row is its name. */
static int method_reduce(lua_State *L)
{
    const char *what = tz_api_data(L);
    const tz_simulation_handle *handle = tz_handle_check(L, 1, what);
    const int field = tz_handle_kept_field(L, 2, handle, what);
    const tz_region_facts facts = tz_region_reduce(L, 3, handle, field, what);
    if (strcmp(what, "sim:min") == 0)
        push_cell(L, handle, field, facts.min);
    else if (strcmp(what, "sim:max") == 0)
        push_cell(L, handle, field, facts.max);
    else if (strcmp(what, "sim:sum") == 0)
        lua_pushnumber(L, facts.sum);
    else
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
    tz_status status = tz_stencil_has_residual(tz_handle_stencil(handle), tz_fault(L));
    if (status == TZ_OK && !tz_handle_is_dry(handle))
        status = tz_simulation_measure(handle->simulation, &update, tz_fault(L));
    tz_try(L, "sim:residual", status);
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
    const tz_status status =
        tz_handle_is_dry(handle)
            ? tz_array_create(&array,
                              tz_type_is_real(stencil->fields[field].type) ? TZ_DTYPE_F64
                                                                           : TZ_DTYPE_I32,
                              stencil->dims, tz_simulation_extent(handle->simulation), tz_fault(L))
            : tz_simulation_read_array(handle->simulation, field, &array, tz_fault(L));
    tz_try(L, "sim:array", status);
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
    tz_try(L, what,
           tz_array_create(&array, real ? TZ_DTYPE_F64 : TZ_DTYPE_I32, 2, shape, tz_fault(L)));
    tz_array_own(result, array);
    if (tz_handle_is_dry(handle))
        return 1;
    double *row = lua_newuserdatauv(L, (size_t)nx * sizeof *row, 0);
    for (int64_t k = 0; k < count; k++) {
        tz_try(L, what,
               tz_simulation_streamed_read(handle->simulation, field, first + k, x0, nx, row,
                                           tz_fault(L)));
        for (int64_t x = 0; x < nx; x++)
            tz_array_set(array, k * nx + x, row[x]);
    }
    lua_pop(L, 1);
    return 1;
}

/* ---- Parameters and plan --------------------------------------------------------------------- */

static void push_param(lua_State *L, const tz_param *param, const tz_value *value)
{
    const tz_cell cell = tz_param_cell(param, value);
    tz_push_cell(L, &cell);
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
    const size_t count = tz_assignments_get(L, 2, "sim:params", params, TZ_PROBLEM_PARAMS_MAX);
    tz_try(L, "sim:params",
           tz_simulation_set_params(handle->simulation, count, params, tz_fault(L)));
    lua_settop(L, 1);
    return 1;
}

static int method_param(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:param");
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const char *name = tz_text_check(L, 2, "sim:param", "name");
    int i;
    tz_try(L, "sim:param", tz_stencil_find_param(stencil, name, &i, tz_fault(L)));
    push_param(L, &stencil->params[i], &tz_simulation_params(handle->simulation)[i]);
    return 1;
}

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
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        tz_plan_wish wish;
        tz_options_check(L, 2, "sim:plan");
        tz_keys_take(L, 2, "sim:plan", tz_plan_options, false);
        const tz_plan_wish forget = {.forget = handle->context->options->policy.forget};
        tz_policy_read(L, 2, "sim:plan", dims, &forget, &wish);
        wish.bare = false; /* the plan stays: none is looked for beside the run */
        tz_try(L, "sim:plan", tz_simulation_set_policy(handle->simulation, &wish, tz_fault(L)));
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
    const tz_status status = tz_simulation_kernel_facts(handle->simulation, &facts, tz_fault(L));
    if (status == TZ_UNSUPPORTED) {
        lua_pushnil(L);
        return 1;
    }
    tz_try(L, "sim:kernel", status);
    lua_createtable(L, 0, 6);
    tz_set_text(L, "device", facts.device);
    tz_set_integer(L, "registers", facts.registers);
    tz_set_integer(L, "local_bytes", facts.local_bytes);
    tz_set_integer(L, "warps", facts.warps);
    tz_set_integer(L, "warps_max", facts.warps_max);
    tz_set_number(L, "copy_gb_per_s", facts.copy_bytes_per_s * 1e-9);
    return 1;
}

/* ---- Steady states, and time ----------------------------------------------------------------- */

static TZ_KEY_NAMES(steady_names, "auto", "transform", "solver", "direct")

    static const tz_key steady_options[] = {
        {"tolerance", "number", "as small as double precision can tell",
         "the residual that is small enough"},
        {"by", "text", "\"auto\"",
         "%s: transforms where they apply, else the solver; the last one by libumfpack",
         steady_names},
        {NULL, NULL, NULL, NULL}};

static TZ_KEY_NAMES(steady_status_names, "converged", "stagnated")

    static const tz_key steady_result[] = {
        {"status", "text", "", "%s: the precision of the fields ends before `tolerance`",
         steady_status_names},
        {"residual", "number", "", "of the fields as they are"},
        {"solver", "text", "",
         "`\"conjugate gradients\"`, `\"conjugate residuals\"`, `\"UMFPACK\"` or `\"transform\"`"},
        {"iterations", "integer", "", "of the solver; 0 by a transform"},
        {"seconds", "number", "", "that it took"},
        {NULL, NULL, NULL, NULL}};

static tz_steady get_steady(lua_State *L)
{
    const char *what = "sim:steady";
    tz_steady wanted = {.by = TZ_STEADY_AUTO};
    int by = TZ_STEADY_AUTO;
    if (lua_isnoneornil(L, 2))
        return wanted;
    tz_options_check(L, 2, what);
    tz_keys_take(L, 2, what, steady_options, false);
    tz_key_number(L, 2, what, "tolerance", &wanted.tolerance);
    if (wanted.tolerance < 0)
        tz_raise(L, "%s: 'tolerance' must not be negative", what);
    tz_key_choice(L, 2, what, "by", &by);
    wanted.by = (tz_steady_by)by;
    return wanted;
}

static void tell_steady(const tz_simulation_handle *handle, const tz_steady *wanted,
                        const tz_steady_result *result)
{
    tz_context_note(handle->context, TZ_NOTE_LOG,
                    "%s: steady state by %s, %lld iterations, residual %.3g, %.3g s", handle->name,
                    result->method, (long long)result->iterations, result->residual,
                    result->seconds);
    if (!result->converged)
        tz_context_note(handle->context, TZ_NOTE_WARNING,
                        "%s: the steady state has the residual %.3g, above the tolerance %.3g: %s "
                        "precision ends here",
                        handle->name, result->residual, wanted->tolerance,
                        tz_simulation_precision(handle->simulation));
}

static int method_steady(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:steady");
    tz_steady_result result = {.converged = true};
    lua_settop(L, 2);
    const tz_steady wanted = get_steady(L);
    tz_status status = TZ_OK;
    if (tz_handle_is_dry(handle))
        status = tz_simulation_check_solve(handle->simulation, tz_fault(L));
    else
        status = tz_from_begin(handle, tz_fault(L));
    tz_checkpoint_forget_end(handle->context);
    if (!status && !tz_handle_is_dry(handle))
        status = tz_simulation_steady(handle->simulation, &wanted, &result, tz_fault(L));
    tz_try(L, "sim:steady", status);
    if (!tz_handle_is_dry(handle))
        tell_steady(handle, &wanted, &result);
    lua_pushnumber(L, result.residual);
    lua_createtable(L, 0, 5);
    tz_set_text(L, "status", steady_status_names(!result.converged));
    tz_set_number(L, "residual", result.residual);
    tz_set_text(L, "solver", result.method);
    tz_set_integer(L, "iterations", result.iterations);
    tz_set_number(L, "seconds", result.seconds);
    return 2;
}

static int method_rewind(lua_State *L)
{
    tz_simulation_handle *handle = tz_handle_check_idle(L, 1, "sim:rewind");
    handle->rewinds++;
    handle->fired_zero = false;
    for (tz_binding *b = handle->bindings; b; b = b->next) {
        b->writer.last_step = -1;
        b->writer.rewinds = handle->rewinds;
    }
    tz_simulation_rewind(handle->simulation);
    lua_settop(L, 1);
    return 1;
}

/* sim:time(): the simulated time, in the unit of the time step. */
static int method_time(lua_State *L)
{
    const tz_simulation_handle *handle = tz_handle_check(L, 1, "sim:time");
    if (!tz_simulation_time_step(handle->simulation))
        tz_raise(L, "sim:time: %s has no time step: sim.step counts its iterations",
                 tz_handle_stencil(handle)->id);
    lua_pushnumber(L, tz_simulation_time(handle->simulation));
    return 1;
}

/* ---- Analysis methods ------------------------------------------------------------------------ */

/* A result that an analysis gives, and where it goes. */
typedef struct result {
    lua_State *L;
    bool failed; /* the message is on the top of the stack */
    const char *name;
    double number;
    int64_t count; /* -1: a number */
    const int64_t *values;
} result;

/* Protected, as a Lua error would jump over the analysis. Argument 1 is the result, 2 the table. */
static int set_result(lua_State *L)
{
    const result *r = lua_touserdata(L, 1);
    if (r->count < 0)
        lua_pushnumber(L, r->number);
    else
        tz_push_integers(L, r->count, r->values);
    lua_setfield(L, 2, r->name);
    return 0;
}

static void give(result *r)
{
    if (r->failed)
        return;
    lua_pushcfunction(r->L, set_result);
    lua_pushlightuserdata(r->L, r);
    lua_pushvalue(r->L, 3);
    r->failed = lua_pcall(r->L, 2, 0, 0) != LUA_OK;
}

static void on_number(void *context, const char *name, double value)
{
    result *r = context;
    r->name = name;
    r->number = value;
    r->count = -1;
    give(r);
}

static void on_list(void *context, const char *name, int64_t count, const int64_t *values)
{
    result *r = context;
    r->name = name;
    r->count = count < 0 ? 0 : count;
    r->values = values;
    give(r);
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
    result r = {.L = L};
    const tz_method_sink sink = {.context = &r, .number = on_number, .list = on_list};
    luaL_checkstack(L, 8, NULL);
    lua_newtable(L);
    tz_try(L, "sim:analyse", tz_simulation_analyse(handle->simulation, name, &sink, tz_fault(L)));
    return r.failed ? lua_error(L) : 1;
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
    bool rows_up; /* row 0 is the lower edge */
} request;

/* `devices`: a text, or a list of numbers and texts, which becomes one. */
static void get_devices(lua_State *L, int index, char *text, size_t size)
{
    size_t used = 0;
    const int type = tz_table_get(L, index, "devices");
    const lua_Integer count = type == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, -1) : 1;
    text[0] = '\0';
    if (type != LUA_TNIL && type != LUA_TTABLE && type != LUA_TSTRING && type != LUA_TNUMBER)
        tz_raise_kind(L, -1, creating, "devices", "a text or a list of GPU numbers");
    if (type == LUA_TTABLE && count == 0)
        tz_raise(L, "%s: the list 'devices' is empty", creating);
    for (lua_Integer i = 1; type != LUA_TNIL && i <= count; i++) {
        if (type == LUA_TTABLE)
            lua_rawgeti(L, -1, i);
        const bool integer = lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 0;
        if (!integer && lua_type(L, -1) != LUA_TSTRING)
            tz_raise(L, "%s: 'devices' must hold GPU numbers from 0 and texts, not %s", creating,
                     tz_kind_text(L, -1));
        const int more = integer ? snprintf(text + used, size - used, "%s%lld", used ? "," : "",
                                            (long long)lua_tointeger(L, -1))
                                 : snprintf(text + used, size - used, "%s%s", used ? "," : "",
                                            lua_tostring(L, -1));
        if (more < 0 || (size_t)more >= size - used)
            tz_raise(L, "%s: 'devices' is too long", creating);
        used += (size_t)more;
        if (type == LUA_TTABLE)
            lua_pop(L, 1);
    }
    if (type != LUA_TNIL && used == 0)
        tz_raise(L, "%s: 'devices' is empty", creating);
    lua_pop(L, 1);
}

static void get_plan(lua_State *L, int index, int dims, const tz_script_options *options,
                     tz_plan_wish *wish, tz_simulation_config *config)
{
    int64_t threads = 0;
    tz_policy_read(L, index, creating, dims, &options->policy, wish);
    config->policy = wish;
    tz_key_integer(L, index, creating, "threads", &threads);
    tz_key_text(L, index, creating, "backend", &config->backend);
    config->threads = options->threads > 0 ? options->threads : (int)threads;
    if (config->threads > THREADS_MANY && config->threads > 4 * tz_machine_processors())
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "%d threads on %d processors take turns, which is slower than one for each",
                        config->threads, tz_machine_processors());
    config->device = options->device;
    config->devices = options->devices;
    config->sync = options->sync;
    config->stopped = tz_interrupt_signal;
    config->overdue = tz_interrupt_overdue;
    config->cancelled = options->cancelled;
    config->compiled = options->sink.compiled;
    config->told = options->sink.context;
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
        tz_raise_kind(L, -1, creating, "fields", "a table");
    for (int i = 0; i < tz_stencil_fields_all(stencil); i++)
        names[i] = stencil->fields[i].name;
    tz_keys_check(L, -1, "tz.simulation: 'fields'", names, (size_t)tz_stencil_fields_all(stencil),
                  false);
}

static const char *backend_names(int i)
{
    return i == 0 ? "auto" : tz_backends[i - 1] ? tz_backends[i - 1]->name : NULL;
}

static TZ_KEY_NAMES(y_names, "down", "up")

    static const tz_key simulation_options[] = {
        {.all = tz_problem_options},
        {"y", "text", "\"down\"",
         "%s: which edge row 0 is: the upper or the lower one ([which way y is "
         "up](boundaries.md#which-way-y-is-up))",
         y_names},
        {"fields", "table", "the stencil's initial values", "`FIELD = value`, as for `sim:set`"},
        {"domain", "shape", "",
         "of a stencil with `domain`, the cells that are computed: `tz.circle` and the like, or "
         "what is not 0 of any value of a field"},
        {"boundary_values", "table", "the stencil's",
         "`FIELD = number`: what cells past fixed sides hold; `FIELD = { x = { 0, 1 }, y = 2 }` "
         "gives one for each side"},
        {"threads", "integer", "one for each core", "of the cpu backend", .least = 1, .most = 4096},
        {"backend", "text", "\"auto\"",
         "%s; `\"auto\"` begins on cpu and goes on on cuda if the rest is expected to end sooner "
         "there; with a plan, height, policy or device, it is cuda where there is a GPU",
         backend_names},
        {"devices", "text or table", "one device",
         "those that hold slabs of the grid: `\"all\"` GPUs, a list of GPU numbers `{ 0, 2 }`, or "
         "slabs of the CPU `\"cpu:2\"`; `\"0*2,1\"` gives GPU 0 twice the cells of GPU 1"},
        {"name", "text", "the stencil's, with a number", "in the names of files and messages"},
        {.all = tz_wish_options},
        {.all = tz_plan_options},
        {NULL}};

/* Read the table at index 1. Leaves its `fields` at index 2. */
static void get_request(lua_State *L, const tz_script_options *options, request *r)
{
    tz_simulation_config *config = &r->config;
    tz_problem_explain(L, creating, simulation_options, options->registry);
    tz_options_take(L, creating, simulation_options, "tz.simulation { plugin = …, grid = … }");
    *config = (tz_simulation_config){
        .registry = options->registry, .dry = options->check, .ranks = options->ranks};
    r->stencil = tz_problem_read(L, 1, creating, config, r->params, &r->plugin);
    int y = 0;
    tz_key_choice(L, 1, creating, "y", &y);
    r->rows_up = y == 1;
    get_plan(L, 1, r->stencil->dims, options, &r->wish, config);
    if (options->define) { /* a policy may compile kernels to predict plans */
        config->plan = r->wish.given;
        config->policy = NULL;
    }
    r->name[0] = '\0';
    if (tz_key_copy(L, 1, creating, "name", r->name, sizeof r->name))
        tz_try(L, creating, tz_folder_check_name(r->name, tz_fault(L)));
    get_devices(L, 1, r->devices, sizeof r->devices);
    if (!config->devices && r->devices[0])
        config->devices = r->devices;
    config->boundary_values = r->values;
    config->boundary_values_count = tz_boundary_values_read(L, 1, creating, r->stencil, r->values);
    get_fields(L, r->stencil);
}

static void find_source(tz_simulation_handle *handle, const tz_registry *registry,
                        const tz_plugin *plugin)
{
    const tz_registry_entry *entry = tz_registry_of(registry, plugin);
    handle->plugin_path = entry ? entry->path : NULL;
    handle->definition = entry && entry->defined ? plugin->stencils[0]->passes[0].text : NULL;
}

/* The option `domain`, which is at the top of the stack: what the field of the domain gets. */
static void assign_domain(lua_State *L, tz_simulation_handle *handle, int field, const char *where)
{
    const int at = lua_gettop(L);
    const tz_unit_value *unit = luaL_testudata(L, at, TZ_TYPE_UNIT);
    tz_box box;
    if ((lua_istable(L, at) && lua_rawlen(L, at) == 0) || lua_type(L, at) == LUA_TSTRING)
        tz_raise(L,
                 "%s: needs tz.circle, tz.box, tz.polygon or what is made of them, a function(x, "
                 "y, z), an array, a picture or a unit of a floorplan, not %s",
                 where, tz_kind_text(L, at));
    if (unit) {
        tz_floorplan_box(L, handle, unit, where, &box);
        lua_pushinteger(L, 0);
        tz_field_assign(L, handle, field, NULL, at + 1, where);
        lua_pushinteger(L, 1);
        tz_field_assign(L, handle, field, &box, at + 2, where);
    } else {
        tz_field_assign(L, handle, field, NULL, at, where);
    }
    lua_settop(L, at);
}

/* The fields that the script gives, in the stencil's order; `fields` is a table or nil. */
static void assign_fields(lua_State *L, tz_simulation_handle *handle, int fields)
{
    const tz_stencil *stencil = tz_handle_stencil(handle);
    const int domain = tz_stencil_domain(stencil);
    const bool has_domain = tz_table_get(L, 1, "domain") != LUA_TNIL;
    lua_pop(L, 1);
    if (has_domain && domain < 0)
        tz_raise(
            L,
            "tz.simulation: 'domain': all cells of %s are computed; a tz.stencil with domain = "
            "\"mask\" leaves some out",
            stencil->id);
    for (int field = 0; field < tz_stencil_fields_all(stencil); field++) {
        const tz_field *about = &stencil->fields[field];
        char where[128];
        snprintf(where, sizeof where, "tz.simulation: field '%.60s'", about->name);
        const int type = lua_istable(L, fields) ? tz_table_get(L, fields, about->name)
                                                : (lua_pushnil(L), LUA_TNIL);
        if (type == LUA_TNIL && about->required && !has_domain &&
            handle->context->options->library) {
            handle->missing |= 1u << field; /* a program may set it later */
        } else if (field == domain && has_domain) {
            if (type != LUA_TNIL)
                tz_raise(L, "tz.simulation: give 'domain' or fields.%s, not both", about->name);
            tz_table_get(L, 1, "domain");
            assign_domain(L, handle, field, "tz.simulation: 'domain'");
            lua_pop(L, 1);
        } else if (field == domain && about->required && type == LUA_TNIL) {
            tz_raise(
                L,
                "tz.simulation: %s needs its domain: domain = tz.circle { centre = { 50, 50 }, "
                "radius = 40 }, for example",
                stencil->id);
        } else if (type != LUA_TNIL)
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
    char boundary[TZ_BOUNDARY_TEXT_SIZE], precision[TZ_STORAGE_TEXT_SIZE + 32];
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
                     tz_simulation_precision_text(simulation, precision), sides, bytes / (1 << 20),
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
    tz_error *error = tz_fault(L);
    uint32_t code;
    if (!tz_recall_replays(tz_context_get(L)))
        return;
    tz_recall_take(L, TZ_ENTRY_CREATED, creating, &reading);
    tz_reading_unpack(&reading, "uss", &code, error->place, sizeof error->place, error->message,
                      sizeof error->message);
    error->code = (tz_status)code;
    tz_try(L, creating, error->code);
}

static int simulation_new(lua_State *L)
{
    tz_context *context = tz_context_get(L);
    request r;
    tz_error *error = tz_fault(L);
    get_request(L, context->options, &r);
    tz_simulation_handle *handle = lua_newuserdatauv(L, sizeof *handle, 1); /* index 3 */
    memset(handle, 0, sizeof *handle);
    handle->context = context;
    luaL_setmetatable(L, TZ_TYPE_SIMULATION);
    lua_newtable(L);
    lua_setiuservalue(L, 3, 1);
    refuse_again(L);
    const tz_status created = tz_simulation_create(&handle->simulation, &r.config, error);
    tz_recall_put(context, TZ_ENTRY_CREATED, "uss", (uint32_t)created, created ? error->place : "",
                  created ? error->message : "");
    if (created != TZ_OK)
        handle->simulation = NULL;
    tz_try(L, creating, created);
    if (r.rows_up)
        tz_simulation_set_rows_up(handle->simulation);
    find_source(handle, r.config.registry, r.plugin);
    tz_handle_open(handle, r.name);
    tz_policy_warn(handle);
    tz_policy_keep(L, 1, 3, &r.wish);
    tz_scalars_keep(L, 1, 3);
    assign_fields(L, handle, 2);
    if (r.config.dry)
        print_plan(handle);
    lua_settop(L, 3);
    return 1;
}

static const tz_api_function own_methods[] = {
    TZ_API("sim:close()", simulation_close,
           "Frees its memory now. Otherwise that happens when it is collected or the script ends.",
           .recall = TZ_RECALL_CALL, .keeps = true),

    TZ_API("sim:get(field, x[, y[, z]])", method_get,
           "The value of one cell. Coordinates count from 0.", .recall = TZ_RECALL_GIVE),
    TZ_API("sim:set(field, value[, box])", method_set,
           "Sets the cells of a box, or all. A value is a number, `function(x, y, z)`, "
           "`tz.random`, `tz.read`, `tz.array`, an array or a floorplan. A box is `{ x = {low, "
           "high}, … }`: low <= x < high; or a unit of a floorplan, `plan:unit \"core0\"`.",
           .recall = TZ_RECALL_CALL),
    TZ_API("sim:min([field[, region]])", method_reduce,
           "The least finite value. Without a field: of the first state field.",
           .recall = TZ_RECALL_GIVE, .data = "sim:min"),
    TZ_API("sim:max([field[, region]])", method_reduce, "The largest finite value.",
           .recall = TZ_RECALL_GIVE, .data = "sim:max"),
    TZ_API("sim:sum([field[, region]])", method_reduce,
           "The sum in double precision, in a fixed order. A region is a box, a mask (a "
           "field's name or an array; cells that are not 0 count) or a unit of a floorplan.",
           .recall = TZ_RECALL_GIVE, .data = "sim:sum"),
    TZ_API("sim:mean([field[, region]])", method_reduce, "The mean in double precision.",
           .recall = TZ_RECALL_GIVE, .data = "sim:mean"),
    TZ_API("sim:population([field])", method_population, "The number of cells that are not 0.",
           .recall = TZ_RECALL_GIVE),
    TZ_API("sim:hash([field])", method_hash,
           "64 bits of the cells' bits, as text: the same on every backend and plan.",
           .recall = TZ_RECALL_GIVE),
    TZ_API("sim:residual()", method_residual,
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
           .options = tz_plan_options, .recall = TZ_RECALL_BOTH),
    TZ_API("sim:kernel()", method_kernel,
           "Facts of the kernel that runs the plan; nil on backends without kernels.",
           .result = kernel_result, .recall = TZ_RECALL_GIVE),
    TZ_API("sim:steady([options])", method_steady,
           "Computes the steady state of any linear update: the fields that an iteration leaves as "
           "they are ([steady states](steady.md)). Returns the residual and a table. Steps and "
           "simulated time stay. Fails if there is no such state: where waves never decay, or "
           "(`inconsistent`) a source has a mean that nothing takes away.",
           .options = steady_options, .result = steady_result, .recall = TZ_RECALL_GIVE,
           .changes = true),
    TZ_API("sim:rewind()", method_rewind, "Sets the count of iterations to 0. Fields stay.",
           .recall = TZ_RECALL_CALL),
    TZ_API("sim:time()", method_time,
           "The simulated time, in the unit of the stencil's time step."),
    TZ_API("sim:analyse(method)", method_analyse,
           "Calls an analysis of the stencil; returns a table of its results.",
           .recall = TZ_RECALL_GIVE),
    TZ_API_END};
static const luaL_Reg simulation_events[] = {{"__close", simulation_close},
                                             {"__gc", simulation_gc},
                                             {"__newindex", simulation_newindex},
                                             {"__tostring", simulation_tostring},
                                             {NULL, NULL}};
static const tz_api_function *const simulation_methods[] = {
    own_methods,       tz_binding_methods, tz_running_methods, tz_scalar_methods,
    tz_policy_methods, tz_region_methods,  tz_points_methods,  NULL};
const tz_api_class tz_simulation_class = {
    .type = TZ_TYPE_SIMULATION,
    .events = simulation_events,
    .methods = simulation_methods,
    .what = "sim",
    .one = "a simulation",
    .members = simulation_members,
    .check = check_member,
    .differing = (const char *const[]){"seconds", "height", "backend", "threads", NULL}};

const tz_api_function tz_simulation_functions[] = {
    TZ_API("tz.simulation(options)", simulation_new,
           "A simulation: a stencil on a grid. It has the members `step`, `cells`, `seconds`, "
           "`height`, `backend`, `grid`, `threads`, `precision`, `plugin` and `name` to read.",
           .options = simulation_options, .recall = TZ_RECALL_OWN),
    TZ_API_END};
